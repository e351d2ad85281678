/** Selects the series of many selectors with a metric name in one query, and reads each series once per window. */

import { sortByLabels } from '../promql/engine/labels.ts';
import type { EvaluationWindow } from '../promql/evaluation/messages.ts';
import { readBlockSeries } from '../promql/fetch/block-series.ts';
import { PointBlockReader } from '../promql/fetch/point-blocks.ts';
import type { Scope, Window } from '../promql/fetch/scope.ts';
import { type SelectedSeries, selectSeries } from '../promql/fetch/select-series.ts';
import type { Selection, Series } from '../promql/series.ts';
import { RowCache } from '../row-cache.ts';
import { escapeRegex } from '../variables/formats.ts';

/** Maximum number of series to evaluate in this thread; more need a worker. */
const maxSeries = 10_000;
/** Maximum number of samples of one window, multiplied by the steps that read each. */
export const maxSampleEvaluations = 2_000_000;

/** Thrown if a query is too large to be evaluated in a batch. */
export class BatchTooLargeError extends Error {}

/** Returns the metric name of a selection; undefined if it has none. */
export const findMetricName = ({ matchers }: Selection): string | undefined =>
  matchers.find(({ name, op, value }) => name === '__name__' && op === '=' && value !== '')?.value;

export const toWindowKey = ({ fromMs, toMs }: Window): string => `${fromMs} ${toMs}`;

interface CachedSelection {
  readonly series: readonly SelectedSeries[];
  /** Change counter of `series` before the selection. */
  readonly changes: number;
  /** Series that ended before this time are not included. */
  readonly fromMs: number;
}

/** Maximum number of series in the cache. */
const maxCachedSeries = 50_000;
const selectionCache = new RowCache<CachedSelection>(maxCachedSeries, ({ series }) => series.length + 1);

/** Returns the series with these names. While no series was written, the previous selection is reused. */
export const selectSeriesByName = async (
  scope: Scope,
  range: Window,
  names: readonly string[],
): Promise<readonly SelectedSeries[]> => {
  if (names.length === 0) return [];
  const cache = selectionCache.forTenant(scope.columns);
  const key = JSON.stringify([scope.projectId, scope.translation, names]);
  const changes = scope.columns.getChangeCount?.('series');
  const cached = cache.get(key);
  if (cached !== undefined && cached.changes === changes && range.fromMs >= cached.fromMs) return cached.series;
  const nameMatcher = { name: '__name__', op: '=~', value: names.map(escapeRegex).join('|') } as const;
  const series = await selectSeries(scope, range, [nameMatcher], maxSeries);
  if (changes !== undefined) cache.set(key, { series, changes, fromMs: range.fromMs });
  return series;
};

/** Names of selections over one window. */
interface NamedSelection {
  readonly window: Window;
  readonly names: Set<string>;
}

/** Returns the maximum number of steps that read one sample: each step reads its own part of the selection's range. */
export const countStepsPerSample = ({ fromMs, toMs }: Window, { startMs, endMs, stepMs }: EvaluationWindow): number => {
  if (stepMs === 0) return 1;
  const steps = 1 + Math.floor((endMs - startMs) / stepMs);
  return Math.min(steps, 1 + Math.ceil(Math.max(0, toMs - fromMs - (endMs - startMs)) / stepMs));
};

/** Series by metric name. */
type SeriesByName = ReadonlyMap<string, readonly Series[]>;
export type SeriesByWindow = ReadonlyMap<string, SeriesByName>;

interface ReadContext {
  readonly scope: Scope;
  /** Start of retention; nothing before it is read. */
  readonly retainedFromMs: number;
  readonly window: EvaluationWindow;
}

const readSeriesByName = async (
  { scope, retainedFromMs, window }: ReadContext,
  { window: { fromMs, toMs }, names }: NamedSelection,
  selectedSeries: readonly SelectedSeries[],
): Promise<SeriesByName> => {
  const byName = new Map<string, Series[]>();
  const stepsPerSample = countStepsPerSample({ fromMs, toMs }, window);
  if (toMs <= retainedFromMs) return byName;
  const namedSeries = selectedSeries.filter(({ labels }) => names.has(labels['__name__'] ?? ''));
  const blockReader = new PointBlockReader(
    scope.columns,
    { fromMs: Math.max(fromMs, retainedFromMs), toMs },
    namedSeries,
  );
  let samples = 0;
  let blockCount = 0;
  for (let block = await blockReader.next(); block !== undefined; block = await blockReader.next()) {
    blockCount++;
    for (const series of readBlockSeries(block, { fromMs, toMs }, [])) {
      samples += series.times.length;
      if (samples * stepsPerSample > maxSampleEvaluations) throw new BatchTooLargeError();
      const name = series.labels['__name__'] ?? '';
      const before = byName.get(name);
      if (before === undefined) byName.set(name, [series]);
      else before.push(series);
    }
  }
  // Blocks arrive in storage order. The order of series must not depend on the number of blocks.
  if (blockCount > 1) for (const [name, seriesOfName] of byName) byName.set(name, sortByLabels(seriesOfName));
  return byName;
};

/** Reads the samples of an evaluation's selections, by window and name. Throws `BatchTooLargeError`. */
export const readSeriesByWindow = async (
  context: ReadContext,
  selections: readonly Selection[],
  selectedSeries: readonly SelectedSeries[],
): Promise<SeriesByWindow> => {
  const selectionsByWindow = new Map<string, NamedSelection>();
  for (const selection of selections) {
    const { fromMs, toMs } = selection;
    const namedSelection = selectionsByWindow.get(toWindowKey(selection)) ?? {
      window: { fromMs, toMs },
      names: new Set(),
    };
    selectionsByWindow.set(toWindowKey(selection), namedSelection);
    namedSelection.names.add(findMetricName(selection) ?? '');
  }
  const reads = [...selectionsByWindow].map(
    async ([key, namedSelection]) => [key, await readSeriesByName(context, namedSelection, selectedSeries)] as const,
  );
  return new Map(await Promise.all(reads));
};
