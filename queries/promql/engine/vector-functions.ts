import type { Histogram } from '../histograms/histogram.ts';
import { KahanSum } from '../histograms/kahan.ts';
import type { Call, Expression } from '../syntax/tree.ts';
import type { Evaluation } from './context.ts';
import { computeLog2, computeLog10, dateFunctions } from './elementary.ts';
import { LabelSet } from './labels.ts';
import { absent, float, getStepTimeMs, histogram, mergeRows, Row } from './rows.ts';

/** Computes a value from a float; further arguments are the scalars of the call. */
type FloatFunction = (value: number, first: number, second: number) => number;

const clamp = (value: number, min: number, max: number): number =>
  Number.isNaN(value) || Number.isNaN(min) || Number.isNaN(max) ? Number.NaN : Math.max(min, Math.min(max, value));

const getSign = (value: number): number => {
  if (value < 0) return -1;
  return value > 0 ? 1 : value;
};

const roundToNearest = (value: number, nearest: number): number => {
  const inverse = 1 / nearest;
  return Math.floor(value * inverse + 0.5) / inverse;
};

const floatFunctions: Readonly<Record<string, FloatFunction>> = {
  ...dateFunctions,
  abs: Math.abs,
  ceil: Math.ceil,
  floor: Math.floor,
  exp: Math.exp,
  sqrt: Math.sqrt,
  ln: Math.log,
  log2: computeLog2,
  log10: computeLog10,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  sinh: Math.sinh,
  cosh: Math.cosh,
  tanh: Math.tanh,
  asinh: Math.asinh,
  acosh: Math.acosh,
  atanh: Math.atanh,
  rad: (value) => (value * Math.PI) / 180,
  deg: (value) => (value * 180) / Math.PI,
  sgn: getSign,
  round: (value, nearest) => roundToNearest(value, nearest),
  clamp,
  clamp_min: (value, min) => clamp(value, min, Number.POSITIVE_INFINITY),
  clamp_max: (value, max) => clamp(value, Number.NEGATIVE_INFINITY, max),
};

const computeVariance = (value: Histogram): number => {
  const mean = value.sum / value.count;
  const sum = new KahanSum();
  for (const { lower, upper, count } of value.getAllBuckets()) {
    if (count === 0) continue;
    const delta = computeBucketMiddle(value, lower, upper) - mean;
    sum.add(count * delta * delta);
  }
  return sum.total / value.count;
};

const computeBucketMiddle = (value: Histogram, lower: number, upper: number): number => {
  if (value.isCustom) return (upper + lower) / 2;
  if (lower <= 0 && upper >= 0) return 0;
  const middle = Math.sqrt(upper * lower);
  return upper < 0 ? -middle : middle;
};

const histogramFunctions: Readonly<Record<string, (value: Histogram) => number>> = {
  histogram_count: (value) => value.count,
  histogram_sum: (value) => value.sum,
  histogram_avg: (value) => value.sum / value.count,
  histogram_stdvar: computeVariance,
  histogram_stddev: (value) => Math.sqrt(computeVariance(value)),
};

/**
 * Merges rows whose metric name was removed: rows with equal labels become one row, provided that their steps differ.
 */
export const mergeRenamed = (evaluation: Evaluation, rows: Iterable<Row>): Iterable<Row> =>
  evaluation.options.delayedNameRemoval ? rows : mergeRows(rows);

function* evaluateFloatFunction(evaluation: Evaluation, node: Call, calculate: FloatFunction): Iterable<Row> {
  const { steps, options } = evaluation;
  const [vector, ...scalars] = node.args;
  const [first, second] = scalars.map((argument) => evaluation.scalar(argument));
  const nearest = node.signature.name === 'round' ? 1 : Number.NaN;
  const isClamp = node.signature.name === 'clamp';
  for (const source of evaluation.vector(vector as Expression)) {
    const row = Row.empty(getResultLabels(options.delayedNameRemoval, source.labels), steps.count, true);
    for (let step = 0; step < steps.count; step++) {
      if (source.kinds[step] !== float) continue;
      const firstArgument = first?.[step] ?? nearest;
      const secondArgument = second?.[step] ?? Number.NaN;
      if (!(isClamp && secondArgument < firstArgument))
        row.set(step, calculate(source.values[step] as number, firstArgument, secondArgument));
    }
    if (!row.isEmpty) yield row;
  }
}

const getResultLabels = (isNameRemovalDelayed: boolean, labels: LabelSet): LabelSet =>
  isNameRemovalDelayed ? labels : labels.withoutMetadata;

function* evaluateHistogramFunction(
  evaluation: Evaluation,
  node: Call,
  calculate: (value: Histogram) => number,
): Iterable<Row> {
  const { steps, options } = evaluation;
  for (const source of evaluation.vector(node.args[0] as Expression)) {
    const labels = options.delayedNameRemoval ? source.labels : source.labels.without(['__name__']);
    const row = Row.empty(labels, steps.count, true);
    for (let step = 0; step < steps.count; step++)
      if (source.kinds[step] === histogram) row.set(step, calculate(source.histogram(step)));
    if (!row.isEmpty) yield row;
  }
}

/** Applies a date function to the time of each step, for calls without an argument. */
const evaluateDateOfSteps = (evaluation: Evaluation, calculate: FloatFunction): Row[] => {
  const { steps } = evaluation;
  const row = Row.empty(LabelSet.empty, steps.count);
  for (let step = 0; step < steps.count; step++)
    row.set(step, calculate(Math.trunc(getStepTimeMs(steps, step) / 1000), Number.NaN, Number.NaN));
  return [row];
};

/** Returns the rows of a function that maps each value; undefined for other functions. */
export const evaluateElementFunction = (evaluation: Evaluation, node: Call): Iterable<Row> | undefined => {
  const { name } = node.signature;
  const floatFunction = floatFunctions[name];
  if (floatFunction !== undefined)
    return node.args.length === 0
      ? evaluateDateOfSteps(evaluation, floatFunction)
      : mergeRenamed(evaluation, evaluateFloatFunction(evaluation, node, floatFunction));
  const histogramFunction = histogramFunctions[name];
  return histogramFunction && mergeRenamed(evaluation, evaluateHistogramFunction(evaluation, node, histogramFunction));
};

/** Yields the time of each step for every value: the `timestamp()` of computed vectors. */
export function* evaluateStepTimes(evaluation: Evaluation, node: Expression): Iterable<Row> {
  const { steps, options } = evaluation;
  for (const source of evaluation.vector(node)) {
    const row = Row.empty(getResultLabels(options.delayedNameRemoval, source.labels), steps.count, true);
    for (let step = 0; step < steps.count; step++)
      if (source.kinds[step] !== absent) row.set(step, getStepTimeMs(steps, step) / 1000);
    yield row;
  }
}

/** Returns a scalar as a vector of one series without labels. */
export const scalarToVector = (evaluation: Evaluation, node: Expression): Row[] => {
  const values = evaluation.scalar(node);
  return [new Row(LabelSet.empty, false, values, new Uint8Array(values.length).fill(float))];
};
