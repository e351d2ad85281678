/** Series in memory, returned to queries as the Prometheus storage does. */
import { type Histogram, toNative } from '../../../queries/promql/histograms/histogram.ts';
import { computeStoredHint } from '../../../queries/promql/histograms/resets.ts';
import type { Labels, Selection, Series } from '../../../queries/promql/series.ts';
import { compileTest } from '../../../queries/promql/syntax/matchers.ts';
import type { Load, LoadedSeries } from './commands.ts';
import { customHistograms } from './custom-histograms.ts';
import type { Value } from './series-lines.ts';

export interface Sample {
  readonly value: Exclude<Value, undefined>;
  readonly startMs: number;
}

const staleMarker = 0x7ff0_0000_0000_0002n;

export class Store {
  readonly #series = new Map<string, { labels: Labels; samples: Map<number, Sample> }>();

  clear(): void {
    this.#series.clear();
  }

  /** The loaded samples, unchanged, by time. */
  all(): Iterable<{ readonly labels: Labels; readonly samples: ReadonlyMap<number, Sample> }> {
    return this.#series.values();
  }

  load({ series, stepMs, withCustomHistograms }: Load): void {
    for (const each of series) this.#add(each, stepMs);
    if (!withCustomHistograms) return;
    for (const each of customHistograms(series)) this.#add(each, stepMs);
  }

  #add({ labels, values, starts }: LoadedSeries, stepMs: number): void {
    const entries = Object.entries(labels).filter(([, value]) => value !== '');
    const sorted = Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : 1)));
    const key = JSON.stringify(sorted);
    const series = this.#series.get(key) ?? { labels: sorted, samples: new Map<number, Sample>() };
    this.#series.set(key, series);
    for (const [at, value] of values.entries()) {
      if (value === undefined) continue;
      const start = starts[at];
      series.samples.set(at * stepMs, { value, startMs: start === undefined ? 0 : at * stepMs + start });
    }
  }

  *select({ matchers, fromMs, toMs }: Selection): Iterable<Series> {
    const tests = matchers.map((matcher) => [matcher.name, compileTest(matcher)] as const);
    for (const { labels, samples } of this.#series.values()) {
      if (!tests.every(([name, test]) => test(labels[name] ?? ''))) continue;
      const chosen = stored(samples).filter(([time]) => time > fromMs && time <= toMs);
      if (chosen.length > 0) yield seriesOf(labels, chosen);
    }
  }
}

/** Samples in order of time, with the counter reset hints that the storage sets for histograms. */
const stored = (samples: ReadonlyMap<number, Sample>): [number, Sample][] => {
  let before: Histogram | undefined;
  return [...samples]
    .sort(([left], [right]) => left - right)
    .map(([time, sample]) => {
      if (typeof sample.value !== 'object') {
        before = undefined;
        return [time, sample];
      }
      before = sample.value.histogram.withHint(computeStoredHint(sample.value.histogram, before));
      return [time, { ...sample, value: { ...sample.value, histogram: before } }];
    });
};

const seriesOf = (labels: Labels, samples: readonly [number, Sample][]): Series => {
  const values = new Float64Array(samples.length);
  const words = new BigUint64Array(values.buffer);
  const histograms = samples.map(([, { value }], at) => {
    if (typeof value === 'object') return toNative(value.histogram);
    if (value === 'stale') words[at] = staleMarker;
    else values[at] = value;
    return undefined;
  });
  return {
    labels,
    times: Float64Array.from(samples, ([time]) => time),
    values,
    startTimes: Float64Array.from(samples, ([, { startMs }]) => startMs),
    ...(histograms.some((histogram) => histogram !== undefined) && { histograms }),
  };
};
