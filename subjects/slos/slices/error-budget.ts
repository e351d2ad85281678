/** Calculates SLIs and error budgets: exact values over time slices. */
import type { SloObjective } from '../../../schemas/slo-slices.ts';
import { countParts } from './counts.ts';
import {
  compare,
  createFraction,
  decimalToFraction,
  divide,
  type Fraction,
  fractionToNumber,
  multiply,
  subtract,
  sumFractions,
} from './fraction.ts';

type Budgeting = SloObjective['budgeting'];

/** A time slice that ended, with whole events. Without events its state is unknown: neither good nor bad. */
export interface Slice {
  readonly fromMs: number;
  readonly good: bigint;
  readonly total: bigint;
}

/** Parameters of the calculations, in addition to the slices. Target and slice target are shares, such as 0.999. */
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
  target: divide(decimalToFraction(targetPct), createFraction(100n)),
  ...(sliceTarget !== undefined && { sliceTarget: decimalToFraction(sliceTarget) }),
});

/** Sums of the counted unit: events or slices. */
export interface Sums {
  readonly good: Fraction;
  readonly bad: Fraction;
  readonly total: Fraction;
  /** Number of slices with events. */
  readonly slicesWithData: number;
}

const one = createFraction(1n);
const zero = createFraction(0n);
/**
 * Maximum number of distinct totals that are added exactly; beyond it the share of each slice is rounded down, in parts
 * of 2^160.
 */
export const maxExactTotals = 1000;
export const shareBits = 190;
/** Bits of a share that are exact: dividend and divisor are billionths of events, in integers of 256 bits. */
export const exactShareBits = 160;
const shareParts = 1n << BigInt(shareBits);

const toFraction = (value: number | bigint): Fraction => createFraction(BigInt(value));

/** Additive integer counts over slices with events, from which values of any time range are calculated. */
export interface SliceCounts {
  /** Good events and all events, in `countParts`. */
  readonly good: bigint;
  readonly total: bigint;
  readonly slices: number;
  /** Number of slices that reached the slice target, if counted. */
  readonly sliceTargetCount: number;
  /** Sum of the good shares of the slices in `shareParts`, if counted. */
  readonly shares: bigint;
  /** Good events by total; `undefined` if there are more than `maxExactTotals`, or counts with fractions. */
  readonly byTotal: ReadonlyMap<bigint, bigint> | undefined;
}

export const emptyTally: SliceCounts = {
  good: 0n,
  total: 0n,
  slices: 0,
  sliceTargetCount: 0,
  shares: 0n,
  byTotal: new Map(),
};

const mergeTotals = (left: SliceCounts['byTotal'], right: SliceCounts['byTotal']): SliceCounts['byTotal'] => {
  if (left === undefined || right === undefined) return undefined;
  const merged = new Map(left);
  for (const [total, good] of right) merged.set(total, (merged.get(total) ?? 0n) + good);
  return merged.size > maxExactTotals ? undefined : merged;
};

/** Returns the sum of two counts of disjoint slices. */
export const addTallies = (left: SliceCounts, right: SliceCounts): SliceCounts => ({
  good: left.good + right.good,
  total: left.total + right.total,
  slices: left.slices + right.slices,
  sliceTargetCount: left.sliceTargetCount + right.sliceTargetCount,
  shares: left.shares + right.shares,
  byTotal: mergeTotals(left.byTotal, right.byTotal),
});

/** Counts slices. */
const countSlices = (slices: readonly Slice[], sliceTarget: Fraction): SliceCounts => {
  const slicesWithEvents = slices.filter(({ total }) => total > 0n);
  const byTotal = new Map<bigint, bigint>();
  let { good, total, sliceTargetCount, shares } = emptyTally;
  for (const slice of slicesWithEvents) {
    good += slice.good;
    total += slice.total;
    if (slice.good * sliceTarget.denominator >= slice.total * sliceTarget.numerator) sliceTargetCount += 1;
    shares += ((slice.good << BigInt(exactShareBits)) / slice.total) << BigInt(shareBits - exactShareBits);
    byTotal.set(slice.total, (byTotal.get(slice.total) ?? 0n) + slice.good);
  }
  const isExact = byTotal.size <= maxExactTotals;
  return {
    good: good * countParts,
    total: total * countParts,
    slices: slicesWithEvents.length,
    sliceTargetCount,
    shares,
    byTotal: isExact ? byTotal : undefined,
  };
};

/** Returns the sums of a tally, by the budgeting method. */
export const toSums = (
  { good, total, slices, sliceTargetCount, shares, byTotal }: SliceCounts,
  budgeting: Budgeting,
): Sums => {
  if (budgeting === 'occurrences')
    return {
      good: createFraction(good, countParts),
      bad: createFraction(total - good, countParts),
      total: createFraction(total, countParts),
      slicesWithData: slices,
    };
  const sliceTotal = toFraction(slices);
  const sumShares = () =>
    byTotal === undefined
      ? createFraction(shares, shareParts)
      : sumFractions([...byTotal].map(([totalEvents, goodEvents]) => createFraction(goodEvents, totalEvents)));
  const goodSlices = budgeting === 'timeslices' ? toFraction(sliceTargetCount) : sumShares();
  return { good: goodSlices, bad: subtract(sliceTotal, goodSlices), total: sliceTotal, slicesWithData: slices };
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
  readonly remaining: Fraction;
  /** Remaining share of the total; `undefined` if the budget is 0. */
  readonly remainingShare: Fraction | undefined;
}

/** Returns the budget of a window: of its events so far, or of all its slices, including future ones. */
export const computeBudget = (window: Sums, { budgeting, target }: Objective, windowSlices: number): Budget => {
  const budgetBase = budgeting === 'occurrences' ? window.total : toFraction(windowSlices);
  const total = multiply(subtract(one, target), budgetBase);
  const remaining = subtract(total, window.bad);
  return { total, remaining, remainingShare: compare(total, zero) === 0 ? undefined : divide(remaining, total) };
};

/** Returns the share of a window's budget that these slices spent; `undefined` if the budget is 0. */
export const computeBudgetSpent = ({ bad }: Sums, { total }: Pick<Budget, 'total'>): Fraction | undefined =>
  compare(total, zero) === 0 ? undefined : divide(bad, total);

/** Returns the share of ended slices with data. */
export const computeCoverage = ({ slicesWithData }: Sums, endedSlices: number): number =>
  endedSlices <= 0 ? 0 : fractionToNumber(createFraction(BigInt(slicesWithData), BigInt(endedSlices)));
