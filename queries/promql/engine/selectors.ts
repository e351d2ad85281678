import type { Series } from '../series.ts';
import { PromqlExecutionError } from '../syntax/errors.ts';
import type { VectorSelector } from '../syntax/tree.ts';
import { type Evaluation, getReferenceTime } from './context.ts';
import { interpolateAt } from './interpolation.ts';
import { LabelSet } from './labels.ts';
import { getStepTimeMs, Row } from './rows.ts';
import { SampleLookup, toSamples } from './samples.ts';

const buildSelectorRow = (evaluation: Evaluation, node: VectorSelector, series: Series): Row => {
  const { steps, options, counts } = evaluation;
  counts.reserveCells(steps.count);
  const row = Row.empty(LabelSet.from(series.labels), steps.count);
  const lookup = new SampleLookup(series);
  let heldSamples = 0;
  for (let step = 0; step < steps.count; step++) {
    const index = lookup.findIndex(getReferenceTime(node, getStepTimeMs(steps, step)), options.lookbackMs);
    if (index < 0) continue;
    const value = lookup.value(index);
    row.setValue(step, value);
    const sampleCount = typeof value === 'number' ? 1 : value.sampleEquivalents;
    counts.read(sampleCount, step);
    heldSamples += sampleCount;
  }
  counts.retain(heldSamples);
  return row;
};

const buildSmoothedRow = (evaluation: Evaluation, node: VectorSelector, series: Series): Row => {
  const { steps, counts } = evaluation;
  counts.reserveCells(steps.count);
  const samples = toSamples(series);
  const row = Row.empty(samples.labels, steps.count);
  for (let step = 0; step < steps.count; step++) {
    const value = interpolateAt(evaluation, samples, getReferenceTime(node, getStepTimeMs(steps, step)), node);
    if (value !== undefined) row.setValue(step, value);
  }
  return row;
};

/** Yields the values of a selector's series at every step. */
export function* evaluateSelector(evaluation: Evaluation, node: VectorSelector): Iterable<Row> {
  for (const series of evaluation.read(node)) {
    const row = node.smoothed ? buildSmoothedRow(evaluation, node, series) : buildSelectorRow(evaluation, node, series);
    if (!row.isEmpty) yield row;
  }
}

/**
 * Yields times instead of values: those of samples for `timestamp(x)`, or start times of counters for
 * `start_timestamp(x)`.
 */
export function* evaluateSampleTimes(
  evaluation: Evaluation,
  node: VectorSelector,
  readsStartTimes: boolean,
): Iterable<Row> {
  const { steps, options, counts } = evaluation;
  if (readsStartTimes && !options.startTimestamps) return;
  for (const series of evaluation.read(node)) {
    counts.reserveCells(steps.count);
    const times = readsStartTimes ? (series.startTimes ?? new Float64Array(series.times.length)) : series.times;
    const row = Row.empty(LabelSet.from(series.labels), steps.count);
    const lookup = new SampleLookup(series);
    for (let step = 0; step < steps.count; step++) {
      const index = lookup.findIndex(getReferenceTime(node, getStepTimeMs(steps, step)), options.lookbackMs);
      if (index < 0) continue;
      row.set(step, (times[index] as number) / 1000);
      counts.read(1, step);
    }
    if (!row.isEmpty) yield row;
  }
}

/** Yields the times of the newest samples, used in place of the values of `info()`'s series. */
export function* evaluateNewestSampleTimes(
  evaluation: Evaluation,
  allSeries: Iterable<Series>,
  fixedTimeMs: number | undefined,
  offsetMs: number,
): Iterable<Row> {
  const { steps, options, counts } = evaluation;
  for (const series of allSeries) {
    counts.reserveCells(steps.count);
    const row = Row.empty(LabelSet.from(series.labels), steps.count);
    const lookup = new SampleLookup(series);
    for (let step = 0; step < steps.count; step++) {
      const index = lookup.findIndex((fixedTimeMs ?? getStepTimeMs(steps, step)) - offsetMs, options.lookbackMs);
      if (index < 0) continue;
      if (typeof lookup.value(index) !== 'number')
        throw new PromqlExecutionError(`this should be an info metric, with float samples: ${row.labels}`);
      row.set(step, series.times[index] as number);
    }
    if (!row.isEmpty) yield row;
  }
}
