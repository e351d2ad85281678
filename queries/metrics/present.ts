/** Finds metrics with data. */
import type { Range } from '../range.ts';
import type { Reading } from '../reading.ts';
import { seriesSeen, seriesSeenValues } from '../series-seen.ts';

/** Returns those of these metrics that may have points in the range. */
export const presentMetrics = async (
  { columns }: Reading,
  metrics: readonly string[],
  range: Range,
): Promise<ReadonlySet<string>> => {
  const rows = await columns.query<{ metric: string }>(
    `SELECT DISTINCT metric FROM series WHERE tenant_id = {tenant:String} AND metric IN {metrics:Array(String)} AND ${seriesSeen}`,
    { metrics: [...metrics], ...seriesSeenValues(range) },
  );
  return new Set(rows.map(({ metric }) => metric));
};
