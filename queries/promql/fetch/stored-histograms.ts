/** Converts stored histograms to Prometheus' native ones and to buckets. */
import type { BucketSpan, NativeHistogram, ResetHint } from '../series.ts';
import { startsNewCounter } from './deltas.ts';
import { type Block, getArray, getNumbers } from './native-blocks.ts';

/** Highest resolution that Prometheus supports. */
const maxSchema = 8;

/** Reset hints by their remote-write numbers. */
const resetHints: readonly ResetHint[] = ['unknown', 'reset', 'not-reset', 'gauge'];

interface Buckets {
  /** Index of the first bucket, in Prometheus' numbering. */
  readonly first: number;
  readonly counts: readonly number[];
  /** Offset and length of each received span; without them, empty buckets are omitted. */
  readonly spans?: ArrayLike<number>;
}

interface StoredHistogram {
  readonly scale: number;
  readonly threshold: number;
  readonly zeros: number;
  readonly count: number;
  readonly sum: number;
  readonly positive: Buckets;
  readonly negative: Buckets;
}

/** Reduces the resolution: each step halves the number of buckets. Prometheus' bucket `i` ends at 2^(i · 2^-scale). */
const reduceResolution = (buckets: Buckets, steps: number): Buckets => {
  const { first, counts } = buckets;
  if (steps === 0 || counts.length === 0) return buckets;
  const coarserIndex = (index: number): number => Math.ceil(index / 2 ** steps);
  const start = coarserIndex(first);
  const merged: number[] = Array.from({ length: coarserIndex(first + counts.length - 1) - start + 1 }, () => 0);
  for (const [at, count] of counts.entries()) {
    const index = coarserIndex(first + at) - start;
    merged[index] = (merged[index] as number) + count;
  }
  return { first: start, counts: merged };
};

/** Returns buckets as received, including empty ones. */
const readReceivedSpans = (
  { counts }: Buckets,
  receivedSpans: ArrayLike<number>,
): { spans: BucketSpan[]; buckets: number[] } => {
  const spans: BucketSpan[] = [];
  const buckets: number[] = [];
  let countIndex = 0;
  for (let spanIndex = 0; spanIndex < receivedSpans.length; spanIndex += 2) {
    const [offset, length] = [receivedSpans[spanIndex] as number, receivedSpans[spanIndex + 1] as number];
    if (spanIndex > 0) countIndex += offset;
    spans.push({ offset, length });
    for (let bucket = 0; bucket < length; bucket++) buckets.push(counts[countIndex++] ?? 0);
  }
  return { spans, buckets };
};

/** Returns spans of the non-empty buckets, or of the received ones. */
const buildSpans = (bucketCounts: Buckets): { spans: BucketSpan[]; buckets: number[] } => {
  if (bucketCounts.spans !== undefined && bucketCounts.spans.length > 0)
    return readReceivedSpans(bucketCounts, bucketCounts.spans);
  const { first, counts } = bucketCounts;
  const spans: { offset: number; length: number }[] = [];
  const buckets: number[] = [];
  let nextIndex = 0;
  for (const [at, count] of counts.entries()) {
    if (count === 0) continue;
    const index = first + at;
    const last = spans.at(-1);
    if (last !== undefined && index === nextIndex) last.length++;
    else spans.push({ offset: last === undefined ? index : index - nextIndex, length: 1 });
    buckets.push(count);
    nextIndex = index + 1;
  }
  return { spans, buckets };
};

const toNativeHistogram = (stored: StoredHistogram, resetHint: ResetHint): NativeHistogram => {
  const steps = Math.max(0, stored.scale - maxSchema);
  const positive = buildSpans(reduceResolution(stored.positive, steps));
  const negative = buildSpans(reduceResolution(stored.negative, steps));
  return {
    schema: Math.min(maxSchema, stored.scale),
    zeroThreshold: stored.threshold,
    zeroCount: stored.zeros,
    count: stored.count,
    sum: stored.sum,
    positiveSpans: positive.spans,
    positiveBuckets: positive.buckets,
    negativeSpans: negative.spans,
    negativeBuckets: negative.buckets,
    resetHint,
  };
};

