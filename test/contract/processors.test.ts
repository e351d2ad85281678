/** The contract of the engine for every processor, on the embedded stores. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { deliveriesName } from '../../processors/deliveries/deliveries.ts';
import { listConsumerGroups, processorGroups, startProcessors } from '../../processors/index.ts';
import { processors as registered } from '../../processors/registry.ts';
import { schedules } from '../../processors/schedules.ts';
import { decodeDeadLetter } from '../../schemas/dead-letter.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { Bus, BusRecord, Message, Producer } from '../../schemas/ports/bus.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { plans, plansTenant } from '../../schemas/resources/plan.ts';
import { processorStateChunks, processorStates } from '../../schemas/resources/processor-state.ts';
import { topics } from '../../schemas/topics.ts';
import { ignoredPages, visitCounts, visits } from '../cases/made-up-processor.ts';
import { eventually } from '../waiting.ts';
import { heavyMs, marks, processors, quick, shouts, words } from './made-up-processors.ts';

const group = 'processors.test-shouts';

interface Stores {
  readonly bus: Bus;
  readonly documents: Documents;
  readonly producer: Producer;
}

const open = async (t: ExecutionContext): Promise<Stores> => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-processors-'));
  const bus = await openSegmentsBus({ directory });
  await bus.ensureTopics([words, shouts, visits, visitCounts, topics.deadLetter]);
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
  await documents.ensureCollections([processorStates, processorStateChunks, marks, ignoredPages, plans, organizations]);
  const producer = await bus.producer();
  t.teardown(async () => {
    await producer.close();
    await bus.close();
    await documents.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return { bus, documents, producer };
};

interface Running {
  stop(): Promise<void>;
  readonly failed: Promise<void>;
  /** Sums of counters, by name and labels. */
  readonly counted: Map<string, number>;
}

const start = async (
  t: ExecutionContext,
  { bus, documents }: Stores,
  only: string | readonly string[],
  pool: { messageSeconds?: number } = {},
): Promise<Running> => {
  const counted = new Map<string, number>();
  const metrics: Metrics = {
    add(name, value, labels) {
      const key = [name, ...Object.values(labels as Record<string, string>)].join(' ');
      counted.set(key, (counted.get(key) ?? 0) + value);
    },
    set() {},
    observe() {},
  };
  const module = new URL('./made-up-processors.ts', import.meta.url);
  const role = await startProcessors({
    bus,
    documents,
    metrics,
    log: silentLog,
    clock: systemClock,
    only: [only].flat(),
    registered: { processors, module },
    pool: { threads: 1, ...pool },
    pace: { tickMs: 50 },
  });
  const ended = role.failure.catch(() => undefined);
  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    stopping ??= role.stop().then(() => ended);
    await stopping;
  };
  t.teardown(stop);
  return { stop, failed: role.failure, counted };
};

const all = async (bus: Bus, topic: { readonly name: string }): Promise<BusRecord[]> => {
  const records: BusRecord[] = [];
  for (const { partition, earliest, end } of await bus.offsets(topic.name))
    for await (const record of bus.read(topic.name, partition, earliest, end)) records.push(record);
  return records;
};

const shouted = async (bus: Bus): Promise<string[]> =>
  (await all(bus, shouts)).flatMap(({ value }) =>
    (JSON.parse(value.toString()) as { word: string }[]).map(({ word }) => word),
  );

const messageOf = (tenantId: string, tallyWords: readonly string[], headers: Message['headers'] = {}): Message => ({
  topic: words.name,
  key: tenantId,
  value: Buffer.from(JSON.stringify(tallyWords.map((word) => ({ tenantId, word })))),
  headers: { tenant: tenantId, records: String(tallyWords.length), ...headers },
});

const lagOf = async (bus: Bus, of = group): Promise<number> =>
  (await bus.lag(of, [words.name])).reduce((sum, { lag }) => sum + lag, 0);

const caughtUp = (bus: Bus, of = group): Promise<void> =>
  eventually('the processor has no lag', async () => (await lagOf(bus, of)) === 0);

