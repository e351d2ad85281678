import type { ResetHint } from '../series.ts';
import { computeExponentialBound, reduceIndex } from './bounds.ts';
import { type Buckets, Histogram, hasSameBounds } from './histogram.ts';
import { KahanSum } from './kahan.ts';

/** Notes about the addition of two histograms, which Prometheus reports as annotations. */
export interface Addition {
  /** Whether one histogram has the hint `reset` and the other `not-reset`. */
  readonly hasCollision: boolean;
  /** Whether the custom bounds differed; the result then has only the common bounds. */
  readonly wereBoundsReconciled: boolean;
}

/** Thrown for exponential and custom buckets, which have no common form and cannot be added. */
export class IncompatibleHistogramsError extends Error {}

const combineHints = (left: ResetHint, right: ResetHint): ResetHint => {
  if (left === right) return left;
  if (left === 'gauge' || right === 'gauge') return 'gauge';
  return 'unknown';
};

const areContradictory = (left: ResetHint, right: ResetHint): boolean =>
  left !== right && [left, right].every((hint) => hint === 'reset' || hint === 'not-reset');

/** Sums by bucket with compensation of rounding errors. */
type BucketSums = Map<number, KahanSum>;

const addTo = (sums: BucketSums, index: number, value: number): void => {
  const existingSum = sums.get(index);
  if (existingSum === undefined) sums.set(index, new KahanSum(value));
  else existingSum.add(value);
};

/**
 * Widens the zero bucket of a histogram to `threshold`. A threshold within a non-empty bucket moves to the end of that
 * bucket. `add` receives the counts moved into the zero bucket.
 */
const widenZeroBucket = (
  histogram: Histogram,
  threshold: number,
  add: (isPositive: boolean, index: number, count: number) => void,
): { threshold: number; mergedBuckets: [boolean, number, number][] } => {
  let targetThreshold = threshold;
  for (;;) {
    const mergedBuckets: [boolean, number, number][] = [];
    const adjustedThreshold =
      collectBucketsBelow(histogram, true, targetThreshold, mergedBuckets) ??
      collectBucketsBelow(histogram, false, targetThreshold, mergedBuckets) ??
      Number.NaN;
    if (Number.isNaN(adjustedThreshold) || adjustedThreshold === targetThreshold) {
      for (const [isPositive, index, count] of mergedBuckets) add(isPositive, index, count);
      return { threshold: targetThreshold, mergedBuckets };
    }
    targetThreshold = adjustedThreshold;
  }
};

/** Collects the buckets below a threshold; returns a new threshold if it is within a non-empty bucket. */
const collectBucketsBelow = (
  histogram: Histogram,
  isPositive: boolean,
  threshold: number,
  mergedBuckets: [boolean, number, number][],
): number | undefined => {
  const { indexes, counts } = isPositive ? histogram.positive : histogram.negative;
  for (const [at, index] of indexes.entries()) {
    if (computeExponentialBound(index - 1, histogram.schema) >= threshold) return undefined;
    const count = counts[at] as number;
    const upper = computeExponentialBound(index, histogram.schema);
    if (upper > threshold) {
      if (count === 0) return undefined;
      return upper;
    }
    mergedBuckets.push([isPositive, index, count]);
  }
  return undefined;
};

/** Returns the count of a zero bucket widened to a threshold, and its resulting end. */
export const countWidenedZeroBucket = (
  histogram: Histogram,
  threshold: number,
): { count: number; threshold: number } => {
  if (threshold === histogram.zeroThreshold) return { count: histogram.zeroCount, threshold };
  let count = histogram.zeroCount;
  const widenedZero = widenZeroBucket(histogram, threshold, (_positive, _index, addedCount) => {
    count += addedCount;
  });
  return { count, threshold: widenedZero.threshold };
};

/**
 * A sum of histograms. Rounding errors of counts are compensated, so that the order of addition does not matter.
 * Resolution, zero bucket and custom bounds are reduced to a form that all histograms have in common.
 */
export class HistogramSum {
  #schema: number;
  #zeroThreshold: number;
  #zero: KahanSum;
  readonly #count: KahanSum;
  readonly #sum: KahanSum;
  #hint: ResetHint;
  #positive: BucketSums = new Map();
  #negative: BucketSums = new Map();
  #bounds: readonly number[];
  readonly #custom: boolean;