const readStoredHistogram = (block: Block, row: number): StoredHistogram => {
  const getNumber = (name: string): number => getNumbers(block, name)[row] as number;
  const exactCounts = getArray(block, 'exact_counts', row);
  const isExact = exactCounts.length > 0;
  const positive = getArray(block, 'positive_counts', row);
  const negative = getArray(block, 'negative_counts', row);
  const exactNegative = 2 + positive.length;
  return {
    scale: getNumber('scale'),
    threshold: getNumber('threshold'),
    zeros: isExact ? (exactCounts[1] as number) : getNumber('zeros'),
    count: isExact ? (exactCounts[0] as number) : getNumber('total'),
    sum: getNumber('sum_of'),
    // Prometheus' bucket `i` ends where OTLP's begins.
    positive: {
      first: getNumber('positive_offset') + 1,
      counts: [...(isExact ? exactCounts.subarray(2, exactNegative) : positive)],
      spans: getArray(block, 'positive_spans', row),
    },
    negative: {
      first: getNumber('negative_offset') + 1,
      counts: [...(isExact ? exactCounts.subarray(exactNegative) : negative)],
      spans: getArray(block, 'negative_spans', row),
    },
  };
};

/** Returns the histogram of a row as received. Explicit bounds of remote write are custom bounds. */
export const readHistogram = (block: Block, row: number): NativeHistogram => {
  const resetHint = resetHints[getNumbers(block, 'reset_hint')[row] as number] ?? 'unknown';
  const counts = getArray(block, 'counts', row);
  if (counts.length === 0) return toNativeHistogram(readStoredHistogram(block, row), resetHint);
  const exactCounts = getArray(block, 'exact_counts', row);
  const receivedSpans = getArray(block, 'positive_spans', row);
  // Buckets before the first span are included.
  const all = [...(exactCounts.length > 0 ? exactCounts.subarray(2) : counts)].slice(receivedSpans[0] ?? 0);
  const { spans, buckets } = buildSpans({ first: receivedSpans[0] ?? 0, counts: all, spans: receivedSpans });
  return {
    schema: -53,
    zeroThreshold: 0,
    zeroCount: 0,
    count: exactCounts[0] ?? (getNumbers(block, 'total')[row] as number),
    sum: getNumbers(block, 'sum_of')[row] as number,
    positiveSpans: spans,
    positiveBuckets: buckets,
    negativeSpans: [],
    negativeBuckets: [],
    customValues: [...getArray(block, 'bounds', row)],
    resetHint,
  };
};

const addBuckets = (left: Buckets, right: Buckets): Buckets => {
  if (left.counts.length === 0) return right;
  if (right.counts.length === 0) return left;
  const first = Math.min(left.first, right.first);
  const end = Math.max(left.first + left.counts.length, right.first + right.counts.length);
  const counts: number[] = Array.from({ length: end - first }, () => 0);
  for (const { first: firstIndex, counts: addedCounts } of [left, right])
    for (const [at, count] of addedCounts.entries())
      counts[firstIndex - first + at] = (counts[firstIndex - first + at] as number) + count;
  return { first, counts };
};

/** Returns the sum of two histograms, in the lower resolution. */
const addStored = (left: StoredHistogram, right: StoredHistogram): StoredHistogram => {
  const scale = Math.min(left.scale, right.scale);
  const addSide = (side: 'positive' | 'negative'): Buckets =>
    addBuckets(reduceResolution(left[side], left.scale - scale), reduceResolution(right[side], right.scale - scale));
  return {
    scale,
    threshold: Math.max(left.threshold, right.threshold),
    zeros: left.zeros + right.zeros,
    count: left.count + right.count,
    sum: left.sum + right.sum,
    positive: addSide('positive'),
    negative: addSide('negative'),
  };
};

/** Adds delta histograms to a counter that restarts each hour. The reset hint of a histogram marks the restart. */
export class DeltaHistograms {
  #sum: StoredHistogram | undefined;
  #timeMs = Number.NaN;

  add(block: Block, row: number, timeMs: number): NativeHistogram {
    const isNewCounter = this.#sum === undefined || startsNewCounter(this.#timeMs, timeMs);
    const addend = readStoredHistogram(block, row);
    this.#sum = isNewCounter || this.#sum === undefined ? addend : addStored(this.#sum, addend);
    this.#timeMs = timeMs;
    return toNativeHistogram(this.#sum, isNewCounter ? 'reset' : 'not-reset');
  }
}
