/** Converts stored histograms to Prometheus' native ones and to buckets. */
import type { BucketSpan, NativeHistogram, ResetHint } from '../series.ts';
import { startsNewCounter } from './deltas.ts';
import { arrayIn, type Block, numbersIn } from './native-blocks.ts';

/** Highest resolution that Prometheus supports. */
const finest = 8;

/** Reset hints by their remote-write numbers. */
const resetHints: readonly ResetHint[] = ['unknown', 'reset', 'not-reset', 'gauge'];

interface Buckets {
  /** Index of the first bucket, in Prometheus' numbering. */
  readonly first: number;
  readonly counts: readonly number[];
  /** Offset and length of each received span; without them, empty buckets are omitted. */
  readonly spans?: ArrayLike<number>;
}

interface Stored {
  readonly scale: number;
  readonly threshold: number;
  readonly zeros: number;
  readonly count: number;
  readonly sum: number;
  readonly positive: Buckets;
  readonly negative: Buckets;
}

/** Returns half as many buckets, or a quarter …: Prometheus' bucket `i` ends at 2^(i · 2^-scale). */
const coarser = (all: Buckets, steps: number): Buckets => {
  const { first, counts } = all;
  if (steps === 0 || counts.length === 0) return all;
  const indexOf = (index: number): number => Math.ceil(index / 2 ** steps);
  const start = indexOf(first);
  const merged: number[] = Array.from({ length: indexOf(first + counts.length - 1) - start + 1 }, () => 0);
  for (const [at, count] of counts.entries()) {
    const index = indexOf(first + at) - start;
    merged[index] = (merged[index] as number) + count;
  }
  return { first: start, counts: merged };
};

/** Returns buckets as received, including empty ones. */
const sentSpans = ({ counts }: Buckets, sent: ArrayLike<number>): { spans: BucketSpan[]; buckets: number[] } => {
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
const spansOf = (all: Buckets): { spans: BucketSpan[]; buckets: number[] } => {
  if (all.spans !== undefined && all.spans.length > 0) return sentSpans(all, all.spans);
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

const nativeOf = (stored: Stored, resetHint: ResetHint): NativeHistogram => {
  const steps = Math.max(0, stored.scale - finest);
  const positive = spansOf(coarser(stored.positive, steps));
  const negative = spansOf(coarser(stored.negative, steps));
  return {
    schema: Math.min(finest, stored.scale),
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

const storedAt = (block: Block, row: number): Stored => {
  const number = (name: string): number => numbersIn(block, name)[row] as number;
  const exact = arrayIn(block, 'exact_counts', row);
  const isExact = exact.length > 0;
  const positive = arrayIn(block, 'positive_counts', row);
  const negative = arrayIn(block, 'negative_counts', row);
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
      spans: arrayIn(block, 'positive_spans', row),
    },
    negative: {
      first: number('negative_offset') + 1,
      counts: [...(isExact ? exact.subarray(exactNegative) : negative)],
      spans: arrayIn(block, 'negative_spans', row),
    },
  };
};

/** Returns the histogram of a row as received. Explicit bounds of remote write are custom bounds. */
export const histogramAt = (block: Block, row: number): NativeHistogram => {
  const resetHint = resetHints[numbersIn(block, 'reset_hint')[row] as number] ?? 'unknown';
  const counts = arrayIn(block, 'counts', row);
  if (counts.length === 0) return nativeOf(storedAt(block, row), resetHint);
  const exact = arrayIn(block, 'exact_counts', row);
  const sent = arrayIn(block, 'positive_spans', row);
  // Buckets before the first span are included.
  const all = [...(exact.length > 0 ? exact.subarray(2) : counts)].slice(sent[0] ?? 0);
  const { spans, buckets } = spansOf({ first: sent[0] ?? 0, counts: all, spans: sent });
  return {
    schema: -53,
    zeroThreshold: 0,
    zeroCount: 0,
    count: exact[0] ?? (numbersIn(block, 'total')[row] as number),
    sum: numbersIn(block, 'sum_of')[row] as number,
    positiveSpans: spans,
    positiveBuckets: buckets,
    negativeSpans: [],
    negativeBuckets: [],
    customValues: [...arrayIn(block, 'bounds', row)],
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
const added = (left: Stored, right: Stored): Stored => {
  const scale = Math.min(left.scale, right.scale);
  const both = (side: 'positive' | 'negative'): Buckets =>
    addBuckets(coarser(left[side], left.scale - scale), coarser(right[side], right.scale - scale));
  return {
    scale,
    threshold: Math.max(left.threshold, right.threshold),
    zeros: left.zeros + right.zeros,
    count: left.count + right.count,
    sum: left.sum + right.sum,
    positive: both('positive'),
    negative: both('negative'),
  };
};

/** Accumulates delta histograms, restarting each hour; a histogram itself marks the restart of its counter. */
export class DeltaHistograms {
  #sum: Stored | undefined;
  #timeMs = Number.NaN;

  add(block: Block, row: number, timeMs: number): NativeHistogram {
    const isNewCounter = this.#sum === undefined || startsNewCounter(this.#timeMs, timeMs);
    const own = storedAt(block, row);
    this.#sum = isNewCounter || this.#sum === undefined ? own : added(this.#sum, own);
    this.#timeMs = timeMs;
    return nativeOf(this.#sum, isNewCounter ? 'reset' : 'not-reset');
  }
}
