/** Cron heartbeats around clock changes, compared with an iteration over each minute of local time. */
import test from 'ava';
import { CheckFields } from '../../../subjects/synthetics/check.ts';
import { findNextCronTime } from '../../../subjects/synthetics/cron.ts';
import { listNextDueTimes } from '../../../subjects/synthetics/heartbeat-times.ts';
import {
  applyHeartbeat,
  evaluateHeartbeats,
  type HeartbeatRun,
  initialHeartbeatState,
} from '../../../subjects/synthetics/heartbeats.ts';
import type { HeartbeatSchedule } from '../../../subjects/synthetics/types/heartbeat.ts';
import { runSeed } from '../../parts.ts';
import { type Random, seeded } from '../random.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/**
 * Skipped and repeated hours and half hours, changes by two hours, at midnight and at odd minutes, and a zone without
 * changes.
 */
const changes: readonly (readonly [zone: string, at: string])[] = [
  ['Europe/Berlin', '2026-03-29T01:00Z'],
  ['Europe/Berlin', '2026-10-25T01:00Z'],
  ['America/New_York', '2026-03-08T07:00Z'],
  ['America/New_York', '2026-11-01T06:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:30Z'],
  ['Pacific/Chatham', '2026-04-04T14:00Z'],
  ['Pacific/Chatham', '2026-09-26T14:00Z'],
  ['America/St_Johns', '2026-11-01T04:30Z'],
  ['America/Sao_Paulo', '2018-11-04T03:00Z'],
  ['America/Havana', '2026-11-01T05:00Z'],
  ['Antarctica/Troll', '2026-03-29T01:00Z'],
  ['Antarctica/Troll', '2026-10-25T01:00Z'],
  ['Asia/Kathmandu', '2026-03-29T01:00Z'],
];
const aroundMs = 14 * hourMs;

