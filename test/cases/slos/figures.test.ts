/**
 * Calculations of SLOs: exact fractions, three budgeting methods, windows and calendars, burn rates and their rules.
 */
import test from 'ava';
import fc from 'fast-check';
import { createDefaultBurnRules, isReachable } from '../../../subjects/slos/burn-rules.ts';
import {
  computeBudget,
  computeBudgetSpent,
  computeBurnRate,
  computeCoverage,
  computeSli,
  type Objective,
  type Slice,
  sumSlices,
} from '../../../subjects/slos/slices/error-budget.ts';
import {
  add,
  compare,
  createFraction,
  decimalToFraction,
  divide,
  fractionToNumber,
  subtract,
  sumFractions,
} from '../../../subjects/slos/slices/fraction.ts';
import { countSlices, createRollingWindow, findPeriod } from '../../../subjects/slos/slices/windows.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;
const slicesOf = (...figures: readonly (readonly [good: number, total: number])[]): Slice[] =>
  figures.map(([good, total], index) => ({ fromMs: index * minuteMs, good: BigInt(good), total: BigInt(total) }));
const objective = (targetPct: number, more: Partial<Objective> = {}): Objective => ({
  budgeting: 'occurrences',
  target: divide(decimalToFraction(targetPct), createFraction(100n)),
  ...more,
});
const number = (value: ReturnType<typeof computeSli>): number | undefined =>
  value === undefined ? undefined : fractionToNumber(value);

test('144 bad of 10,000 at 99.9 % burn at exactly 14.4, which doubles do not give', (t) => {
  t.not(144 / 10_000 / (1 - 0.999), 14.4);
  const burn = computeBurnRate(sumSlices(slicesOf([9856, 10_000]), objective(99.9)), objective(99.9));
  t.is(number(burn), 14.4);
  t.is(burn && compare(burn, decimalToFraction(14.4)), 0);
});

test('a decimal is parsed exactly, and fractions give the nearest double', (t) => {
  for (const value of [0.1, 99.9, 99.95, 1e-7, 1e21, 123.456, -0.25, 0])
    t.is(fractionToNumber(decimalToFraction(value)), value);
  t.deepEqual(decimalToFraction(99.9), { numerator: 999n, denominator: 10n });
  t.is(fractionToNumber(createFraction(10n ** 40n, 3n * 10n ** 40n)), 1 / 3);
  t.is(fractionToNumber(createFraction(10n ** 40n + 1n, 3n * 10n ** 40n)), 1 / 3);
  t.throws(() => decimalToFraction(Number.NaN), { message: 'NaN is not a decimal' });
  t.throws(() => createFraction(1n, 0n), { instanceOf: RangeError });
});

test('occurrences: the budget is based on the events so far', (t) => {
  const of = objective(99);
  const window = sumSlices(slicesOf([990, 1000], [0, 0], [495, 500]), of);
  const budget = computeBudget(window, of, 43_200);
  t.is(number(computeSli(window)), 0.99);
  t.deepEqual(
    [fractionToNumber(budget.total), fractionToNumber(budget.remaining), number(budget.remainingShare)],
    [15, 0, 0],
  );
  t.is(number(computeBudgetSpent(window, budget)), 1);
  t.is(computeCoverage(window, 3), 2 / 3);
});

test('timeslices: a slice is good from its target upwards, and the budget is based on all slices of the window', (t) => {
  const of = objective(99, { budgeting: 'timeslices', sliceTarget: decimalToFraction(0.95) });
  const window = sumSlices(slicesOf([95, 100], [949, 1000], [0, 0], [1, 1]), of);
  const budget = computeBudget(window, of, 1000);
  t.is(number(computeSli(window)), 2 / 3);
  t.deepEqual(
    [fractionToNumber(budget.total), fractionToNumber(budget.remaining), number(budget.remainingShare)],
    [10, 9, 0.9],
  );
  t.is(number(computeBurnRate(window, of)), 100 / 3);
});

