/** Calculates SLIs and error budgets: exact values over time slices. */
import type { SloObjective } from '../../../schemas/slo-slices.ts';
import {
  asNumber,
  compare,
  decimal,
  divide,
  type Fraction,
  fraction,
  multiply,
  subtract,
  sumFractions,
} from './fraction.ts';

type Budgeting = SloObjective['budgeting'];

/** A time slice that ended. Without events its state is unknown: neither good nor bad. */
export interface Slice {
  readonly fromMs: number;
  readonly good: bigint;
  readonly total: bigint;
}

/** Parameters of calculations besides slices. Target and slice target are shares, such as 0.999. */
export interface Objective {
  readonly budgeting: Budgeting;
  readonly target: Fraction;
  /** Minimum share of good events of a good slice, for `timeslices`. */
  readonly sliceTarget?: Fraction;
}

/** Returns the parameters of calculations from an SLO's objective. */
export const toObjective = ({
  targetPct,
  budgeting,
  sliceTarget,
}: Pick<SloObjective, 'targetPct' | 'budgeting' | 'sliceTarget'>): Objective => ({
  budgeting,
  target: divide(decimal(targetPct), fraction(100n)),
  ...(sliceTarget !== undefined && { sliceTarget: decimal(sliceTarget) }),
});

/** Sums of the counted unit: events or slices. */
export interface Sums {
  readonly good: Fraction;
  readonly bad: Fraction;
  readonly total: Fraction;
  /** Number of slices with events. */
  readonly known: number;
}

const one = fraction(1n);
const zero = fraction(0n);
/**
 * Maximum number of distinct totals that are added exactly; beyond it the share of each slice is rounded down, in parts
 * of 2^190.
 */
export const exactTotals = 1000;
export const shareParts = 1n << 190n;

const toFraction = (value: number | bigint): Fraction => fraction(BigInt(value));

/** Additive integer counts over slices with events, from which values of any time range are calculated. */
export interface Tally {
  readonly good: bigint;
  readonly total: bigint;
  readonly slices: number;
  /** Number of slices that reached the slice target, if counted. */
  readonly reached: number;
  /** Sum of the good shares of the slices in `shareParts`, if counted. */
  readonly shares: bigint;
  /** Good events by total; `undefined` if there are more than `exactTotals`. */
  readonly byTotal: ReadonlyMap<bigint, bigint> | undefined;
}

export const emptyTally: Tally = { good: 0n, total: 0n, slices: 0, reached: 0, shares: 0n, byTotal: new Map() };

const mergeTotals = (one: Tally['byTotal'], other: Tally['byTotal']): Tally['byTotal'] => {
  if (one === undefined || other === undefined) return undefined;
  const both = new Map(one);
  for (const [total, good] of other) both.set(total, (both.get(total) ?? 0n) + good);
  return both.size > exactTotals ? undefined : both;
};

/** Returns the sum of two counts of disjoint slices. */
export const addTallies = (one: Tally, other: Tally): Tally => ({
  good: one.good + other.good,
  total: one.total + other.total,
  slices: one.slices + other.slices,
  reached: one.reached + other.reached,
  shares: one.shares + other.shares,
  byTotal: mergeTotals(one.byTotal, other.byTotal),
});

/** Counts slices. */
const countSlices = (slices: readonly Slice[], sliceTarget: Fraction): Tally => {
  const known = slices.filter(({ total }) => total > 0n);
  const byTotal = new Map<bigint, bigint>();
  let { good, total, reached, shares } = emptyTally;
  for (const slice of known) {
    good += slice.good;
    total += slice.total;
    if (slice.good * sliceTarget.denominator >= slice.total * sliceTarget.numerator) reached += 1;
    shares += (slice.good * shareParts) / slice.total;
    byTotal.set(slice.total, (byTotal.get(slice.total) ?? 0n) + slice.good);
  }
  const isExact = byTotal.size <= exactTotals;
  return { good, total, slices: known.length, reached, shares, byTotal: isExact ? byTotal : undefined };
};

/** Returns the sums of a tally, by the budgeting method. */
export const toSums = ({ good, total, slices, reached, shares, byTotal }: Tally, budgeting: Budgeting): Sums => {
  if (budgeting === 'occurrences')
    return { good: toFraction(good), bad: toFraction(total - good), total: toFraction(total), known: slices };
  const all = toFraction(slices);
  const ofShares = () =>
    byTotal === undefined
      ? fraction(shares, shareParts)
      : sumFractions([...byTotal].map(([every, own]) => fraction(own, every)));
  const own = budgeting === 'timeslices' ? toFraction(reached) : ofShares();
  return { good: own, bad: subtract(all, own), total: all, known: slices };
};

/** Returns the sums of these slices, by the budgeting method. */
export const sumSlices = (slices: readonly Slice[], { budgeting, sliceTarget = one }: Objective): Sums =>
  toSums(countSlices(slices, sliceTarget), budgeting);

/** Returns the SLI, a share; `undefined` without data. */
export const computeSli = ({ good, total }: Sums): Fraction | undefined =>
  compare(total, zero) === 0 ? undefined : divide(good, total);

/** Returns the burn rate: budget consumption relative to the allowed rate; `undefined` without data. */
export const computeBurnRate = ({ bad, total }: Sums, { target }: Objective): Fraction | undefined =>
  compare(total, zero) === 0 ? undefined : divide(divide(bad, total), subtract(one, target));

/** Error budget, in events or in slices. */
export interface Budget {
  readonly total: Fraction;
  /** Negative if it is overspent. */
  readonly left: Fraction;
  /** Remaining share of the total; `undefined` if the budget is 0. */
  readonly leftShare: Fraction | undefined;
}

/** Returns the budget of a window: of its events so far, or of all its slices, including future ones. */
export const computeBudget = (window: Sums, { budgeting, target }: Objective, windowSlices: number): Budget => {
  const of = budgeting === 'occurrences' ? window.total : toFraction(windowSlices);
  const total = multiply(subtract(one, target), of);
  const left = subtract(total, window.bad);
  return { total, left, leftShare: compare(total, zero) === 0 ? undefined : divide(left, total) };
};

/** Returns the share of a window's budget that these slices spent; `undefined` if the budget is 0. */
export const computeBudgetSpent = ({ bad }: Sums, { total }: Pick<Budget, 'total'>): Fraction | undefined =>
  compare(total, zero) === 0 ? undefined : divide(bad, total);

/** Returns the share of ended slices with data. */
export const computeCoverage = ({ known }: Sums, endedSlices: number): number =>
  endedSlices <= 0 ? 0 : asNumber(fraction(BigInt(known), BigInt(endedSlices)));
