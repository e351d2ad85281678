/** Labels of a series ordered by name, including the metric's name as `__name__`. */
export type Labels = Readonly<Record<string, string>>;

/** Hint of a histogram about a counter reset before it. */
export type ResetHint = 'unknown' | 'reset' | 'not-reset' | 'gauge';

/**
 * A span of consecutive buckets: `offset` is relative to the end of the previous span (for the first span, to bucket
 * 0).
 */
export interface BucketSpan {
  readonly offset: number;
  readonly length: number;
}

/**
 * A native histogram with float counts. Schemas -4 to 8 have exponential buckets; schema -53 has the bounds
 * `customValues`, only positive buckets and no zero bucket. Buckets contain absolute counts, not differences.
 */
export interface NativeHistogram {
  readonly schema: number;
  readonly zeroThreshold: number;
  readonly zeroCount: number;
  readonly count: number;
  readonly sum: number;
  readonly positiveSpans: readonly BucketSpan[];
  readonly positiveBuckets: readonly number[];
  readonly negativeSpans: readonly BucketSpan[];
  readonly negativeBuckets: readonly number[];
  /** Upper bounds of schema -53, without the last one, +Inf. */
  readonly customValues?: readonly number[];
  readonly resetHint: ResetHint;
}

/** A series with its samples in the order of time. */
export interface Series {
  readonly labels: Labels;
  /** Milliseconds since the epoch. */
  readonly times: Float64Array;
  /**
   * The stale marker is a NaN with the bits `0x7ff0000000000002`, which are retained. A histogram whose value is the
   * stale marker is stale too.
   */
  readonly values: Float64Array;
  /** If an element is defined, the sample is a histogram, and its value is meaningless. */
  readonly histograms?: readonly (NativeHistogram | undefined)[];
  /** Start time of each sample's counter in milliseconds; 0 if unknown. */
  readonly startTimes?: Float64Array;
}

/**
 * A condition on a label. Regular expressions use RE2 syntax and match the entire value. A missing label has the value
 * ''.
 */
export interface Matcher {
  readonly name: string;
  readonly op: '=' | '!=' | '=~' | '!~';
  readonly value: string;
}

/** Data needed by one selector of an expression: samples after `fromMs` and up to `toMs`. */
export interface Selection {
  readonly matchers: readonly Matcher[];
  readonly fromMs: number;
  readonly toMs: number;
}