test('ratio-timeslices: the result is the mean of the slices, regardless of their event counts', (t) => {
  const of = objective(90, { budgeting: 'ratio-timeslices' });
  const window = sumSlices(slicesOf([1, 3], [2, 3], [1_000_000, 1_000_000], [0, 0]), of);
  t.is(number(computeSli(window)), 2 / 3);
  t.is(number(computeBudget(window, of, 100).remaining), 9);
  const many = slicesOf(...Array.from({ length: 5000 }, (_, index) => [index + 1, index + 2] as const));
  const mean = many.reduce((sum, { good, total }) => sum + Number(good) / Number(total), 0) / many.length;
  t.true(Math.abs((number(computeSli(sumSlices(many, of))) ?? 0) - mean) < 1e-12);
});

test('missing data is unknown, neither good nor bad', (t) => {
  for (const budgeting of ['occurrences', 'timeslices', 'ratio-timeslices'] as const) {
    const of = objective(99, { budgeting });
    const window = sumSlices(slicesOf([0, 0], [0, 0]), of);
    t.is(computeSli(window), undefined);
    t.is(computeBurnRate(window, of), undefined);
    t.is(computeCoverage(window, 2), 0);
  }
  t.is(computeBudget(sumSlices([], objective(99)), objective(99), 100).remainingShare, undefined);
});

test('slices add up to a single measurement of the window', (t) => {
  const slice = fc
    .bigInt({ min: 0n, max: 10_000n })
    .chain((total) =>
      fc.record({ fromMs: fc.constant(0), total: fc.constant(total), good: fc.bigInt({ min: 0n, max: total }) }),
    );
  const budgetings = fc.constantFrom('occurrences' as const, 'timeslices' as const, 'ratio-timeslices' as const);
  const property = fc.property(
    fc.array(slice, { maxLength: 40 }),
    fc.nat(40),
    budgetings,
    (slices, place, budgeting) => {
      const of = objective(99.5, { budgeting, sliceTarget: decimalToFraction(0.5) });
      const [all, first, rest] = [slices, slices.slice(0, place), slices.slice(place)].map((each) =>
        sumSlices(each, of),
      );
      const adds = (field: 'good' | 'bad' | 'total'): boolean =>
        all !== undefined &&
        first !== undefined &&
        rest !== undefined &&
        compare(all[field], add(first[field], rest[field])) === 0;
      return adds('good') && adds('bad') && adds('total');
    },
  );
  t.notThrows(() => fc.assert(property));
  t.is(fractionToNumber(sumFractions([createFraction(1n, 3n), createFraction(1n, 6n), createFraction(1n, 2n)])), 1);
});

test('the default rules are those of the SRE workbook, scaled to the window', (t) => {
  const rates = (days: number): number[] =>
    createDefaultBurnRules(days * dayMs).map(({ rate }) => fractionToNumber(rate));
  t.deepEqual(rates(30), [14.4, 6, 3, 1]);
  t.deepEqual(rates(28), [13.44, 5.6, 2.8]);
  t.deepEqual(rates(90), [43.2, 18, 9, 3]);
  t.deepEqual(rates(7), [3.36, 1.4]);
  const [first] = createDefaultBurnRules(30 * dayMs);
  t.true(first !== undefined && isReachable(first, objective(99)));
  t.false(first === undefined || isReachable(first, objective(90)));
});

