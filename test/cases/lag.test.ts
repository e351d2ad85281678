import { mock } from 'node:test';
import test from 'ava';
import { computeLargestPartitionShare, GroupLagMonitor, watchGroups } from '../../commands/lag.ts';
import type { Lag } from '../../schemas/ports/bus.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { eventually } from '../waiting.ts';

/** Returns a function that checks these groups once. */
const makeLagReport = (
  reporting: ConstructorParameters<typeof GroupLagMonitor>[0],
  groups: Parameters<GroupLagMonitor['add']>[0],
) => {
  const history = new GroupLagMonitor(reporting);
  history.add(groups);
  return () => history.check();
};

/** A member in each group. */
const members = async (groupNames: readonly string[]) => new Map(groupNames.map((group) => [group, 1]));

const groups = [
  { group: 'known', topics: ['a'] },
  { group: 'lost', topics: ['b'] },
];

/** Partitions that retain a message for each offset and time; `reads` contains the offsets that were read. */
const messages = (times: ReadonlyMap<number, number>) => {
  const reads: number[] = [];
  return {
    reads,
    offsets: async () => [{ partition: 0, earliest: Math.min(...times.keys()), end: times.size }],
    async *read(_topic: string, _partition: number, from: number, to: number) {
      reads.push(from);
      for (const [offset, timestampMs] of times)
        if (offset >= from && offset < to) yield { offset, timestampMs, key: '', value: Buffer.alloc(0), headers: {} };
    },
  };
};

test('Unknown lag is NaN and not the last value, and only for the affected group', async (t) => {
  let isAway = false;
  const reported = new Map<string, number>();
  const lagOf = async (group: string, [topic = '']: readonly string[]): Promise<Lag[]> => {
    if (isAway && group === 'lost') throw new Error('the coordinator is away');
    return [{ topic, partition: 0, committed: 1, end: 8, lag: 7 }];
  };
  const report = makeLagReport(
    {
      bus: { lag: lagOf, members, ...messages(new Map()) },
      clock: { now: () => 0 },
      metrics: {
        set: (name, value, labels) => {
          if (name === 'oiq_consumer_lag_messages' && 'group' in labels) reported.set(String(labels.group), value);
        },
      },
      log: silentLog,
    },
    groups,
  );
  const seen: unknown[] = [];
  for (const isUnavailable of [false, true, false]) {
    isAway = isUnavailable;
    await report();
    seen.push(Object.fromEntries(reported));
  }
  t.deepEqual(seen, [
    { known: 7, lost: 7 },
    { known: 7, lost: Number.NaN },
    { known: 7, lost: 7 },
  ]);
});

test('The groups are read together, so that all are known to be unknown after one time limit', async (t) => {
  const pending: ((error: Error) => void)[] = [];
  const names = Array.from({ length: 40 }, (_, index) => ({ group: `group-${index}`, topics: ['a'] }));
  const monitor = new GroupLagMonitor({
    bus: {
      lag: () => new Promise<Lag[]>((_, reject) => pending.push(reject)),
      members,
      ...messages(new Map()),
    },
    clock: { now: () => 0 },
    metrics: { set: () => undefined },
    log: silentLog,
  });
  monitor.add(names);
  const checking = monitor.check();
  await eventually('all are read', () => pending.length === names.length);
  for (const reject of pending) reject(new Error('Kafka is away'));
  await checking;
  t.is(monitor.getStatuses().filter(({ partitions }) => partitions.length === 0).length, names.length);
});

test('The share of the most lagging partition shows whether the other partitions wait for it', (t) => {
  const lagging = (...lags: number[]): Lag[] =>
    lags.map((lag, partition) => ({ topic: 'a', partition, committed: 0, end: lag, lag }));
  t.is(computeLargestPartitionShare(lagging(0, 0, 0)), 0);
  t.is(computeLargestPartitionShare(lagging(5, 5, 5, 5)), 0.25);
  t.is(computeLargestPartitionShare(lagging(0, 90, 10)), 0.9);
  t.is(computeLargestPartitionShare(lagging(7)), 0, 'there is nothing to spread over');
  t.is(computeLargestPartitionShare(lagging(Number.NaN, Number.NaN)), Number.NaN, 'unknown stays unknown');
});

