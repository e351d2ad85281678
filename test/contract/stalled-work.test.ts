/** Each registered sink, processor and schedule is blocked, not killed, and reported within two minutes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { createMemoryCounters } from '../../adapters/counters-memory.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { createFileMailer } from '../../adapters/mail-file.ts';
import { createMetricsProvider } from '../../adapters/own-telemetry/metrics.ts';
import { ensureCollections } from '../../api/index.ts';
import { GroupLagMonitor } from '../../commands/lag.ts';
import { deliveriesName } from '../../processors/deliveries/deliveries.ts';
import { processorGroups, scheduleTopics, startProcessors } from '../../processors/index.ts';
import { processors } from '../../processors/registry.ts';
import { schedules } from '../../processors/schedules.ts';
import { toConsumerGroup } from '../../runtime/consumer-groups.ts';
import { formatProblems } from '../../runtime/group-status.ts';
import type { Bus } from '../../schemas/ports/bus.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { type Log, silentLog } from '../../schemas/ports/log.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { allTopics } from '../../schemas/topics.ts';
import { sinkGroups, startSinks } from '../../sinks/index.ts';
import { sinks } from '../../sinks/registry.ts';
import { eventually } from '../waiting.ts';

const twoMinutesMs = 120_000;
const checkIntervalMs = 5000;

/** Ports that are never used, because each call is blocked before. */
const columns = { check: async () => undefined, forTenant: () => ({}) } as unknown as Columns;

const open = async (t: ExecutionContext) => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-standing-'));
  const bus = await openSegmentsBus({ directory: join(directory, 'bus') });
  await bus.ensureTopics([...allTopics, ...scheduleTopics]);
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
  await ensureCollections(documents);
  const clock = { nowMs: Date.now(), now: () => clock.nowMs };
  const warnings: object[] = [];
  const log: Log = { ...silentLog, warn: (fields) => void warnings.push(fields) };
  const metrics = await createMetricsProvider(undefined, { instance: 'test', version: 'test' });
  const mailer = await createFileMailer({ path: join(directory, 'outbox.jsonl') });
  const settings = parseSettings({ OIQ_DATA_DIR: directory, OIQ_SECRET_KEY: 'a key of a test, long enough for one' });
  t.teardown(async () => {
    await bus.close();
    await documents.close();
    await metrics.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const platform = { bus, documents, columns, metrics, log, clock, mailer, settings, embedded: true };
  return { ...platform, counters: createMemoryCounters({}), warnings };
};

/** A bus on which no batch finishes before `release`; `handed` contains the groups that received one. */
const blocked = (bus: Bus) => {
  const released = Promise.withResolvers<void>();
  const handed = new Set<string>();
  const wrapped: Bus = {
    ensureTopics: (all) => bus.ensureTopics(all),
    producer: () => bus.producer(),
    createFollower: () => bus.createFollower(),
    offsets: (topic) => bus.offsets(topic),
    lag: (group, topics) => bus.lag(group, topics),
    members: (groups) => bus.members(groups),
    deleteGroup: (group) => bus.deleteGroup(group),
    check: () => bus.check(),
    close: () => bus.close(),
    read: (topic, partition, from, to) => bus.read(topic, partition, from, to),
    createConsumer(options) {
      const consumer = bus.createConsumer(options);
      const hold = (): Promise<void> => {
        handed.add(options.group);
        return released.promise;
      };
      const run: typeof consumer.run = (topics, _onBatch, events) => consumer.run(topics, hold, events);
      return { run, stop: () => consumer.stop() };
    },
  };
  return { bus: wrapped, handed, release: released.resolve };
};

const registered = [
  ...sinks.map(({ name }) => toConsumerGroup('sinks', name)),
  ...[...processors, { name: deliveriesName }].map(({ name }) => toConsumerGroup('processors', name)),
];
const ofSchedules = schedules.map(({ name }) => toConsumerGroup('processors', name));

test('each blocked sink and processor, and each group without a member, is reported', async (t) => {
  const platform = await open(t);
  const { bus, clock, metrics, warnings } = platform;
  const groupHealth = new GroupLagMonitor(platform);
  groupHealth.add([...sinkGroups, ...processorGroups]);
  t.deepEqual(
    groupHealth
      .getStatuses()
      .map(({ group }) => group)
      .toSorted(),
    [...registered, ...ofSchedules].toSorted(),
  );

  const producer = await bus.producer();
  const read = new Set(
    groupHealth.getStatuses().length === 0 ? [] : [...sinkGroups, ...processorGroups].flatMap((each) => each.topics),
  );
  for (const { name } of scheduleTopics) read.delete(name);
  for (const topic of read) await producer.publish([{ topic, key: 'acme', value: Buffer.from('[]'), headers: {} }]);
  await producer.close();

  const held = blocked(bus);
  const roles = [
    await startSinks({ ...platform, bus: held.bus }),
    await startProcessors({ ...platform, bus: held.bus }),
  ];
  await eventually('each has a batch', () => registered.every((group) => held.handed.has(group)));
  const pass = async (): Promise<void> => {
    for (let passed = 0; passed < twoMinutesMs; passed += checkIntervalMs) {
      await groupHealth.check();
      clock.nowMs += checkIntervalMs;
    }
  };
  const problems = (): Map<string, string | undefined> =>
    new Map(groupHealth.getStatuses().map((status) => [status.group, formatProblems([status])]));
  await pass();
  for (const group of registered) t.regex(problems().get(group) ?? '', /has made no progress for \d+ seconds/, group);
  for (const group of ofSchedules) t.is(problems().get(group), undefined, `${group} has nothing to read`);
  const text = await metrics.text();
  for (const group of registered) {
    const [, seconds] =
      new RegExp(`oiq_consumer_still_seconds\\{[^}]*group="${group}"[^}]*\\} (\\S+)`).exec(text) ?? [];
    t.true(Number(seconds) >= 60, `${group}: ${seconds}`);
  }
  await eventually('the log tells', () => warnings.some((fields) => 'problems' in fields));

  held.release();
  await Promise.all(roles.map((role) => role.stop()));
  await pass();
  for (const [group, problem] of problems()) t.regex(problem ?? '', /has no member: no process runs it/, group);
});

test('each schedule whose runs do not end is reported', async (t) => {
  const platform = await open(t);
  const { documents, clock } = platform;
  const begun = new Set<string>();
  const release = Promise.withResolvers<object>();
  const blockedSchedules = schedules.map(({ entitlement: _, ...schedule }) => ({
    ...schedule,
    // The object's definition does not matter: it is due every ten seconds, and its run waits.
    everyMs: () => 10_000,
    listDueTimes: () => ({ batchMs: 5_000 }),
    run(): Promise<object> {
      begun.add(schedule.name);
      return release.promise;
    },
  }));
  for (const { collection: items } of schedules)
    await documents.forTenant('acme').collection(items).insert({ id: 'thing' });
  const role = await startProcessors({
    ...platform,
    registered: {
      processors: [],
      schedules: blockedSchedules,
      module: new URL('../../processors/registry.ts', import.meta.url),
    },
  });
  t.teardown(async () => {
    release.resolve({});
    await role.stop();
  });
  await eventually('each run has begun', () => {
    clock.nowMs += 1000;
    return begun.size === schedules.length;
  });
  clock.nowMs += twoMinutesMs;
  await eventually('it is told of all', () =>
    schedules.every(({ name }) =>
      (role.getDegradation?.() ?? '').includes(`${name}: 1 have been due for more than three`),
    ),
  );
  t.pass();
});
