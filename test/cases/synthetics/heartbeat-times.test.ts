/** When heartbeats are due, across clock changes, and which expectations are invalid. */
import test from 'ava';
import { readCheckFiles, writeCheckYaml } from '../../../subjects/synthetics/as-code.ts';
import { CheckFields, toStoredCheck } from '../../../subjects/synthetics/check.ts';
import {
  computeKnownUntilMs,
  findNextDueAfterHeartbeat,
  getGraceMs,
  listNextDueTimes,
} from '../../../subjects/synthetics/heartbeat-times.ts';
import { findCheckProblems } from '../../../subjects/synthetics/problems.ts';
import type { HeartbeatSchedule } from '../../../subjects/synthetics/types/heartbeat.ts';

const checkOf = (heartbeat: object, fields: object = {}): CheckFields =>
  toStoredCheck(CheckFields.parse({ name: 'backup', type: 'heartbeat', heartbeat, ...fields }));
const expectedOf = (heartbeat: object, every = '1m'): HeartbeatSchedule => {
  const check = checkOf(heartbeat, { every });
  return { every: check.every, heartbeat: check.heartbeat as HeartbeatSchedule['heartbeat'] };
};

test('the next five times are listed, even across clock changes', (t) => {
  const table: readonly (readonly [cron: string, zone: string, after: string, times: string])[] = [
    // 02:30 is skipped on the 29th: the heartbeat is due when the clock has been set forward.
    ['30 2 * * *', 'Europe/Berlin', '2026-03-27T12:00Z', '28T01:30 29T01:00 30T00:30 31T00:30 01T00:30'],
    // 02:30 occurs twice on the 25th: the heartbeat is due once.
    ['30 2 * * *', 'Europe/Berlin', '2026-10-23T12:00Z', '24T00:30 25T00:30 26T01:30 27T01:30 28T01:30'],
    // A heartbeat every half hour follows elapsed time.
    ['*/30 * * * *', 'Europe/Berlin', '2026-03-29T00:10Z', '29T00:30 29T01:00 29T01:30 29T02:00 29T02:30'],
    ['*/30 * * * *', 'Europe/Berlin', '2026-10-25T00:10Z', '25T00:30 25T01:00 25T01:30 25T02:00 25T02:30'],
    // A clock change by half an hour.
    ['30 * * * *', 'Australia/Lord_Howe', '2026-04-04T13:00Z', '04T13:30 04T14:30 04T15:00 04T16:00 04T17:00'],
    // A midnight that does not exist.
    ['0 0 * * *', 'America/Sao_Paulo', '2018-11-02T12:00Z', '03T03:00 04T03:00 05T02:00 06T02:00 07T02:00'],
    ['0 4 * * 1-5', 'UTC', '2026-03-05T12:00Z', '06T04:00 09T04:00 10T04:00 11T04:00 12T04:00'],
    ['0 0 29 2 *', 'UTC', '2026-03-05T12:00Z', '29T00:00 29T00:00 29T00:00 29T00:00 29T00:00'],
  ];
  for (const [cron, timeZone, after, times] of table) {
    const dueQuery = { baseMs: 0, nowMs: Date.parse(after), count: 5 };
    const found = listNextDueTimes(expectedOf({ cron, timeZone }), dueQuery).map((ms) => new Date(ms).toISOString());
    t.is(found.map((time) => time.slice(8, 16)).join(' '), times, `${cron} ${timeZone}`);
  }
});

test('without cron, times are one interval apart from the last run', (t) => {
  const baseMs = Date.parse('2026-03-01T12:00:07.123Z');
  const times = (every: string, own: string | null, afterMs: number) =>
    listNextDueTimes(expectedOf({ every: own }, every), { baseMs, nowMs: baseMs + afterMs, count: 5 }).map(
      (ms) => ms - baseMs,
    );
  t.deepEqual(times('10s', null, 0), [10_000, 20_000, 30_000, 40_000, 50_000]);
  t.deepEqual(times('10s', null, 25_000), [30_000, 40_000, 50_000, 60_000, 70_000]);
  t.deepEqual(times('1m', '7d', 1)[0], 7 * 86_400_000);
  t.deepEqual(times('10s', null, -60_000)[0], 10_000);
});

test('a slightly early heartbeat counts for the next due time', (t) => {
  const daily = expectedOf({ cron: '0 2 * * *' });
  const due = (at: string) => {
    const answeredMs = Date.parse(at);
    return new Date(findNextDueAfterHeartbeat(daily, { baseMs: answeredMs, answeredMs }) ?? 0)
      .toISOString()
      .slice(8, 16);
  };
  t.is(due('2026-03-01T01:59:55Z'), '02T02:00');
  t.is(due('2026-03-01T01:59:45Z'), '01T02:00');
  t.is(due('2026-03-01T02:00:05Z'), '02T02:00');
});

