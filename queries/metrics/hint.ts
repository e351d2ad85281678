/** Hints for metric queries without results. */

import { havingHint } from '../having.ts';
import type { MetricQuery } from '../query.ts';
import type { ResultData } from '../query-result.ts';
import type { TenantReader } from '../tenant-reader.ts';

const maxNames = 3;
/** Normalizes names to their characters, regardless of separators: `shop_items` equals `shop.items`. */
const normalizedNameSql = (sql: string): string =>
  `substring(lower(replaceRegexpAll(${sql}, '[^A-Za-z0-9]', '')), 1, 200)`;

/** Returns a hint that states whether the metric exists, with similar names; undefined if the result is not empty. */
export const buildMetricHint = async (
  { metric, overTime, having }: MetricQuery,
  result: ResultData,
  { columns }: Pick<TenantReader, 'columns'>,
): Promise<string | undefined> => {
  if (result.series.length + result.rows.length > 0) return undefined;
  const rows = await columns.query<{ name: string }>(
    `SELECT metric AS name FROM series WHERE tenant_id = {tenant:String} GROUP BY metric
    ORDER BY metric IN {metrics:Array(String)} DESC, editDistance(${normalizedNameSql('metric')}, ${normalizedNameSql('{metric:String}')}), metric LIMIT ${maxNames}`,
    { metric, metrics: overTime === 'quantile' ? [metric, `${metric}_bucket`] : [metric] },
  );
  const names = rows.map(({ name }) => name);
  if (names.length === 0) return 'no metrics have been received yet';
  return names[0] === metric || names[0] === `${metric}_bucket`
    ? having !== undefined
      ? `${havingHint}, or ${metric} has no values in this range`
      : `${metric} has no values in this range that match: choose a longer range, or remove a condition`
    : `no metric has the name ${metric}; similar names: ${names.join(', ')}`;
};
