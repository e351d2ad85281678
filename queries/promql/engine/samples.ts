import { fromNative, type Histogram } from '../histograms/histogram.ts';
import { wasReset } from '../histograms/resets.ts';
import type { Series } from '../series.ts';
import { LabelSet } from './labels.ts';
import { absent, float, getStepTimeMs, type Row, type Steps } from './rows.ts';

const staleHigh = 0x7ff00000;
const staleLow = 2;

/** Returns the stale markers among samples; undefined if there are none. */
const findStaleMarkers = (values: Float64Array): Uint8Array | undefined => {
  let staleFlags: Uint8Array | undefined;
  let halfWords: Uint32Array | undefined;
  for (let index = 0; index < values.length; index++) {
    const value = values[index] as number;
    if (!Number.isNaN(value)) continue;
    halfWords ??= new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
    if (halfWords[2 * index + 1] !== staleHigh || halfWords[2 * index] !== staleLow) continue;
    staleFlags ??= new Uint8Array(values.length);
    staleFlags[index] = 1;
  }
  return staleFlags;
};

/**
 * Sets the counter reset hint of every histogram whose stored hint is unknown. Prometheus does this if an expression
 * needs only counts and sums, because it then does not read the buckets that would show a reset.
 */
export const addResetHints = (series: Series): Series => {
  let currentHistogram: Histogram | undefined;
  if (series.histograms === undefined) return series;
  const histograms = series.histograms.map((native) => {
    if (native === undefined) return undefined;
    const previous = currentHistogram;
    currentHistogram = fromNative(native);
    if (native.resetHint !== 'unknown' || previous === undefined) return native;
    return { ...native, resetHint: wasReset(currentHistogram, previous) ? ('reset' as const) : ('not-reset' as const) };
  });
  return { ...series, histograms };
};

/** Floats or histograms of a series, in the order of time. */
export interface Column<T> {
  readonly times: Float64Array;
  readonly values: T;
  readonly starts: Float64Array | undefined;
}

const noTimes = new Float64Array(0);

/** A series for range functions: separate floats and histograms, without stale markers. */
export class Samples {
  readonly labels: LabelSet;
  /** Whether its expression drops the metric's name. */
  readonly dropName: boolean;
  readonly floats: Column<Float64Array>;
  readonly histograms: Column<readonly Histogram[]>;
  #decreases: Int32Array | undefined;

  constructor(
    labels: LabelSet,
    dropName: boolean,
    floats: Column<Float64Array>,
    histograms: Column<readonly Histogram[]>,
  ) {
    this.labels = labels;
    this.dropName = dropName;
    this.floats = floats;
    this.histograms = histograms;
  }

  get name(): string {
    return this.labels.get('__name__');
  }

  /** Indexes of floats below their predecessor, as after a counter reset. */
  get decreases(): Int32Array {
    this.#decreases ??= findDecreases(this.floats.values);
    return this.#decreases;
  }
}

const findDecreases = (values: Float64Array): Int32Array => {
  const indexes: number[] = [];
  for (let index = 1; index < values.length; index++)
    if ((values[index] as number) < (values[index - 1] as number)) indexes.push(index);
  return Int32Array.from(indexes);
};

const noHistograms: Column<readonly Histogram[]> = { times: noTimes, values: [], starts: undefined };

/**
 * Returns the samples of a series for range functions. Columns without stale markers and histograms are used without a
 * copy.
 */
export const toSamples = (series: Series): Samples => {
  const labels = LabelSet.from(series.labels);
  const { times, values, startTimes } = series;
  const staleFlags = findStaleMarkers(values);
  const nativeHistograms = series.histograms;
  if (staleFlags === undefined && nativeHistograms === undefined)
    return new Samples(labels, false, { times, values, starts: startTimes }, noHistograms);
  const floatIndexes: number[] = [];
  const histogramIndexes: number[] = [];
  for (let index = 0; index < times.length; index++)
    if (nativeHistograms?.[index] !== undefined) histogramIndexes.push(index);
    else if (staleFlags?.[index] !== 1) floatIndexes.push(index);
  const selectIndexes = (column: Float64Array, indexes: readonly number[]) =>
    Float64Array.from(indexes, (index) => column[index] as number);
  return new Samples(
    labels,
    false,
    {
      times: selectIndexes(times, floatIndexes),
      values: selectIndexes(values, floatIndexes),
      starts: startTimes && selectIndexes(startTimes, floatIndexes),
    },
    {
      times: selectIndexes(times, histogramIndexes),
      values: histogramIndexes.map((index) => fromNative(nativeHistograms?.[index] as never)),
      starts: startTimes && selectIndexes(startTimes, histogramIndexes),
    },
  );
};

/** Number of row cells equivalent to a sample of `rowToSamples` (time and value). */
export const cellsPerSample = 2;

/**
 * Converts results to samples, for functions over subqueries. Reset hints do not apply between samples that were not
 * stored in that order.
 */
export const rowToSamples = (row: Row, steps: Steps): Samples => {
  let floats = 0;
  for (const kind of row.kinds) if (kind === float) floats++;
  const times = new Float64Array(floats);
  const values = new Float64Array(floats);
  let index = 0;
  const histogramTimes: number[] = [];
  const histograms: Histogram[] = [];
  for (let step = 0; step < steps.count; step++) {
    if (row.kinds[step] === absent) continue;
    if (row.kinds[step] === float) {
      times[index] = getStepTimeMs(steps, step);
      values[index++] = row.values[step] as number;
    } else {
      const value = row.histogram(step);
      histogramTimes.push(getStepTimeMs(steps, step));
      histograms.push(value.hint === 'gauge' ? value : value.withHint('unknown'));
    }
  }
  return new Samples(
    row.labels,
    row.shouldDropName,
    { times, values, starts: undefined },
    { times: Float64Array.from(histogramTimes), values: histograms, starts: undefined },
  );
};

/** Samples of a series at steps: each step reads the newest one that is within the lookback and not stale. */
export class SampleLookup {
  readonly #series: Series;
  readonly #stale: Uint8Array | undefined;
  readonly #histograms = new Map<number, Histogram>();
  #nextIndex = 0;

  constructor(series: Series) {
    this.#series = series;
    this.#stale = findStaleMarkers(series.values);
  }

  /** Returns the index of the sample at a time; -1 for none. Times must ascend. */
  findIndex(timeMs: number, lookbackMs: number): number {
    const { times } = this.#series;
    while (this.#nextIndex < times.length && (times[this.#nextIndex] as number) <= timeMs) this.#nextIndex++;
    const index = this.#nextIndex - 1;
    if (index < 0 || (times[index] as number) <= timeMs - lookbackMs) return -1;
    return this.#stale?.[index] === 1 && this.#series.histograms?.[index] === undefined ? -1 : index;
  }

  /** Returns the sample at an index. A histogram used by several steps is decoded once. */
  value(index: number): number | Histogram {
    const native = this.#series.histograms?.[index];
    if (native === undefined) return this.#series.values[index] as number;
    const cached = this.#histograms.get(index);
    if (cached !== undefined) return cached;
    const value = fromNative(native);
    this.#histograms.set(index, value);
    return value;
  }
}
