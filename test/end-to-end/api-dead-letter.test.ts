/** Dead letters over the real bus and engine. The test stores their rows as the sink does. */
import { randomBytes } from 'node:crypto';
import test from 'ava';
import { createDeadLetters } from '../../api/groups/dead-letter/replay/dead-letters.ts';
import { readPayload } from '../../api/groups/dead-letter/replay/payload.ts';
import { createReplayJobs, replayJobs } from '../../api/groups/dead-letter/replay/replay-jobs.ts';
import { runReplaysRequest } from '../../commands/control-request.ts';
import { openJobs } from '../../runtime/jobs.ts';
import { type DeadLetterHeaders, decodeDeadLetter, encodeDeadLetter } from '../../schemas/dead-letter.ts';
import { PermanentError } from '../../schemas/errors.ts';
import type { BusRecord, Message } from '../../schemas/ports/bus.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { auditRecords } from '../../schemas/resources/audit-record.ts';
import { DeadLetterMark, topics } from '../../schemas/topics.ts';
import { getDeadLetterAction } from '../../subjects/dead-letters/actions.ts';
import type { DeadLetter } from '../../subjects/dead-letters/dead-letters.ts';
import { eventually } from '../waiting.ts';
import { type Answer, type Harness, startHarness } from './api-harness.ts';

let harness: Harness;

/** Accepts every body that does not begin with "broken". */
const republish = (headers: DeadLetterHeaders, body: Buffer): Message[] => {
  if (body.toString('latin1').startsWith('broken')) throw new PermanentError('malformed', 'still not OTLP');
  return [{ topic: topics.logs.name, key: headers.tenantId, value: body, headers: { tenant: headers.tenantId } }];
};

test.before(async () => {
  harness = await startHarness({ republish });
});
test.after.always(() => harness?.close());

const recordsOf = async (topic: string): Promise<BusRecord[]> => {
  const records: BusRecord[] = [];
  for (const { partition, earliest, end } of await harness.bus.offsets(topic))
    if (end > earliest)
      for await (const record of harness.bus.read(topic, partition, earliest, end)) records.push(record);
  return records;
};

/** Starts a replay and waits until it has ended. Returns its final state. */
const replay = async (body: object): Promise<Answer> => {
  let response = await harness.request('POST', '/api/dead-letter/replay', { body });
  await eventually('the end of the replay', async () => {
    if (response.body.state === 'running')
      response = await harness.request('GET', `/api/dead-letter/replays/${response.body.id}`);
    return response.body.state !== 'running';
  });
  return response;
};

const chunkBytes = 100_000;

/** Publishes a dead letter in chunks and stores its row, like receivers and the sink. */
const publishDeadLetter = async (
  fields: Partial<DeadLetterHeaders> & { readonly id: string },
  body: Buffer,
): Promise<void> => {
  const chunks = Math.max(1, Math.ceil(body.length / chunkBytes));
  const headers: DeadLetterHeaders = {
    tenantId: 'a',
    projectId: 'p1',
    keyId: 'k1',
    signal: 'logs',
    origin: 'otlp-http',
    kind: 'refused',
    reason: 'malformed',
    message: 'a length runs over the end',
    position: 7,
    receivedAtMs: Date.now() - 5000,
    source: '10.0.0.1',
    contentType: 'application/x-protobuf',
    contentEncoding: 'identity',
    topic: '',
    partition: 0,
    offset: 0,
    originalHeaders: {},
    chunk: 0,
    chunks,
    size: body.length,
    cut: false,
    ...fields,
  };
  const [place] = await harness.bus.offsets(topics.deadLetter.name);
  const producer = await harness.bus.producer();
  await producer.publish(
    Array.from({ length: chunks }, (_, chunk) => ({
      topic: topics.deadLetter.name,
      key: headers.tenantId,
      value: body.subarray(chunk * chunkBytes, (chunk + 1) * chunkBytes),
      headers: encodeDeadLetter({ ...headers, chunk }),
    })),
  );
  await producer.close();
  await harness.columns.execute(
    `INSERT INTO dead_letters (tenant_id, id, project_id, key_id, signal, origin, kind, reason, message, position, received_at, source, size, cut, chunks, partition, offset) VALUES
      ('${headers.tenantId}', '${headers.id}', 'p1', 'k1', '${headers.signal}', '${headers.origin}', '${headers.kind}', '${headers.reason}', '${headers.message}', 7, fromUnixTimestamp64Milli(toInt64(${headers.receivedAtMs}), 'UTC'), '10.0.0.1', ${headers.size}, ${headers.cut}, ${chunks}, ${place?.partition ?? 0}, ${place?.end ?? 0})`,
  );
};

