/** What series are, by id, kept in memory: an id is a hash of metric, resource, labels and kind, so that what it names never changes. */

import { RowCache } from '../../queries/row-cache.ts';
import { seenSinceMs } from '../../queries/series-seen.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { quote } from '../../schemas/tables/literal.ts';
import { seriesRowEveryMs } from '../../schemas/tables/metrics.ts';

export interface KnownSeries {
  readonly metric: string;
  /** Id of its resource; 0 for remote-write. */
  readonly resourceId: string;
  /** Whether its points say what came since the one before. */
  readonly isDelta: boolean;
  /** Names of its labels, and their values in the same order. */
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

/** Series that differ only in labels that nobody asks for: they make one cell. */
export interface SeriesGroup {
  readonly metric: string;
  readonly resourceId: string;
  /** Labels that are asked for and are there. */
  readonly labels: Readonly<Record<string, string>>;
  /** What groups are sorted by: metric, resource and labels. */
  readonly place: string;
  /** Where it stands among all groups that are known. */
  order: number;
}

/** Groups of all series that were asked for by the same labels. */
class SeriesGroups {
  readonly #places: ReadonlyMap<string, number>;
  readonly #byPlace = new Map<string, SeriesGroup>();
  readonly #bySeries = new Map<bigint, SeriesGroup>();
  #areOrdered = true;

  constructor(labels: readonly string[]) {
    this.#places = new Map(labels.map((label, at) => [label, at]));
  }

  of(id: bigint, series: KnownSeries): SeriesGroup {
    const known = this.#bySeries.get(id);
    if (known !== undefined) return known;
    const made = groupOf(series, this.#places);
    const group = this.#byPlace.get(made.place) ?? made;
    if (group === made) this.#areOrdered = false;
    this.#byPlace.set(group.place, group);
    this.#bySeries.set(id, group);
    return group;
  }

  /** Numbers all groups in order. */
  order(): void {
    if (this.#areOrdered) return;
    const sorted = [...this.#byPlace.values()].sort((one, other) => (one.place < other.place ? -1 : 1));
    for (const [at, group] of sorted.entries()) group.order = at;
    this.#areOrdered = true;
  }
}

/** As lists of all labels that were asked for would be sorted, of which a label that is missing is empty and comes first. */
const groupOf = (
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
    place: `${metric}\u0001${resourceId}\u0001${own.map(label).join('')}`,
  };
};

/** What is kept of one organization. */
interface TenantSeriesCache {
  readonly series: Map<bigint, KnownSeries>;
  /** By the list of labels, which is the same object whenever the same is asked. */
  readonly groups: WeakMap<readonly string[], SeriesGroups>;
  /** How many there were when it was put there. */
  readonly size: number;
}

/** Series that are kept, of all organizations together and of one. */
const maxCacheSize = 120_000;
const maxPerTenant = 60_000;
/** Beyond that number, all series of the metrics that were seen lately are read rather than these by their ids. */
const maxIds = 1000;
/** The earliest row of a host's series that has points since a time: its clock may be off by as much as rows are apart. */
export const hostSeenSinceMs = (fromMs: number): number => seenSinceMs(fromMs - seriesRowEveryMs);

const seriesCache = new RowCache<TenantSeriesCache>(maxCacheSize, ({ size }) => size + 1);
const all = 'series';
const nothing = (): TenantSeriesCache => ({ series: new Map(), groups: new WeakMap(), size: 0 });

/** What is known of the series that were asked for. */
export interface KnownGroups {
  readonly series: ById;
  /** By labels. */
  readonly groups: SeriesGroups;
}

/** Series of these metrics that have points since a time, by their ids; those whose row has not landed yet are left out. */
export const knownSeries = async (
  columns: TenantColumns,
  ids: readonly bigint[],
  {
    metrics,
    labels,
    fromMs,
  }: { readonly metrics: readonly string[]; readonly labels: readonly string[]; readonly fromMs: number },
): Promise<KnownGroups> => {
  const before = seriesCache.of(columns).get(all) ?? nothing();
  const missing = new Set(ids.filter((id) => !before.series.has(id)));
  const read = missing.size === 0 ? new Map() : await readSeries(columns, missing, { metrics, fromMs });
  // What is gone meanwhile is among what was there before.
  const isFull = before.series.size + read.size > maxPerTenant;
  const now = isFull ? nothing() : before;
  if (isFull) for (const id of ids) copyOf(before.series, now.series, id);
  for (const [id, series] of read) now.series.set(id, series);
  const { size } = now.series;
  if (size !== before.size && size <= maxPerTenant) seriesCache.of(columns).set(all, { ...now, size });
  const groups = now.groups.get(labels) ?? new SeriesGroups(labels);
  now.groups.set(labels, groups);
  return { series: now.series, groups };
};

const copyOf = (from: ById, to: Map<bigint, KnownSeries>, id: bigint): void => {
  const series = from.get(id);
  if (series !== undefined) to.set(id, series);
};

const readSeries = async (
  columns: TenantColumns,
  ids: ReadonlySet<bigint>,
  { metrics, fromMs }: { readonly metrics: readonly string[]; readonly fromMs: number },
): Promise<ById> => {
  const which =
    ids.size > maxIds
      ? "last_seen >= fromUnixTimestamp64Milli({seen:Int64}, 'UTC')"
      : `series_id IN (${[...ids].join(', ')})`;
  const rows = await columns.query<Row>(
    `SELECT toString(series_id) AS id, any(series.metric) AS metric, toString(any(series.resource_id)) AS resource, any(series.temporality) AS temporality,
      any(mapKeys(series.attributes)) AS keys, any(mapValues(series.attributes)) AS values
    FROM series WHERE tenant_id = {tenant:String} AND series.metric IN (${metrics.map(quote).join(', ')}) AND ${which}
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
        metric: once(texts, metric, metric),
        resourceId: once(texts, resource, resource),
        isDelta: temporality === 1,
        keys: once(keyLists, keys.join('\n'), keys),
        values: values.map((value) => once(texts, value, value)),
      },
    ]),
  );
};

/** The same value for the same key, so that it is in memory once: many series have the same labels. */
const once = <Value>(known: Map<string, Value>, key: string, value: Value): Value => {
  const before = known.get(key);
  if (before !== undefined) return before;
  known.set(key, value);
  return value;
};
