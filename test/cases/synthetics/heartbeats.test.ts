/** From heartbeats to runs and states: which arrived, which were late, and which are unknown. */
import test from 'ava';
import { heartbeats } from '../../../processors/synthetics/heartbeats.ts';
import type { HeartbeatPing } from '../../../schemas/synthetic-heartbeats.ts';
import { CheckFields } from '../../../subjects/synthetics/check.ts';
import {
  applyHeartbeat,
  evaluateHeartbeats,
  type HeartbeatRun,
  type HeartbeatState,
  initialHeartbeatState,
  stopMonitoring,
} from '../../../subjects/synthetics/heartbeats.ts';
import { judgeChanges, type KnownStates } from '../../../subjects/synthetics/location-votes.ts';
import type { HeartbeatSchedule } from '../../../subjects/synthetics/types/heartbeat.ts';
import type { TimePeriod } from '../../../subjects/synthetics/uptime.ts';
import { TaskRun } from '../run-task.ts';

const fromMs = Date.parse('2026-03-01T12:00:00Z');
const settings = CheckFields.parse({
  name: 'backup',
  type: 'heartbeat',
  every: '1m',
  heartbeat: { grace: '10s', maxRunDuration: '30s' },
});
const expected: HeartbeatSchedule = { every: '1m', heartbeat: settings.heartbeat as HeartbeatSchedule['heartbeat'] };

const heartbeatOf = (
  signal: HeartbeatPing['signal'],
  at: number,
  more: Partial<HeartbeatPing> = {},
): HeartbeatPing => ({
  tenantId: 'acme',
  kind: 'beat',
  checkId: 'c',
  projectId: 'shop',
  signal,
  exitCode: null,
  runId: '',
  receivedMs: fromMs + at * 1000,
  message: '',
  ...more,
});

/** A heartbeat, or the second up to which all heartbeats are read. */
type Event = HeartbeatPing | number;

const runsOf = (
  events: readonly Event[],
  gaps: readonly TimePeriod[] = [],
): { heartbeats: HeartbeatState; runs: readonly HeartbeatRun[] } => {
  let heartbeats = initialHeartbeatState;
  const runs: HeartbeatRun[] = [];
  for (const event of events) {
    const result =
      typeof event === 'number'
        ? evaluateHeartbeats(heartbeats, expected, { nowMs: fromMs + event * 1000, gaps, createdMs: fromMs })
        : applyHeartbeat(heartbeats, event);
    heartbeats = result.nextState;
    runs.push(...result.runs);
  }
  return { heartbeats, runs };
};

const seconds = (ms: number): number => (ms - fromMs) / 1000;
const shown = ({ dueMs, toldMs: reportedAtMs, outcome, message }: HeartbeatRun): string =>
  `${seconds(dueMs)} ${seconds(reportedAtMs)} ${outcome} ${message}`.trim();

