import { type Addition, HistogramSum, IncompatibleHistogramsError } from '../histograms/arithmetic.ts';
import type { Histogram } from '../histograms/histogram.ts';
import type { Aggregator, Expression } from '../syntax/tree.ts';
import type { Annotations } from './annotations.ts';
import { FloatMean } from './float-mean.ts';
import { HistogramMean } from './histogram-mean.ts';
import type { LabelSet } from './labels.ts';
import { computeValuesQuantile } from './quantile.ts';
import { absent, float, histogram, Row } from './rows.ts';

/** Accumulates the rows of one group, separately for each step. */
export interface Accumulator {
  add(row: Row): void;
  result(labels: LabelSet): Row;
}

/** State shared by the groups of one aggregation. */
export interface AggregationState {
  readonly operator: Aggregator;
  /** The aggregated expression, for the position in annotations. */
  readonly inner: Expression;
  readonly annotations: Annotations;
  readonly steps: number;
  /** Value of the parameter at each step. */
  readonly parameter: Float64Array | undefined;
}

/**
 * Returns whether a value is a float. `min`, `max`, `stddev`, `stdvar` and `quantile` ignore histograms and add an
 * annotation.
 */
const isFloatOrAnnotate = (row: Row, step: number, { operator, inner, annotations }: AggregationState): boolean => {
  if (row.kinds[step] === histogram) annotations.addIgnoredInAggregation(operator, inner);
  return row.kinds[step] === float;
};

/** `sum`: adds floats with compensation of rounding errors. Sums and compensations are in separate columns. */
class SumAccumulator implements Accumulator {
  readonly #state: AggregationState;
  readonly #sums: Float64Array;
  readonly #compensations: Float64Array;
  readonly #hasValue: Uint8Array;
  #histograms: HistogramsByStep | undefined;
  #shouldDropName = false;

  constructor(state: AggregationState) {
    this.#state = state;
    this.#sums = new Float64Array(state.steps);
    this.#compensations = new Float64Array(state.steps);
    this.#hasValue = new Uint8Array(state.steps);
  }

  add(row: Row): void {
    this.#shouldDropName ||= row.shouldDropName;
    const { values, kinds } = row;
    for (let step = 0; step < kinds.length; step++)
      if (kinds[step] === float) this.#addFloat(step, values[step] as number);
      else if (kinds[step] === histogram) this.#addHistogram(step, row);
  }

