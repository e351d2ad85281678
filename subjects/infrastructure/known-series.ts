/** In-memory cache of series by id. An id is a hash of metric, resource, labels and kind, so entries never change. */

import { RowCache } from '../../queries/row-cache.ts';
import { earliestRowMs } from '../../queries/series-seen.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import { seriesRowIntervalMs } from '../../schemas/tables/metrics.ts';

export interface KnownSeries {
  readonly metric: string;
  /** Id of the resource; 0 for remote-write */
  readonly resourceId: string;
  /** Whether points have delta temporality */
  readonly isDelta: boolean;
  /** Label names, and their values in the same order */
  readonly keys: readonly string[];
  readonly values: readonly string[];
}

interface Row {
  readonly id: string;
  readonly metric: string;
  readonly resource: string;
  readonly temporality: number;
  readonly keys: readonly string[];
  readonly values: readonly string[];
}

type ById = ReadonlyMap<bigint, KnownSeries>;

/** Series that differ only in labels that were not requested; they form one cell */
export interface SeriesGroup {
  readonly metric: string;
  readonly resourceId: string;
  /** Requested labels that exist */
  readonly labels: Readonly<Record<string, string>>;
  /** Sort key of groups: metric, resource and labels */
  readonly sortKey: string;
  /** Position among all known groups */
  order: number;
}

/** Groups of all series for the same list of requested labels */
class SeriesGroupIndex {
  readonly #places: ReadonlyMap<string, number>;
  readonly #byPlace = new Map<string, SeriesGroup>();
  readonly #bySeries = new Map<bigint, SeriesGroup>();
  #areOrdered = true;

  constructor(labels: readonly string[]) {
    this.#places = new Map(labels.map((label, at) => [label, at]));
  }