test('messages that a step emits are published in order, with the headers for exactly-once consumption', async (t) => {
  const stores = await open(t);
  await stores.producer.publish([messageOf('acme', ['a', 'b']), messageOf('acme', ['c'])]);
  await start(t, stores, 'test-shouts');
  await caughtUp(stores.bus);
  t.deepEqual(await shouted(stores.bus), ['A', 'B', 'C']);
  for (const { headers } of await all(stores.bus, shouts)) {
    t.is(headers['tenant'], 'acme');
    t.regex(headers['emitter'] ?? '', /^[0-9a-f-]{36}$/);
    t.regex(headers['position'] ?? '', /^\d+\.\d+$/);
  }
});

test('a processor that takes 10 ms for each item blocks no other processor', async (t) => {
  const stores = await open(t);
  const tallyWords = Array.from({ length: 10 }, (_, index) => `word-${index}`);
  await stores.producer.publish(Array.from({ length: 60 }, () => messageOf('acme', tallyWords)));
  await start(t, stores, ['test-slow', ...quick]);
  for (const name of quick) await caughtUp(stores.bus, `processors.${name}`);
  // The slow processor is running now.
  await stores.producer.publish([messageOf('acme', tallyWords)]);
  for (const name of quick) await caughtUp(stores.bus, `processors.${name}`);
  t.is(await lagOf(stores.bus, 'processors.test-slow'), 61);
  await caughtUp(stores.bus, 'processors.test-slow');
});

test('a state that takes long to save is saved less often, at intervals of twenty times the save duration', async (t) => {
  const stores = await open(t);
  await stores.producer.publish([messageOf('acme', ['a'])]);
  const { counted } = await start(t, stores, 'test-heavy');
  const saved = () => counted.get('oiq_processor_snapshots_total test-heavy saved') ?? 0;
  await eventually('it was saved', () => saved() > 0);
  const [began, before] = [performance.now(), saved()];
  await eventually('it was saved again and again', () => saved() >= before + 3);
  // The first save may happen at once.
  const durationMs = performance.now() - began;
  t.true(durationMs > (saved() - before - 1) * 20 * heavyMs, `${saved() - before} in ${durationMs} ms`);
});

test('a dropped item is neither published nor a dead letter, and is counted by its reason', async (t) => {
  const stores = await open(t);
  await stores.producer.publish([messageOf('acme', ['a', 'unwanted', 'c'])]);
  const { counted } = await start(t, stores, 'test-shouts');
  await caughtUp(stores.bus);
  t.deepEqual(await shouted(stores.bus), ['A', 'C']);
  t.is((await all(stores.bus, topics.deadLetter)).length, 0);
  await eventually('it is counted', () => counted.get('oiq_processor_dropped_total test-shouts unwanted') === 1);
  t.is(counted.get('oiq_processor_items_total test-shouts'), 3);
  t.is(counted.get(`oiq_processor_emitted_values_total test-shouts ${shouts.name}`), 2);
});

for (const [word, reason] of [
  ['refused', 'bad-word'],
  ['broken', 'step-failed'],
] as const) {
  test(`an item that is ${word} goes to the dead letter queue alone; a replay of the letter steps that item alone`, async (t) => {
    const stores = await open(t);
    await stores.producer.publish([messageOf('acme', ['a', word, 'b']), messageOf('acme', ['c'])]);
    await start(t, stores, 'test-shouts');
    await caughtUp(stores.bus);
    t.deepEqual(await shouted(stores.bus), ['A', 'B', 'C']);
    const deadLetters = await all(stores.bus, topics.deadLetter);
    t.is(deadLetters.length, 1);
    const deadLetterHeaders = decodeDeadLetter(deadLetters[0]?.headers ?? {});
    t.like(deadLetterHeaders, {
      tenantId: 'acme',
      origin: group,
      kind: 'unprocessable',
      reason,
      topic: words.name,
      offset: 0,
    });
    t.is(deadLetterHeaders.originalHeaders['only-ordinals'], '1');
    const repaired = Buffer.from((deadLetters[0]?.value.toString() ?? '').replaceAll(word, 'repaired'));
    const headers = { ...deadLetterHeaders.originalHeaders, 'only-group': group };
    await stores.producer.publish([{ topic: words.name, key: 'acme', value: repaired, headers }]);
    await caughtUp(stores.bus);
    t.deepEqual(await shouted(stores.bus), ['A', 'B', 'C', 'REPAIRED']);
  });
}