const late = 'failed no heartbeat arrived within 10s of the due time';
const cases: Readonly<Record<string, readonly [events: readonly Event[], runs: readonly string[]]>> = {
  'a single heartbeat is a run': [[0, heartbeatOf('end', 3)], ['3 3 passed']],
  'a run has a start and an end': [
    [0, heartbeatOf('start', 3), heartbeatOf('end', 9, { message: 'ok' })],
    ['3 9 passed ok'],
  ],
  'a non-zero exit code is a failure': [
    [0, heartbeatOf('end', 3, { exitCode: 0 }), heartbeatOf('end', 5, { exitCode: 2, message: 'disk full' })],
    ['3 3 passed', '5 5 failed it ended with exit code 2: disk full'],
  ],
  'a failure is one': [[0, heartbeatOf('start', 3), heartbeatOf('fail', 4)], ['3 4 failed it reported a failure']],
  'it is late when grace is over and all up to then is read': [[0, 60, 74, 75], [`60 70 ${late}`]],
  'it is late once for each time at which it was due': [
    [0, 75, 80, 135, 140, 195],
    [`60 70 ${late}`, `120 130 ${late}`, `180 190 ${late}`],
  ],
  'a beat within grace is not late': [[0, heartbeatOf('end', 69), 75, 100], ['69 69 passed']],
  'the interval starts with the last run': [
    [0, heartbeatOf('end', 30), 75, 90, 104, 105],
    ['30 30 passed', `90 100 ${late}`],
  ],
  'a started run is not late': [[0, heartbeatOf('start', 59), 75, heartbeatOf('end', 80), 90], ['59 80 passed']],
  'a run without end is too long, once': [
    [0, heartbeatOf('start', 10), 44, 45, 60],
    ['10 40 failed it did not end within 30s'],
  ],
  'a run that is too long and then ends counts as a run': [
    [0, heartbeatOf('start', 10), 45, heartbeatOf('end', 50)],
    ['10 40 failed it did not end within 30s', '50 50 passed'],
  ],
  'overlapping runs are distinguished by their ids': [
    [
      0,
      heartbeatOf('start', 10, { runId: 'a' }),
      heartbeatOf('start', 20, { runId: 'b' }),
      heartbeatOf('fail', 25, { runId: 'b' }),
      heartbeatOf('end', 30, { runId: 'a' }),
    ],
    ['20 25 failed it reported a failure', '10 30 passed'],
  ],
  'of runs that overlap one may be too long': [
    [
      0,
      heartbeatOf('start', 10, { runId: 'a' }),
      heartbeatOf('start', 20, { runId: 'b' }),
      heartbeatOf('end', 25, { runId: 'b' }),
      45,
    ],
    ['20 25 passed', '10 40 failed it did not end within 30s'],
  ],
  'overlapping runs without ids cannot be distinguished': [
    [0, heartbeatOf('start', 10), heartbeatOf('start', 20), heartbeatOf('end', 25)],
    ['10 20 unknown another run began before it ended: set an id (rid) for overlapping runs', '20 25 passed'],
  ],
  'a repeat counts once': [
    [
      0,
      heartbeatOf('start', 10, { runId: 'a' }),
      heartbeatOf('start', 11, { runId: 'a' }),
      heartbeatOf('end', 20, { runId: 'a' }),
      heartbeatOf('end', 21, { runId: 'a' }),
      heartbeatOf('start', 22, { runId: 'a' }),
      heartbeatOf('fail', 23, { runId: 'a' }),
      65,
    ],
    ['10 20 passed'],
  ],
  'simultaneous heartbeats are separate runs': [
    [0, heartbeatOf('end', 10), heartbeatOf('end', 10), heartbeatOf('end', 10, { exitCode: 1 })],
    ['10 10 passed', '10.001 10.001 passed', '10.002 10.002 failed it ended with exit code 1'],
  ],
};

for (const [title, [events, runs]] of Object.entries(cases))
  test(title, (t) => t.deepEqual(runsOf(events).runs.map(shown), runs));

test('a heartbeat that was due while none were accepted is unknown, and the next one is expected', (t) => {
  const gap = { fromMs: fromMs + 50_000, toMs: fromMs + 200_000 };
  const { runs } = runsOf([0, heartbeatOf('end', 1), 50, 200, 260, 316], [gap]);
  t.deepEqual(runs.map(shown), [
    '1 1 passed',
    '61 71 unknown no heartbeats were accepted from 2026-03-01T12:00:50.000Z to 2026-03-01T12:03:20.000Z',
    `241 251 ${late}`,
    `301 311 ${late}`,
  ]);
  const open = runsOf([0, heartbeatOf('start', 45), 50, 200], [gap]).runs[0];
  t.is(open?.outcome, 'unknown');
  t.regex(open?.message ?? '', /its end was not reported within 30s; no heartbeats were accepted from/);
});