/** Stores the marks of the topic. */
const landMarks = async (): Promise<void> => {
  for (const { value, offset } of await recordsOf(topics.deadLetterMarks.name)) {
    const { tenantId, id, outcome, markedAt, actor } = DeadLetterMark.parse(JSON.parse(value.toString('utf8')));
    await harness.columns.execute(
      `INSERT INTO dead_letter_marks (tenant_id, id, outcome, marked_at, actor, partition, offset) VALUES ('${tenantId}', '${id}', '${outcome}', fromUnixTimestamp64Milli(toInt64(${Date.parse(markedAt)}), 'UTC'), '${actor}', 0, ${offset})`,
    );
  }
};

const publishedBodies = async (): Promise<string[]> =>
  (await recordsOf(topics.logs.name)).map(({ value }) => value.toString('latin1'));

test.serial(
  'a dead letter is listed and shown byte for byte, with its chunks joined, to its own organization only',
  async (t) => {
    const body = randomBytes(3 * chunkBytes + 17);
    await publishDeadLetter({ id: 'shown' }, body);
    await publishDeadLetter({ id: 'of-b', tenantId: 'b' }, Buffer.from('secret'));
    const list = await harness.request('GET', '/api/dead-letter?reason=malformed');
    t.deepEqual(
      list.body.items.map(({ id, state }: { id: string; state: string }) => [id, state]),
      [['shown', 'open']],
    );
    const shown = await harness.request('GET', '/api/dead-letter/shown');
    t.true(Buffer.from(shown.body.payload, 'base64').equals(body));
    t.is(shown.body.position, 7);
    t.regex(shown.body.action, /a replay would be refused again/);
    t.is((await harness.request('GET', '/api/dead-letter/of-b')).status, 404);
    const records = await harness.documents
      .forTenant('a')
      .collection(auditRecords)
      .list({ filter: { action: 'dead-letter.read' } });
    t.deepEqual(
      records.items.map(({ resource }) => resource.id),
      ['shown'],
      'only reads of existing dead letters are recorded',
    );
    t.is((await harness.request('DELETE', '/api/dead-letter/of-b')).status, 404);
    t.is((await harness.request('GET', '/api/dead-letter', { as: 'editor' })).status, 403);
  },
);

test('a dead letter has advice, and states whether a replay helps', (t) => {
  for (const [reason, kind, action] of [
    ['wrong-time-unit', 'refused', /OTLP and Loki nanoseconds.*a replay would be refused again/],
    ['no-records', 'refused', /lowerCamelCase.*a replay would be refused again/],
    ['malformed', 'refused', /Content-Type matches.*a replay would be refused again/],
    ['time-too-old', 'refused', /A replay stores the records if the plan/],
    ['time-in-future', 'refused', /A replay stores the records once/],
    ['malformed', 'unprocessable', /Replay it after the cause is removed/],
  ] as const)
    t.regex(getDeadLetterAction(reason, kind), action);
});

test.serial('a discarded dead letter is no longer open, before and after its mark is stored', async (t) => {
  t.is((await harness.request('DELETE', '/api/dead-letter/shown')).status, 200);
  const again = await harness.request('DELETE', '/api/dead-letter/shown');
  t.is(again.status, 409);
  await landMarks();
  const { body } = await harness.request('GET', '/api/dead-letter?state=discarded');
  t.is(body.items[0].id, 'shown');
  t.is(body.items[0].actor, 'user owner@a.example');
  t.is((await harness.request('GET', '/api/dead-letter?state=open')).body.items.length, 0);
});

test.serial('a dry run reports what a replay would do, and does nothing', async (t) => {
  await publishDeadLetter({ id: 'good-1' }, Buffer.from('good one'));
  await publishDeadLetter({ id: 'good-2', reason: 'too-deep' }, Buffer.from('good two'));
  await publishDeadLetter({ id: 'bad' }, Buffer.from('broken still'));
  await publishDeadLetter({ id: 'cut', cut: true, size: 60_000_000 }, Buffer.from('only the beginning'));
  const { status, body } = await replay({ all: true, dryRun: true });
  t.is(status, 200);
  t.is(body.state, 'finished');
  t.deepEqual([body.matched, body.done, body.already, body.failed], [4, 2, 0, 2]);
  t.deepEqual(body.failedByReason, { malformed: 1, cut: 1 });
  t.deepEqual(await publishedBodies(), []);
});

