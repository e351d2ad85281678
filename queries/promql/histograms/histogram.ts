import type { BucketSpan, NativeHistogram, ResetHint } from '../series.ts';
import { customSchema, getUpperBound } from './bounds.ts';

/** Buckets of one sign: their indexes in ascending order, and a count for each. */
export interface Buckets {
  indexes: number[];
  counts: number[];
}

/** A bucket with its bounds. */
export interface Bucket {
  lower: number;
  upper: number;
  readonly isLowerInclusive: boolean;
  readonly isUpperInclusive: boolean;
  readonly count: number;
}

/**
 * A native histogram for calculations. Methods that change it are documented as such; histograms read by selectors are
 * never changed.
 */
export class Histogram {
  schema = 0;
  zeroThreshold = 0;
  zeroCount = 0;
  count = 0;
  sum = 0;
  hint: ResetHint = 'unknown';
  positive: Buckets = { indexes: [], counts: [] };
  negative: Buckets = { indexes: [], counts: [] };
  /** Bounds of custom buckets; shared between copies and never changed. */
  bounds: readonly number[] = [];

  get isCustom(): boolean {
    return this.schema === customSchema;
  }

  copy(): Histogram {
    const copy = new Histogram();
    copy.schema = this.schema;
    copy.zeroThreshold = this.zeroThreshold;
    copy.zeroCount = this.zeroCount;
    copy.count = this.count;
    copy.sum = this.sum;
    copy.hint = this.hint;
    copy.bounds = this.bounds;
    copy.positive = copyBuckets(this.positive);
    copy.negative = copyBuckets(this.negative);
    return copy;
  }

  /** Returns the same counts with another hint. */
  withHint(hint: ResetHint): Histogram {
    return hint === this.hint ? this : Object.assign(new Histogram(), this, { hint });
  }

  /** Drops empty buckets; changes the histogram. */
  compact(): this {
    this.positive = removeEmpty(this.positive);
    this.negative = removeEmpty(this.negative);
    return this;
  }

  /** Multiplies every count and the sum; changes the histogram. A negative factor makes it a gauge. */
  scale(factor: number): this {
    return this.#mapCounts((value) => value * factor, factor < 0);
  }

  /** Divides every count and the sum; changes the histogram. Zero leaves no buckets. */
  divide(divisor: number): this {
    this.#mapCounts((value) => value / divisor, divisor < 0);
    if (divisor === 0) {
      this.positive = { indexes: [], counts: [] };
      this.negative = { indexes: [], counts: [] };
    }
    return this;
  }

  #mapCounts(change: (value: number) => number, isGauge: boolean): this {
    this.zeroCount = change(this.zeroCount);
    this.count = change(this.count);
    this.sum = change(this.sum);
    this.positive.counts = this.positive.counts.map(change);
    this.negative.counts = this.negative.counts.map(change);
    if (isGauge) this.hint = 'gauge';
    return this;
  }

  /** Whether any value is infinite, as in sums of many histograms. */
  get hasOverflow(): boolean {
    const isInfinite = (value: number) => value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY;
    return (
      [this.zeroCount, this.count, this.sum].some(isInfinite) ||
      this.positive.counts.some(isInfinite) ||
      this.negative.counts.some(isInfinite)
    );
  }

  /** Returns whether both have the same buckets with the same counts, bit by bit. */
  equals(other: Histogram): boolean {
    return (
      this.schema === other.schema &&
      Object.is(this.count, other.count) &&
      Object.is(this.sum, other.sum) &&
      this.zeroThreshold === other.zeroThreshold &&
      Object.is(this.zeroCount, other.zeroCount) &&
      hasSameBounds(this.bounds, other.bounds) &&
      hasSameBuckets(this.positive, other.positive) &&
      hasSameBuckets(this.negative, other.negative)
    );
  }

  getBucket(index: number, count: number, positive: boolean): Bucket {
    const firstBound = getUpperBound(index - 1, this.schema, this.bounds);
    const secondBound = getUpperBound(index, this.schema, this.bounds);
    const lower = positive ? firstBound : -secondBound;
    const upper = positive ? secondBound : -firstBound;
    return {
      lower,
      upper,
      isLowerInclusive: this.isCustom ? index === 0 : lower < 0,
      isUpperInclusive: this.isCustom || upper > 0,
      count,
    };
  }

  /** Returns every bucket from the lowest bound on, including a non-empty zero bucket. */
  getAllBuckets(): Bucket[] {
    const { indexes, counts } = this.negative;
    const buckets = indexes
      .map((index, at) => this.#clipToZeroBucket(this.getBucket(index, counts[at] as number, false)))
      .reverse();
    if (this.zeroCount > 0) buckets.push(this.getZeroBucket());
    for (const [at, index] of this.positive.indexes.entries())
      buckets.push(this.#clipToZeroBucket(this.getBucket(index, this.positive.counts[at] as number, true)));
    return buckets;
  }

  getZeroBucket(): Bucket {
    const { zeroThreshold, zeroCount } = this;
    return {
      lower: -zeroThreshold,
      upper: zeroThreshold,
      isLowerInclusive: true,
      isUpperInclusive: true,
      count: zeroCount,
    };
  }

  /** Returns a bucket without the part that the zero bucket covers. */
  #clipToZeroBucket(bucket: Bucket): Bucket {
    const zero = this.zeroThreshold;
    if (bucket.upper < 0 && bucket.upper > -zero) bucket.upper = -zero;
    else if (bucket.lower > 0 && bucket.lower < zero) bucket.lower = zero;
    return bucket;
  }

  /** Number of samples it counts as for limits: one per 16 bytes. */
  get sampleEquivalents(): number {
    const buckets = this.positive.counts.length + this.negative.counts.length;
    const spans = countSpans(this.positive.indexes) + countSpans(this.negative.indexes);
    return Math.floor((168 + 8 * (buckets + spans + this.bounds.length) + 8) / 16);
  }
}