test('The lag age is that of the oldest uncommitted message, within one poll, and records are read only if necessary', async (t) => {
  // One message per second; those before offset 10 are no longer retained.
  const times = new Map(Array.from({ length: 200 }, (_, index) => [index + 10, (index + 10) * 1000]));
  const { reads, ...bus } = messages(times);
  let at = { committed: 0, end: 0, nowMs: 0 };
  let isAway = false;
  let age: number | undefined;
  const report = makeLagReport(
    {
      bus: {
        ...bus,
        members,
        async lag() {
          if (isAway) throw new Error('the coordinator is away');
          return [{ topic: 'a', partition: 0, ...at, lag: at.end - at.committed }];
        },
      },
      clock: { now: () => at.nowMs },
      metrics: {
        set: (name, value) => {
          if (name === 'oiq_consumer_lag_seconds') age = value;
        },
      },
      log: silentLog,
    },
    [{ group: 'one', topics: ['a'] }],
  );
  const cases = [
    { title: 'a start with lag', committed: 40, end: 100, age: 60, reads: [40] },
    { title: 'standing still', committed: 40, end: 105, age: 65, reads: [] },
    { title: 'moving, still behind', committed: 70, end: 110, age: 40, reads: [70] },
    { title: 'caught up with the last end', committed: 111, end: 115, age: 0, reads: [] },
    { title: 'standing still since then', committed: 111, end: 120, age: 5, reads: [] },
    { title: 'no lag', committed: 125, end: 125, age: 0, reads: [] },
    { title: 'no lag, and no new messages', committed: 125, end: 125, nowMs: 140_000, age: 0, reads: [] },
    { title: 'a message after a long time', committed: 125, end: 146, nowMs: 146_000, age: 0, reads: [] },
    { title: 'unknown', isAway: true, committed: 0, end: 150, age: Number.NaN, reads: [] },
    { title: 'known again', committed: 150, end: 190, age: 40, reads: [150] },
    { title: 'below the retained messages', committed: 0, end: 200, age: 190, reads: [10] },
    { title: 'beyond the readable messages', committed: 250, end: 300, age: 0, reads: [] },
    { title: 'beyond the readable messages, with lag', committed: 260, end: 310, age: Number.NaN, reads: [260] },
  ];
  for (const { title, committed, end, nowMs = end * 1000, isAway: isUnavailable = false, ...expected } of cases) {
    at = { committed, end, nowMs };
    isAway = isUnavailable;
    reads.length = 0;
    await report();
    t.deepEqual({ age, reads }, expected, title);
  }
});

test('A process reports the groups of its own roles at once, and other groups later', async (t) => {
  const reportedGroups: string[] = [];
  const { promise: hasReported, resolve } = Promise.withResolvers<void>();
  const lag = async (group: string): Promise<Lag[]> => {
    reportedGroups.push(group);
    if (group.startsWith('processors.')) resolve();
    return [];
  };
  const platform = {
    bus: { lag, members, ...messages(new Map()) },
    clock: { now: () => 0 },
    metrics: { set() {} },
    log: silentLog,
  };
  const { stop } = watchGroups(platform, ['sinks'], { othersAfter: 1 });
  await hasReported;
  stop();
  t.true(reportedGroups[0]?.startsWith('sinks.'));
  t.true(reportedGroups.includes('sinks.logs'));
});

test('A process that consumes nothing but serves group status checks all groups', async (t) => {
  const platform = {
    bus: { lag: async () => [], members, ...messages(new Map()) },
    clock: { now: () => 0 },
    metrics: { set() {} },
    log: silentLog,
  };
  const groupWatch = watchGroups(platform, [], { othersAfter: 1, isRequired: true });
  const known = (): readonly string[] => groupWatch.getStatuses().map(({ group }) => group);
  await eventually('all', () => known().includes('sinks.logs') && known().includes('processors.alert-evaluation'));
  groupWatch.stop();
  t.pass();
});

