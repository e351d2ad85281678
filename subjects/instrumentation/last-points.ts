/**
 * Times of the last metric points of resources. The table of series has one row an hour, so by its times an agent that
 * sends only metrics would appear silent for most of each hour.
 */
import { getPointTable } from '../../queries/metrics/kinds.ts';
import type { SelectedSeries } from '../../queries/metrics/selection.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { quoteString } from '../../schemas/tables/literal.ts';

/** Metrics of a resource whose points are read */
const maxMetrics = 3;
const maxResources = 2_000;

interface SeriesRow {
  readonly resource: string;
  readonly metric: string;
  readonly series: string;
  readonly series_kind: SelectedSeries['kind'];
  readonly series_source: SelectedSeries['source'];
}

/**
 * Returns times in epoch milliseconds by resource ID, for resources with points after `sinceMs`. Points are searched in
 * one series of each of three metrics. Of more than 2,000 resources, the others are missing.
 */
export const readLastPointTimes = async (
  { columns }: Pick<TenantReader, 'columns'>,
  resourceIds: readonly string[],
  { sinceMs, hourMs }: { readonly sinceMs: number; readonly hourMs: number },
): Promise<ReadonlyMap<string, number>> => {
  const times = new Map<string, number>();
  const ids = resourceIds.slice(0, maxResources);
  if (ids.length === 0) return times;
  const series = await columns.query<SeriesRow>(
    `SELECT toString(resource_id) AS resource, metric, toString(min(series_id)) AS series, argMin(kind, series_id) AS series_kind, argMin(source, series_id) AS series_source
    FROM series WHERE tenant_id = {tenant:String} AND resource_id IN (${ids.join(', ')}) AND last_seen >= fromUnixTimestamp64Milli({hour:Int64}, 'UTC')
    GROUP BY resource_id, metric ORDER BY resource_id, metric LIMIT ${maxMetrics} BY resource_id`,
    { hour: String(hourMs) },
  );
  const resourceBySeries = new Map(series.map((row) => [row.series, row.resource]));
  const seriesByTable = Map.groupBy(series, (row) =>
    getPointTable({ kind: row.series_kind, source: row.series_source }),
  );
  const readTable = async (table: string, rows: readonly SeriesRow[]): Promise<void> => {
    const metrics = [...new Set(rows.map(({ metric }) => quoteString(metric)))];
    const points = await columns.query<{ readonly series: string; readonly last: string }>(
      `SELECT toString(series_id) AS series, toString(max(toUnixTimestamp64Milli(${table}.timestamp))) AS last FROM ${table}
      WHERE tenant_id = {tenant:String} AND metric IN (${metrics.join(', ')}) AND series_id IN (${rows.map((row) => row.series).join(', ')})
        AND ${table}.timestamp > fromUnixTimestamp64Milli({since:Int64}, 'UTC') GROUP BY series_id`,
      { since: String(sinceMs) },
    );
    for (const point of points) {
      const resource = resourceBySeries.get(point.series) ?? '';
      times.set(resource, Math.max(times.get(resource) ?? 0, Number(point.last)));
    }
  };
  await Promise.all([...seriesByTable].map(([table, rows]) => readTable(table, rows)));
  return times;
};
