import { nativeOf } from '../histograms/histogram.ts';
import type { Labels, NativeHistogram } from '../series.ts';
import { PromqlExecutionError } from '../syntax/errors.ts';
import { type Expression, type MatrixSelector, typeOf } from '../syntax/tree.ts';
import { type Evaluation, referenceTime } from './context.ts';
import { extendedPoints } from './extended-points.ts';
import { compareLabels, type LabelSet } from './labels.ts';
import { float, histogram, merged, type Row, timeOf } from './rows.ts';
import { type Samples, samplesOf } from './samples.ts';
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

/** Answer of a query. Vectors and scalars refer to the requested time. */
export type Answer =
  | { readonly type: 'vector'; readonly timeMs: number; readonly elements: readonly VectorElement[] }
  | { readonly type: 'matrix'; readonly series: readonly MatrixSeries[] }
  | { readonly type: 'scalar'; readonly timeMs: number; readonly value: number }
  | { readonly type: 'string'; readonly timeMs: number; readonly value: string };

/** Returns the rows with their final names. */
const finished = (evaluation: Evaluation, rows: Iterable<Row>): Row[] => {
  if (!evaluation.options.delayedNameRemoval) return [...rows];
  const named: Row[] = [];
  for (const row of rows) named.push(row.dropName ? row.relabeled(row.labels.withoutMetadata, false) : row);
  return merged(named);
};

const seriesFrom = (
  labels: LabelSet,
  { floats, histograms }: Pick<Samples, 'floats' | 'histograms'>,
): MatrixSeries => ({
  labels: labels.record(),
  times: floats.times,
  values: floats.values,
  histogramTimes: histograms.times,
  histograms: histograms.values.map(nativeOf),
});

/** Returns the number of steps at which a row has a value of this kind. */
const stepsWith = ({ present }: Row, kind: number): number => {
  let count = 0;
  for (let step = 0; step < present.length; step++) if (present[step] === kind) count++;
  return count;
};

/** Returns a row without empty steps; hints are unchanged. */
const seriesOfRow = (row: Row, { steps, counts }: Pick<Evaluation, 'steps' | 'counts'>): MatrixSeries => {
  const floats = stepsWith(row, float);
  const others = stepsWith(row, histogram);
  counts.chargeAnswer(floats + others);
  const [times, values] = [new Float64Array(floats), new Float64Array(floats)];
  const histogramTimes = new Float64Array(others);
  const histograms: NativeHistogram[] = [];
  let at = 0;
  for (let step = 0; step < steps.count; step++)
    if (row.present[step] === float) {
      times[at] = timeOf(steps, step);
      values[at++] = row.values[step] as number;
    } else if (row.present[step] === histogram) {
      histogramTimes[histograms.length] = timeOf(steps, step);
      histograms.push(nativeOf(row.histogram(step)));
    }
  return { labels: row.labels.record(), times, values, histogramTimes, histograms };
};

const byLabels = (left: { labels: LabelSet }, right: { labels: LabelSet }): number =>
  compareLabels(left.labels, right.labels);

const matrixOf = (rows: Row[], evaluation: Pick<Evaluation, 'steps' | 'counts'>): Answer => ({
  type: 'matrix',
  series: rows.sort(byLabels).map((row) => seriesOfRow(row, evaluation)),
});

/** Returns the stored samples of a range selector. */
const rangeAnswer = (evaluation: Evaluation, node: MatrixSelector): Answer => {
  const { selector } = node;
  if (selector.kind !== 'selector') throw new PromqlExecutionError('ranges only allowed for vector selectors');
  const { lookbackMs } = evaluation.options;
  const endMs = referenceTime(selector, evaluation.steps.startMs);
  const startMs = endMs - node.rangeMs;
  const found: { labels: LabelSet; series: MatrixSeries }[] = [];
  for (const series of evaluation.read(selector)) {
    const samples = samplesOf(series);
    const window = new Window(samples);
    const before = selector.anchored || selector.smoothed ? lookbackMs : 0;
    window.move(startMs - before, endMs + (selector.smoothed ? lookbackMs : 0));
    if (window.isEmpty) continue;
    evaluation.counts.read(window.size, 0);
    evaluation.counts.hold(window.size);
    evaluation.counts.chargeAnswer(window.size);
    const points = extendedPoints(window, selector, startMs, endMs);
    if (points.floats.times.length + points.histograms.times.length > 0)
      found.push({ labels: samples.labels, series: seriesFrom(samples.labels, points) });
  }
  return { type: 'matrix', series: found.sort(byLabels).map(({ series }) => series) };
};

const matrixAnswer = (evaluation: Evaluation, node: Expression): Answer => {
  if (node.kind === 'parentheses') return matrixAnswer(evaluation, node.inner);
  if (node.kind === 'range') return rangeAnswer(evaluation, node);
  if (node.kind !== 'subquery') throw new PromqlExecutionError(`unexpected expression type "${node.kind}"`);
  const { steps, rows } = evaluation.subquery(node);
  return matrixOf(finished(evaluation, rows), { steps, counts: evaluation.counts });
};

const vectorAnswer = (rows: Row[], timeMs: number): Answer => ({
  type: 'vector',
  timeMs,
  elements: rows.map((row) => ({
    labels: row.labels.record(),
    value: row.present[0] === float ? (row.values[0] as number) : nativeOf(row.histogram(0)),
  })),
});

const textOf = (node: Expression): string => {
  if (node.kind === 'string') return node.value;
  return node.kind === 'parentheses' ? textOf(node.inner) : '';
};

/** Evaluates an expression for one time, or as series over steps in the order of their labels. */
export const answerOf = (evaluation: Evaluation, node: Expression, instant: boolean): Answer => {
  const { steps } = evaluation;
  switch (typeOf(node)) {
    case 'string':
      return { type: 'string', timeMs: steps.startMs, value: textOf(node) };
    case 'matrix':
      return matrixAnswer(evaluation, node);
    case 'scalar': {
      const values = evaluation.scalar(node);
      const times = Float64Array.from({ length: steps.count }, (_, step) => timeOf(steps, step));
      if (instant) return { type: 'scalar', timeMs: steps.startMs, value: values[0] as number };
      const series = { labels: {}, times, values, histogramTimes: new Float64Array(0), histograms: [] };
      return { type: 'matrix', series: [series] };
    }
    default: {
      const rows = finished(evaluation, evaluation.vector(node));
      return instant ? vectorAnswer(rows, steps.startMs) : matrixOf(rows, evaluation);
    }
  }
};
