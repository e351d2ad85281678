/** What to tell of a metric query that answered nothing. */
import type { Answer } from '../answer.ts';
import type { MetricQuery } from '../query.ts';
import type { Reading } from '../reading.ts';

const maxNames = 3;
/** Names are alike in which characters they have, however these are joined: `shop_items` is `shop.items`. */
const plain = (sql: string): string => `substring(lower(replaceRegexpAll(${sql}, '[^A-Za-z0-9]', '')), 1, 200)`;

/** Says whether the metric has series at all, and which names are like its own; undefined where there is an answer. */
export const hintOfMetric = async (
  { metric, overTime }: MetricQuery,
  answer: Answer,
  { columns }: Pick<Reading, 'columns'>,
): Promise<string | undefined> => {
  if (answer.series.length + answer.rows.length > 0) return undefined;
  const rows = await columns.query<{ name: string }>(
    `SELECT metric AS name FROM series WHERE tenant_id = {tenant:String} GROUP BY metric
    ORDER BY metric IN {metrics:Array(String)} DESC, editDistance(${plain('metric')}, ${plain('{metric:String}')}), metric LIMIT ${maxNames}`,
    { metric, metrics: overTime === 'quantile' ? [metric, `${metric}_bucket`] : [metric] },
  );
  const names = rows.map(({ name }) => name);
  if (names.length === 0) return 'no metrics have come yet';
  return names[0] === metric || names[0] === `${metric}_bucket`
    ? `${metric} has no values in this range that match: ask for a longer range, or leave out a condition`
    : `no metric has the name ${metric}; names like it: ${names.join(', ')}`;
};
