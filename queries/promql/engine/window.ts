import type { Histogram } from '../histograms/histogram.ts';
import type { Place } from '../syntax/tree.ts';
import type { Annotations } from './annotations.ts';
import type { Samples } from './samples.ts';

/** The samples of one series in one range. It moves from step to step: places from `from` up to `to` are in it. */
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
  /** The time of the step, and the range that is asked for, which an extended selector's samples go beyond. */
  timeMs = 0;
  rangeStart = 0;
  rangeEnd = 0;
  /** The scalars among the arguments, at this step. */
  readonly args: number[] = [];

  constructor(samples: Samples) {
    this.samples = samples;
    this.times = samples.floats.times;
    this.values = samples.floats.values;
    this.histogramTimes = samples.histograms.times;
    this.histograms = samples.histograms.values;
  }

  /** Moves to the samples later than `fromMs` and not later than `toMs`. Both may only rise. */
  move(fromMs: number, toMs: number): void {
    this.from = past(this.times, this.from, fromMs);
    this.to = past(this.times, Math.max(this.to, this.from), toMs);
    if (this.histogramTimes.length === 0) return;
    this.histogramFrom = past(this.histogramTimes, this.histogramFrom, fromMs);
    this.histogramTo = past(this.histogramTimes, Math.max(this.histogramTo, this.histogramFrom), toMs);
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

  value(place: number): number {
    return this.values[place] as number;
  }

  time(place: number): number {
    return this.times[place] as number;
  }

  histogram(place: number): Histogram {
    return this.histograms[place] as Histogram;
  }

  histogramTime(place: number): number {
    return this.histogramTimes[place] as number;
  }

  /** When the counter of a sample began, 0 if that is not known or does not count. */
  start(place: number): number {
    return this.samples.floats.starts?.[place] ?? 0;
  }

  histogramStart(place: number): number {
    return this.samples.histograms.starts?.[place] ?? 0;
  }

  /** How many samples it has, as limits and statistics count them. */
  get size(): number {
    let size = this.floatCount;
    for (let place = this.histogramFrom; place < this.histogramTo; place++) size += this.histogram(place).size;
    return size;
  }
}

const past = (times: Float64Array, from: number, timeMs: number): number => {
  let place = from;
  while (place < times.length && (times[place] as number) <= timeMs) place++;
  return place;
};

/** What a function of a range knows beside the range. */
export interface RangeCall {
  readonly annotations: Annotations;
  /** Where the first argument stands in the expression. */
  readonly place: Place;
  readonly rangeMs: number;
  readonly anchored: boolean;
  readonly smoothed: boolean;
  /** Whether the times at which counters began are read. */
  readonly startTimes: boolean;
}

/** A function of a range: a value, or undefined if the range has none. */
export type RangeFunction = (window: Window, call: RangeCall) => number | Histogram | undefined;

/** Whether the times at which two samples' counters began say that it was reset between them. */
export const wasCounterReset = (previousStart: number, previousTime: number, start: number, time: number): boolean => {
  if (start === 0 || start >= time || start < previousTime) return false;
  // One that began when the sample before it was taken continues that one, unless both count from one sample to the next.
  return start > previousTime || (previousStart !== 0 && previousStart < previousTime);
};

/** Whether a sample's counter began before the sample before it, without being the same counter. */
export const overlaps = (previousStart: number, previousTime: number, start: number): boolean =>
  start !== 0 && start < previousTime && start !== previousStart;
