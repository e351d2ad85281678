/** Finds the metrics of a list that have data. */
import type { Range } from '../range.ts';
import { seriesSeenCondition, toSeriesSeenParameters } from '../series-first-seen.ts';
import type { TenantReader } from '../tenant-reader.ts';

/** Returns the metrics of a list that may have points in the range. */
export const findPresentMetrics = async (
  { columns }: TenantReader,
  metrics: readonly string[],
  range: Range,
): Promise<ReadonlySet<string>> => {
  const rows = await columns.query<{ metric: string }>(
    `SELECT DISTINCT metric FROM series WHERE tenant_id = {tenant:String} AND metric IN {metrics:Array(String)} AND ${seriesSeenCondition}`,
    { metrics: [...metrics], ...toSeriesSeenParameters(range) },
  );
  return new Set(rows.map(({ metric }) => metric));
};