  constructor(first: Histogram) {
    this.#schema = first.schema;
    this.#zeroThreshold = first.zeroThreshold;
    this.#zero = new KahanSum(first.zeroCount);
    this.#count = new KahanSum(first.count);
    this.#sum = new KahanSum(first.sum);
    this.#hint = first.hint;
    this.#bounds = first.bounds;
    this.#custom = first.isCustom;
    for (const [at, index] of first.positive.indexes.entries())
      this.#positive.set(index, new KahanSum(first.positive.counts[at]));
    for (const [at, index] of first.negative.indexes.entries())
      this.#negative.set(index, new KahanSum(first.negative.counts[at]));
  }

  copy(): HistogramSum {
    const copy = new HistogramSum(this.value(false));
    copy.#zero.compensation = this.#zero.compensation;
    copy.#count.compensation = this.#count.compensation;
    copy.#sum.compensation = this.#sum.compensation;
    for (const [index, sum] of this.#positive) (copy.#positive.get(index) as KahanSum).compensation = sum.compensation;
    for (const [index, sum] of this.#negative) (copy.#negative.get(index) as KahanSum).compensation = sum.compensation;
    return copy;
  }

  /** Multiplies the sum and its compensation. */
  scale(factor: number): void {
    const all = [this.#zero, this.#count, this.#sum, ...this.#positive.values(), ...this.#negative.values()];
    for (const sum of all) {
      sum.sum *= factor;
      sum.compensation *= factor;
    }
  }

  /** Adds or subtracts a histogram; throws `IncompatibleHistogramsError`. */
  add(other: Histogram, sign: 1 | -1 = 1): Addition {
    if (other.isCustom !== this.#custom) throw new IncompatibleHistogramsError();
    const hasCollision = areContradictory(this.#hint, other.hint);
    this.#hint = combineHints(this.#hint, other.hint);
    const wereBoundsReconciled = this.#custom && !hasSameBounds(this.#bounds, other.bounds);
    this.#count.add(sign * other.count);
    this.#sum.add(sign * other.sum);
    if (this.#custom) this.#addCustom(other, sign, wereBoundsReconciled);
    else this.#addExponential(other, sign);
    return { hasCollision, wereBoundsReconciled };
  }

  #addExponential(other: Histogram, sign: number): void {
    this.#zero.add(sign * this.#reconcileZero(other));
    this.#schema = this.#reduceSchema(Math.min(this.#schema, other.schema));
    this.#addSide(this.#positive, other.positive, other.schema, sign);
    this.#addSide(this.#negative, other.negative, other.schema, sign);
  }

  #addSide(sums: BucketSums, { indexes, counts }: Buckets, schema: number, sign: number): void {
    let isWithinZeroBucket = true;
    for (const [at, index] of indexes.entries()) {
      const target = schema === this.#schema ? index : reduceIndex(index, schema, this.#schema);
      if (isWithinZeroBucket && computeExponentialBound(target, this.#schema) <= this.#zeroThreshold) continue;
      isWithinZeroBucket = false;
      addTo(sums, target, sign * (counts[at] as number));
    }
  }

  #reduceSchema(schema: number): number {
    if (schema === this.#schema) return schema;
    this.#positive = reduceSums(this.#positive, this.#schema, schema);
    this.#negative = reduceSums(this.#negative, this.#schema, schema);
    return schema;
  }

  /** Returns the zero count of the other histogram, after both zero buckets have equal width. */
  #reconcileZero(other: Histogram): number {
    let { zeroCount: count, zeroThreshold: threshold } = other;
    while (threshold !== this.#zeroThreshold) {
      if (this.#zeroThreshold > threshold) ({ count, threshold } = countWidenedZeroBucket(other, this.#zeroThreshold));
      if (threshold > this.#zeroThreshold) this.#widenZero(threshold);
    }
    return count;
  }

  #widenZero(threshold: number): void {
    const currentValue = this.value(false);
    const widenedZero = widenZeroBucket(currentValue, threshold, (isPositive, index, count) => {
      const sums = isPositive ? this.#positive : this.#negative;
      this.#zero.add(count);
      this.#zero.add((sums.get(index) as KahanSum).compensation);
      sums.delete(index);
    });
    this.#zeroThreshold = widenedZero.threshold;
  }

  #addCustom(other: Histogram, sign: number, wereBoundsReconciled: boolean): void {
    const bounds = wereBoundsReconciled ? this.#bounds.filter((bound) => other.bounds.includes(bound)) : this.#bounds;
    if (wereBoundsReconciled) {
      const merged: BucketSums = new Map();
      for (const [index, sum] of sortByIndex(this.#positive)) {
        const target = findCommonBucket(index, this.#bounds, bounds);
        addTo(merged, target, sum.sum);
        addTo(merged, target, sum.compensation);
      }
      this.#positive = merged;
    }
    for (const [at, index] of other.positive.indexes.entries()) {
      const target = wereBoundsReconciled ? findCommonBucket(index, other.bounds, bounds) : index;
      addTo(this.#positive, target, sign * (other.positive.counts[at] as number));
    }
    if (wereBoundsReconciled)
      for (const [index, sum] of this.#positive)
        if (sum.sum === 0 && sum.compensation === 0) this.#positive.delete(index);
    this.#bounds = bounds;
  }

  /** Returns the sum as a separate histogram; without `exact`, the compensation is not added. */
  value(exact = true): Histogram {
    const read = (sum: KahanSum) => (exact ? sum.total : sum.sum);
    const histogram = new Histogram();
    histogram.schema = this.#schema;
    histogram.zeroThreshold = this.#zeroThreshold;
    histogram.zeroCount = read(this.#zero);
    histogram.count = read(this.#count);
    histogram.sum = read(this.#sum);
    histogram.hint = this.#hint;
    histogram.bounds = this.#bounds;
    histogram.positive = toBuckets(this.#positive, read);
    histogram.negative = toBuckets(this.#negative, read);
    return histogram;
  }
}

const sortByIndex = (sums: BucketSums): [number, KahanSum][] => [...sums].sort(([left], [right]) => left - right);

const toBuckets = (sums: BucketSums, read: (sum: KahanSum) => number): Buckets => {
  const entries = sortByIndex(sums);
  return { indexes: entries.map(([index]) => index), counts: entries.map(([, sum]) => read(sum)) };
};

const reduceSums = (sums: BucketSums, from: number, to: number): BucketSums => {
  const result: BucketSums = new Map();
  for (const [index, sum] of sortByIndex(sums)) {
    const target = reduceIndex(index, from, to);
    const existingSum = result.get(target);
    if (existingSum === undefined) {
      result.set(target, sum);
      continue;
    }
    existingSum.add(sum.sum);
    existingSum.add(sum.compensation);
  }
  return result;
};

/** Returns the bucket among common bounds that contains a custom bucket. */
const findCommonBucket = (index: number, bounds: readonly number[], commonBounds: readonly number[]): number => {
  const bound = bounds[index];
  const commonIndex = bound === undefined ? -1 : commonBounds.findIndex((other) => other >= bound);
  return commonIndex < 0 ? commonBounds.length : commonIndex;
};

/** Returns the sum or difference of two histograms without changing them. Rounds as one addition does. */
export const combine = (left: Histogram, right: Histogram, sign: 1 | -1): Addition & { readonly result: Histogram } => {
  const sum = new HistogramSum(left);
  const addition = sum.add(right, sign);
  return { ...addition, result: sum.value(false) };
};

/** Returns the histogram in a lower resolution; itself if it already has that resolution. */
export const reduceSchema = (histogram: Histogram, schema: number): Histogram => {
  if (schema === histogram.schema) return histogram.copy();
  const copy = histogram.copy();
  copy.positive = reduceBuckets(copy.positive, histogram.schema, schema);
  copy.negative = reduceBuckets(copy.negative, histogram.schema, schema);
  copy.schema = schema;
  copy.hint = 'unknown';
  return copy;
};

/** Returns buckets in a lower resolution. */
export const reduceBuckets = ({ indexes, counts }: Buckets, from: number, to: number): Buckets => {
  const result: Buckets = { indexes: [], counts: [] };
  for (const [at, index] of indexes.entries()) {
    const target = reduceIndex(index, from, to);
    const last = result.indexes.length - 1;
    if (result.indexes[last] === target) result.counts[last] = (result.counts[last] as number) + (counts[at] as number);
    else {
      result.indexes.push(target);
      result.counts.push(counts[at] as number);
    }
  }
  return result;
};
