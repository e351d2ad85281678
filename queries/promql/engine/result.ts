import { toNative } from '../histograms/histogram.ts';
import type { Labels, NativeHistogram } from '../series.ts';
import { PromqlExecutionError } from '../syntax/errors.ts';
import { type Expression, getValueType, type MatrixSelector } from '../syntax/tree.ts';
import { type Evaluation, getReferenceTime } from './context.ts';
import { extendPoints } from './extended-points.ts';
import { compareLabels, type LabelSet } from './labels.ts';
import { float, getStepTimeMs, histogram, mergeRows, type Row } from './rows.ts';
import { type Samples, toSamples } from './samples.ts';
import { Window } from './window.ts';

/** One element of an instant vector. */
export interface VectorElement {
  readonly labels: Labels;
  readonly value: number | NativeHistogram;
}

/** One series of a range vector, with separate floats and histograms. */
export interface MatrixSeries {
  readonly labels: Labels;
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly histogramTimes: Float64Array;
  readonly histograms: readonly NativeHistogram[];
}

/** Result of a query. Vectors and scalars refer to the requested time. */
export type PromqlResult =
  | { readonly type: 'vector'; readonly timeMs: number; readonly elements: readonly VectorElement[] }
  | { readonly type: 'matrix'; readonly series: readonly MatrixSeries[] }
  | { readonly type: 'scalar'; readonly timeMs: number; readonly value: number }
  | { readonly type: 'string'; readonly timeMs: number; readonly value: string };

/** Returns the rows with their final names. */
const removeDroppedNames = (evaluation: Evaluation, rows: Iterable<Row>): Row[] => {
  if (!evaluation.options.delayedNameRemoval) return [...rows];
  const renamedRows: Row[] = [];
  for (const row of rows)
    renamedRows.push(row.shouldDropName ? row.withLabels(row.labels.withoutMetadata, false) : row);
  return mergeRows(renamedRows);
};

const toMatrixSeries = (
  labels: LabelSet,
  { floats, histograms }: Pick<Samples, 'floats' | 'histograms'>,
): MatrixSeries => ({
  labels: labels.toRecord(),
  times: floats.times,
  values: floats.values,
  histogramTimes: histograms.times,
  histograms: histograms.values.map(toNative),
});

/** Returns the number of steps at which a row has a value of this kind. */
const countSteps = ({ kinds }: Row, kind: number): number => {
  let count = 0;
  for (let step = 0; step < kinds.length; step++) if (kinds[step] === kind) count++;
  return count;
};

/** Returns a row without empty steps; hints are unchanged. */
const toMatrixSeriesWithoutGaps = (row: Row, { steps, counts }: Pick<Evaluation, 'steps' | 'counts'>): MatrixSeries => {
  const floatCount = countSteps(row, float);
  const histogramCount = countSteps(row, histogram);
  counts.reservePoints(floatCount + histogramCount);
  const [times, values] = [new Float64Array(floatCount), new Float64Array(floatCount)];
  const histogramTimes = new Float64Array(histogramCount);
  const histograms: NativeHistogram[] = [];
  let floatIndex = 0;
  for (let step = 0; step < steps.count; step++)
    if (row.kinds[step] === float) {
      times[floatIndex] = getStepTimeMs(steps, step);
      values[floatIndex++] = row.values[step] as number;
    } else if (row.kinds[step] === histogram) {
      histogramTimes[histograms.length] = getStepTimeMs(steps, step);
      histograms.push(toNative(row.histogram(step)));
    }
  return { labels: row.labels.toRecord(), times, values, histogramTimes, histograms };
};

const compareByLabels = (left: { labels: LabelSet }, right: { labels: LabelSet }): number =>
  compareLabels(left.labels, right.labels);

const toMatrixResult = (rows: Row[], evaluation: Pick<Evaluation, 'steps' | 'counts'>): PromqlResult => ({
  type: 'matrix',
  series: rows.sort(compareByLabels).map((row) => toMatrixSeriesWithoutGaps(row, evaluation)),
});

/** Returns the stored samples of a range selector. */
const evaluateRangeSelector = (evaluation: Evaluation, node: MatrixSelector): PromqlResult => {
  const { selector } = node;
  if (selector.kind !== 'selector') throw new PromqlExecutionError('ranges only allowed for vector selectors');
  const { lookbackMs } = evaluation.options;
  const endMs = getReferenceTime(selector, evaluation.steps.startMs);
  const startMs = endMs - node.rangeMs;
  const labeledSeries: { labels: LabelSet; series: MatrixSeries }[] = [];
  for (const series of evaluation.read(selector)) {
    const samples = toSamples(series);
    const window = new Window(samples);
    const before = selector.anchored || selector.smoothed ? lookbackMs : 0;
    window.moveTo(startMs - before, endMs + (selector.smoothed ? lookbackMs : 0));
    if (window.isEmpty) continue;
    evaluation.counts.read(window.sampleCount, 0);
    evaluation.counts.retain(window.sampleCount);
    evaluation.counts.reservePoints(window.sampleCount);
    const points = extendPoints(window, selector, startMs, endMs);
    if (points.floats.times.length + points.histograms.times.length > 0)
      labeledSeries.push({ labels: samples.labels, series: toMatrixSeries(samples.labels, points) });
  }
  return { type: 'matrix', series: labeledSeries.sort(compareByLabels).map(({ series }) => series) };
};

const evaluateMatrix = (evaluation: Evaluation, node: Expression): PromqlResult => {
  if (node.kind === 'parentheses') return evaluateMatrix(evaluation, node.innerExpression);
  if (node.kind === 'range') return evaluateRangeSelector(evaluation, node);
  if (node.kind !== 'subquery') throw new PromqlExecutionError(`unexpected expression type "${node.kind}"`);
  const { steps, rows } = evaluation.subquery(node);
  return toMatrixResult(removeDroppedNames(evaluation, rows), { steps, counts: evaluation.counts });
};

const toVectorResult = (rows: Row[], timeMs: number): PromqlResult => ({
  type: 'vector',
  timeMs,
  elements: rows.map((row) => ({
    labels: row.labels.toRecord(),
    value: row.kinds[0] === float ? (row.values[0] as number) : toNative(row.histogram(0)),
  })),
});

const readString = (node: Expression): string => {
  if (node.kind === 'string') return node.value;
  return node.kind === 'parentheses' ? readString(node.innerExpression) : '';
};

/** Evaluates an expression for one time, or as series over steps in the order of their labels. */
export const evaluateResult = (evaluation: Evaluation, node: Expression, isInstant: boolean): PromqlResult => {
  const { steps } = evaluation;
  switch (getValueType(node)) {
    case 'string':
      return { type: 'string', timeMs: steps.startMs, value: readString(node) };
    case 'matrix':
      return evaluateMatrix(evaluation, node);
    case 'scalar': {
      const values = evaluation.scalar(node);
      const times = Float64Array.from({ length: steps.count }, (_, step) => getStepTimeMs(steps, step));
      if (isInstant) return { type: 'scalar', timeMs: steps.startMs, value: values[0] as number };
      const series = { labels: {}, times, values, histogramTimes: new Float64Array(0), histograms: [] };
      return { type: 'matrix', series: [series] };
    }
    default: {
      const rows = removeDroppedNames(evaluation, evaluation.vector(node));
      return isInstant ? toVectorResult(rows, steps.startMs) : toMatrixResult(rows, evaluation);
    }
  }
};
