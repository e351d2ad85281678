/** Bodies refused under load are stored byte for byte, and replayed once, even by repeated or concurrent replays. */
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { buildDeadLetterMessages } from '../../schemas/dead-letter.ts';
import { type DeadLetterCommand, deadLetterCommand, idsIn, listDeadLetters, payloadIn } from './dead-letter-command.ts';
import { read, signIn, spawnOiq, startOiq } from './oiq-process.ts';
import { logsRequest, Oracle } from './oracle.ts';
import { readBackEmbedded } from './read-back.ts';
import { assertReadBack, installation, pace, waitUntilDrained } from './reliability.ts';

const good = logsRequest('refused', ['of two members']);
const hostile = [
  { body: good.subarray(0, good.length - 3) },
  { body: Buffer.concat([good, Buffer.from([7])]) },
  { body: Buffer.from('no protobuf at all') },
  { body: Buffer.from('{"resourceLogs": [{"scopeLogs": 7}]}'), type: 'application/json' },
  { body: gzipSync(good).subarray(0, 30), encoding: 'gzip' },
  { body: Buffer.concat([gzipSync(good), Buffer.from('more')]), encoding: 'gzip' },
  { body: Buffer.concat([gzipSync(good), Buffer.alloc(8)]), encoding: 'gzip' },
] as const;

interface Refused {
  readonly body: Buffer;
  readonly type: string;
  readonly encoding: string;
}

/** Hostile bodies, made unique where they stay hostile, and random bytes. */
const refusedBodies = (): Refused[] => [
  ...hostile.map((one) => ({ type: 'application/x-protobuf', encoding: '', ...one })),
  ...Array.from({ length: 30 }, (_, index) => ({
    body: Buffer.concat([Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), randomBytes(50 + 1000 * index)]),
    type: 'application/x-protobuf',
    encoding: '',
  })),
  // Exceeds the size of one message.
  {
    body: Buffer.concat([Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), randomBytes(3_000_000)]),
    type: 'application/octet-stream',
    encoding: '',
  },
];

const send = async (otlp: string, licenseKey: string, { body, type, encoding }: Refused): Promise<number> => {
  const headers = {
    'x-license-key': licenseKey,
    'content-type': type,
    ...(encoding === '' ? {} : { 'content-encoding': encoding }),
  };
  const response = await fetch(`${otlp}/v1/logs`, { method: 'POST', headers, body: body as Uint8Array<ArrayBuffer> });
  await response.arrayBuffer();
  return response.status;
};

/** A size and hash of each body. */
const hashes = (bodies: readonly Buffer[]): string[] =>
  bodies.map((body) => `${body.length} bytes ${createHash('sha256').update(body).digest('hex')}`).sort();

/** Publishes dead letters of bodies that were refused before and are valid now. */
const publishValidDeadLetters = async (dataDirectory: string, ids: readonly string[]): Promise<void> => {
  const bus = await openSegmentsBus({ directory: join(dataDirectory, 'bus') });
  const producer = await bus.producer();
  for (const id of ids) {
    const body = logsRequest('replayed', [`body of ${id}`]);
    await producer.publish(
      buildDeadLetterMessages(
        {
          id,
          tenantId: 'default',
          projectId: 'default',
          keyId: 'key',
          signal: 'logs',
          origin: 'otlp-http',
          kind: 'refused',
          reason: 'since-valid',
          message: 'a bug of ours',
          position: 0,
          receivedAtMs: Date.now(),
          source: '127.0.0.1',
          contentType: 'application/x-protobuf',
          contentEncoding: '',
          topic: '',
          partition: 0,
          offset: 0,
          originalHeaders: { format: 'otlp' },
          size: body.length,
          cut: false,
        },
        [body],
      ),
    );
  }
  await producer.close();
  await bus.close();
};

const replayedIn = (output: string): number => Number(/^replayed: (\d+) of/m.exec(output)?.[1]);

