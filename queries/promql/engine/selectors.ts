import type { Series } from '../series.ts';
import { PromqlExecutionError } from '../syntax/errors.ts';
import type { VectorSelector } from '../syntax/tree.ts';
import { type Evaluation, referenceTime } from './context.ts';
import { LabelSet } from './labels.ts';
import { Row, timeOf } from './rows.ts';
import { Lookup, samplesOf } from './samples.ts';
import { smoothedAt } from './smoothing.ts';

const rowOf = (evaluation: Evaluation, node: VectorSelector, series: Series): Row => {
  const { steps, options, counts } = evaluation;
  counts.charge(steps.count);
  const row = Row.empty(LabelSet.from(series.labels), steps.count);
  const lookup = new Lookup(series);
  let held = 0;
  for (let step = 0; step < steps.count; step++) {
    const place = lookup.at(referenceTime(node, timeOf(steps, step)), options.lookbackMs);
    if (place < 0) continue;
    const value = lookup.value(place);
    row.put(step, value);
    const size = typeof value === 'number' ? 1 : value.size;
    counts.read(size, step);
    held += size;
  }
  counts.hold(held);
  return row;
};

const smoothedRow = (evaluation: Evaluation, node: VectorSelector, series: Series): Row => {
  const { steps, counts } = evaluation;
  counts.charge(steps.count);
  const samples = samplesOf(series);
  const row = Row.empty(samples.labels, steps.count);
  for (let step = 0; step < steps.count; step++) {
    const value = smoothedAt(evaluation, samples, referenceTime(node, timeOf(steps, step)), node);
    if (value !== undefined) row.put(step, value);
  }
  return row;
};

/** Yields the values of a selector's series at every step. */
export function* selectedRows(evaluation: Evaluation, node: VectorSelector): Iterable<Row> {
  for (const series of evaluation.read(node)) {
    const row = node.smoothed ? smoothedRow(evaluation, node, series) : rowOf(evaluation, node, series);
    if (!row.isEmpty) yield row;
  }
}

/** Yields the times of samples instead of values: `timestamp(x)`, or start times of counters, `start_timestamp(x)`. */
export function* sampleTimes(evaluation: Evaluation, node: VectorSelector, starts: boolean): Iterable<Row> {
  const { steps, options, counts } = evaluation;
  if (starts && !options.startTimestamps) return;
  for (const series of evaluation.read(node)) {
    counts.charge(steps.count);
    const times = starts ? (series.starts ?? new Float64Array(series.times.length)) : series.times;
    const row = Row.empty(LabelSet.from(series.labels), steps.count);
    const lookup = new Lookup(series);
    for (let step = 0; step < steps.count; step++) {
      const place = lookup.at(referenceTime(node, timeOf(steps, step)), options.lookbackMs);
      if (place < 0) continue;
      row.set(step, (times[place] as number) / 1000);
      counts.read(1, step);
    }
    if (!row.isEmpty) yield row;
  }
}

/** Yields the times of the newest samples, used in place of the values of `info()`'s series. */
export function* originRows(
  evaluation: Evaluation,
  allSeries: Iterable<Series>,
  at: number | undefined,
  offsetMs: number,
): Iterable<Row> {
  const { steps, options, counts } = evaluation;
  for (const series of allSeries) {
    counts.charge(steps.count);
    const row = Row.empty(LabelSet.from(series.labels), steps.count);
    const lookup = new Lookup(series);
    for (let step = 0; step < steps.count; step++) {
      const place = lookup.at((at ?? timeOf(steps, step)) - offsetMs, options.lookbackMs);
      if (place < 0) continue;
      if (typeof lookup.value(place) !== 'number')
        throw new PromqlExecutionError(`this should be an info metric, with float samples: ${row.labels}`);
      row.set(step, series.times[place] as number);
    }
    if (!row.isEmpty) yield row;
  }
}
