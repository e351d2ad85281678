/** How good a service was, and how much of its error budget is left: exact figures over slices. */
import type { SloObjective } from '../../schemas/slo-slices.ts';
import { asNumber, compared, decimal, dividedBy, type Fraction, fraction, minus, sumOf, times } from './fraction.ts';

type Budgeting = SloObjective['budgeting'];

/** One slice of time that ended. Without events it is unknown: neither good nor bad. */
export interface Slice {
  readonly fromMs: number;
  readonly good: bigint;
  readonly total: bigint;
}

/** What figures depend on besides slices. Target and slice target are shares, as 0.999. */
export interface Objective {
  readonly budgeting: Budgeting;
  readonly target: Fraction;
  /** From which share of good events on a slice is good: for `timeslices`. */
  readonly sliceTarget?: Fraction;
}

/** What figures are made by, of what an objective says. */
export const objectiveOf = ({
  targetPct,
  budgeting,
  sliceTarget,
}: Pick<SloObjective, 'targetPct' | 'budgeting' | 'sliceTarget'>): Objective => ({
  budgeting,
  target: dividedBy(decimal(targetPct), fraction(100n)),
  ...(sliceTarget !== undefined && { sliceTarget: decimal(sliceTarget) }),
});

/** Sums of what counts: events, or slices. */
export interface Sums {
  readonly good: Fraction;
  readonly bad: Fraction;
  readonly total: Fraction;
  /** Slices that had events. */
  readonly known: number;
}

const one = fraction(1n);
const zero = fraction(0n);
/** So many different totals are added exactly; beyond that the share of each slice is rounded down, in parts of 2^190. */
export const exactTotals = 1000;
export const shareParts = 1n << 190n;

const whole = (value: number | bigint): Fraction => fraction(BigInt(value));

/** Whole numbers that are counted of slices with events, and add up: figures of any time are made of these. */
export interface Tally {
  readonly good: bigint;
  readonly total: bigint;
  readonly slices: number;
  /** Slices that reached the slice target, where it is counted. */
  readonly reached: number;
  /** Shares of good of the slices, each in `shareParts`, where they are counted. */
  readonly shares: bigint;
  /** Good by total; `undefined` where there are more than `exactTotals`. */
  readonly byTotal: ReadonlyMap<bigint, bigint> | undefined;
}

export const noSlices: Tally = { good: 0n, total: 0n, slices: 0, reached: 0, shares: 0n, byTotal: new Map() };

const joined = (one: Tally['byTotal'], other: Tally['byTotal']): Tally['byTotal'] => {
  if (one === undefined || other === undefined) return undefined;
  const both = new Map(one);
  for (const [total, good] of other) both.set(total, (both.get(total) ?? 0n) + good);
  return both.size > exactTotals ? undefined : both;
};

/** Two counts of different slices as one. */
export const talliedWith = (one: Tally, other: Tally): Tally => ({
  good: one.good + other.good,
  total: one.total + other.total,
  slices: one.slices + other.slices,
  reached: one.reached + other.reached,
  shares: one.shares + other.shares,
  byTotal: joined(one.byTotal, other.byTotal),
});

/** Counts slices. */
const tallyOf = (slices: readonly Slice[], sliceTarget: Fraction): Tally => {
  const known = slices.filter(({ total }) => total > 0n);
  const byTotal = new Map<bigint, bigint>();
  let { good, total, reached, shares } = noSlices;
  for (const slice of known) {
    good += slice.good;
    total += slice.total;
    if (slice.good * sliceTarget.under >= slice.total * sliceTarget.over) reached += 1;
    shares += (slice.good * shareParts) / slice.total;
    byTotal.set(slice.total, (byTotal.get(slice.total) ?? 0n) + slice.good);
  }
  const isExact = byTotal.size <= exactTotals;
  return { good, total, slices: known.length, reached, shares, byTotal: isExact ? byTotal : undefined };
};

/** What counts of what was counted, by the way of budgeting. */
export const sumsOf = ({ good, total, slices, reached, shares, byTotal }: Tally, budgeting: Budgeting): Sums => {
  if (budgeting === 'occurrences')
    return { good: whole(good), bad: whole(total - good), total: whole(total), known: slices };
  const all = whole(slices);
  const ofShares = () =>
    byTotal === undefined
      ? fraction(shares, shareParts)
      : sumOf([...byTotal].map(([every, own]) => fraction(own, every)));
  const own = budgeting === 'timeslices' ? whole(reached) : ofShares();
  return { good: own, bad: minus(all, own), total: all, known: slices };
};

/** What counts in these slices, by the way of budgeting. */
export const sums = (slices: readonly Slice[], { budgeting, sliceTarget = one }: Objective): Sums =>
  sumsOf(tallyOf(slices, sliceTarget), budgeting);

/** The indicator, a share; `undefined` where nothing is known. */
export const sliOf = ({ good, total }: Sums): Fraction | undefined =>
  compared(total, zero) === 0 ? undefined : dividedBy(good, total);

/** How many times faster than it may the budget is spent; `undefined` where nothing is known. */
export const burnRateOf = ({ bad, total }: Sums, { target }: Objective): Fraction | undefined =>
  compared(total, zero) === 0 ? undefined : dividedBy(dividedBy(bad, total), minus(one, target));

/** The error budget, in events or in slices. */
export interface Budget {
  readonly total: Fraction;
  /** Below 0 when it is overspent. */
  readonly left: Fraction;
  /** Left of the total, a share; `undefined` while the budget is 0. */
  readonly leftShare: Fraction | undefined;
}

/** The budget of a window: of its events so far, or of all its slices, also those to come. */
export const budgetOf = (window: Sums, { budgeting, target }: Objective, windowSlices: number): Budget => {
  const of = budgeting === 'occurrences' ? window.total : whole(windowSlices);
  const total = times(minus(one, target), of);
  const left = minus(total, window.bad);
  return { total, left, leftShare: compared(total, zero) === 0 ? undefined : dividedBy(left, total) };
};

/** Which share of a window's budget these slices spent; `undefined` while the budget is 0. */
export const budgetSpentOf = ({ bad }: Sums, { total }: Pick<Budget, 'total'>): Fraction | undefined =>
  compared(total, zero) === 0 ? undefined : dividedBy(bad, total);

/** Which share of the slices that ended is known. */
export const coverageOf = ({ known }: Sums, endedSlices: number): number =>
  endedSlices <= 0 ? 0 : asNumber(fraction(BigInt(known), BigInt(endedSlices)));
