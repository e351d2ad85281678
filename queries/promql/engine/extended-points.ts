import { PromqlExecutionError } from '../syntax/errors.ts';
import type { VectorSelector } from '../syntax/tree.ts';
import { findFirstIndexAt, interpolateFloats } from './interpolation.ts';
import type { Samples } from './samples.ts';
import type { Window } from './window.ts';

/** Returns the samples of a window; for an `anchored` or `smoothed` selector, with points at both ends of its range. */
export const extendPoints = (
  window: Window,
  { anchored, smoothed }: VectorSelector,
  startMs: number,
  endMs: number,
): Pick<Samples, 'floats' | 'histograms'> => {
  const { times, values, from, to } = window;
  const histograms = {
    times: window.histogramTimes.slice(window.histogramFrom, window.histogramTo),
    values: window.histograms.slice(window.histogramFrom, window.histogramTo),
    starts: undefined,
  };
  const rangeFloats = { times: times.slice(from, to), values: values.slice(from, to), starts: undefined };
  if (!anchored && !smoothed) return { floats: rangeFloats, histograms };
  if (histograms.values.length > 0)
    throw new PromqlExecutionError(`${anchored ? 'anchored' : 'smoothed'} modifier is not supported with histograms`);
  return { floats: addEndPoints(window, smoothed, startMs, endMs), histograms };
};

const addEndPoints = (window: Window, smoothed: boolean, startMs: number, endMs: number): Samples['floats'] => {
  const { times, values, from, to } = window;
  const readPoint = (pointIndex: number) => [times[pointIndex] as number, values[pointIndex] as number] as const;
  const firstIndex = Math.max(from, findFirstIndexAt(times, startMs + 1, from, to - 1) - 1);
  const lastIndex = smoothed ? findFirstIndexAt(times, endMs, from, to - 1) : to - 1;
  if (to === from || window.time(lastIndex) <= startMs)
    return { times: new Float64Array(0), values: new Float64Array(0), starts: undefined };
  const startValue =
    smoothed && window.time(firstIndex) < startMs
      ? interpolateFloats(readPoint(firstIndex), readPoint(firstIndex + 1), startMs, false)
      : window.value(firstIndex);
  const endValue =
    smoothed && lastIndex > from && window.time(lastIndex) > endMs
      ? interpolateFloats(readPoint(lastIndex - 1), readPoint(lastIndex), endMs, false)
      : window.value(lastIndex);
  const innerBounds = [
    window.time(firstIndex) <= startMs ? firstIndex + 1 : firstIndex,
    window.time(lastIndex) >= endMs ? lastIndex : lastIndex + 1,
  ];
  return {
    times: Float64Array.from([startMs, ...times.slice(...innerBounds), endMs]),
    values: Float64Array.from([startValue, ...values.slice(...innerBounds), endValue]),
    starts: undefined,
  };
};
