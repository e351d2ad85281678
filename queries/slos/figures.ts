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
/** So many different totals are added exactly; beyond that each share is rounded, to 1 part in 2^256. */
const exactTotals = 1000;
const fine = 1n << 256n;

const whole = (value: number | bigint): Fraction => fraction(BigInt(value));

/** The sum of the slices' shares of good events. Slices with the same total are added first. */
const sharesOf = (slices: readonly Slice[]): Fraction => {
  const byTotal = new Map<bigint, bigint>();
  for (const { good, total } of slices) byTotal.set(total, (byTotal.get(total) ?? 0n) + good);
  if (byTotal.size <= exactTotals) return sumOf([...byTotal].map(([total, good]) => fraction(good, total)));
  let sum = 0n;
  for (const [total, good] of byTotal) sum += (good * fine) / total;
  return fraction(sum, fine);
};

/** What counts in these slices, by the way of budgeting. */
export const sums = (slices: readonly Slice[], { budgeting, sliceTarget = one }: Objective): Sums => {
  const known = slices.filter(({ total }) => total > 0n);
  if (budgeting === 'occurrences') {
    let [good, total] = [0n, 0n];
    for (const slice of known) {
      good += slice.good;
      total += slice.total;
    }
    return { good: whole(good), bad: whole(total - good), total: whole(total), known: known.length };
  }
  const total = whole(known.length);
  const isGood = (slice: Slice): boolean => slice.good * sliceTarget.under >= slice.total * sliceTarget.over;
  const good = budgeting === 'timeslices' ? whole(known.filter(isGood).length) : sharesOf(known);
  return { good, bad: minus(total, good), total, known: known.length };
};

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
