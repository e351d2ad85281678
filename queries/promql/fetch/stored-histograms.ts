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
const reduceResolution = (all: Buckets, steps: number): Buckets => {
  const { first, counts } = all;
  if (steps === 0 || counts.length === 0) return all;
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
  sent: ArrayLike<number>,
): { spans: BucketSpan[]; buckets: number[] } => {
  const spans: BucketSpan[] = [];
  const buckets: number[] = [];
  let at = 0;
  for (let place = 0; place < sent.length; place += 2) {
    const [offset, length] = [sent[place] as number, sent[place + 1] as number];
    if (place > 0) at += offset;
    spans.push({ offset, length });
    for (let bucket = 0; bucket < length; bucket++) buckets.push(counts[at++] ?? 0);
  }
  return { spans, buckets };
};

/** Returns spans of the non-empty buckets, or of the received ones. */
const buildSpans = (all: Buckets): { spans: BucketSpan[]; buckets: number[] } => {
  if (all.spans !== undefined && all.spans.length > 0) return readReceivedSpans(all, all.spans);
  const { first, counts } = all;
  const spans: { offset: number; length: number }[] = [];
  const buckets: number[] = [];
  let next = 0;
  for (const [at, count] of counts.entries()) {
    if (count === 0) continue;
    const index = first + at;
    const last = spans.at(-1);
    if (last !== undefined && index === next) last.length++;
    else spans.push({ offset: last === undefined ? index : index - next, length: 1 });
    buckets.push(count);
    next = index + 1;
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
  const number = (name: string): number => getNumbers(block, name)[row] as number;
  const exact = getArray(block, 'exact_counts', row);
  const isExact = exact.length > 0;
  const positive = getArray(block, 'positive_counts', row);
  const negative = getArray(block, 'negative_counts', row);
  const exactNegative = 2 + positive.length;
  return {
    scale: number('scale'),
    threshold: number('threshold'),
    zeros: isExact ? (exact[1] as number) : number('zeros'),
    count: isExact ? (exact[0] as number) : number('total'),
    sum: number('sum_of'),
    // Prometheus' bucket `i` ends where OTLP's begins.
    positive: {
      first: number('positive_offset') + 1,
      counts: [...(isExact ? exact.subarray(2, exactNegative) : positive)],
      spans: getArray(block, 'positive_spans', row),
    },
    negative: {
      first: number('negative_offset') + 1,
      counts: [...(isExact ? exact.subarray(exactNegative) : negative)],
      spans: getArray(block, 'negative_spans', row),
    },
  };
};

/** Returns the histogram of a row as received. Explicit bounds of remote write are custom bounds. */
export const readHistogram = (block: Block, row: number): NativeHistogram => {
  const resetHint = resetHints[getNumbers(block, 'reset_hint')[row] as number] ?? 'unknown';
  const counts = getArray(block, 'counts', row);
  if (counts.length === 0) return toNativeHistogram(readStoredHistogram(block, row), resetHint);
  const exact = getArray(block, 'exact_counts', row);
  const sent = getArray(block, 'positive_spans', row);
  // Buckets before the first span are included.
  const all = [...(exact.length > 0 ? exact.subarray(2) : counts)].slice(sent[0] ?? 0);
  const { spans, buckets } = buildSpans({ first: sent[0] ?? 0, counts: all, spans: sent });
  return {
    schema: -53,
    zeroThreshold: 0,
    zeroCount: 0,
    count: exact[0] ?? (getNumbers(block, 'total')[row] as number),
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
  for (const { first: own, counts: added } of [left, right])
    for (const [at, count] of added.entries()) counts[own - first + at] = (counts[own - first + at] as number) + count;
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