test('a calendar period starts at local time, across clock changes and short months', (t) => {
  const period = (
    name: 'day' | 'week' | 'month' | 'quarter' | 'year',
    startsAt: string,
    at: string,
    timeZone = 'Europe/Berlin',
  ) => {
    const { fromMs, toMs } = findPeriod({ period: name, timeZone, startsAt }, Date.parse(at));
    return [new Date(fromMs).toISOString().slice(0, 16), new Date(toMs).toISOString().slice(0, 16)];
  };
  t.deepEqual(period('day', '2020-01-01T00:00', '2026-03-29T12:00:00Z'), ['2026-03-28T23:00', '2026-03-29T22:00']);
  t.deepEqual(period('week', '2022-01-01T12:00', '2026-11-01T16:30:00Z', 'America/New_York'), [
    '2026-10-31T16:00',
    '2026-11-07T17:00',
  ]);
  t.deepEqual(period('month', '2026-01-31T00:00', '2026-02-28T00:00:00Z', 'UTC'), [
    '2026-02-28T00:00',
    '2026-03-31T00:00',
  ]);
  t.deepEqual(period('month', '2026-01-31T00:00', '2026-02-27T23:59:59Z', 'UTC'), [
    '2026-01-31T00:00',
    '2026-02-28T00:00',
  ]);
  t.deepEqual(period('quarter', '2026-01-01T00:00', '2025-12-31T22:59:59Z'), ['2025-09-30T22:00', '2025-12-31T23:00']);
  t.deepEqual(period('year', '2026-01-01T00:00', '2026-07-01T00:00:00Z', 'Asia/Kolkata'), [
    '2025-12-31T18:30',
    '2026-12-31T18:30',
  ]);
  t.deepEqual(period('day', '2011-01-01T00:00', '2011-12-30T09:59:59Z', 'Pacific/Apia'), [
    '2011-12-29T10:00',
    '2011-12-30T10:00',
  ]);
  t.deepEqual(createRollingWindow(30, 31 * dayMs), { fromMs: dayMs, toMs: 31 * dayMs });
});

test('a slice counts in the period in which it starts, even if periods start within slices', (t) => {
  const hour = 60 * minuteMs;
  // Day by day in zones whose midnight is not a full hour in UTC; the clocks on Lord Howe Island change by half an
  // hour.
  const zones: readonly (readonly [timeZone: string, day: string, slices: number])[] = [
    ['Asia/Kathmandu', '2026-05-01', 24],
    ['Australia/Lord_Howe', '2026-04-05', 25],
    ['Australia/Lord_Howe', '2026-10-04', 23],
    ['Pacific/Chatham', '2026-04-05', 25],
    ['Pacific/Chatham', '2026-09-27', 23],
    ['Europe/Berlin', '2026-03-29', 23],
  ];
  for (const [timeZone, day, slices] of zones) {
    const period = findPeriod(
      { period: 'day', timeZone, startsAt: '2026-01-01T00:00' },
      Date.parse(`${day}T00:00:00Z`),
    );
    const begins = Array.from({ length: 80 }, (_, index) => (Math.floor(period.fromMs / hour) + index) * hour);
    const known = begins.filter((ms) => ms >= period.fromMs && ms < period.toMs).length;
    t.deepEqual([countSlices(period, [], hour), known], [slices, slices], `${timeZone} ${day}`);
    const maintained = { fromMs: period.fromMs, toMs: (begins[3] ?? 0) + hour };
    t.is(
      countSlices(period, [maintained], hour),
      slices - begins.slice(0, 4).filter((ms) => ms >= period.fromMs).length,
    );
  }
});

test('periods cover time without gaps: every instant is in the last period that starts at or before it', (t) => {
  const zones = fc.constantFrom(
    'Europe/Berlin',
    'Australia/Lord_Howe',
    'Africa/Casablanca',
    'Antarctica/Troll',
    'Africa/Cairo',
  );
  const property = fc.property(
    zones,
    fc.constantFrom('day' as const, 'week' as const, 'month' as const, 'quarter' as const),
    fc.integer({ min: Date.UTC(2025, 0, 1), max: Date.UTC(2028, 0, 1) }),
    fc.integer({ min: 0, max: 23 }),
    (timeZone, period, atMs, hour) => {
      const calendar = { period, timeZone, startsAt: `2026-01-31T${String(hour).padStart(2, '0')}:30` };
      const { fromMs, toMs } = findPeriod(calendar, atMs);
      const next = findPeriod(calendar, toMs);
      return fromMs <= atMs && atMs < toMs && next.fromMs === toMs && findPeriod(calendar, toMs - 1).fromMs === fromMs;
    },
  );
  t.notThrows(() => fc.assert(property, { numRuns: 300 }));
  t.is(fractionToNumber(subtract(createFraction(1n), decimalToFraction(0.999))), 0.001);
});
