import type { Histogram } from '../histograms/histogram.ts';
import type { AnnotatedValue } from '../histograms/quantiles.ts';
import { computeFraction, computeHistogramQuantile } from '../histograms/quantiles.ts';
import { formatWithExponent, parsePromqlNumber } from '../syntax/numbers.ts';
import type { Call, Expression } from '../syntax/tree.ts';
import { NonMonotonicBuckets } from './annotations.ts';
import { type BucketCount, computeBucketFraction, computeBucketQuantile } from './buckets.ts';
import type { Evaluation } from './context.ts';
import type { LabelSet } from './labels.ts';
import { absent, getStepTimeMs, histogram, mergeRows, Row } from './rows.ts';

/** A classic histogram with a row for each upper bound. */
interface ClassicHistogram {
  readonly labels: LabelSet;
  readonly buckets: { readonly bound: number; readonly row: Row }[];
  /** Native histogram with the same name and labels, if any. */
  native: Row | undefined;
}

/** The histograms of a vector, native and classic. */
interface VectorHistograms {
  readonly nativeRows: Row[];
  readonly classics: ClassicHistogram[];
}

const collectHistograms = (evaluation: Evaluation, vector: Expression): VectorHistograms => {
  const { annotations, options } = evaluation;
  const nativeRows: Row[] = [];
  const classics = new Map<string, ClassicHistogram>();
  const getName = (row: Row) => (options.delayedNameRemoval ? row.labels.get('__name__') : '');
  for (const row of evaluation.vector(vector)) {
    if (row.histograms !== undefined) nativeRows.push(row);
    if (!row.kinds.includes(1)) continue;
    const label = row.labels.get('le');
    const bound = parsePromqlNumber(label);
    if (bound === undefined) {
      annotations.addBadBucket(getName(row), label, vector);
      continue;
    }
    const labels = row.labels.without(['le']);
    const classic = classics.get(labels.key) ?? { labels, buckets: [], native: undefined };
    classics.set(labels.key, classic);
    classic.buckets.push({ bound, row });
  }
  for (const row of nativeRows) {
    const classic = classics.get(row.labels.key);
    if (classic !== undefined) classic.native = row;
  }
  const classicHistograms = [...classics.values()];
  for (const { buckets } of classicHistograms) buckets.sort((left, right) => left.bound - right.bound);
  return { nativeRows, classics: classicHistograms };
};

/** Computes a value from a native or a classic histogram. */
interface HistogramCalculation {
  native(value: Histogram, step: number): AnnotatedValue;
  classic(buckets: BucketCount[], step: number): { value: number; monotonicity?: NonMonotonicBuckets };
}

class HistogramCall {
  readonly #evaluation: Evaluation;
  readonly #vector: Expression;
  readonly #histograms: VectorHistograms;
  readonly #conflicts = new Map<Row, Set<number>>();

  constructor(evaluation: Evaluation, vector: Expression) {
    this.#evaluation = evaluation;
    this.#vector = vector;
    this.#histograms = collectHistograms(evaluation, vector);
    for (const classic of this.#histograms.classics) if (classic.native !== undefined) this.#findConflicts(classic);
  }

  /** Finds steps that have both kinds; these have no result. */
  #findConflicts({ native, buckets }: ClassicHistogram): void {
    const { steps, annotations, options } = this.#evaluation;
    const row = native as Row;
    const conflictingSteps = new Set<number>();
    for (let step = 0; step < steps.count; step++) {
      if (row.kinds[step] !== histogram || buckets.every((bucket) => bucket.row.kinds[step] !== 1)) continue;
      annotations.addMixedHistograms(options.delayedNameRemoval ? row.labels.get('__name__') : '', this.#vector);
      conflictingSteps.add(step);
    }
    this.#conflicts.set(row, conflictingSteps);
  }

  rows(calculation: HistogramCalculation, relabel: (labels: LabelSet) => LabelSet = (labels) => labels): Row[] {
    const nativeRows = this.#histograms.nativeRows.map((row) => this.#evaluateNative(row, calculation, relabel));
    const classics = this.#histograms.classics.map((classic) => this.#evaluateClassic(classic, calculation, relabel));
    return [...nativeRows, ...classics].filter((row) => !row.isEmpty);
  }

  #createRow(labels: LabelSet, relabel: (labels: LabelSet) => LabelSet): Row {
    const { counts, steps, options } = this.#evaluation;
    return Row.createCounted(
      counts,
      relabel(options.delayedNameRemoval ? labels : labels.withoutMetadata),
      steps.count,
      true,
    );
  }

  #evaluateNative(source: Row, calculation: HistogramCalculation, relabel: (labels: LabelSet) => LabelSet): Row {
    const { steps, annotations } = this.#evaluation;
    const row = this.#createRow(source.labels, relabel);
    const conflicts = this.#conflicts.get(source);
    for (let step = 0; step < steps.count; step++) {
      if (source.kinds[step] !== histogram || conflicts?.has(step)) continue;
      const { value, note } = calculation.native(source.histogram(step), step);
      if (note !== undefined) annotations.addNanObservations(note, row.labels.get('__name__'), this.#vector);
      row.set(step, value);
    }
    return row;
  }

