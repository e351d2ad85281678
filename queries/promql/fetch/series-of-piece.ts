/** Builds series from the points of a piece. Runs in a worker: no I/O. */
import { type Histogram, histogramFrom } from '../histograms/histogram.ts';
import { storedHint } from '../histograms/resets.ts';
import type { Labels, Matcher, NativeHistogram, Series } from '../series.ts';
import { testOf } from '../syntax/matchers.ts';
import { plainNumber } from '../syntax/numbers.ts';
import type { PointTable, SelectedSeries, Source } from './choose.ts';
import { cumulative, type Points, stale } from './deltas.ts';
import { arrayIn, numbersIn } from './native-blocks.ts';
import type { Piece } from './pieces.ts';
import { joined, PointRows, type Run } from './rows.ts';
import type { Window } from './scope.ts';
import { DeltaHistograms, histogramAt } from './stored-histograms.ts';

interface Samples extends Points {
  readonly histograms?: readonly (NativeHistogram | undefined)[] | undefined;
  /** Start times of the counters; 0 if unknown. */
  readonly starts?: Float64Array | undefined;
}

type Rows = Readonly<Partial<Record<PointTable, PointRows>>>;

/** Returns whether the numbers strictly increase. */
const isRising = (numbers: Float64Array): boolean => {
  for (let at = 1; at < numbers.length; at++) if ((numbers[at - 1] as number) >= (numbers[at] as number)) return false;
  return true;
};

const always: Window = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY };

/** Returns the points after `fromMs` and up to `toMs`, and only the first of several at one time. */
const clipToWindow = (samples: Samples, { fromMs, toMs }: Window): Samples => {
  const { times, values, histograms, starts } = samples;
  const isWithin = (times[0] ?? toMs) > fromMs && (times.at(-1) ?? toMs) <= toMs;
  if (isWithin && isRising(times)) return samples;
  const places: number[] = [];
  let last = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < times.length; at++) {
    const time = times[at] as number;
    if (time <= fromMs || time > toMs || time <= last) continue;
    places.push(at);
    last = time;
  }
  const chosen = { times: new Float64Array(places.length), values: new Float64Array(places.length) };
  for (const [to, from] of places.entries()) {
    chosen.times[to] = times[from] as number;
    // Copied as memory, so that a NaN retains its bits.
    chosen.values.set(values.subarray(from, from + 1), to);
  }
  return {
    ...chosen,
    ...(histograms && { histograms: places.map((place) => histograms[place]) }),
    ...(starts && { starts: Float64Array.from(places, (place) => starts[place] as number) }),
  };
};

/** Merges points of several sources in the order of time; at equal times the first source wins. */
const merged = (sources: readonly Samples[]): Samples => {
  const filled = sources.filter(({ times }) => times.length > 0);
  const [first = { times: new Float64Array(0), values: new Float64Array(0) }] = filled;
  if (filled.length <= 1) return first;
  const places = filled.flatMap((samples, source) => Array.from(samples.times, (time, at) => ({ time, source, at })));
  places.sort((left, right) => left.time - right.time || left.source - right.source);
  const times = Float64Array.from(places, ({ time }) => time);
  const values = new Float64Array(places.length);
  for (const [to, { source, at }] of places.entries())
    values.set((filled[source] as Samples).values.subarray(at, at + 1), to);
  const all = places.map(({ source, at }) => ({ samples: filled[source] as Samples, at }));
  return {
    times,
    values,
    ...(filled.some(({ histograms }) => histograms !== undefined) && {
      histograms: all.map(({ samples, at }) => samples.histograms?.[at]),
    }),
    ...(filled.some(({ starts }) => starts !== undefined) && {
      starts: Float64Array.from(all, ({ samples, at }) => samples.starts?.[at] ?? 0),
    }),
  };
};

/** Returns start times of counters, if they were read and do not belong to deltas, which restart by definition. */
const startsOf = (runs: readonly Run[], isDelta: boolean): { readonly starts?: Float64Array } =>
  !isDelta && runs[0]?.block.columns.has('start') ? { starts: joined(runs, 'start') } : {};

