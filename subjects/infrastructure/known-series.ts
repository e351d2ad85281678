/** In-memory cache of series by id. An id is a hash of metric, resource, labels and kind, so entries never change. */

import { RowCache } from '../../queries/row-cache.ts';
import { getEarliestRowMs } from '../../queries/series-first-seen.ts';
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
  readonly #positions: ReadonlyMap<string, number>;
  readonly #groupsBySortKey = new Map<string, SeriesGroup>();
  readonly #groupsBySeries = new Map<bigint, SeriesGroup>();
  #areOrdered = true;

  constructor(labels: readonly string[]) {
    this.#positions = new Map(labels.map((encodeLabel, index) => [encodeLabel, index]));
  }

  getGroup(id: bigint, series: KnownSeries): SeriesGroup {
    const existing = this.#groupsBySeries.get(id);
    if (existing !== undefined) return existing;
    const createdGroup = createGroup(series, this.#positions);
    const group = this.#groupsBySortKey.get(createdGroup.sortKey) ?? createdGroup;
    if (group === createdGroup) this.#areOrdered = false;
    this.#groupsBySortKey.set(group.sortKey, group);
    this.#groupsBySeries.set(id, group);
    return group;
  }

  /** Assigns positions to all groups in order. */
  assignOrder(): void {
    if (this.#areOrdered) return;
    const sorted = [...this.#groupsBySortKey.values()].sort((left, right) => (left.sortKey < right.sortKey ? -1 : 1));
    for (const [index, group] of sorted.entries()) group.order = index;
    this.#areOrdered = true;
  }
}

/** Sorts like lists of all requested labels, in which a missing label is empty and is first. */
const createGroup = (
  { metric, resourceId, keys, values }: KnownSeries,
  positions: ReadonlyMap<string, number>,
): SeriesGroup => {
  const presentLabels = keys
    .map((key, index) => [positions.get(key) ?? -1, key, values[index] ?? ''] as const)
    .filter(([position, , value]) => position >= 0 && value !== '')
    .sort(([left], [right]) => left - right);
  const encodeLabel = ([position, , value]: (typeof presentLabels)[number]): string =>
    `${String.fromCharCode(9999 - position)}${value}\u0001`;
  return {
    metric,
    resourceId,
    order: 0,
    labels: Object.fromEntries(presentLabels.map(([, key, value]) => [key, value])),
    sortKey: `${metric}\u0001${resourceId}\u0001${presentLabels.map(encodeLabel).join('')}`,
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
export const getHostSeenSinceMs = (fromMs: number): number => getEarliestRowMs(fromMs - seriesRowIntervalMs);

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
  const currentCache = seriesCache.forTenant(columns).get(cacheKey) ?? createEmptyCache();
  const missing = new Set(ids.filter((id) => !currentCache.series.has(id)));
  const fetched = missing.size === 0 ? new Map() : await readSeries(columns, missing, { metrics, fromMs });
  // Expired series are among those that were cached before.
  const isFull = currentCache.series.size + fetched.size > maxPerTenant;
  const updatedCache = isFull ? createEmptyCache() : currentCache;
  if (isFull) for (const id of ids) copySeries(currentCache.series, updatedCache.series, id);
  for (const [id, series] of fetched) updatedCache.series.set(id, series);
  const { size } = updatedCache.series;
  if (size !== currentCache.size && size <= maxPerTenant)
    seriesCache.forTenant(columns).set(cacheKey, { ...updatedCache, size });
  const groups = updatedCache.groups.get(labels) ?? new SeriesGroupIndex(labels);
  updatedCache.groups.set(labels, groups);
  return { series: updatedCache.series, groups };
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
    ids.size > maxIds ? { seen: String(getHostSeenSinceMs(fromMs)) } : {},
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
const intern = <Value>(sharedValues: Map<string, Value>, key: string, value: Value): Value => {
  const existingValue = sharedValues.get(key);
  if (existingValue !== undefined) return existingValue;
  sharedValues.set(key, value);
  return value;
};