test.serial(
  'a replay publishes the letters that are valid now, and a replayed letter is never replayed again',
  async (t) => {
    const first = await replay({ reason: 'malformed' });
    t.deepEqual([first.body.done, first.body.failed], [1, 2]);
    t.deepEqual(await publishedBodies(), ['good one']);
    // The mark is not stored yet: only the tail of the topic contains it.
    const second = await replay({ all: true });
    t.deepEqual([second.body.done, second.body.already, second.body.failed], [1, 1, 2]);
    t.deepEqual(await publishedBodies(), ['good one', 'good two']);
    await landMarks();
    const third = await replay({ all: true });
    t.deepEqual([third.body.matched, third.body.done, third.body.already, third.body.failed], [2, 0, 0, 2]);
    t.deepEqual(await publishedBodies(), ['good one', 'good two']);
    const read = await harness.request('GET', `/api/dead-letter/replays/${third.body.id}`);
    t.deepEqual(read.body, third.body);
    t.is((await harness.request('POST', '/api/dead-letter/replay', { body: {} })).status, 400);
  },
);

test.serial('concurrent replays, even by two instances, publish each letter once', async (t) => {
  const count = 150;
  for (let index = 0; index < count; index++)
    await publishDeadLetter(
      { id: `many-${index}`, reason: 'many', receivedAtMs: Date.now() - 1000 },
      Buffer.from(`many ${index}`),
    );
  const instances = [1, 2].map(() =>
    createDeadLetters({ bus: harness.bus, columns: harness.columns, clock: { now: () => Date.now() }, republish }),
  );
  const runs = await Promise.all(
    [...instances, ...instances].map((instance, index) =>
      instance.replay({ tenantId: 'a', reason: 'many' }, { actor: `run ${index}` }),
    ),
  );
  for (const instance of instances) await instance.close();
  t.is(
    runs.reduce((sum, { done }) => sum + done, 0),
    count,
  );
  const bodies = (await publishedBodies()).filter((body) => body.startsWith('many'));
  t.is(bodies.length, count);
  t.is(new Set(bodies).size, count);
});

test.serial(
  'a message that a consumer could not process is republished to its topic for that consumer alone',
  async (t) => {
    const originalHeaders = { tenant: 'a', project: 'p1', signal: 'traces', members: '[]' };
    await publishDeadLetter(
      {
        id: 'consumer',
        kind: 'unprocessable',
        origin: 'traces',
        topic: topics.traces.name,
        signal: 'traces',
        originalHeaders,
      },
      Buffer.from('the message'),
    );
    const { body } = await replay({ ids: ['consumer'] });
    t.is(body.done, 1);
    const [record] = await recordsOf(topics.traces.name);
    t.is(record?.value.toString(), 'the message');
    t.deepEqual(record?.headers, { ...originalHeaders, 'only-group': 'traces' });
  },
);

test.serial('a dead letter whose bytes are no longer stored stays open with the reason', async (t) => {
  await harness.columns.execute(
    `INSERT INTO dead_letters (tenant_id, id, kind, reason, received_at, size, chunks, partition, offset) VALUES ('a', 'gone', 'refused', 'malformed', now64(3), 5, 1, 0, 999999)`,
  );
  const { body } = await replay({ ids: ['gone'] });
  t.deepEqual(body.results, [{ id: 'gone', outcome: 'failed', reason: 'gone', message: body.results[0].message }]);
  const shown = await harness.request('GET', '/api/dead-letter/gone');
  t.is(shown.body.payload, null);
  t.is(shown.body.state, 'open');
});

test.serial('lists are paged without gaps', async (t) => {
  const seen: string[] = [];
  let cursor = '';
  do {
    const { body } = await harness.request('GET', `/api/dead-letter?limit=40&cursor=${cursor}`);
    seen.push(...body.items.map(({ id }: { id: string }) => id));
    cursor = body.nextCursor ?? '';
  } while (cursor !== '' && seen.length < 500);
  t.is(seen.length, 157);
  t.is(new Set(seen).size, 157);
});