  #addFloat(step: number, value: number): void {
    if (this.#hasValue[step] === 0) {
      this.#hasValue[step] = 1;
      this.#sums[step] = value;
      return;
    }
    const sum = this.#sums[step] as number;
    const total = sum + value;
    this.#sums[step] = total;
    if (total === Number.POSITIVE_INFINITY || total === Number.NEGATIVE_INFINITY) this.#compensations[step] = 0;
    else {
      const compensation = Math.abs(sum) >= Math.abs(value) ? sum - total + value : value - total + sum;
      this.#compensations[step] = (this.#compensations[step] as number) + compensation;
    }
  }

  #addHistogram(step: number, row: Row): void {
    this.#histograms ??= new HistogramsByStep(this.#state, (first) => new HistogramSum(first));
    this.#histograms.add(step, row);
  }

  result(labels: LabelSet): Row {
    const row = new Row(labels, this.#shouldDropName, this.#sums, this.#hasValue);
    for (let step = 0; step < this.#sums.length; step++)
      this.#sums[step] = (this.#sums[step] as number) + (this.#compensations[step] as number);
    this.#histograms?.finish(row);
    return row;
  }
}

/** A sum or mean of histograms. */
interface HistogramAccumulator {
  add(value: Histogram): Addition;
  value(): Histogram;
}

/** Sums or means of histograms at the steps that have any. */
class HistogramsByStep {
  readonly #state: AggregationState;
  readonly #create: (first: Histogram) => HistogramAccumulator;
  readonly #accumulators = new Map<number, HistogramAccumulator | undefined>();
  readonly #hints = new Map<number, Set<string>>();

  constructor(state: AggregationState, create: (first: Histogram) => HistogramAccumulator) {
    this.#state = state;
    this.#create = create;
  }

  add(step: number, row: Row): void {
    const value = row.histogram(step);
    const hints = this.#hints.get(step) ?? new Set();
    this.#hints.set(step, hints.add(value.hint));
    if (!this.#accumulators.has(step)) {
      this.#accumulators.set(step, this.#create(value));
      return;
    }
    const { annotations, inner } = this.#state;
    try {
      if (this.#accumulators.get(step)?.add(value).wereBoundsReconciled)
        annotations.addReconciled('aggregation', inner);
    } catch (error) {
      if (!(error instanceof IncompatibleHistogramsError)) throw error;
      annotations.addMixedSchemas(row.labels.get('__name__'), inner);
      this.#accumulators.set(step, undefined);
    }
  }

  /** Writes the results to a row. Steps that also have floats have no result. */
  finish(row: Row): void {
    const { annotations, inner } = this.#state;
    for (const [step, accumulator] of this.#accumulators) {
      const hints = this.#hints.get(step);
      if (row.kinds[step] === float) {
        annotations.addWarning('encountered a mix of histograms and floats for aggregation', inner);
        row.kinds[step] = absent;
      } else if (accumulator !== undefined) {
        row.setHistogram(step, accumulator.value().compact());
        if (hints?.has('reset') && hints.has('not-reset')) annotations.addResetCollision('aggregation', inner);
      }
    }
  }
}

/** `avg`. */
class MeanAccumulator implements Accumulator {
  readonly #state: AggregationState;
  readonly #means: (FloatMean | undefined)[];
  #histograms: HistogramsByStep | undefined;
  #shouldDropName = false;

  constructor(state: AggregationState) {
    this.#state = state;
    this.#means = new Array(state.steps);
  }

  add(row: Row): void {
    this.#shouldDropName ||= row.shouldDropName;
    for (let step = 0; step < row.kinds.length; step++) {
      if (row.kinds[step] === float) {
        const mean = this.#means[step];
        if (mean === undefined) this.#means[step] = new FloatMean(row.values[step] as number);
        else mean.add(row.values[step] as number);
      } else if (row.kinds[step] === histogram) {
        this.#histograms ??= new HistogramsByStep(this.#state, (first) => new HistogramMean(first));
        this.#histograms.add(step, row);
      }
    }
  }

  result(labels: LabelSet): Row {
    const row = Row.empty(labels, this.#state.steps, this.#shouldDropName);
    for (const [step, mean] of this.#means.entries()) if (mean !== undefined) row.set(step, mean.value);
    this.#histograms?.finish(row);
    return row;
  }
}

/** `count` and `group`: for every sample. */
class CountAccumulator implements Accumulator {
  readonly #row: Row;
  readonly #isGroup: boolean;

  constructor({ operator, steps }: AggregationState) {
    this.#isGroup = operator === 'group';
    this.#row = Row.empty(undefined as never, steps);
  }

  add({ kinds, shouldDropName }: Row): void {
    this.#row.shouldDropName ||= shouldDropName;
    for (let step = 0; step < kinds.length; step++)
      if (kinds[step] !== absent) this.#row.set(step, this.#isGroup ? 1 : (this.#row.values[step] as number) + 1);
  }

  result(labels: LabelSet): Row {
    return this.#row.withLabels(labels, this.#row.shouldDropName);
  }
}

/** `min` and `max`. */
class ExtremeAccumulator implements Accumulator {
  readonly #state: AggregationState;
  readonly #row: Row;
  readonly #isMax: boolean;

  constructor(state: AggregationState) {
    this.#state = state;
    this.#isMax = state.operator === 'max';
    this.#row = Row.empty(undefined as never, state.steps);
  }

  add(row: Row): void {
    this.#row.shouldDropName ||= row.shouldDropName;
    for (let step = 0; step < row.kinds.length; step++) {
      if (row.kinds[step] === absent || !isFloatOrAnnotate(row, step, this.#state)) continue;
      const value = row.values[step] as number;
      const best = this.#row.values[step] as number;
      if (this.#row.kinds[step] === absent || Number.isNaN(best) || (this.#isMax ? value > best : value < best))
        this.#row.set(step, value);
    }
  }

  result(labels: LabelSet): Row {
    return this.#row.withLabels(labels, this.#row.shouldDropName);
  }
}

/** `stddev` and `stdvar`, by Welford's method. */
class DeviationAccumulator implements Accumulator {
  readonly #state: AggregationState;
  readonly #row: Row;
  readonly #means: Float64Array;
  readonly #counts: Float64Array;

  constructor(state: AggregationState) {
    this.#state = state;
    this.#row = Row.empty(undefined as never, state.steps);
    this.#means = new Float64Array(state.steps);
    this.#counts = new Float64Array(state.steps);
  }

  add(row: Row): void {
    this.#row.shouldDropName ||= row.shouldDropName;
    for (let step = 0; step < row.kinds.length; step++)
      if (row.kinds[step] !== absent && isFloatOrAnnotate(row, step, this.#state))
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
      values[step] = this.#state.operator === 'stddev' ? Math.sqrt(variance) : variance;
    }
    return this.#row.withLabels(labels, this.#row.shouldDropName);
  }
}

/** `quantile`. */
class QuantileAccumulator implements Accumulator {
  readonly #state: AggregationState;
  readonly #values: number[][];
  #shouldDropName = false;

  constructor(state: AggregationState) {
    this.#state = state;
    this.#values = Array.from({ length: state.steps }, () => []);
  }

  add(row: Row): void {
    this.#shouldDropName ||= row.shouldDropName;
    for (let step = 0; step < row.kinds.length; step++)
      if (row.kinds[step] !== absent && isFloatOrAnnotate(row, step, this.#state))
        (this.#values[step] as number[]).push(row.values[step] as number);
  }

  result(labels: LabelSet): Row {
    const { steps, parameter } = this.#state;
    const row = Row.empty(labels, steps, this.#shouldDropName);
    for (const [step, values] of this.#values.entries())
      if (values.length > 0) row.set(step, computeValuesQuantile(parameter?.[step] ?? Number.NaN, values));
    return row;
  }
}

/** Creates the accumulator of a group; undefined for operators that select series instead. */
export const createAccumulator = (state: AggregationState): Accumulator | undefined => {
  switch (state.operator) {
    case 'sum':
      return new SumAccumulator(state);
    case 'avg':
      return new MeanAccumulator(state);
    case 'count':
    case 'group':
      return new CountAccumulator(state);
    case 'min':
    case 'max':
      return new ExtremeAccumulator(state);
    case 'stddev':
    case 'stdvar':
      return new DeviationAccumulator(state);
    case 'quantile':
      return new QuantileAccumulator(state);
    default:
      return undefined;
  }
};