const copyBuckets = ({ indexes, counts }: Buckets): Buckets => ({ indexes: indexes.slice(), counts: counts.slice() });

const removeEmpty = (buckets: Buckets): Buckets => {
  if (!buckets.counts.includes(0)) return buckets;
  const isFilled = buckets.counts.map((count) => count !== 0);
  return {
    indexes: buckets.indexes.filter((_, at) => isFilled[at]),
    counts: buckets.counts.filter((_, at) => isFilled[at]),
  };
};

/** Returns whether custom bounds are equal. */
export const hasSameBounds = (left: readonly number[], right: readonly number[]): boolean =>
  left === right || (left.length === right.length && left.every((bound, at) => bound === right[at]));

const hasSameBuckets = (left: Buckets, right: Buckets): boolean =>
  hasSameBounds(left.indexes, right.indexes) && left.counts.every((count, at) => Object.is(count, right.counts[at]));

const countSpans = (indexes: readonly number[]): number => {
  let spans = 0;
  for (let at = 0; at < indexes.length; at++) if (indexes[at] !== (indexes[at - 1] ?? Number.NaN) + 1) spans++;
  return spans;
};

const toIndexes = (spans: readonly BucketSpan[]): number[] => {
  const indexes: number[] = [];
  let index = 0;
  for (const { offset, length } of spans) {
    index += offset;
    for (let bucketOffset = 0; bucketOffset < length; bucketOffset++) indexes.push(index++);
  }
  return indexes;
};

const toSpans = (indexes: readonly number[]): BucketSpan[] => {
  const spans: { offset: number; length: number }[] = [];
  let nextIndex = 0;
  for (const index of indexes) {
    const last = spans.at(-1);
    if (last !== undefined && index === nextIndex) last.length++;
    else spans.push({ offset: index - nextIndex, length: 1 });
    nextIndex = index + 1;
  }
  return spans;
};

/** Converts a native histogram, as it was read, for calculations. */
export const fromNative = (native: NativeHistogram): Histogram => {
  const histogram = new Histogram();
  histogram.schema = native.schema;
  histogram.zeroThreshold = native.zeroThreshold;
  histogram.zeroCount = native.zeroCount;
  histogram.count = native.count;
  histogram.sum = native.sum;
  histogram.hint = native.resetHint;
  histogram.bounds = native.customValues ?? [];
  histogram.positive = { indexes: toIndexes(native.positiveSpans), counts: [...native.positiveBuckets] };
  histogram.negative = { indexes: toIndexes(native.negativeSpans), counts: [...native.negativeBuckets] };
  return histogram;
};

/** Converts a histogram to a native histogram for output. */
export const toNative = (histogram: Histogram): NativeHistogram => ({
  schema: histogram.schema,
  zeroThreshold: histogram.zeroThreshold,
  zeroCount: histogram.zeroCount,
  count: histogram.count,
  sum: histogram.sum,
  positiveSpans: toSpans(histogram.positive.indexes),
  positiveBuckets: histogram.positive.counts,
  negativeSpans: toSpans(histogram.negative.indexes),
  negativeBuckets: histogram.negative.counts,
  ...(histogram.isCustom && { customValues: histogram.bounds }),
  resetHint: histogram.hint,
});