test.serial('reads of dead letters are cancelled by the abort signal of their request', async (t) => {
  await publishDeadLetter({ id: 'unread' }, Buffer.from('bytes'));
  const deadLetters = createDeadLetters({
    bus: harness.bus,
    columns: harness.columns,
    clock: { now: Date.now },
    republish,
  });
  const message = 'the client left';
  const signal = AbortSignal.abort(new Error(message));
  await t.throwsAsync(deadLetters.list({ tenantId: 'a' }, { signal }), { message });
  await t.throwsAsync(deadLetters.show('unread', 'a', signal), { message });
  const { deadLetter } = (await deadLetters.show('unread', 'a')) ?? {};
  if (deadLetter === undefined) return t.fail('there is no such letter');
  await t.throwsAsync(readPayload(harness.bus, deadLetter, signal), { message });
  await deadLetters.close();
});

test.serial('chunks are joined even if another letter was written between them', async (t) => {
  const [place] = await harness.bus.offsets(topics.deadLetter.name);
  await publishDeadLetter({ id: 'apart' }, Buffer.from('first '));
  await publishDeadLetter({ id: 'between' }, Buffer.from('other'));
  const producer = await harness.bus.producer();
  const [first] = (await recordsOf(topics.deadLetter.name)).filter(({ offset }) => offset === place?.end);
  const headers = { ...decodeDeadLetter(first?.headers ?? {}), chunk: 1 };
  await producer.publish([
    { topic: topics.deadLetter.name, key: 'a', value: Buffer.from('second'), headers: encodeDeadLetter(headers) },
  ]);
  await producer.close();
  const payload = await readPayload(harness.bus, {
    id: 'apart',
    place: { partition: place?.partition ?? 0, offset: place?.end ?? 0, chunks: 2 },
  } as DeadLetter);
  t.is(payload.bytes.toString(), 'first second');
});

test.serial('another instance continues a replay whose instance died, and adds to its counts', async (t) => {
  for (const index of [0, 1, 2])
    await publishDeadLetter({ id: `lost-${index}`, reason: 'lost' }, Buffer.from(`lost ${index}`));
  const { body } = await replay({ ids: ['lost-0'] });
  t.is(body.done, 1);
  const jobs = harness.documents.forTenant('a').collection(replayJobs);
  await jobs.update(body.id, { state: 'running', finishedAt: null, filter: { tenantId: 'a', reason: 'lost' } });
  const later = { now: () => Date.now() + 120_000 };
  const timed = openJobs({ documents: harness.documents, clock: later, log: silentLog, metrics: silentMetrics });
  const deadLetters = createDeadLetters({
    bus: harness.bus,
    columns: harness.columns,
    clock: later,
    republish,
  });
  const go: (() => void)[] = [];
  const replays = createReplayJobs({
    deadLetters,
    documents: harness.documents,
    clock: later,
    log: silentLog,
    jobs: {
      ...timed,
      start(job, ports) {
        const running = timed.start(job, ports);
        go.push(() => running.wake());
        return running;
      },
    },
  });
  for (const wake of go) wake();
  const ended = async () => (await jobs.find(body.id))?.state !== 'running';
  await eventually('the end of the replay', ended);
  t.like(await jobs.find(body.id), { state: 'finished', matched: 3, done: 3, failed: 0, error: null });
  t.is((await publishedBodies()).filter((text) => text.startsWith('lost ')).length, 3);
  await Promise.all([timed.stop(), replays.stop()]);
  await deadLetters.close();
});

test.serial('a replay whose instance died is listed by the command, and its ID is in the audit log', async (t) => {
  const { body } = await replay({ reason: 'none-such' });
  const jobs = harness.documents.forTenant('a').collection(replayJobs);
  // An instance of an earlier version left this: nobody can continue a replay without a filter.
  await jobs.update(body.id, { state: 'running', finishedAt: null, filter: undefined });
  const listedAt = async (now: number, tenant?: string): Promise<string[]> => {
    const lines: string[] = [];
    const platform = { documents: harness.documents, clock: { now: () => now } };
    await runReplaysRequest(platform, { action: 'list-replays', tenant, limit: 1 }, (line) => lines.push(line));
    return lines;
  };
  t.regex((await listedAt(Date.now()))[0] ?? '', new RegExp(`^${body.id}  \\S+  a  running  0 of 0  user `));
  const [later, shown] = await listedAt(Date.now() + 120_000, 'a');
  t.regex(later ?? '', new RegExp(`^${body.id}  .*  stopped  .*the instance that ran it has stopped`));
  t.regex(shown ?? '', /^1 shown; more exist/);
  t.deepEqual(await listedAt(Date.now(), 'b'), ['0 shown']);
  const filter = { action: 'dead-letter-replay.start', 'resource.id': body.id };
  t.is((await harness.documents.forTenant('a').collection(auditRecords).list({ filter })).items.length, 1);
});