/** Replays the same dead letters concurrently, and once more. Returns the replayed count of each call. */
const replayConcurrently = async (run: DeadLetterCommand, times: number, ...what: string[]): Promise<number[]> => {
  const outputs = await Promise.all(Array.from({ length: times }, () => run('replay', ...what)));
  return [...outputs, await run('replay', ...what)].map(replayedIn);
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

test.serial(
  'refused bodies are stored byte for byte under load; replays publish once, even concurrent ones',
  async (t) => {
    const { dataDirectory, environment, licenseKey } = await installation(t, 'dead-letter');
    const valid = Array.from({ length: 40 }, (_, index) => `valid-${index}`);
    await publishValidDeadLetters(dataDirectory, valid);
    const run = deadLetterCommand(t, environment);

    let oiq = await startOiq({ dataDirectory, environment });
    const oracle = new Oracle({ otlp: () => oiq.otlp, licenseKey, ...pace });
    t.teardown(async () => {
      await oiq.kill();
      await oracle.close();
    });
    oracle.start();
    const bodies = refusedBodies();
    t.deepEqual(
      await Promise.all(bodies.map((body) => send(oiq.otlp, licenseKey, body))),
      bodies.map(() => 400),
    );
    // Two gzip members are one stream, and two protobuf requests are one request.
    const twice = Buffer.concat([gzipSync(good), gzipSync(good)]);
    t.is(await send(oiq.otlp, licenseKey, { body: twice, type: 'application/x-protobuf', encoding: 'gzip' }), 200);
    const ids = (await listDeadLetters(run, bodies.length + valid.length)).filter((id) => !valid.includes(id));
    const token = await signIn(oiq.http);
    const shown = await Promise.all(
      ids.map((id) => read<{ payload: string; truncated: boolean }>(oiq.http, `/api/dead-letter/${id}`, token)),
    );
    const whole: Buffer[] = [];
    // The API returns the beginning of a large body and reports the truncation; the command prints all of it.
    for (const [index, { payload, truncated }] of shown.entries())
      whole.push(truncated ? payloadIn(await run('show', ids[index] ?? '')) : Buffer.from(payload, 'base64'));
    t.deepEqual(hashes(whole), hashes(bodies.map(({ body }) => body)));
    t.is(shown.filter(({ truncated }) => truncated).length, 1);
    const one = ids[0] ?? '';
    const storedPayload = whole[0] ?? Buffer.alloc(0);
    t.true(payloadIn(await run('show', one)).equals(storedPayload));

    const still = await run('replay', ...ids);
    t.regex(still, new RegExp(`^replayed: 0 of ${ids.length}$`, 'm'));
    t.regex(still, /^still open, malformed: \d+$/m);
    t.is(sum(await replayConcurrently(run, 3, ...valid.slice(0, 20))), 20);

    // The same commands directly on the stores, while no process runs.
    await oracle.stop();
    await waitUntilDrained(oiq.http);
    t.is(await oiq.stop(), 0, oiq.output());
    t.is(idsIn(await run('list', '--reason', 'since-valid')).length, 20);
    t.true(payloadIn(await run('show', one)).equals(storedPayload));
    t.is(sum(await replayConcurrently(run, 1, '--reason', 'since-valid')), 20);
    t.regex(await run('discard', one), /^discarded: 1 of 1$/m);

    oiq = await startOiq({ dataDirectory, environment });
    await waitUntilDrained(oiq.http);
    t.is(sum(await replayConcurrently(run, 1, '--reason', 'since-valid')), 0);
    t.is((await listDeadLetters(run, ids.length - 1)).length, ids.length - 1);
    await waitUntilDrained(oiq.http);
    t.is(await oiq.stop(), 0, oiq.output());
    const landed = await readBackEmbedded(dataDirectory, 'replayed');
    t.deepEqual(new Map([...landed].sort()), new Map(valid.map((id) => [`body of ${id}`, 1] as const).sort()));
    t.deepEqual(await readBackEmbedded(dataDirectory, 'refused'), new Map([['of two members', 2]]));
    assertReadBack(t, oracle, await readBackEmbedded(dataDirectory, oracle.service));
  },
);

test.serial('interrupted replays skip no letter and replay none twice', async (t) => {
  const { dataDirectory, environment } = await installation(t, 'dead-letter-killed');
  const valid: string[] = [];
  const replay = ['dead-letter', 'replay', '--reason', 'since-valid'] as const;
  const run = deadLetterCommand(t, environment);
  let killed = 0;
  for (let round = 0; killed < 2 && round < 10; round++) {
    // A replay that ended before its kill has left nothing to replay.
    const isFresh = killed === 0;
    if (isFresh) {
      const more = Array.from({ length: 640 }, (_, index) => `valid-${round}-${index}`);
      await publishValidDeadLetters(dataDirectory, more);
      valid.push(...more);
    }
    const oiq = await startOiq({ dataDirectory, environment });
    t.teardown(() => oiq.kill());
    if (isFresh) await listDeadLetters(run, 640, '--reason', 'since-valid');
    const replaying = spawnOiq({ args: replay, dataDirectory, environment, ports: [0, 0, 0] });
    let ended = false;
    void replaying.ended.then(() => {
      ended = true;
    });
    while (!ended && !/ of \d+ …/.test(replaying.output())) await delay(5);
    await oiq.kill();
    killed = (await replaying.ended) === 0 ? 0 : killed + 1;
  }
  t.is(killed, 2, 'no replay was killed while running');
  const last = await startOiq({ dataDirectory, environment });
  t.teardown(() => last.kill());
  t.regex(await run(...replay.slice(1)), /^replayed: \d+ of \d+$/m);
  t.is(replayedIn(await run(...replay.slice(1))), 0);
  await waitUntilDrained(last.http);
  t.is(await last.stop(), 0, last.output());
  const landed = await readBackEmbedded(dataDirectory, 'replayed');
  t.deepEqual(new Map([...landed].sort()), new Map(valid.map((id) => [`body of ${id}`, 1] as const).sort()));
});