test('Unknown lags are logged in one line, and so are groups that do not keep up', async (t) => {
  const lines: { readonly message: string; readonly fields: object }[] = [];
  const clock = { nowMs: 0, now: () => clock.nowMs };
  const isLost = (group: string): boolean => group.startsWith('lost');
  const check = makeLagReport(
    {
      bus: {
        async lag(group, [topic = '']) {
          if (isLost(group)) throw new Error('the coordinator is away');
          return [{ topic, partition: 0, committed: 0, end: 1, lag: 1 }];
        },
        members,
        ...messages(new Map([[0, 0]])),
      },
      clock,
      metrics: { set() {} },
      log: { ...silentLog, warn: (fields, message) => void lines.push({ message, fields }) },
    },
    ['lost 1', 'lost 2', 'lost 3', 'still 1', 'still 2'].map((group) => ({ group, topics: ['a'] })),
  );
  for (; clock.nowMs <= 60_000; clock.nowMs += 5000) await check();
  const linesOf = (message: string) => lines.filter((line) => line.message === message);
  await eventually('both', () => linesOf('consumer groups are lagging').length > 0 && lines.length > 1);
  t.deepEqual(linesOf('the lag of groups is unknown')[0]?.fields, {
    error: new Error('the coordinator is away'),
    groups: 3,
  });
  const [{ fields } = { fields: {} }] = linesOf('consumer groups are lagging');
  t.like(fields, { groups: 5 });
  t.regex(JSON.stringify(fields), /lost 1 has unknown progress.*still 2 has made no progress for 60 seconds/);
});

test('A process that consumes nothing reports no lag', (t) => {
  const bus = { lag: () => Promise.reject(new Error('nobody asks')), members, ...messages(new Map()) };
  const platform = { bus, clock: { now: () => 0 }, metrics: { set: () => t.fail() }, log: silentLog };
  const { stop } = watchGroups(platform, [], { othersAfter: 0 });
  stop();
  t.pass();
});

test.serial(
  'A record that is read slowly makes only its own age unknown, and few records are read together',
  async (t) => {
    mock.timers.enable({ apis: ['setTimeout'] });
    t.teardown(() => mock.timers.reset());
    const partitions = 40;
    let reads = 0;
    const metricsOf = new Map<string, number[]>();
    const check = makeLagReport(
      {
        bus: {
          lag: async (_group, [topic = '']) =>
            Array.from({ length: partitions }, (_, partition) => ({ topic, partition, committed: 1, end: 8, lag: 7 })),
          members,
          offsets: async () => [],
          async *read() {
            reads++;
            await new Promise<never>(() => undefined);
            yield { offset: 1, timestampMs: 0, key: '', value: Buffer.alloc(0), headers: {} };
          },
        },
        clock: { now: () => 0 },
        metrics: { set: (name, value) => void metricsOf.set(name, [...(metricsOf.get(name) ?? []), value]) },
        log: silentLog,
      },
      [{ group: 'slow', topics: ['a'] }],
    );
    for (let checks = 0; checks < 2; checks++) {
      metricsOf.clear();
      let isChecked = false;
      const checking = check().then(() => {
        isChecked = true;
      });
      for (let turns = 0; turns < 100 && !isChecked; turns++) {
        for (let steps = 0; steps < 50; steps++) await Promise.resolve();
        mock.timers.tick(1000);
      }
      await checking;
      t.deepEqual(metricsOf.get('oiq_consumer_lag_messages'), Array(partitions).fill(7));
      t.deepEqual(metricsOf.get('oiq_consumer_lag_seconds'), Array(partitions).fill(Number.NaN));
    }
    t.true(reads > 0 && reads <= 8, `${reads} reads`);
  },
);
