/**
 * Times of the last metric points of resources. The table of series has one row an hour, so by its times an agent that
 * sends only metrics would appear silent for most of each hour.
 */
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { quoteString } from '../../schemas/tables/literal.ts';

/** Tables of points. Their rows have a metric, a series and a time. */
const pointTables = ['samples', 'histograms'] as const;
/** Metrics of a resource whose points are read, per table */
const maxMetrics = 3;
const maxResources = 2_000;

interface SeriesRow {
  readonly resource: string;
  readonly metric: string;
  readonly series: string;
}

/**
 * Returns times in epoch milliseconds by resource ID, for resources with points after `sinceMs`. Points are searched in
 * one series of three metrics, by name, of each kind. Of more than 2,000 resources, the others are missing.
 */
export const readLastPointTimes = async (
  { columns }: Pick<TenantReader, 'columns'>,
  resourceIds: readonly string[],
  { sinceMs, hourMs }: { readonly sinceMs: number; readonly hourMs: number },
): Promise<ReadonlyMap<string, number>> => {
  const times = new Map<string, number>();
  const ids = resourceIds.slice(0, maxResources);
  if (ids.length === 0) return times;
  const readTable = async (table: (typeof pointTables)[number]): Promise<void> => {
    const isHistogram = "((kind = 'histogram' AND source = 'otlp') OR kind = 'exponential_histogram')";
    const series = await columns.query<SeriesRow>(
      `SELECT toString(resource_id) AS resource, metric, toString(min(series_id)) AS series FROM series
      WHERE tenant_id = {tenant:String} AND resource_id IN (${ids.join(', ')}) AND kind != 'summary'
        AND ${table === 'histograms' ? isHistogram : `NOT ${isHistogram}`}
        AND last_seen >= fromUnixTimestamp64Milli({hour:Int64}, 'UTC')
      GROUP BY resource_id, metric ORDER BY resource_id, metric LIMIT ${maxMetrics} BY resource_id`,
      { hour: String(hourMs) },
    );
    if (series.length === 0) return;
    const metrics = [...new Set(series.map(({ metric }) => quoteString(metric)))];
    const rows = await columns.query<{ readonly series: string; readonly last: string }>(
      `SELECT toString(series_id) AS series, toString(max(toUnixTimestamp64Milli(${table}.timestamp))) AS last FROM ${table}
      WHERE tenant_id = {tenant:String} AND metric IN (${metrics.join(', ')}) AND series_id IN (${series.map((row) => row.series).join(', ')})
        AND ${table}.timestamp > fromUnixTimestamp64Milli({since:Int64}, 'UTC') GROUP BY series_id`,
      { since: String(sinceMs) },
    );
    const resourceBySeries = new Map(series.map((row) => [row.series, row.resource]));
    for (const row of rows) {
      const resource = resourceBySeries.get(row.series) ?? '';
      times.set(resource, Math.max(times.get(resource) ?? 0, Number(row.last)));
    }
  };
  await Promise.all(pointTables.map(readTable));
  return times;
};
