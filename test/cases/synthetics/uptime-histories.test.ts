/** Uptime of synthetic histories with downtimes that recur, overlap, span clock changes, or are added afterwards. */
import test from 'ava';
import type { MaintenanceWindow } from '../../../schemas/resources/maintenance-window.ts';
import { createMatchers, findDowntimes } from '../../../subjects/synthetics/downtimes.ts';
import { splitPeriods } from '../../../subjects/synthetics/periods.ts';
import { computeUptime, type StateChange, type TimePeriod } from '../../../subjects/synthetics/uptime.ts';
import { runSeed } from '../../parts.ts';
import { type Random, seeded } from '../random.ts';

const check = { id: 'c-1', name: 'Shop', labels: { team: 'shop' }, projectId: 'p1' };
const dayMs = 86_400_000;
const zones = ['Europe/Zurich', 'America/New_York', 'Australia/Lord_Howe', 'Pacific/Chatham', 'Asia/Kathmandu', 'UTC'];
const recurrences = [
  ...[null, 'FREQ=DAILY;INTERVAL=3', 'FREQ=WEEKLY;BYDAY=SU', 'FREQ=MONTHLY;BYMONTHDAY=-1', 'FREQ=MONTHLY;BYDAY=-1SU'],
  ...['FREQ=DAILY;COUNT=200', 'FREQ=WEEKLY;BYDAY=SA,SU;UNTIL=20260901T000000', 'FREQ=YEARLY'],
];
const states = ['up', 'down', 'degraded', 'unknown'] as const;
const figures = ['upMs', 'downMs', 'unknownMs', 'excludedMs'] as const;

const one = <Item>(random: Random, items: readonly Item[]): Item => items[random(items.length)] as Item;

/**
 * States of a year and of the time before: outages from milliseconds to weeks, repeated states, and changes exactly at
 * the start of a month.
 */
const historyOf = (random: Random, { fromMs, toMs }: TimePeriod, begins: readonly number[]): readonly StateChange[] => {
  const times = new Set(random(2) === 0 ? [] : begins.filter(() => random(2) === 0));
  const lengths = [1, 999, 61_003, 3_600_007, dayMs + 11, 20 * dayMs];
  for (let atMs = fromMs - random(2 * dayMs); atMs < toMs; atMs += 1 + random(one(random, lengths))) {
    times.add(atMs);
    if (times.size > 400) break;
  }
  return [...times].toSorted((left, right) => left - right).map((atMs) => ({ atMs, state: one(random, states) }));
};

const two = (value: number): string => String(value).padStart(2, '0');

/** Often during hours with clock changes. */
const windowOf = (random: Random): MaintenanceWindow => ({
  name: 'w',
  description: '',
  excludedFromSlos: false,
  createdBy: 'ann',
  projectIds: [],
  timeZone: one(random, zones),
  startsAt: `2026-${two(1 + random(12))}-${two(1 + random(28))}T${two(one(random, [0, 1, 2, 3, 23]))}:${two(random(60))}`,
  durationMinutes: one(random, [1, 59, 60, 61, 24 * 60, 10 * 24 * 60]),
  recurrence: one(random, recurrences),
  matchers: createMatchers(
    random(2) === 0 ? { checkIds: ['c-1'], labels: {} } : { checkIds: [], labels: check.labels },
  ),
});

/** Counts the time between neighboring change times, with the state looked up for each. */
const counted = (changes: readonly StateChange[], downtimes: readonly TimePeriod[], { fromMs, toMs }: TimePeriod) => {
  const moments = [
    fromMs,
    toMs,
    ...changes.map(({ atMs }) => atMs),
    ...downtimes.flatMap((each) => [each.fromMs, each.toMs]),
  ];
  const ordered = [...new Set(moments)]
    .filter((ms) => ms >= fromMs && ms <= toMs)
    .toSorted((left, right) => left - right);
  const sums = { upMs: 0, downMs: 0, unknownMs: 0, excludedMs: 0 };
  const plain = { up: 0, down: 0 };
  for (const [index, atMs] of ordered.slice(0, -1).entries()) {
    const lengthMs = (ordered[index + 1] ?? atMs) - atMs;
    const state = changes.findLast((change) => change.atMs <= atMs)?.state ?? 'unknown';
    const as = state === 'degraded' ? 'up' : state;
    if (as !== 'unknown') plain[as] += lengthMs;
    const isPlanned = downtimes.some((each) => each.fromMs <= atMs && atMs < each.toMs);
    sums[isPlanned ? 'excludedMs' : (`${as}Ms` as const)] += lengthMs;
  }
  const share = (up: number, down: number): number | null => (up + down === 0 ? null : up / (up + down));
  return {
    ...sums,
    uptime: share(sums.upMs, sums.downMs),
    uptimeWithoutExclusions: share(plain.up, plain.down),
  };
};

test('months add up to their year for any history, each month equals a direct count, and a downtime planned later only moves time', (t) => {
  const random = seeded(runSeed);
  for (let round = 0; round < 25; round++) {
    const title = `TEST_SEED=${runSeed}, history ${round}`;
    const timeZone = one(random, zones);
    // Includes days before and after, so that the year starts in its time zone and the range truncates no month.
    const around = { fromMs: Date.UTC(2025, 11, 20), toMs: Date.UTC(2027, 0, 10) };
    const calendar = splitPeriods(around, { period: 'month', timeZone }) ?? [];
    const months = calendar.slice(1, -1);
    const year = { fromMs: months[0]?.fromMs ?? 0, toMs: months.at(-1)?.toMs ?? 0 };
    t.is(months.length, 12, title);
    const begins = months.map(({ fromMs }) => fromMs);
    const changes = historyOf(random, year, begins);
    const windows: MaintenanceWindow[] = [];
    let before = computeUptime(changes, [], year);
    for (let planned = 0; planned < 4; planned++) {
      const downtimes = findDowntimes(check, windows, year);
      const whole = computeUptime(changes, downtimes, year);
      // Each month is computed separately, like the year.
      const parts = months.map((month) => computeUptime(changes, findDowntimes(check, windows, month), month));
      for (const figure of figures) {
        const sum = parts.reduce((total, part) => total + part[figure], 0);
        t.is(sum, whole[figure], `${title}, ${planned} downtimes: ${figure}`);
        const moved = whole[figure] - before[figure];
        t.true(figure === 'excludedMs' ? moved >= 0 : moved <= 0, `${title}: ${figure} with one more`);
      }
      const month = random(12);
      const span = months[month] ?? year;
      t.like(parts[month], counted(changes, findDowntimes(check, windows, around), span), `${title}, month ${month}`);
      const total = figures.reduce((sum, figure) => sum + whole[figure], 0);
      t.is(total, year.toMs - year.fromMs, title);
      t.is(whole.uptimeWithoutExclusions, before.uptimeWithoutExclusions, `${title}: what is planned changes no run`);
      before = whole;
      windows.push(windowOf(random));
    }
  }
});
