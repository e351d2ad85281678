import { combine, IncompatibleHistogramsError } from '../histograms/arithmetic.ts';
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

/** Interpolates linearly between two values. A counter that decreased restarts at 0. */
export const interpolateFloats = (
  [time, value]: readonly [number, number],
  [nextTime, next]: readonly [number, number],
  atMs: number,
  isCounter: boolean,
): number => {
  const startValue = isCounter && next < value ? 0 : value;
  return startValue + ((next - startValue) * (atMs - time)) / (nextTime - time);
};

/** Interpolates between two histograms; throws `IncompatibleHistograms`. */
export const interpolateHistograms = (
  evaluation: Evaluation,
  [time, value]: readonly [number, Histogram],
  [nextTime, next]: readonly [number, Histogram],
  atMs: number,
  isCounter: boolean,
  position: Position,
): Histogram => {
  if (atMs === time) return value.copy();
  if (atMs === nextTime) return next.copy();
  const fraction = (atMs - time) / (nextTime - time);
  if (isCounter && wasReset(next, value)) return next.copy().scale(fraction);
  const difference = combine(next, value, -1);
  if (difference.wereBoundsReconciled) evaluation.annotations.addReconciled('subtraction', position);
  const sum = combine(difference.result.scale(fraction), value, 1);
  if (sum.wereBoundsReconciled) evaluation.annotations.addReconciled('addition', position);
  return sum.result;
};

const interpolateFloatAt = (samples: Samples, timeMs: number, from: number, to: number): number | undefined => {
  const { times, values } = samples.floats;
  const next = findFirstIndexAt(times, timeMs, from, to);
  const readPoint = (index: number) => [times[index] as number, values[index] as number] as const;
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
  position: Position,
): Histogram | undefined => {
  const { times, values } = samples.histograms;
  const next = findFirstIndexAt(times, timeMs, from, to);
  const getPoint = (index: number) => [times[index] as number, values[index] as Histogram] as const;
  if (next < to && times[next] === timeMs) return values[next] as Histogram;
  if (next === from) return undefined;
  const previousHistogram = values[next - 1] as Histogram;
  if (next >= to) return previousHistogram.withHint('unknown');
  const nextHistogram = values[next] as Histogram;
  const isCounter = previousHistogram.hint !== 'gauge' || nextHistogram.hint !== 'gauge';
  try {
    if (previousHistogram.isCustom !== nextHistogram.isCustom) throw new IncompatibleHistogramsError();
    return interpolateHistograms(evaluation, getPoint(next - 1), getPoint(next), timeMs, isCounter, position);
  } catch (error) {
    if (!(error instanceof IncompatibleHistogramsError)) throw error;
    evaluation.annotations.addMixedSchemas(samples.name, position);
    return undefined;
  }
};

/** Returns the value of a series at a time, interpolated between the adjacent samples within the lookback. */
export const interpolateAt = (
  evaluation: Evaluation,
  samples: Samples,
  timeMs: number,
  position: Position,
): number | Histogram | undefined => {
  const { lookbackMs } = evaluation.options;
  const findLookbackIndexes = (times: Float64Array): [number, number] => [
    findFirstIndexAt(times, timeMs - lookbackMs + 1, 0, times.length),
    findFirstIndexAt(times, timeMs + lookbackMs + 1, 0, times.length),
  ];
  const [from, to] = findLookbackIndexes(samples.floats.times);
  const histograms = findLookbackIndexes(samples.histograms.times);
  const hasHistograms = histograms[1] > histograms[0];
  if (to > from && hasHistograms) {
    evaluation.annotations.addMixedFloatsHistograms(samples.name, position);
    return undefined;
  }
  return hasHistograms
    ? interpolateHistogramAt(evaluation, samples, timeMs, histograms, position)
    : interpolateFloatAt(samples, timeMs, from, to);
};
