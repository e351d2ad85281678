import type { Series } from '../series.ts';
import { PromqlExecutionError } from '../syntax/errors.ts';
import type { VectorSelector } from '../syntax/tree.ts';
import { type Evaluation, referenceTime } from './context.ts';
import { LabelSet } from './labels.ts';
import { Row, stepTimeMs } from './rows.ts';
import { SampleLookup, toSamples } from './samples.ts';
import { interpolateAt } from './smoothing.ts';

const selectorRow = (evaluation: Evaluation, node: VectorSelector, series: Series): Row => {
  const { steps, options, counts } = evaluation;
  counts.reserveCells(steps.count);
  const row = Row.empty(LabelSet.from(series.labels), steps.count);
  const lookup = new SampleLookup(series);
  let heldSamples = 0;
  for (let step = 0; step < steps.count; step++) {
    const index = lookup.findIndex(referenceTime(node, stepTimeMs(steps, step)), options.lookbackMs);
    if (index < 0) continue;
    const value = lookup.value(index);
    row.setValue(step, value);
    const size = typeof value === 'number' ? 1 : value.sampleEquivalents;
    counts.read(size, step);
    heldSamples += size;
  }
  counts.retain(heldSamples);
  return row;
};

const smoothedRow = (evaluation: Evaluation, node: VectorSelector, series: Series): Row => {
  const { steps, counts } = evaluation;
  counts.reserveCells(steps.count);
  const samples = toSamples(series);
  const row = Row.empty(samples.labels, steps.count);
  for (let step = 0; step < steps.count; step++) {
    const value = interpolateAt(evaluation, samples, referenceTime(node, stepTimeMs(steps, step)), node);
    if (value !== undefined) row.setValue(step, value);
  }
  return row;
};

/** Yields the values of a selector's series at every step. */
export function* evaluateSelector(evaluation: Evaluation, node: VectorSelector): Iterable<Row> {
  for (const series of evaluation.read(node)) {
    const row = node.smoothed ? smoothedRow(evaluation, node, series) : selectorRow(evaluation, node, series);
    if (!row.isEmpty) yield row;
  }
}

/** Yields the times of samples instead of values: `timestamp(x)`, or start times of counters, `start_timestamp(x)`. */
export function* sampleTimes(evaluation: Evaluation, node: VectorSelector, starts: boolean): Iterable<Row> {
  const { steps, options, counts } = evaluation;
  if (starts && !options.startTimestamps) return;
  for (const series of evaluation.read(node)) {
    counts.reserveCells(steps.count);
    const times = starts ? (series.startTimes ?? new Float64Array(series.times.length)) : series.times;
    const row = Row.empty(LabelSet.from(series.labels), steps.count);
    const lookup = new SampleLookup(series);
    for (let step = 0; step < steps.count; step++) {
      const place = lookup.findIndex(referenceTime(node, stepTimeMs(steps, step)), options.lookbackMs);
      if (place < 0) continue;
      row.set(step, (times[place] as number) / 1000);
      counts.read(1, step);
    }
    if (!row.isEmpty) yield row;
  }
}

/** Yields the times of the newest samples, used in place of the values of `info()`'s series. */
export function* newestSampleTimes(
  evaluation: Evaluation,
  allSeries: Iterable<Series>,
  at: number | undefined,
  offsetMs: number,
): Iterable<Row> {
  const { steps, options, counts } = evaluation;
  for (const series of allSeries) {
    counts.reserveCells(steps.count);
    const row = Row.empty(LabelSet.from(series.labels), steps.count);
    const lookup = new SampleLookup(series);
    for (let step = 0; step < steps.count; step++) {
      const place = lookup.findIndex((at ?? stepTimeMs(steps, step)) - offsetMs, options.lookbackMs);
      if (place < 0) continue;
      if (typeof lookup.value(place) !== 'number')
        throw new PromqlExecutionError(`this should be an info metric, with float samples: ${row.labels}`);
      row.set(step, series.times[place] as number);
    }
    if (!row.isEmpty) yield row;
  }
}