const timesOf = (runs: readonly Run[]): Float64Array => joined(runs, 'time');

/** Returns the numbers of a column, with stale markers for points without a value. */
const marked = (runs: readonly Run[], name: string): Float64Array => {
  const values = joined(runs, name).slice();
  const flags = joined(runs, 'flags');
  for (let at = 0; at < flags.length; at++) if (((flags[at] as number) & 1) !== 0) values.set(stale, at);
  return values;
};

const nativeSamples = (runs: readonly Run[], isDelta: boolean): Samples => {
  const times = timesOf(runs);
  const values = new Float64Array(times.length);
  const flags = joined(runs, 'flags');
  const deltas = new DeltaHistograms();
  const histograms: (NativeHistogram | undefined)[] = [];
  let before = Number.NaN;
  for (const { block, start, end } of runs)
    for (let row = start; row < end; row++) {
      const at = histograms.length;
      const time = times[at] as number;
      if (((flags[at] as number) & 1) !== 0) {
        values.set(stale, at);
        histograms.push(undefined);
      } else if (!isDelta) histograms.push(histogramAt(block, row));
      // A duplicate counts once.
      else histograms.push(time === before ? histograms.at(-1) : deltas.add(block, row, time));
      before = time;
    }
  return { times, values, histograms, ...startsOf(runs, isDelta) };
};

/** Returns samples with the reset hints that Prometheus' storage would assign. */
const hinted = (samples: Samples): Samples => {
  let before: Histogram | undefined;
  const histograms = samples.histograms?.map((native) => {
    if (native === undefined) {
      before = undefined;
      return undefined;
    }
    const own = histogramFrom(native);
    const resetHint = storedHint(own, before);
    before = own.withHint(resetHint);
    return { ...native, resetHint };
  });
  return { ...samples, histograms };
};

const once = (samples: Points): Points => clipToWindow(samples, always);
const counted = (samples: Points, isDelta: boolean): Points => (isDelta ? cumulative(once(samples)) : samples);

/** Returns points without the rows for which `has` is false. */
const withColumn = (runs: readonly Run[], name: string, has?: string): Points => {
  const all = { times: timesOf(runs), values: marked(runs, name) };
  if (has === undefined) return all;
  const given = joined(runs, has);
  if (given.every((one) => one === 1)) return all;
  const places = Array.from(given.keys()).filter((at) => given[at] === 1);
  return {
    times: Float64Array.from(places, (at) => all.times[at] as number),
    values: Float64Array.from(places, (at) => all.values[at] as number),
  };
};

const samplesOf = ({ id, part, tables, isDelta }: Source, rows: Rows): Samples => {
  const table = tables[0] ?? 'samples';
  const runs = rows[table]?.of(id) ?? [];
  switch (part) {
    case 'native':
      return isDelta ? nativeSamples(runs, isDelta) : hinted(nativeSamples(runs, isDelta));
    case 'count':
      return counted(withColumn(runs, 'total'), isDelta);
    case 'sum':
      return counted(withColumn(runs, 'sum_of', table === 'histograms' ? 'has_sum' : undefined), isDelta);
    case 'presence': {
      const times = timesOf(runs);
      return { times, values: new Float64Array(times.length).fill(1) };
    }
    default: {
      const points = { times: timesOf(runs), values: joined(runs, 'value') };
      const numbers = { ...counted(points, isDelta), ...startsOf(runs, isDelta) };
      return tables.includes('histograms')
        ? hinted(merged([numbers, nativeSamples(rows.histograms?.of(id) ?? [], false)]))
        : numbers;
    }
  }
};

/** Series of the buckets or quantiles of one series: values by the text of `le` or `quantile`. */
class BucketSeries {
  readonly #byText = new Map<string, { times: number[]; values: number[]; stale: number[] }>();

  add(text: string, time: number, value: number | undefined): void {
    const known = this.#byText.get(text) ?? { times: [], values: [], stale: [] };
    this.#byText.set(text, known);
    if (value === undefined) known.stale.push(known.times.length);
    known.times.push(time);
    known.values.push(value ?? Number.NaN);
  }

