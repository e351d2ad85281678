import type { Histogram } from '../histograms/histogram.ts';
import type { Figure } from '../histograms/quantiles.ts';
import { fractionOf, quantileOf } from '../histograms/quantiles.ts';
import { readNumber, shortNumber } from '../syntax/numbers.ts';
import type { Call, Expression } from '../syntax/tree.ts';
import { NonMonotonicBuckets } from './annotations.ts';
import { type BucketCount, bucketFraction, bucketQuantile } from './buckets.ts';
import type { Evaluation } from './context.ts';
import type { LabelSet } from './labels.ts';
import { absent, histogram, merged, Row, timeOf } from './rows.ts';

/** A classic histogram with a row for each upper bound. */
interface ClassicHistogram {
  readonly labels: LabelSet;
  readonly buckets: { readonly bound: number; readonly row: Row }[];
  /** Native histogram with the same name and labels, if any. */
  native: Row | undefined;
}

/** The histograms of a vector, native and classic. */
interface Histograms {
  readonly natives: Row[];
  readonly classics: ClassicHistogram[];
}

const histogramsOf = (evaluation: Evaluation, vector: Expression): Histograms => {
  const { annotations, options } = evaluation;
  const natives: Row[] = [];
  const classics = new Map<string, ClassicHistogram>();
  const nameOf = (row: Row) => (options.delayedNameRemoval ? row.labels.get('__name__') : '');
  for (const row of evaluation.vector(vector)) {
    if (row.histograms !== undefined) natives.push(row);
    if (!row.present.includes(1)) continue;
    const label = row.labels.get('le');
    const bound = readNumber(label);
    if (bound === undefined) {
      annotations.badBucket(nameOf(row), label, vector);
      continue;
    }
    const labels = row.labels.without(['le']);
    const classic = classics.get(labels.key) ?? { labels, buckets: [], native: undefined };
    classics.set(labels.key, classic);
    classic.buckets.push({ bound, row });
  }
  for (const row of natives) {
    const classic = classics.get(row.labels.key);
    if (classic !== undefined) classic.native = row;
  }
  const all = [...classics.values()];
  for (const { buckets } of all) buckets.sort((left, right) => left.bound - right.bound);
  return { natives, classics: all };
};

/** Computes a value from either kind. */
interface Calculation {
  native(value: Histogram, step: number): Figure;
  classic(buckets: BucketCount[], step: number): { value: number; monotonicity?: NonMonotonicBuckets };
}

class HistogramCall {
  readonly #evaluation: Evaluation;
  readonly #vector: Expression;
  readonly #histograms: Histograms;
  readonly #conflicts = new Map<Row, Set<number>>();

  constructor(evaluation: Evaluation, vector: Expression) {
    this.#evaluation = evaluation;
    this.#vector = vector;
    this.#histograms = histogramsOf(evaluation, vector);
    for (const classic of this.#histograms.classics) if (classic.native !== undefined) this.#findConflicts(classic);
  }

  /** Finds steps that have both kinds; these have no result. */
  #findConflicts({ native, buckets }: ClassicHistogram): void {
    const { steps, annotations, options } = this.#evaluation;
    const row = native as Row;
    const found = new Set<number>();
    for (let step = 0; step < steps.count; step++) {
      if (row.present[step] !== histogram || buckets.every((bucket) => bucket.row.present[step] !== 1)) continue;
      annotations.mixedHistograms(options.delayedNameRemoval ? row.labels.get('__name__') : '', this.#vector);
      found.add(step);
    }
    this.#conflicts.set(row, found);
  }

  rows(calculation: Calculation, relabel: (labels: LabelSet) => LabelSet = (labels) => labels): Row[] {
    const natives = this.#histograms.natives.map((row) => this.#native(row, calculation, relabel));
    const classics = this.#histograms.classics.map((classic) => this.#classic(classic, calculation, relabel));
    return [...natives, ...classics].filter((row) => !row.isEmpty);
  }

  #row(labels: LabelSet, relabel: (labels: LabelSet) => LabelSet): Row {
    const { counts, steps, options } = this.#evaluation;
    return Row.counted(
      counts,
      relabel(options.delayedNameRemoval ? labels : labels.withoutMetadata),
      steps.count,
      true,
    );
  }

  #native(source: Row, calculation: Calculation, relabel: (labels: LabelSet) => LabelSet): Row {
    const { steps, annotations } = this.#evaluation;
    const row = this.#row(source.labels, relabel);
    const conflicts = this.#conflicts.get(source);
    for (let step = 0; step < steps.count; step++) {
      if (source.present[step] !== histogram || conflicts?.has(step)) continue;
      const { value, note } = calculation.native(source.histogram(step), step);
      if (note !== undefined) annotations.nanObservations(note, row.labels.get('__name__'), this.#vector);
      row.set(step, value);
    }
    return row;
  }

