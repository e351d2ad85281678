/** Labels of a series, the metric's name among them as `__name__`, in the order of their names. */
export type Labels = Readonly<Record<string, string>>;

/** What a histogram says about a reset of its counter before it. */
export type ResetHint = 'unknown' | 'reset' | 'not-reset' | 'gauge';

/** A run of buckets that follow each other: `offset` is from the end of the run before (of the first run: from bucket 0). */
export interface BucketSpan {
  readonly offset: number;
  readonly length: number;
}

/**
 * A native histogram with counts as floats. Schemas -4 to 8 have exponential buckets, schema -53 has the bounds `customValues`,
 * positive buckets alone and no zero bucket. Buckets hold counts and not differences.
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
  /** The upper bounds of schema -53, without the last, +Inf. */
  readonly customValues?: readonly number[];
  readonly resetHint: ResetHint;
}

/** A series with its samples in the order of time. */
export interface Series {
  readonly labels: Labels;
  /** Milliseconds since the epoch. */
  readonly times: Float64Array;
  /** The stale marker keeps its bits (`0x7ff0000000000002`), also beside a histogram: then the sample is stale. */
  readonly values: Float64Array;
  /** Where one stands the sample is a histogram, and its value has no meaning. */
  readonly histograms?: readonly (NativeHistogram | undefined)[];
  /** When each sample's counter began, in milliseconds; 0 where that is not known. */
  readonly starts?: Float64Array;
}

/** A condition on a label. Regular expressions are RE2's and match the whole value. A label that is missing has the value ''. */
export interface Matcher {
  readonly name: string;
  readonly op: '=' | '!=' | '=~' | '!~';
  readonly value: string;
}

/** What one selector of an expression needs: samples later than `fromMs` and not later than `toMs`. */
export interface Selection {
  readonly matchers: readonly Matcher[];
  readonly fromMs: number;
  readonly toMs: number;
}
