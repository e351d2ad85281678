import type { Histogram } from '../histograms/histogram.ts';
import type { Position } from '../syntax/tree.ts';
import type { Annotations } from './annotations.ts';
import type { Samples } from './samples.ts';

/**
 * Samples of one series in a range that moves from step to step. It contains the indexes from `from` (inclusive) to
 * `to` (exclusive).
 */
export class Window {
  readonly samples: Samples;
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly histogramTimes: Float64Array;
  readonly histograms: readonly Histogram[];
  from = 0;
  to = 0;
  histogramFrom = 0;
  histogramTo = 0;
  /** Time of the step, and the requested range, which the samples of an extended selector may exceed. */
  timeMs = 0;
  rangeStart = 0;
  rangeEnd = 0;
  /** Scalar arguments at this step. */
  readonly args: number[] = [];

  constructor(samples: Samples) {
    this.samples = samples;
    this.times = samples.floats.times;
    this.values = samples.floats.values;
    this.histogramTimes = samples.histograms.times;
    this.histograms = samples.histograms.values;
  }

  /** Moves to the samples after `fromMs` and up to `toMs`. Both must ascend. */
  moveTo(fromMs: number, toMs: number): void {
    this.from = skipUntil(this.times, this.from, fromMs);
    this.to = skipUntil(this.times, Math.max(this.to, this.from), toMs);
    if (this.histogramTimes.length === 0) return;
    this.histogramFrom = skipUntil(this.histogramTimes, this.histogramFrom, fromMs);
    this.histogramTo = skipUntil(this.histogramTimes, Math.max(this.histogramTo, this.histogramFrom), toMs);
  }

  get floatCount(): number {
    return this.to - this.from;
  }

  get histogramCount(): number {
    return this.histogramTo - this.histogramFrom;
  }

  get isEmpty(): boolean {
    return this.to === this.from && this.histogramTo === this.histogramFrom;
  }

  value(index: number): number {
    return this.values[index] as number;
  }

  time(index: number): number {
    return this.times[index] as number;
  }

  histogram(index: number): Histogram {
    return this.histograms[index] as Histogram;
  }

  histogramTime(index: number): number {
    return this.histogramTimes[index] as number;
  }

  /** Returns the start time of a sample's counter, 0 if unknown or unused. */
  start(index: number): number {
    return this.samples.floats.starts?.[index] ?? 0;
  }

  histogramStart(index: number): number {
    return this.samples.histograms.starts?.[index] ?? 0;
  }

  /** Number of samples, as counted by limits and statistics. */
  get sampleCount(): number {
    let size = this.floatCount;
    for (let index = this.histogramFrom; index < this.histogramTo; index++)
      size += this.histogram(index).sampleEquivalents;
    return size;
  }
}

const skipUntil = (times: Float64Array, from: number, timeMs: number): number => {
  let index = from;
  while (index < times.length && (times[index] as number) <= timeMs) index++;
  return index;
};

/** Context of a range function besides the range. */
export interface RangeCall {
  readonly annotations: Annotations;
  /** Position of the first argument in the expression. */
  readonly position: Position;
  readonly rangeMs: number;
  readonly isAnchored: boolean;
  readonly isSmoothed: boolean;
  /** Whether start times of counters are used. */
  readonly usesStartTimes: boolean;
}

/** A range function: returns a value, or undefined if the range has none. */
export type RangeFunction = (window: Window, call: RangeCall) => number | Histogram | undefined;

/** Returns whether the start times of two samples' counters imply a reset between them. */
export const wasCounterReset = (previousStart: number, previousTime: number, start: number, time: number): boolean => {
  if (start === 0 || start >= time || start < previousTime) return false;
  // A counter that started at the time of the previous sample continues that sample, unless both are deltas.
  return start > previousTime || (previousStart !== 0 && previousStart < previousTime);
};

/** Returns whether a sample's counter started before the previous sample, without being the same counter. */
export const hasOverlappingStart = (previousStart: number, previousTime: number, start: number): boolean =>
  start !== 0 && start < previousTime && start !== previousStart;