test('the default grace period is a tenth of the interval, from ten seconds to an hour', (t) => {
  const table: readonly (readonly [heartbeat: object, every: string, ms: number])[] = [
    [{}, '10s', 10_000],
    [{}, '10m', 60_000],
    [{ every: '7d' }, '1m', 3_600_000],
    [{ cron: '0 2 * * *' }, '1m', 3_600_000],
    [{ cron: '*/5 * * * *' }, '1m', 30_000],
    [{ cron: '0 9,10 * * *' }, '1m', 360_000],
    [{ grace: '45s' }, '1m', 45_000],
  ];
  for (const [heartbeat, every, ms] of table)
    t.is(getGraceMs(expectedOf(heartbeat, every)), ms, JSON.stringify(heartbeat));
  const startMs = Date.parse('2026-03-01T12:00Z');
  t.is(
    computeKnownUntilMs(expectedOf({ grace: '30s', maxRunDuration: '5m' }), startMs) - startMs,
    60_000 + 30_000 + 300_000 + 120_000,
  );
});

test('an invalid expectation is rejected with its path', (t) => {
  const known = { locations: new Set(['l1']), variables: new Map() };
  const table: readonly (readonly [heartbeat: object, fields: object, problem: RegExp])[] = [
    [{ cron: 'every day' }, {}, /^heartbeat\.cron: is not a cron expression of five fields/],
    [{ cron: '61 * * * *' }, {}, /^heartbeat\.cron: .*minute: 61/],
    [{ cron: '* * * * * *' }, {}, /^heartbeat\.cron: .*5 parts/],
    [{ cron: '0 0 30 2 *' }, {}, /^heartbeat\.cron: has no matching time/],
    [{ cron: '0 2 * * *', every: '1d' }, {}, /^heartbeat\.every: must not be set together with cron/],
    [{ cron: '*/5 * * * *', grace: '6m' }, {}, /^heartbeat\.grace: must be at most 5m/],
    [{ grace: '2m' }, { every: '1m' }, /^heartbeat\.grace: must be at most 1m/],
    [{ timeZone: 'Europe/Atlantis' }, {}, /^heartbeat\.timeZone: must be an IANA/],
    [{ maxRunDuration: '2d' }, {}, /^heartbeat\.maxRunDuration: must be a duration/],
    [{ every: '1s' }, {}, /^heartbeat\.every: must be a duration/],
    [{}, { locations: ['l1'] }, /^locations: must not be set for the type heartbeat/],
    [{}, { tcp: { host: 'a', port: 1 } }, /^tcp: must not be set/],
  ];
  for (const [heartbeat, fields, problem] of table) {
    const input = { name: 'backup', type: 'heartbeat', heartbeat, ...fields };
    const { data, error } = CheckFields.safeParse(input);
    const found =
      data === undefined
        ? error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
        : findCheckProblems(toStoredCheck(data), known).map(({ path, message }) => `${path}: ${message}`);
    t.is(found.length, 1, `${JSON.stringify(input)} ${found.join('\n')}`);
    t.regex(found[0] ?? '', problem);
  }
  const none = CheckFields.parse({ name: 'backup', type: 'heartbeat' });
  t.deepEqual(
    findCheckProblems(toStoredCheck(none), known).map(({ path }) => path),
    ['heartbeat'],
  );
  for (const heartbeat of [{}, { cron: '@daily', timeZone: 'Asia/Tokyo' }, { every: '30d', grace: '1d' }])
    t.deepEqual(findCheckProblems(checkOf(heartbeat), known), [], JSON.stringify(heartbeat));
});

test('a heartbeat check is written as YAML, and stays the same when it is read again', (t) => {
  for (const check of [
    checkOf(
      { cron: '30 2 * * *', timeZone: 'Europe/Berlin', grace: '10m', maxRunDuration: '2h' },
      { labels: { team: 'a' } },
    ),
    checkOf({}, { every: '5m', enabled: false }),
  ]) {
    const text = writeCheckYaml(check, (location) => location);
    t.false(text.includes('locations'), text);
    const [read] = readCheckFiles(text);
    t.deepEqual(read?.problems, []);
    t.deepEqual(read?.check, check);
  }
  const [wrong] = readCheckFiles('name: a\ntype: heartbeat\nheartbeat:\n  grace: 10m\n  Cron: "* * * * *"\n');
  t.deepEqual(wrong?.problems, [{ path: 'heartbeat.Cron', message: 'is not a known field', line: 5 }]);
});
