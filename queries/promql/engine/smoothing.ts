import { combine, IncompatibleHistograms } from '../histograms/arithmetic.ts';
import type { Histogram } from '../histograms/histogram.ts';
import { wasReset } from '../histograms/resets.ts';
import type { Position } from '../syntax/tree.ts';
import type { Evaluation } from './context.ts';
import type { Samples } from './samples.ts';

/** Returns the first index with a time equal to or after the given one, between two indexes. */
export const findFirstIndexAt = (times: Float64Array, timeMs: number, from: number, to: number): number => {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] as number) >= timeMs) high = middle;
    else low = middle + 1;
  }
  return low;
};

/** Interpolates linearly between two values. A counter that fell restarts at 0. */
export const interpolateFloats = (
  [time, value]: readonly [number, number],
  [nextTime, next]: readonly [number, number],
  at: number,
  counter: boolean,
): number => {
  const first = counter && next < value ? 0 : value;
  return first + ((next - first) * (at - time)) / (nextTime - time);
};

/** Interpolates between two histograms; throws `IncompatibleHistograms`. */
export const interpolateHistograms = (
  evaluation: Evaluation,
  [time, value]: readonly [number, Histogram],
  [nextTime, next]: readonly [number, Histogram],
  at: number,
  counter: boolean,
  place: Position,
): Histogram => {
  if (at === time) return value.copy();
  if (at === nextTime) return next.copy();
  const fraction = (at - time) / (nextTime - time);
  if (counter && wasReset(next, value)) return next.copy().scale(fraction);
  const difference = combine(next, value, -1);
  if (difference.reconciled) evaluation.annotations.reconciled('subtraction', place);
  const sum = combine(difference.result.scale(fraction), value, 1);
  if (sum.reconciled) evaluation.annotations.reconciled('addition', place);
  return sum.result;
};

const interpolateFloatAt = (samples: Samples, timeMs: number, from: number, to: number): number | undefined => {
  const { times, values } = samples.floats;
  const next = findFirstIndexAt(times, timeMs, from, to);
  const readPoint = (place: number) => [times[place] as number, values[place] as number] as const;
  if (next < to && times[next] === timeMs) return values[next] as number;
  if (next === from) return undefined;
  return next < to
    ? interpolateFloats(readPoint(next - 1), readPoint(next), timeMs, false)
    : (values[next - 1] as number);
};

const interpolateHistogramAt = (
  evaluation: Evaluation,
  samples: Samples,
  timeMs: number,
  [from, to]: readonly [number, number],
  place: Position,
): Histogram | undefined => {
  const { times, values } = samples.histograms;
  const next = findFirstIndexAt(times, timeMs, from, to);
  const point = (at: number) => [times[at] as number, values[at] as Histogram] as const;
  if (next < to && times[next] === timeMs) return values[next] as Histogram;
  if (next === from) return undefined;
  const before = values[next - 1] as Histogram;
  if (next >= to) return before.withHint('unknown');
  const after = values[next] as Histogram;
  const counter = before.hint !== 'gauge' || after.hint !== 'gauge';
  try {
    if (before.custom !== after.custom) throw new IncompatibleHistograms();
    return interpolateHistograms(evaluation, point(next - 1), point(next), timeMs, counter, place);
  } catch (error) {
    if (!(error instanceof IncompatibleHistograms)) throw error;
    evaluation.annotations.mixedSchemas(samples.name, place);
    return undefined;
  }
};

/** Returns the value of a series at a time, interpolated between the adjacent samples within the lookback. */
export const interpolateAt = (
  evaluation: Evaluation,
  samples: Samples,
  timeMs: number,
  place: Position,
): number | Histogram | undefined => {
  const { lookbackMs } = evaluation.options;
  const lookbackIndexes = (times: Float64Array): [number, number] => [
    findFirstIndexAt(times, timeMs - lookbackMs + 1, 0, times.length),
    findFirstIndexAt(times, timeMs + lookbackMs + 1, 0, times.length),
  ];
  const [from, to] = lookbackIndexes(samples.floats.times);
  const histograms = lookbackIndexes(samples.histograms.times);
  const hasHistograms = histograms[1] > histograms[0];
  if (to > from && hasHistograms) {
    evaluation.annotations.addMixedFloatsHistograms(samples.name, place);
    return undefined;
  }
  return hasHistograms
    ? interpolateHistogramAt(evaluation, samples, timeMs, histograms, place)
    : interpolateFloatAt(samples, timeMs, from, to);
};