/** The local time of each minute around a change, as a number whose UTC getters return it. */
const shownAround = (timeZone: string, changeMs: number): readonly (readonly [atMs: number, wallMs: number])[] => {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  return Array.from({ length: (2 * aroundMs) / minuteMs }, (_, minute) => {
    const atMs = changeMs - aroundMs + minute * minuteMs;
    const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
    const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
    return [atMs, Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'))] as const;
  });
};

type Field = readonly [text: string, matches: (value: number) => boolean];

const minutes: readonly Field[] = [
  ['0', (m) => m === 0],
  ['30', (m) => m === 30],
  ['59', (m) => m === 59],
  ['0,30', (m) => m % 30 === 0],
  ['10-14', (m) => m >= 10 && m <= 14],
  ['*/20', (m) => m % 20 === 0],
  ['*', () => true],
];
const hours: readonly Field[] = [
  ['0', (h) => h === 0],
  ['1', (h) => h === 1],
  ['2', (h) => h === 2],
  ['0-3', (h) => h <= 3],
  ['0-23', () => true],
  ['2,23', (h) => h === 2 || h === 23],
  ['*/2', (h) => h % 2 === 0],
  ['*', () => true],
];

interface CronCase {
  readonly cron: string;
  readonly dueAt: readonly number[];
}

/** An expression and its due times: fixed hours and minutes are due once per local time, others follow elapsed time. */
const drawCronCase = (random: Random, shown: ReturnType<typeof shownAround>): CronCase => {
  const drawnFrom = (fields: readonly Field[]): Field => fields[random(fields.length)] as Field;
  const [minuteText, isMinute] = drawnFrom(minutes);
  const [hourText, isHour] = drawnFrom(hours);
  const matches = (wallMs: number): boolean => {
    const time = new Date(wallMs);
    return isMinute(time.getUTCMinutes()) && isHour(time.getUTCHours());
  };
  const goesByTime = /[*/]/.test(minuteText + hourText);
  const dueAt: number[] = [];
  let latest = shown[0]?.[1] ?? 0;
  for (const [atMs, wallMs] of shown.slice(1)) {
    const passed: number[] = [];
    for (let wall = latest + minuteMs; wall <= wallMs; wall += minuteMs) passed.push(wall);
    latest = Math.max(latest, wallMs);
    if (goesByTime ? matches(wallMs) : passed.some(matches)) dueAt.push(atMs);
  }
  return { cron: `${minuteText} ${hourText} * * *`, dueAt };
};

const expectedOf = (cron: string, timeZone: string): HeartbeatSchedule => {
  const heartbeat = { cron, timeZone, grace: '20s' };
  const check = CheckFields.parse({ name: 'backup', type: 'heartbeat', heartbeat });
  return { every: check.every, heartbeat: check.heartbeat as HeartbeatSchedule['heartbeat'] };
};

const formatTimes = (times: readonly number[]): string[] => times.map((ms) => new Date(ms).toISOString().slice(0, 16));

/** Runs of a job with a heartbeat within the grace period of each due time, except omitted ones. */
const watchedRuns = (
  expected: HeartbeatSchedule,
  dueAt: readonly number[],
  random: Random,
): { runs: HeartbeatRun[]; left: number[] } => {
  const fromMs = (dueAt[0] ?? 0) - minuteMs / 2;
  const checkOptions = { gaps: [], createdMs: fromMs };
  let { nextState } = evaluateHeartbeats(initialHeartbeatState, expected, { ...checkOptions, nowMs: fromMs });
  const runs: HeartbeatRun[] = [];
  const left: number[] = [];
  for (const dueMs of dueAt) {
    if (random(4) === 0) left.push(dueMs);
    else {
      const receivedMs = dueMs + random(28_000) - 9000;
      const heartbeat = {
        tenantId: 'a',
        kind: 'beat',
        checkId: 'c',
        projectId: '',
        exitCode: null,
        runId: '',
      } as const;
      const afterHeartbeat = applyHeartbeat(nextState, { ...heartbeat, signal: 'end', receivedMs, message: '' });
      runs.push(...afterHeartbeat.runs);
      nextState = afterHeartbeat.nextState;
    }
    const afterCheck = evaluateHeartbeats(nextState, expected, { ...checkOptions, nowMs: dueMs + 30_000 });
    runs.push(...afterCheck.runs);
    nextState = afterCheck.nextState;
  }
  return { runs, left };
};

for (const [index, [zone, at]] of changes.entries())
  test(`around ${at} in ${zone} cron due times are exact, neither early nor repeated, and only missing heartbeats are late`, (t) => {
    const random = seeded(runSeed + index);
    const shown = shownAround(zone, Date.parse(at));
    const [fromMs = 0] = shown[0] ?? [];
    const untilMs = shown.at(-1)?.[0] ?? 0;
    for (let round = 0; round < 6; round++) {
      const { cron, dueAt } = drawCronCase(random, shown);
      const expected = expectedOf(cron, zone);
      const found: number[] = [];
      for (let ms = findNextCronTime({ cron, timeZone: zone }, fromMs); ms !== undefined && ms <= untilMs; ) {
        found.push(ms);
        ms = findNextCronTime({ cron, timeZone: zone }, ms);
      }
      const title = `${cron} (TEST_SEED=${runSeed})`;
      t.deepEqual(formatTimes(found), formatTimes(dueAt), title);
      // The listed times are the same from every starting time.
      const nowMs = fromMs + random(2 * aroundMs);
      const next = listNextDueTimes(expected, { baseMs: 0, nowMs, count: 5 }).filter((ms) => ms <= untilMs);
      t.deepEqual(formatTimes(next), formatTimes(dueAt.filter((ms) => ms > nowMs).slice(0, 5)), title);
      const { runs, left } = watchedRuns(expected, dueAt, random);
      const late = runs.filter(({ outcome }) => outcome === 'failed').map(({ dueMs }) => dueMs);
      t.deepEqual(formatTimes(late), formatTimes(left), title);
      t.is(runs.length, dueAt.length, title);
    }
  });

test('a day that a time zone skipped is not due', (t) => {
  const times = { cron: '30 2 * * *', timeZone: 'Pacific/Apia' };
  // 30 December 2011 did not exist.
  const first = findNextCronTime(times, Date.parse('2011-12-29T00:00Z')) ?? 0;
  const second = findNextCronTime(times, first) ?? 0;
  t.deepEqual(formatTimes([first, second]), ['2011-12-29T12:30', '2011-12-30T12:30']);
  t.is(second - first, dayMs);
});