  /** Ends all texts at a point without a value. */
  end(time: number): void {
    for (const text of this.#byText.keys()) this.add(text, time, undefined);
  }

  *all(): Iterable<readonly [string, Points]> {
    for (const [text, { times, values, stale: marks }] of this.#byText) {
      const points = { times: Float64Array.from(times), values: Float64Array.from(values) };
      for (const at of marks) points.values.set(stale, at);
      yield [text, points];
    }
  }
}

/** Visits each row with a value; a row without one ends all texts. */
const eachValue = (
  runs: readonly Run[],
  fan: BucketSeries,
  visit: (block: Run['block'], row: number, time: number) => void,
): void => {
  for (const { block, start, end } of runs)
    for (let row = start; row < end; row++) {
      const time = numbersIn(block, 'time')[row] as number;
      if (((numbersIn(block, 'flags')[row] as number) & 1) !== 0) fan.end(time);
      else visit(block, row, time);
    }
};

const bucketsOf = (runs: readonly Run[], fan: BucketSeries): void =>
  eachValue(runs, fan, (block, row, time) => {
    const bounds = arrayIn(block, 'bounds', row);
    const counts = arrayIn(block, 'counts', row);
    let below = 0;
    for (let at = 0; at < bounds.length && at < counts.length; at++) {
      below += counts[at] as number;
      fan.add(plainNumber(bounds[at] as number), time, below);
    }
    fan.add('+Inf', time, numbersIn(block, 'total')[row] as number);
  });

const quantilesOf = (runs: readonly Run[], fan: BucketSeries): void =>
  eachValue(runs, fan, (block, row, time) => {
    const values = arrayIn(block, 'quantile_values', row);
    for (const [at, quantile] of arrayIn(block, 'quantiles', row).entries())
      fan.add(plainNumber(quantile), time, values[at] as number);
  });

const withLabel = (labels: Labels, name: string, value: string): Labels =>
  Object.fromEntries(
    [...Object.entries(labels), [name, value] as const].sort(([left], [right]) => (left < right ? -1 : 1)),
  );

const fanned = function* (
  { labels, sources }: SelectedSeries,
  rows: Rows,
  matchers: readonly Matcher[],
): Iterable<{ readonly labels: Labels; readonly samples: Samples }> {
  const name = sources[0]?.part === 'buckets' ? 'le' : 'quantile';
  const tests = matchers.filter((matcher) => matcher.name === name).map(testOf);
  const byText = new Map<string, Points[]>();
  for (const { id, part, isDelta } of sources) {
    const fan = new BucketSeries();
    if (part === 'buckets') bucketsOf(rows.histograms?.of(id) ?? [], fan);
    else quantilesOf(rows.summaries?.of(id) ?? [], fan);
    for (const [text, points] of fan.all()) {
      if (!tests.every((test) => test(text))) continue;
      byText.set(text, [...(byText.get(text) ?? []), counted(points, isDelta)]);
    }
  }
  for (const [text, points] of byText) yield { labels: withLabel(labels, name, text), samples: merged(points) };
};

/** Yields the series of a piece with their samples within the window, and omits series without samples. */
export const seriesOfPiece = function* (
  { chosen, blocks }: Piece,
  window: Window,
  matchers: readonly Matcher[],
): Iterable<Series> {
  const rows: Rows = Object.fromEntries(Object.entries(blocks).map(([table, bytes]) => [table, new PointRows(bytes)]));
  const seriesOf = (labels: Labels, samples: Samples): Series | undefined => {
    const { times, values, histograms, starts } = clipToWindow(samples, window);
    if (times.length === 0) return undefined;
    return { labels, times, values, ...(histograms && { histograms }), ...(starts && { starts }) };
  };
  for (const one of chosen) {
    const part = one.sources[0]?.part;
    if (part === 'buckets' || part === 'quantiles') {
      for (const { labels, samples } of fanned(one, rows, matchers)) {
        const series = seriesOf(labels, samples);
        if (series !== undefined) yield series;
      }
      continue;
    }
    const series = seriesOf(one.labels, merged(one.sources.map((source) => samplesOf(source, rows))));
    if (series !== undefined) yield series;
  }
};