test('a message that no schema describes is a dead letter as a whole', async (t) => {
  const stores = await open(t);
  await stores.producer.publish([{ ...messageOf('acme', []), value: Buffer.from('[7]') }, messageOf('acme', ['a'])]);
  await start(t, stores, 'test-shouts');
  await caughtUp(stores.bus);
  t.deepEqual(await shouted(stores.bus), ['A']);
  const [deadLetterHeaders] = (await all(stores.bus, topics.deadLetter)).map(({ headers }) =>
    decodeDeadLetter(headers),
  );
  t.is(deadLetterHeaders?.reason, 'bad-value');
  t.is(deadLetterHeaders?.originalHeaders['only-ordinals'], undefined);
});

test('nothing is acknowledged before its output is durable, and a message whose output could not be published is redelivered', async (t) => {
  const stores = await open(t);
  await stores.producer.publish([messageOf('acme', ['a'])]);
  const attempts: PromiseWithResolvers<void>[] = [];
  const refusing: Producer = {
    ...stores.producer,
    transaction: (name, work) => stores.producer.transaction(name, work),
    close: async () => undefined,
    async publish(messages) {
      const attempt = Promise.withResolvers<void>();
      attempts.push(attempt);
      await attempt.promise;
      await stores.producer.publish(messages);
    },
  };
  const bus = new Proxy(stores.bus, {
    get(target, name) {
      if (name === 'producer') return async () => refusing;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  await start(t, { ...stores, bus }, 'test-shouts');
  await eventually('it is published', () => attempts.length === 1);
  t.is(await lagOf(stores.bus), 1, 'publishing is under way');
  attempts[0]?.reject(new UnavailableError('the broker is away'));
  await eventually('it is published again', () => attempts.length === 2);
  t.is(await lagOf(stores.bus), 1, 'publishing failed');
  attempts[1]?.resolve();
  await caughtUp(stores.bus);
  t.deepEqual(await shouted(stores.bus), ['A']);
});

test('a stopped state continues from its position, with the same emitter', async (t) => {
  const stores = await open(t);
  for (const word of ['a', 'b']) {
    await stores.producer.publish([messageOf('acme', [word])]);
    const { stop } = await start(t, stores, 'test-shouts');
    await caughtUp(stores.bus);
    await stop();
  }
  const places = (await all(stores.bus, shouts)).map(({ headers }) => headers);
  t.is(new Set(places.map(({ emitter }) => emitter)).size, 1);
  t.deepEqual(
    places.map(({ position }) => position),
    ['0.0', '1.0'],
  );
});

test('too many dead letters of several tenants stop the processor instead of moving the whole topic to the dead letter queue', async (t) => {
  const stores = await open(t);
  const tenants = ['a', 'b', 'c', 'd'];
  await stores.producer.publish(
    Array.from({ length: 80 }, (_, index) => messageOf(tenants[index % 4] ?? '', ['broken'])),
  );
  const { counted } = await start(t, stores, 'test-shouts');
  await eventually('it rejects', () => (counted.get(`oiq_consumer_batches_total ${group} rejected`) ?? 0) > 1);
  t.is((await all(stores.bus, topics.deadLetter)).length, 0);
  t.is(await lagOf(stores.bus), 80);
});

test('a tenant that alone causes the dead letters is skipped, and others continue', async (t) => {
  const stores = await open(t);
  await stores.producer.publish(
    Array.from({ length: 60 }, (_, index) =>
      messageOf(index % 2 === 0 ? 'bad' : 'good', [index % 2 === 0 ? 'broken' : 'a']),
    ),
  );
  const { counted } = await start(t, stores, 'test-shouts');
  await caughtUp(stores.bus);
  await stores.producer.publish([messageOf('bad', ['b', 'c']), messageOf('good', ['d'])]);
  await caughtUp(stores.bus);
  t.is((await shouted(stores.bus)).filter((word) => word === 'A').length, 30);
  t.deepEqual((await shouted(stores.bus)).slice(30), ['D']);
  await eventually(
    'it is counted by name',
    () => counted.get('oiq_processor_limited_records_total test-shouts bad dead-letters') === 2,
  );
});

test('a tenant whose state is too large is skipped', async (t) => {
  const stores = await open(t);
  await stores.producer.publish([messageOf('bad', ['large'])]);
  const { counted } = await start(t, stores, 'test-shouts');
  await caughtUp(stores.bus);
  await stores.producer.publish([messageOf('bad', ['b']), messageOf('good', ['d'])]);
  await caughtUp(stores.bus);
  t.deepEqual(await shouted(stores.bus), ['D']);
  await eventually(
    'it is counted by name',
    () => counted.get('oiq_processor_limited_records_total test-shouts bad state-size') === 1,
  );
});

for (const [word, does] of [
  ['endless', 'never ends'],
  ['fatal', 'takes all memory'],
] as const) {
  test(`a message whose step ${does} goes to the dead letter queue, and the others continue`, async (t) => {
    const stores = await open(t);
    await stores.producer.publish([messageOf('acme', ['a']), messageOf('bad', [word]), messageOf('acme', ['b'])]);
    await start(t, stores, 'test-shouts', { messageSeconds: 1 });
    await caughtUp(stores.bus);
    t.deepEqual(await shouted(stores.bus), ['A', 'B']);
    const deadLetters = (await all(stores.bus, topics.deadLetter)).map(({ headers }) => decodeDeadLetter(headers));
    t.is(deadLetters.length, 1);
    t.like(deadLetters[0], { reason: 'too-slow', tenantId: 'bad', offset: 1 });
  });
}

test('a tenant whose timer never ends is skipped, and the others continue', async (t) => {
  const stores = await open(t);
  await stores.producer.publish([messageOf('bad', ['endless-timer']), messageOf('acme', ['a'])]);
  const { counted } = await start(t, stores, 'test-shouts', { messageSeconds: 1 });
  await caughtUp(stores.bus);
  await stores.producer.publish([messageOf('bad', ['b']), messageOf('acme', ['c'])]);
  await caughtUp(stores.bus);
  t.deepEqual(await shouted(stores.bus), ['A', 'C']);
  await eventually(
    'it is counted by name',
    () => (counted.get('oiq_processor_limited_records_total test-shouts bad too-slow') ?? 0) >= 1,
  );
});

test('followed documents reach the steps, including new documents', async (t) => {
  const stores = await open(t);
  const collection = stores.documents.forTenant('acme').collection(marks);
  await collection.insert({ mark: '!' });
  await stores.producer.publish([messageOf('acme', ['a']), messageOf('other', ['b'])]);
  await start(t, stores, 'test-shouts');
  await caughtUp(stores.bus);
  t.deepEqual(await shouted(stores.bus), ['A!', 'B']);
  await collection.insert({ mark: '?' });
  await eventually('the new one reaches them', async () => {
    await stores.producer.publish([messageOf('acme', ['c'])]);
    await caughtUp(stores.bus);
    return (await shouted(stores.bus)).at(-1) === 'C!?';
  });
  t.pass();
});

test('a batch is rejected while changes of the followed documents may be missing', async (t) => {
  const stores = await open(t);
  let staleMs = 6_000;
  const documents = new Proxy(stores.documents, {
    get(target, name) {
      if (name === 'follow')
        return async (...args: Parameters<Documents['follow']>) => ({
          ...(await target.follow(...args)),
          getStaleMs: () => staleMs,
        });
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  await stores.producer.publish([messageOf('acme', ['a'])]);
  await start(t, { ...stores, documents }, 'test-shouts');
  await new Promise((resolve) => setTimeout(resolve, 500));
  t.is(await lagOf(stores.bus), 1);
  staleMs = 0;
  await caughtUp(stores.bus);
  t.deepEqual(await shouted(stores.bus), ['A']);
});

test('only tenants whose plan has the entitlement are processed', async (t) => {
  const stores = await open(t);
  const limits = { requestsPerSecond: 1, requestsBurst: 1, requestsPerMinute: 1, bytesPerDay: null };
  const retentionDays = { logs: 1, metrics: 1, traces: 1 };
  for (const [id, entitlements] of [
    ['with', ['shouting']],
    ['without', ['logs']],
  ] as const)
    await stores.documents
      .forTenant(plansTenant)
      .collection(plans)
      .insert({ id, name: id, retentionDays, entitlements: [...entitlements], limits });
  for (const [id, planId, disabled] of [
    ['a', 'with', false],
    ['b', 'without', false],
    ['c', 'with', true],
  ] as const)
    await stores.documents
      .forTenant(organizationsTenant)
      .collection(organizations)
      .insert({ id, name: id, planId, disabled, retentionDays: {}, shards: 1 });
  await stores.producer.publish(['a', 'b', 'c', 'd'].map((tenantId) => messageOf(tenantId, [tenantId, tenantId])));
  const { counted } = await start(t, stores, 'test-entitled');
  await caughtUp(stores.bus, 'processors.test-entitled');
  t.deepEqual(await shouted(stores.bus), ['a', 'a']);
  await eventually('it is counted', () => counted.get('oiq_processor_dropped_total test-entitled not-entitled') === 6);
});

test('a replayed dead letter of another group is skipped', async (t) => {
  const stores = await open(t);
  await stores.producer.publish([messageOf('acme', ['a'], { 'only-group': 'others' })]);
  await start(t, stores, 'test-shouts');
  await caughtUp(stores.bus);
  t.deepEqual(await shouted(stores.bus), []);
});

test('a message of a derived topic is consumed once, however often it was published', async (t) => {
  const stores = await open(t);
  const at = (position: string) => ({ emitter: 'upstream', position });
  await stores.producer.publish([messageOf('acme', ['a'], at('7.0')), messageOf('acme', ['b'], at('7.1'))]);
  const { stop } = await start(t, stores, 'test-shouts');
  await caughtUp(stores.bus);
  await stop();
  await stores.producer.publish([messageOf('acme', ['b'], at('7.1')), messageOf('acme', ['c'], at('8.0'))]);
  await start(t, stores, 'test-shouts');
  await caughtUp(stores.bus);
  t.deepEqual(await shouted(stores.bus), ['A', 'B', 'C']);
});

test('when no more messages arrive, time closes windows', async (t) => {
  const stores = await open(t);
  const timeMs = Date.now() - 3_600_000;
  const value = Buffer.from(JSON.stringify([{ tenantId: 'acme', page: '/', timeMs, serial: 0 }]));
  await stores.producer.publish([{ topic: visits.name, key: 'acme', value, headers: { tenant: 'acme' } }]);
  let nowMs = Date.now();
  const stopped = await start(t, stores, 'test-visit-counts');
  await eventually('it is counted', async () => (await all(stores.bus, visitCounts)).length === 1);
  await stopped.stop();
  nowMs += 25_000;
  const role = await startProcessors({
    bus: stores.bus,
    documents: stores.documents,
    metrics: { add() {}, set() {}, observe() {} },
    log: silentLog,
    clock: { now: () => nowMs },
    only: ['test-visit-counts'],
    registered: { processors, module: new URL('./made-up-processors.ts', import.meta.url) },
    pace: { tickMs: 50 },
  });
  t.teardown(() => role.stop());
  await eventually('the window closes', async () => (await all(stores.bus, visitCounts)).length === 2);
  const [, { headers, value: closed } = { headers: {} as Record<string, string>, value: '' }] = await all(
    stores.bus,
    visitCounts,
  );
  t.like((JSON.parse(closed.toString()) as object[])[0], { kind: 'count', visits: 1 });
  t.is(headers['position'], `0.${2 ** 20}`);
});

test('an unknown processor name is refused with the available names', async (t) => {
  const stores = await open(t);
  const starting = startProcessors({
    ...stores,
    metrics: { add() {}, set() {}, observe() {} },
    log: silentLog,
    clock: systemClock,
    only: ['nothing'],
  });
  await t.throwsAsync(starting, { message: /processor nothing does not exist; available:/ });
});

test('every registered processor, schedule and delivery has a unique name, and so a unique consumer group', (t) => {
  const names = [...[...registered, ...schedules].map(({ name }) => name), deliveriesName];
  t.is(new Set(names).size, names.length);
  t.deepEqual(
    processorGroups.map(({ group: of }) => of),
    names.map((name) => `processors.${name}`),
  );
});

test('the consumer group of a processor reads its topics, and that of a schedule its assignment topic', (t) => {
  t.deepEqual(listConsumerGroups(processors.slice(0, 1), [{ name: 'alert-rules' }]), [
    { group, topics: [words.name] },
    { group: 'processors.alert-rules', topics: ['schedule.alert-rules'] },
  ]);
});