  #classic(classic: ClassicHistogram, calculation: Calculation, relabel: (labels: LabelSet) => LabelSet): Row {
    const { steps, annotations } = this.#evaluation;
    const row = this.#row(classic.labels, relabel);
    const conflicts = classic.native && this.#conflicts.get(classic.native);
    for (let step = 0; step < steps.count; step++) {
      const buckets = conflicts?.has(step) ? [] : bucketsAt(classic, step);
      if (buckets.length === 0) continue;
      const { value, monotonicity } = calculation.classic(buckets, step);
      if (monotonicity !== undefined) annotations.notMonotonic(row.labels.get('__name__'), this.#vector, monotonicity);
      row.set(step, value);
    }
    return row;
  }

  /** Returns a quantile of every histogram, with a scalar for each step. */
  quantiles(scalar: Float64Array, relabel?: (labels: LabelSet) => LabelSet): Row[] {
    const { steps } = this.#evaluation;
    const calculation: Calculation = {
      native: (value, step) => quantileOf(scalar[step] as number, value),
      classic: (buckets, step) => {
        const { value, forced } = bucketQuantile(scalar[step] as number, buckets);
        if (forced === undefined) return { value };
        const { lowest, highest, maxDifference } = forced;
        return { value, monotonicity: new NonMonotonicBuckets(timeOf(steps, step), lowest, highest, maxDifference) };
      },
    };
    return this.rows(calculation, relabel);
  }
}

const bucketsAt = ({ buckets }: ClassicHistogram, step: number): BucketCount[] => {
  const counts: BucketCount[] = [];
  for (const { bound, row } of buckets)
    if (row.present[step] === 1) counts.push({ bound, count: row.values[step] as number });
  return counts;
};

const checkQuantiles = (evaluation: Evaluation, values: Float64Array, place: Expression): Float64Array => {
  for (const value of values) if (!(value >= 0 && value <= 1)) evaluation.annotations.quantile(value, place);
  return values;
};

const joined = (evaluation: Evaluation, rows: Row[]): Row[] =>
  evaluation.options.delayedNameRemoval ? rows : merged(rows);

/** `histogram_quantile(φ, v)`. */
export const histogramQuantile = (evaluation: Evaluation, { args }: Call): Row[] => {
  const [scalar, vector] = args as [Expression, Expression];
  const quantile = checkQuantiles(evaluation, evaluation.scalar(scalar), scalar);
  return joined(evaluation, new HistogramCall(evaluation, vector).quantiles(quantile));
};

/** `histogram_fraction(lower, upper, v)`. */
export const histogramFraction = (evaluation: Evaluation, { args }: Call): Row[] => {
  const [lower, upper, vector] = args as [Expression, Expression, Expression];
  const from = evaluation.scalar(lower);
  const to = evaluation.scalar(upper);
  const calculation: Calculation = {
    native: (value, step) => fractionOf(from[step] as number, to[step] as number, value),
    classic: (buckets, step) => ({ value: bucketFraction(from[step] as number, to[step] as number, buckets) }),
  };
  return joined(evaluation, new HistogramCall(evaluation, vector).rows(calculation));
};

/** Formats a quantile as a label value, like numbers in OpenMetrics. */
const openMetrics = (value: number): string => {
  if (Number.isNaN(value)) return 'NaN';
  if (Math.abs(value) === Number.POSITIVE_INFINITY) return value > 0 ? '+Inf' : '-Inf';
  const text = shortNumber(value);
  return /[e.]/.test(text) ? text : `${text}.0`;
};

/** `histogram_quantiles(v, label, φ…)`. */
export const histogramQuantiles = (evaluation: Evaluation, { args }: Call): Row[] => {
  const [vector, label, ...scalars] = args as [Expression, Expression, ...Expression[]];
  const name = label.kind === 'string' ? label.value : '';
  const quantiles = scalars.map((scalar) => checkQuantiles(evaluation, evaluation.scalar(scalar), scalar));
  const call = new HistogramCall(evaluation, vector);
  const rows = quantiles.flatMap((values) =>
    distinct(values).flatMap((value) => {
      const only = values.map((each) => (Object.is(each, value) ? each : Number.NaN));
      const found = call.quantiles(only, (labels) => labels.with(name, openMetrics(value)));
      for (const row of found)
        for (let step = 0; step < values.length; step++)
          if (!Object.is(values[step], value)) row.present[step] = absent;
      return found.filter((row) => !row.isEmpty);
    }),
  );
  return merged(rows);
};

const distinct = (values: Float64Array): number[] => [...new Set(values)];
