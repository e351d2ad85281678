import { type Addition, HistogramSum, IncompatibleHistograms } from '../histograms/arithmetic.ts';
import type { Histogram } from '../histograms/histogram.ts';
import type { Aggregator, Expression } from '../syntax/tree.ts';
import type { Annotations } from './annotations.ts';
import { FloatMean } from './float-mean.ts';
import { HistogramMean } from './histogram-mean.ts';
import type { LabelSet } from './labels.ts';
import { quantileOfValues } from './quantile.ts';
import { absent, float, histogram, Row } from './rows.ts';

/** Accumulates the rows of one group, separately for each step. */
export interface Accumulator {
  add(row: Row): void;
  result(labels: LabelSet): Row;
}

/** State shared by the groups of one aggregation. */
export interface Aggregating {
  readonly operator: Aggregator;
  /** The aggregated expression, for the position in annotations. */
  readonly inner: Expression;
  readonly annotations: Annotations;
  readonly steps: number;
  /** Value of the parameter at each step. */
  readonly parameter: Float64Array | undefined;
}

/** `min`, `max`, `stddev`, `stdvar` and `quantile` ignore histograms, with an annotation. */
const floatsOf = (row: Row, step: number, { operator, inner, annotations }: Aggregating): boolean => {
  if (row.present[step] === histogram) annotations.ignoredInAggregation(operator, inner);
  return row.present[step] === float;
};

/** `sum`: floats with their rounding errors, in columns. */
class Sums implements Accumulator {
  readonly #shared: Aggregating;
  readonly #sums: Float64Array;
  readonly #rests: Float64Array;
  readonly #seen: Uint8Array;
  #histograms: HistogramsOfSteps | undefined;
  #dropName = false;

  constructor(shared: Aggregating) {
    this.#shared = shared;
    this.#sums = new Float64Array(shared.steps);
    this.#rests = new Float64Array(shared.steps);
    this.#seen = new Uint8Array(shared.steps);
  }

  add(row: Row): void {
    this.#dropName ||= row.dropName;
    const { values, present } = row;
    for (let step = 0; step < present.length; step++)
      if (present[step] === float) this.#addFloat(step, values[step] as number);
      else if (present[step] === histogram) this.#addHistogram(step, row);
  }