  groupOf(id: bigint, series: KnownSeries): SeriesGroup {
    const known = this.#bySeries.get(id);
    if (known !== undefined) return known;
    const made = createGroup(series, this.#places);
    const group = this.#byPlace.get(made.sortKey) ?? made;
    if (group === made) this.#areOrdered = false;
    this.#byPlace.set(group.sortKey, group);
    this.#bySeries.set(id, group);
    return group;
  }

  /** Assigns positions to all groups in order. */
  order(): void {
    if (this.#areOrdered) return;
    const sorted = [...this.#byPlace.values()].sort((one, other) => (one.sortKey < other.sortKey ? -1 : 1));
    for (const [at, group] of sorted.entries()) group.order = at;
    this.#areOrdered = true;
  }
}

/** Sorts like lists of all requested labels, in which a missing label is empty and is first. */
const createGroup = (
  { metric, resourceId, keys, values }: KnownSeries,
  places: ReadonlyMap<string, number>,
): SeriesGroup => {
  const own = keys
    .map((key, at) => [places.get(key) ?? -1, key, values[at] ?? ''] as const)
    .filter(([place, , value]) => place >= 0 && value !== '')
    .sort(([one], [other]) => one - other);
  const label = ([place, , value]: (typeof own)[number]): string =>
    `${String.fromCharCode(9999 - place)}${value}\u0001`;
  return {
    metric,
    resourceId,
    order: 0,
    labels: Object.fromEntries(own.map(([, key, value]) => [key, value])),
    sortKey: `${metric}\u0001${resourceId}\u0001${own.map(label).join('')}`,
  };
};

/** Cache of one organization */
interface TenantSeriesCache {
  readonly series: Map<bigint, KnownSeries>;
  /** Groups by the list of labels, which is the same object for equal requests */
  readonly groups: WeakMap<readonly string[], SeriesGroupIndex>;
  /** Number of entries when it was stored */
  readonly size: number;
}

/** Maximum number of cached series, of all organizations and of one */
const maxCacheSize = 120_000;
const maxPerTenant = 60_000;
/** Maximum number of ids in a query. With more ids, all recently seen series of the metrics are read instead. */
const maxIds = 1000;
/**
 * Returns the time of the earliest row of a host's series that has points since a time. The host's clock may be off by
 * the interval of rows.
 */
export const hostSeenSinceMs = (fromMs: number): number => earliestRowMs(fromMs - seriesRowIntervalMs);

const seriesCache = new RowCache<TenantSeriesCache>(maxCacheSize, ({ size }) => size + 1);
const cacheKey = 'series';
const createEmptyCache = (): TenantSeriesCache => ({ series: new Map(), groups: new WeakMap(), size: 0 });

/** Known series of a request, with their groups */
export interface KnownGroups {
  readonly series: ById;
  /** By labels. */
  readonly groups: SeriesGroupIndex;
}

/**
 * Returns series of these metrics that have points since a time, by id. Series whose row is not stored yet are omitted.
 */
export const readKnownSeries = async (
  columns: TenantColumns,
  ids: readonly bigint[],
  {
    metrics,
    labels,
    fromMs,
  }: { readonly metrics: readonly string[]; readonly labels: readonly string[]; readonly fromMs: number },
): Promise<KnownGroups> => {
  const before = seriesCache.forTenant(columns).get(cacheKey) ?? createEmptyCache();
  const missing = new Set(ids.filter((id) => !before.series.has(id)));
  const read = missing.size === 0 ? new Map() : await readSeries(columns, missing, { metrics, fromMs });
  // Expired series are among those that were cached before.
  const isFull = before.series.size + read.size > maxPerTenant;
  const now = isFull ? createEmptyCache() : before;
  if (isFull) for (const id of ids) copySeries(before.series, now.series, id);
  for (const [id, series] of read) now.series.set(id, series);
  const { size } = now.series;
  if (size !== before.size && size <= maxPerTenant) seriesCache.forTenant(columns).set(cacheKey, { ...now, size });
  const groups = now.groups.get(labels) ?? new SeriesGroupIndex(labels);
  now.groups.set(labels, groups);
  return { series: now.series, groups };
};

const copySeries = (from: ById, to: Map<bigint, KnownSeries>, id: bigint): void => {
  const series = from.get(id);
  if (series !== undefined) to.set(id, series);
};

const readSeries = async (
  columns: TenantColumns,
  ids: ReadonlySet<bigint>,
  { metrics, fromMs }: { readonly metrics: readonly string[]; readonly fromMs: number },
): Promise<ById> => {
  const seriesCondition =
    ids.size > maxIds
      ? "last_seen >= fromUnixTimestamp64Milli({seen:Int64}, 'UTC')"
      : `series_id IN (${[...ids].join(', ')})`;
  const rows = await columns.query<Row>(
    `SELECT toString(series_id) AS id, any(series.metric) AS metric, toString(any(series.resource_id)) AS resource, any(series.temporality) AS temporality,
      any(mapKeys(series.attributes)) AS keys, any(mapValues(series.attributes)) AS values
    FROM series WHERE tenant_id = {tenant:String} AND series.metric IN (${metrics.map(quoteString).join(', ')}) AND ${seriesCondition}
    GROUP BY series_id LIMIT 1000000`,
    ids.size > maxIds ? { seen: String(hostSeenSinceMs(fromMs)) } : {},
    { maxResultRows: 1_000_000 },
  );
  const texts = new Map<string, string>();
  const keyLists = new Map<string, readonly string[]>();
  return new Map(
    rows.map(({ id, metric, resource, temporality, keys, values }): [bigint, KnownSeries] => [
      BigInt(id),
      {
        metric: intern(texts, metric, metric),
        resourceId: intern(texts, resource, resource),
        isDelta: temporality === 1,
        keys: intern(keyLists, keys.join('\n'), keys),
        values: values.map((value) => intern(texts, value, value)),
      },
    ]),
  );
};

/** Returns one shared value per key to save memory, because many series have the same labels. */
const intern = <Value>(known: Map<string, Value>, key: string, value: Value): Value => {
  const before = known.get(key);
  if (before !== undefined) return before;
  known.set(key, value);
  return value;
};
