/** The status of a consumer group, derived from observations every few seconds. */
import test from 'ava';
import { formatProblems, type GroupObservation, GroupWatch } from '../../runtime/group-status.ts';

const intervalMs = 5000;
const group = 'sinks.logs';

/** Observes a group every five seconds for a number of seconds; returns its problem at the end. */
const after = (
  seconds: number,
  seen: (second: number) => Partial<Omit<GroupObservation, 'nowMs'>>,
): string | undefined => {
  const watch = new GroupWatch(group);
  for (let second = 0; second <= seconds; second += intervalMs / 1000)
    watch.update({ partitions: [], members: 1, ...seen(second), nowMs: 1_000_000_000 + second * 1000 });
  return formatProblems([watch.status]);
};

/** An observation of one partition. */
const at = (committed: number, lag: number, ageSeconds: number): Partial<GroupObservation> => ({
  partitions: [{ topic: 'otlp.logs', partition: 0, committed, lag, ageMs: ageSeconds * 1000 }],
});

test('a group that commits nothing while messages wait is reported as stalled after a minute', (t) => {
  const still = (second: number) => at(7, second + 1, second);
  t.is(after(55, still), undefined);
  t.is(after(60, still), 'sinks.logs has made no progress for 60 seconds: 61 messages wait, the oldest for 60 seconds');
});

test('one stalled partition is enough to report a group', (t) => {
  const problem = after(90, (second) => ({
    partitions: [
      { topic: 'otlp.logs', partition: 0, committed: second, lag: 3, ageMs: 2000 },
      { topic: 'otlp.logs', partition: 1, committed: 0, lag: 2, ageMs: second * 1000 },
    ],
  }));
  t.regex(
    problem ?? '',
    /^sinks\.logs has made no progress for 90 seconds: 5 messages wait, the oldest for 90 seconds$/,
  );
});

test('a group without messages, or one that makes progress, is always healthy', (t) => {
  t.is(
    after(900, () => at(7, 0, 0)),
    undefined,
  );
  t.is(
    after(900, (second) => at(second, 40, 30)),
    undefined,
  );
});

test('a lagging group that catches up is healthy', (t) => {
  t.is(
    after(600, (second) => at(second, 9000 - second, 900 - second)),
    undefined,
  );
});

test('a group without members is reported, with or without waiting messages', (t) => {
  const alone = (lag: number) => (second: number) => ({ ...at(7, lag, lag === 0 ? 0 : second), members: 0 });
  t.is(after(55, alone(0)), undefined);
  t.is(after(60, alone(0)), 'sinks.logs has no member: no process runs it');
  t.is(after(60, alone(3)), 'sinks.logs has no member: no process runs it; 3 messages wait, the oldest for 60 seconds');
});

test('a group that was briefly without members is healthy', (t) => {
  t.is(
    after(300, (second) => ({ ...at(7, 0, 0), members: second % 60 < 40 ? 0 : 2 })),
    undefined,
  );
});

test('lag that only grows for minutes is reported, even if the group makes progress', (t) => {
  // A batch with messages of twenty seconds takes thirty: the age rises by one second in three, and falls at each
  // commit.
  const behind = (second: number) => at(Math.floor(second / 30), second + 5, second - 20 * Math.floor(second / 30));
  t.is(after(120, behind), undefined);
  t.regex(after(320, behind) ?? '', /^sinks\.logs has growing lag: \d+ messages wait, the oldest for/);
});

test('lag that rises and falls is not reported as growing', (t) => {
  t.is(
    after(1200, (second) => at(second, 50, 60 + 30 * Math.sin(second / 100))),
    undefined,
  );
});

test('a group whose state cannot be read is reported after a minute', (t) => {
  const unknown = () => ({ partitions: undefined, members: undefined });
  t.is(after(55, unknown), undefined);
  t.is(after(60, unknown), 'sinks.logs has unknown progress: the bus does not respond');
});

test('a problem does not end while nothing is known, and names no number of messages that is not known', (t) => {
  const watch = new GroupWatch(group);
  const problems: (string | undefined)[] = [];
  const observe = (second: number, observation: object): void => {
    watch.update({ members: 1, ...observation, nowMs: second * 1000 } as GroupObservation);
    problems.push(watch.status.problem);
  };
  for (const second of [0, 30, 60]) observe(second, at(7, 3, second));
  const reported = problems.at(-1);
  t.regex(reported ?? '', /^has made no progress for 60 seconds/);
  for (const second of [65, 90, 120, 125, 300]) observe(second, { partitions: undefined, members: undefined });
  t.deepEqual(problems.slice(3), [
    ...[reported, reported, reported],
    ...['has unknown progress: the bus does not respond', 'has unknown progress: the bus does not respond'],
  ]);
  t.deepEqual(watch.status.partitions, []);
  observe(305, at(10, 0, 0));
  t.is(problems.at(-1), undefined);
});

test('a group without a member still has none while nothing is known', (t) => {
  const watch = new GroupWatch(group);
  for (const second of [0, 61]) watch.update({ ...at(7, 0, 0), members: 0, nowMs: second * 1000 } as GroupObservation);
  watch.update({ partitions: undefined, members: undefined, nowMs: 70_000 });
  t.is(watch.status.problem, 'has no member: no process runs it');
});

test('a clock that is set back restarts the minute', (t) => {
  const watch = new GroupWatch(group);
  for (const nowMs of [9_000_000, 9_030_000, 1_000_000, 1_040_000])
    watch.update({ ...at(7, 3, 0), nowMs, members: 1 } as GroupObservation);
  t.is(watch.status.problem, undefined);
  watch.update({ ...at(7, 3, 0), nowMs: 1_060_000, members: 1 } as GroupObservation);
  t.regex(watch.status.problem ?? '', /^has made no progress for 60 seconds/);
});

test('a log line names ten groups and counts the rest', (t) => {
  const alone = (name: string) => {
    const watch = new GroupWatch(name);
    for (const nowMs of [0, 60_000]) watch.update({ nowMs, partitions: [], members: 0 });
    return watch.status;
  };
  const line = formatProblems(Array.from({ length: 12 }, (_, at) => alone(`sinks.s${at}`))) ?? '';
  t.true(line.startsWith('sinks.s0 has no member: no process runs it; sinks.s1 '));
  t.true(line.endsWith('; and 2 more groups'));
});