  #addFloat(step: number, value: number): void {
    if (this.#seen[step] === 0) {
      this.#seen[step] = 1;
      this.#sums[step] = value;
      return;
    }
    const sum = this.#sums[step] as number;
    const total = sum + value;
    this.#sums[step] = total;
    if (total === Number.POSITIVE_INFINITY || total === Number.NEGATIVE_INFINITY) this.#rests[step] = 0;
    else {
      const rest = Math.abs(sum) >= Math.abs(value) ? sum - total + value : value - total + sum;
      this.#rests[step] = (this.#rests[step] as number) + rest;
    }
  }

  #addHistogram(step: number, row: Row): void {
    this.#histograms ??= new HistogramsOfSteps(this.#shared, (first) => new HistogramSum(first));
    this.#histograms.add(step, row);
  }

  result(labels: LabelSet): Row {
    const row = new Row(labels, this.#dropName, this.#sums, this.#seen);
    for (let step = 0; step < this.#sums.length; step++)
      this.#sums[step] = (this.#sums[step] as number) + (this.#rests[step] as number);
    this.#histograms?.finish(row);
    return row;
  }
}

/** A sum or mean of histograms. */
interface HistogramFigure {
  add(value: Histogram): Addition;
  value(): Histogram;
}

/** Sums or means of histograms at the steps that have any. */
class HistogramsOfSteps {
  readonly #shared: Aggregating;
  readonly #create: (first: Histogram) => HistogramFigure;
  readonly #figures = new Map<number, HistogramFigure | undefined>();
  readonly #hints = new Map<number, Set<string>>();

  constructor(shared: Aggregating, create: (first: Histogram) => HistogramFigure) {
    this.#shared = shared;
    this.#create = create;
  }

  add(step: number, row: Row): void {
    const value = row.histogram(step);
    const hints = this.#hints.get(step) ?? new Set();
    this.#hints.set(step, hints.add(value.hint));
    if (!this.#figures.has(step)) {
      this.#figures.set(step, this.#create(value));
      return;
    }
    const { annotations, inner } = this.#shared;
    try {
      if (this.#figures.get(step)?.add(value).reconciled) annotations.reconciled('aggregation', inner);
    } catch (error) {
      if (!(error instanceof IncompatibleHistograms)) throw error;
      annotations.mixedSchemas(row.labels.get('__name__'), inner);
      this.#figures.set(step, undefined);
    }
  }

  /** Steps with floats as well have no result. */
  finish(row: Row): void {
    const { annotations, inner } = this.#shared;
    for (const [step, figure] of this.#figures) {
      const hints = this.#hints.get(step);
      if (row.present[step] === float) {
        annotations.warn('encountered a mix of histograms and floats for aggregation', inner);
        row.present[step] = absent;
      } else if (figure !== undefined) {
        row.setHistogram(step, figure.value().compact());
        if (hints?.has('reset') && hints.has('not-reset')) annotations.collision('aggregation', inner);
      }
    }
  }
}

/** `avg`. */
class Means implements Accumulator {
  readonly #shared: Aggregating;
  readonly #means: (FloatMean | undefined)[];
  #histograms: HistogramsOfSteps | undefined;
  #dropName = false;

  constructor(shared: Aggregating) {
    this.#shared = shared;
    this.#means = new Array(shared.steps);
  }

  add(row: Row): void {
    this.#dropName ||= row.dropName;
    for (let step = 0; step < row.present.length; step++) {
      if (row.present[step] === float) {
        const mean = this.#means[step];
        if (mean === undefined) this.#means[step] = new FloatMean(row.values[step] as number);
        else mean.add(row.values[step] as number);
      } else if (row.present[step] === histogram) {
        this.#histograms ??= new HistogramsOfSteps(this.#shared, (first) => new HistogramMean(first));
        this.#histograms.add(step, row);
      }
    }
  }

  result(labels: LabelSet): Row {
    const row = Row.empty(labels, this.#shared.steps, this.#dropName);
    for (const [step, mean] of this.#means.entries()) if (mean !== undefined) row.set(step, mean.value);
    this.#histograms?.finish(row);
    return row;
  }
}

/** `count` and `group`: for every sample. */
class Counts implements Accumulator {
  readonly #row: Row;
  readonly #group: boolean;

  constructor({ operator, steps }: Aggregating) {
    this.#group = operator === 'group';
    this.#row = Row.empty(undefined as never, steps);
  }

  add({ present, dropName }: Row): void {
    this.#row.dropName ||= dropName;
    for (let step = 0; step < present.length; step++)
      if (present[step] !== absent) this.#row.set(step, this.#group ? 1 : (this.#row.values[step] as number) + 1);
  }

  result(labels: LabelSet): Row {
    return this.#row.relabeled(labels, this.#row.dropName);
  }
}

/** `min` and `max`. */
class Extremes implements Accumulator {
  readonly #shared: Aggregating;
  readonly #row: Row;
  readonly #max: boolean;

  constructor(shared: Aggregating) {
    this.#shared = shared;
    this.#max = shared.operator === 'max';
    this.#row = Row.empty(undefined as never, shared.steps);
  }

  add(row: Row): void {
    this.#row.dropName ||= row.dropName;
    for (let step = 0; step < row.present.length; step++) {
      if (row.present[step] === absent || !floatsOf(row, step, this.#shared)) continue;
      const value = row.values[step] as number;
      const best = this.#row.values[step] as number;
      if (this.#row.present[step] === absent || Number.isNaN(best) || (this.#max ? value > best : value < best))
        this.#row.set(step, value);
    }
  }

  result(labels: LabelSet): Row {
    return this.#row.relabeled(labels, this.#row.dropName);
  }
}

/** `stddev` and `stdvar`, by Welford's method. */
class Deviations implements Accumulator {
  readonly #shared: Aggregating;
  readonly #row: Row;
  readonly #means: Float64Array;
  readonly #counts: Float64Array;

  constructor(shared: Aggregating) {
    this.#shared = shared;
    this.#row = Row.empty(undefined as never, shared.steps);
    this.#means = new Float64Array(shared.steps);
    this.#counts = new Float64Array(shared.steps);
  }

  add(row: Row): void {
    this.#row.dropName ||= row.dropName;
    for (let step = 0; step < row.present.length; step++)
      if (row.present[step] !== absent && floatsOf(row, step, this.#shared))
        this.#add(step, row.values[step] as number);
  }

  #add(step: number, value: number): void {
    const count = (this.#counts[step] as number) + 1;
    this.#counts[step] = count;
    if (count === 1) {
      this.#means[step] = value;
      this.#row.set(step, Number.isFinite(value) ? 0 : Number.NaN);
      return;
    }
    const delta = value - (this.#means[step] as number);
    const mean = (this.#means[step] as number) + delta / count;
    this.#means[step] = mean;
    this.#row.set(step, (this.#row.values[step] as number) + delta * (value - mean));
  }

  result(labels: LabelSet): Row {
    const { values } = this.#row;
    for (let step = 0; step < values.length; step++) {
      const variance = (values[step] as number) / (this.#counts[step] as number);
      values[step] = this.#shared.operator === 'stddev' ? Math.sqrt(variance) : variance;
    }
    return this.#row.relabeled(labels, this.#row.dropName);
  }
}

/** `quantile`. */
class Quantiles implements Accumulator {
  readonly #shared: Aggregating;
  readonly #values: number[][];
  #dropName = false;

  constructor(shared: Aggregating) {
    this.#shared = shared;
    this.#values = Array.from({ length: shared.steps }, () => []);
  }

  add(row: Row): void {
    this.#dropName ||= row.dropName;
    for (let step = 0; step < row.present.length; step++)
      if (row.present[step] !== absent && floatsOf(row, step, this.#shared))
        (this.#values[step] as number[]).push(row.values[step] as number);
  }

  result(labels: LabelSet): Row {
    const { steps, parameter } = this.#shared;
    const row = Row.empty(labels, steps, this.#dropName);
    for (const [step, values] of this.#values.entries())
      if (values.length > 0) row.set(step, quantileOfValues(parameter?.[step] ?? Number.NaN, values));
    return row;
  }
}

/** Creates the accumulator of a group; undefined for operators that select series instead. */
export const accumulatorOf = (shared: Aggregating): Accumulator | undefined => {
  switch (shared.operator) {
    case 'sum':
      return new Sums(shared);
    case 'avg':
      return new Means(shared);
    case 'count':
    case 'group':
      return new Counts(shared);
    case 'min':
    case 'max':
      return new Extremes(shared);
    case 'stddev':
    case 'stdvar':
      return new Deviations(shared);
    case 'quantile':
      return new Quantiles(shared);
    default:
      return undefined;
  }
};