test('a run that continues past the next due times is not late, and neither is its end', (t) => {
  const slow: HeartbeatSchedule = { ...expected, heartbeat: { ...expected.heartbeat, maxRunDuration: '5m' } };
  const at = (heartbeats: HeartbeatState, second: number) =>
    evaluateHeartbeats(heartbeats, slow, { nowMs: fromMs + second * 1000, gaps: [], createdMs: fromMs });
  const started = at(applyHeartbeat(at(initialHeartbeatState, 0).nextState, heartbeatOf('start', 10)).nextState, 200);
  t.deepEqual(started.runs, []);
  const ended = applyHeartbeat(started.nextState, heartbeatOf('end', 200));
  t.deepEqual(ended.runs.map(shown), ['10 200 passed']);
  t.deepEqual(at(ended.nextState, 264).runs, []);
  t.deepEqual(at(ended.nextState, 265).runs.map(shown), [`250 260 ${late}`]);
});

test('no heartbeat is late for a time when it was not monitored, or was expected at other times', (t) => {
  const { heartbeats } = runsOf([0, heartbeatOf('end', 1), 20]);
  const checkOptions = { gaps: [], createdMs: fromMs };
  const again = evaluateHeartbeats(stopMonitoring(heartbeats), expected, { ...checkOptions, nowMs: fromMs + 600_000 });
  t.deepEqual(again.runs, []);
  const next = evaluateHeartbeats(again.nextState, expected, { ...checkOptions, nowMs: fromMs + 690_000 });
  t.deepEqual(next.runs.map(shown), [`601 611 ${late}`, `661 671 ${late}`]);
  const hourly = { ...expected, heartbeat: { ...expected.heartbeat, cron: '0 * * * *' } };
  const changed = evaluateHeartbeats(heartbeats, hourly, { ...checkOptions, nowMs: fromMs + 7_300_000 });
  t.deepEqual(changed.runs, []);
  t.is(evaluateHeartbeats(changed.nextState, hourly, { ...checkOptions, nowMs: fromMs + 10_815_000 }).runs.length, 1);
});

test('the number of open runs is limited', (t) => {
  const { heartbeats, runs } = runsOf([
    0,
    ...Array.from({ length: 60 }, (_, index) => heartbeatOf('start', 1, { runId: `${index}` })),
  ]);
  t.is(heartbeats.open.length, 50);
  t.is(runs.length, 10);
  t.is(new Set([...runs.map(({ dueMs }) => dueMs), ...heartbeats.open.map(({ startedMs }) => startedMs)]).size, 60);
});

test('states are evaluated like those of other checks, and a check that is silent for too long is unknown', (t) => {
  const check = { id: 'c', enabled: true, every: '1m', locations: [], consensus: settings.consensus };
  const its = { ...check, heartbeat: expected.heartbeat };
  const judged = (outcome: 'passed' | 'failed' | 'unknown', agoMs: number, known: KnownStates = {}, of = its) => {
    const nowMs = fromMs + 3_600_000;
    const latest = [{ checkId: 'c', location: 'heartbeat', outcome, startedAtMs: nowMs - agoMs }];
    return judgeChanges(of, known, { latest, suspects: new Set(), nowMs }).changes.map(({ location, state }) => [
      location,
      state,
    ]);
  };
  t.deepEqual(judged('passed', 1000), [['', 'up']]);
  t.deepEqual(judged('failed', 1000), [['', 'down']]);
  t.deepEqual(judged('unknown', 1000), []);
  const up: KnownStates = { '': { state: 'up', atMs: fromMs } };
  // The interval, the grace period, the longest run and the processing time: until then the next heartbeat can arrive.
  t.deepEqual(judged('passed', 219_000, up), []);
  t.deepEqual(judged('passed', 221_000, up), [['', 'unknown']]);
  t.deepEqual(judged('passed', 1000, up, { ...its, enabled: false }), [['', 'unknown']]);
  const daily = { ...its, heartbeat: { ...expected.heartbeat, cron: '0 2 * * *' } };
  t.deepEqual(judged('passed', 7_200_000, up, daily), []);
});

const stored = (id: string, fields: object = {}) => ({
  ...settings,
  locations: [],
  ...fields,
  id,
  version: 1,
  createdAt: new Date(fromMs).toISOString(),
  updatedAt: new Date(fromMs).toISOString(),
});

