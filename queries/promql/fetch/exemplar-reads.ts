/** Reads the exemplars of series that match sets of matchers. */
import type { Labels, Matcher } from '../series.ts';
import { formatWithoutExponent } from '../syntax/numbers.ts';
import { readBoundsAndQuantiles } from './label-reads.ts';
import type { Scope, Window } from './scope.ts';
import { type SeriesSource, selectSeries } from './select-series.ts';

export interface Exemplar {
  readonly labels: Labels;
  readonly value: number;
  readonly timeMs: number;
}

export interface SeriesExemplars {
  readonly labels: Labels;
  readonly exemplars: readonly Exemplar[];
}

/** Maximum number of exemplars in one result. */
const maxExemplars = 100_000;

interface Row {
  readonly id: string;
  readonly time: string;
  readonly of_value: string;
  readonly trace: string;
  readonly span: string;
  readonly keys: readonly string[];
  readonly texts: readonly string[];
}

const parseNumber = (text: string): number =>
  text === 'inf' ? Number.POSITIVE_INFINITY : text === '-inf' ? Number.NEGATIVE_INFINITY : Number(text);

const isNonZeroId = (hex: string): boolean => !/^0*$/.test(hex);

const toExemplar = ({ keys, texts, trace, span, of_value, time }: Row): Exemplar => {
  const labels = new Map<string, string>();
  for (const [index, key] of keys.entries()) labels.set(key, texts[index] ?? '');
  const hasTraceLabel = labels.has('trace_id') || labels.has('traceID');
  if (!hasTraceLabel && isNonZeroId(trace)) labels.set('trace_id', trace);
  if (!labels.has('span_id') && !hasTraceLabel && isNonZeroId(span)) labels.set('span_id', span);
  return {
    labels: Object.fromEntries([...labels].sort(([left], [right]) => (left < right ? -1 : 1))),
    value: parseNumber(of_value),
    timeMs: Number(time),
  };
};

/** Returns whether a source has exemplars. Those of counts and sums are assigned to the buckets only. */
const hasExemplars = ({ part }: SeriesSource): boolean => part === 'value' || part === 'native' || part === 'buckets';

const readRows = async ({ columns }: Scope, window: Window, sources: readonly SeriesSource[]): Promise<Row[]> =>
  columns.query<Row>(
    `SELECT toString(series_id) AS id, toString(toUnixTimestamp64Milli(timestamp)) AS time, toString(exemplars.value) AS of_value,
      lower(hex(trace_id)) AS trace, lower(hex(span_id)) AS span, mapKeys(attributes) AS keys, mapValues(attributes) AS texts
    FROM exemplars WHERE tenant_id = {tenant:String} AND metric IN {metrics:Array(String)} AND series_id IN (${[...new Set(sources.map(({ id }) => id))].join(', ')})
      AND timestamp >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND timestamp <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    ORDER BY metric, series_id, timestamp LIMIT 1 BY metric, series_id, timestamp, exemplars.value, trace_id, span_id LIMIT ${maxExemplars}`,
    {
      metrics: [...new Set(sources.map(({ metric }) => metric))],
      from: String(Math.max(0, Math.floor(window.fromMs))),
      to: String(Math.max(0, Math.floor(window.toMs))),
    },
  );

/** Returns the bucket that counts a value. */
const findBucketBound = (value: number, bounds: ReadonlySet<string> | undefined): string =>
  formatWithoutExponent(
    Math.min(
      ...[...(bounds ?? [])]
        .map((text) => (text === '+Inf' ? Number.POSITIVE_INFINITY : Number(text)))
        .filter((bound) => bound >= value),
    ),
  );

const addBucketLabel = (labels: Labels, le: string): Labels =>
  Object.fromEntries(
    [...Object.entries(labels), ['le', le] as const].sort(([left], [right]) => (left < right ? -1 : 1)),
  );

/** Returns exemplars of the series of one set of matchers, with the labels of each. */
const readMatchingExemplars = async (
  scope: Scope,
  window: Window,
  matchers: readonly Matcher[],
): Promise<{ readonly labels: Labels; readonly exemplar: Exemplar }[]> => {
  const selectedSeries = await selectSeries(scope, window, matchers);
  const sources = selectedSeries.flatMap((series) => series.sources).filter(hasExemplars);
  if (sources.length === 0) return [];
  const [rows, bounds] = await Promise.all([
    readRows(scope, window, sources),
    readBoundsAndQuantiles({ scope, window, matcherSets: [] }, selectedSeries),
  ]);
  const byId = Map.groupBy(rows, ({ id }) => id);
  return selectedSeries.flatMap(({ labels, sources }) =>
    sources.filter(hasExemplars).flatMap(({ id, part }) =>
      (byId.get(id) ?? []).map((row) => {
        const exemplar = toExemplar(row);
        const exemplarLabels =
          part === 'buckets' ? addBucketLabel(labels, findBucketBound(exemplar.value, bounds.get(id))) : labels;
        return { labels: exemplarLabels, exemplar };
      }),
    ),
  );
};

/**
 * Returns series with exemplars in the window, both ends included, in the order of their labels; exemplars in the order
 * of time.
 */
export const readSeriesExemplars = async (
  scope: Scope,
  window: Window,
  matcherSets: readonly (readonly Matcher[])[],
): Promise<SeriesExemplars[]> => {
  const exemplarsByLabels = new Map<string, { readonly labels: Labels; readonly exemplars: Exemplar[] }>();
  for (const matchers of matcherSets)
    for (const { labels, exemplar } of await readMatchingExemplars(scope, window, matchers)) {
      const key = JSON.stringify(labels);
      const existing = exemplarsByLabels.get(key);
      if (existing === undefined) exemplarsByLabels.set(key, { labels, exemplars: [exemplar] });
      else existing.exemplars.push(exemplar);
    }
  return [...exemplarsByLabels]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([, { labels, exemplars }]) => ({
      labels,
      exemplars: exemplars.toSorted((left, right) => left.timeMs - right.timeMs),
    }));
};