  #evaluateClassic(
    classic: ClassicHistogram,
    calculation: HistogramCalculation,
    relabel: (labels: LabelSet) => LabelSet,
  ): Row {
    const { steps, annotations } = this.#evaluation;
    const row = this.#createRow(classic.labels, relabel);
    const conflicts = classic.native && this.#conflicts.get(classic.native);
    for (let step = 0; step < steps.count; step++) {
      const buckets = conflicts?.has(step) ? [] : readBuckets(classic, step);
      if (buckets.length === 0) continue;
      const { value, monotonicity } = calculation.classic(buckets, step);
      if (monotonicity !== undefined)
        annotations.addNotMonotonic(row.labels.get('__name__'), this.#vector, monotonicity);
      row.set(step, value);
    }
    return row;
  }

  /** Returns a quantile of every histogram, with a scalar for each step. */
  quantiles(scalar: Float64Array, relabel?: (labels: LabelSet) => LabelSet): Row[] {
    const { steps } = this.#evaluation;
    const calculation: HistogramCalculation = {
      native: (value, step) => computeHistogramQuantile(scalar[step] as number, value),
      classic: (buckets, step) => {
        const { value, fix } = computeBucketQuantile(scalar[step] as number, buckets);
        if (fix === undefined) return { value };
        const { lowest, highest, maxDifference } = fix;
        return {
          value,
          monotonicity: new NonMonotonicBuckets(getStepTimeMs(steps, step), lowest, highest, maxDifference),
        };
      },
    };
    return this.rows(calculation, relabel);
  }
}

const readBuckets = ({ buckets }: ClassicHistogram, step: number): BucketCount[] => {
  const counts: BucketCount[] = [];
  for (const { bound, row } of buckets)
    if (row.kinds[step] === 1) counts.push({ bound, count: row.values[step] as number });
  return counts;
};

const annotateInvalidQuantiles = (
  evaluation: Evaluation,
  values: Float64Array,
  expression: Expression,
): Float64Array => {
  for (const value of values)
    if (!(value >= 0 && value <= 1)) evaluation.annotations.addInvalidQuantile(value, expression);
  return values;
};

const mergeIfNamesDropped = (evaluation: Evaluation, rows: Row[]): Row[] =>
  evaluation.options.delayedNameRemoval ? rows : mergeRows(rows);

/** `histogram_quantile(φ, v)`. */
export const evaluateHistogramQuantile = (evaluation: Evaluation, { args }: Call): Row[] => {
  const [scalar, vector] = args as [Expression, Expression];
  const quantile = annotateInvalidQuantiles(evaluation, evaluation.scalar(scalar), scalar);
  return mergeIfNamesDropped(evaluation, new HistogramCall(evaluation, vector).quantiles(quantile));
};

/** `histogram_fraction(lower, upper, v)`. */
export const evaluateHistogramFraction = (evaluation: Evaluation, { args }: Call): Row[] => {
  const [lower, upper, vector] = args as [Expression, Expression, Expression];
  const from = evaluation.scalar(lower);
  const to = evaluation.scalar(upper);
  const calculation: HistogramCalculation = {
    native: (value, step) => computeFraction(from[step] as number, to[step] as number, value),
    classic: (buckets, step) => ({ value: computeBucketFraction(from[step] as number, to[step] as number, buckets) }),
  };
  return mergeIfNamesDropped(evaluation, new HistogramCall(evaluation, vector).rows(calculation));
};

/** Formats a quantile as a label value, like numbers in OpenMetrics. */
const formatOpenMetrics = (value: number): string => {
  if (Number.isNaN(value)) return 'NaN';
  if (Math.abs(value) === Number.POSITIVE_INFINITY) return value > 0 ? '+Inf' : '-Inf';
  const text = formatWithExponent(value);
  return /[e.]/.test(text) ? text : `${text}.0`;
};

/** `histogram_quantiles(v, label, φ…)`. */
export const evaluateHistogramQuantiles = (evaluation: Evaluation, { args }: Call): Row[] => {
  const [vector, label, ...scalars] = args as [Expression, Expression, ...Expression[]];
  const name = label.kind === 'string' ? label.value : '';
  const quantiles = scalars.map((scalar) => annotateInvalidQuantiles(evaluation, evaluation.scalar(scalar), scalar));
  const call = new HistogramCall(evaluation, vector);
  const rows = quantiles.flatMap((values) =>
    listDistinctValues(values).flatMap((value) => {
      const selectedQuantile = values.map((each) => (Object.is(each, value) ? each : Number.NaN));
      const quantileRows = call.quantiles(selectedQuantile, (labels) => labels.with(name, formatOpenMetrics(value)));
      for (const row of quantileRows)
        for (let step = 0; step < values.length; step++) if (!Object.is(values[step], value)) row.kinds[step] = absent;
      return quantileRows.filter((row) => !row.isEmpty);
    }),
  );
  return mergeRows(rows);
};

const listDistinctValues = (values: Float64Array): number[] => [...new Set(values)];