/** The processor over one partition; a number is the second up to which all heartbeats are read. */
const processorRun = (ids: readonly string[] = ['c']) => {
  const run = new TaskRun(heartbeats);
  const follow = (id: string, fields?: object): void =>
    run.task.applyChange('synthetic-checks', 'acme', id, fields && stored(id, fields));
  for (const id of ids) follow(id, {});
  const itemOf = (event: Event): object =>
    typeof event === 'number' ? { tenantId: 'acme', kind: 'pulse', receivedMs: fromMs + event * 1000 } : event;
  return {
    run,
    follow,
    consume: (...events: readonly Event[]) => run.values(events.map(itemOf), { atMs: fromMs }),
    reportedRuns: () => run.emitted<HeartbeatRun & { checkId: string }>().map((one) => `${one.checkId} ${shown(one)}`),
  };
};
const everyFive = (from: number, to: number): number[] =>
  Array.from({ length: Math.floor((to - from) / 5) + 1 }, (_, index) => from + index * 5);

test('while stored heartbeats are unread, none is missed: they are read first, however late', (t) => {
  const { run, consume, reportedRuns } = processorRun();
  consume(...everyFive(0, 40), heartbeatOf('end', 41));
  // The log is not read for hours, while the clock advances.
  t.is(run.tick(fromMs + 7_200_000), undefined);
  consume(...everyFive(45, 90), heartbeatOf('end', 92), ...everyFive(95, 140), heartbeatOf('end', 150), 155);
  t.deepEqual(reportedRuns(), ['c 41 41 passed', 'c 92 92 passed', 'c 150 150 passed']);
  consume(...everyFive(160, 230));
  t.deepEqual(reportedRuns().slice(3), [`c 210 220 ${late}`]);
});

test('while no heartbeats were accepted, none is missed', (t) => {
  const { consume, reportedRuns } = processorRun();
  consume(...everyFive(0, 40), heartbeatOf('end', 41), 45, 600, 605);
  t.deepEqual(reportedRuns(), [
    'c 41 41 passed',
    'c 101 111 unknown no heartbeats were accepted from 2026-03-01T12:00:45.000Z to 2026-03-01T12:10:00.000Z',
  ]);
  consume(...everyFive(610, 660));
  t.deepEqual(reportedRuns().slice(2), [`c 641 651 ${late}`]);
});

test('a snapshot resumes at its position, at each message', (t) => {
  const events = [
    ...[...everyFive(0, 40), heartbeatOf('start', 41, { runId: 'a' }), heartbeatOf('start', 42, { runId: 'b' }), 45],
    ...[
      heartbeatOf('end', 46, { runId: 'a' }),
      heartbeatOf('end', 47, { runId: 'a' }),
      ...everyFive(50, 100),
      200,
      300,
    ],
  ];
  const one = processorRun();
  const other = processorRun();
  for (const event of events) {
    one.consume(event);
    other.consume(event);
    other.run.restart();
    other.follow('c', {});
  }
  t.deepEqual(other.reportedRuns(), one.reportedRuns());
  t.true(one.reportedRuns().length >= 4, one.reportedRuns().join('\n'));
});

test('heartbeats of a check that is not known locally yet count, and a disabled or deleted check misses none', (t) => {
  const { consume, reportedRuns, follow, run } = processorRun([]);
  consume(0, heartbeatOf('end', 1), 5);
  follow('c', {});
  consume(...everyFive(10, 60), heartbeatOf('end', 61));
  follow('c', { enabled: false });
  consume(...everyFive(65, 300));
  follow('c', {});
  consume(...everyFive(305, 350));
  follow('c');
  consume(...everyFive(355, 600));
  t.deepEqual(reportedRuns(), ['c 1 1 passed', 'c 61 61 passed']);
  const bytes = () => run.task.status.bytes;
  const before = bytes();
  consume(4500);
  t.true(bytes() < before);
});
