/** Numbers of series by metric and label, and their churn. */
import { z } from 'zod';
import { buildProjectScopeCondition, type ProjectScope, toProjectScopeParameters } from '../project-scope.ts';
import type { Range } from '../range.ts';
import { parseSort } from '../sort.ts';
import type { TenantReader } from '../tenant-reader.ts';

/**
 * Counts of the series that are alive at two times. A series is alive at a time if it has points in the hour before it.
 */
const countFields = {
  before: z.int().describe('Number of series alive at `from`: seen in the hour before'),
  series: z.int().describe('Number of series alive at `to`: seen in the hour before'),
  growth: z.int().describe('`series` minus `before`'),
  appeared: z.int().describe('Number of series first seen between `from` and `to`'),
  disappeared: z
    .int()
    .describe('Number of series alive at `from` or later, but not at `to`. Churn is `appeared` plus `disappeared`'),
};

export const SeriesCounts = z.strictObject(countFields);
export const MetricCardinality = z.strictObject({ metric: z.string(), ...countFields });
export const LabelCardinality = z.strictObject({
  label: z.string(),
  valuesBefore: z.int().describe('Number of distinct values among the series alive at `from`'),
  values: z.int().describe('Number of distinct values among the series alive at `to`'),
  series: z.int().describe('Number of series alive at `to` with the label'),
});

export interface CardinalityQuery extends ProjectScope {
  readonly range: Range;
}

const hourMs = 3_600_000n;
const toTimeSql = (name: string): string => `fromUnixTimestamp64Milli({${name}:Int64}, 'UTC')`;
const aliveBeforeSql = `(first <= ${toTimeSql('from')} AND last >= ${toTimeSql('beforeFrom')})`;
const aliveSql = `(first <= ${toTimeSql('to')} AND last >= ${toTimeSql('beforeTo')})`;
const appearedSql = `(first > ${toTimeSql('from')} AND first <= ${toTimeSql('to')})`;
/** Series that were alive at the start of the range or appeared later, but are not alive at its end. */
const disappearedSql = `(first <= ${toTimeSql('to')} AND last >= ${toTimeSql('beforeFrom')} AND last < ${toTimeSql('beforeTo')})`;

const countColumns = `toString(countIf(${aliveBeforeSql})) AS before, toString(countIf(${aliveSql})) AS now, toString(countIf(${appearedSql})) AS appeared, toString(countIf(${disappearedSql})) AS went`;

const toTimeParameters = ({ from, to }: Range): Record<string, string> => {
  const [fromMs, toMs] = [from / 1_000_000n, to / 1_000_000n];
  return {
    from: String(fromMs),
    to: String(toMs),
    beforeFrom: String(fromMs - hourMs),
    beforeTo: String(toMs - hourMs),
  };
};

/**
 * Selects each series once. A series has one row per hour until rows are merged, and all rows contain its first time.
 */
const selectSeriesTimes = (scope: ProjectScope, extraCondition = ''): string =>
  `SELECT any(series.metric) AS metric, series_id, min(series.first_seen) AS first, max(series.last_seen) AS last
    FROM series WHERE tenant_id = {tenant:String}${extraCondition}${buildProjectScopeCondition(scope)} GROUP BY series_id HAVING last >= ${toTimeSql('beforeFrom')}`;

const metricCondition = ' AND series.metric = {metric:String}';

interface CountRow {
  readonly before: string;
  readonly now: string;
  readonly appeared: string;
  readonly went: string;
}

const toSeriesCounts = ({ before, now, appeared, went }: CountRow): z.output<typeof SeriesCounts> => ({
  before: Number(before),
  series: Number(now),
  growth: Number(now) - Number(before),
  appeared: Number(appeared),
  disappeared: Number(went),
});

/** Returns counts of all series of an organization or project. */
export const countSeries = async (
  { columns }: Pick<TenantReader, 'columns'>,
  { range, ...scope }: CardinalityQuery,
): Promise<z.output<typeof SeriesCounts>> => {
  const [row] = await columns.query<CountRow>(`SELECT ${countColumns} FROM (${selectSeriesTimes(scope)})`, {
    ...toTimeParameters(range),
    ...toProjectScopeParameters(scope),
  });
  return toSeriesCounts(row ?? { before: '0', now: '0', appeared: '0', went: '0' });
};

const sortExpressions = {
  series: `toInt64(countIf(${aliveSql}))`,
  growth: `toInt64(countIf(${aliveSql})) - toInt64(countIf(${aliveBeforeSql}))`,
  churn: `toInt64(countIf(${appearedSql}) + countIf(${disappearedSql}))`,
} as const;

/** Sort orders of metrics, largest first: current series, growth, or churn. */
export const cardinalitySorts = [
  '-series',
  '-growth',
  '-churn',
] as const satisfies readonly `-${keyof typeof sortExpressions}`[];

export interface MetricCardinalityQuery extends CardinalityQuery {
  /** Only this metric. */
  readonly metric?: string | undefined;
  readonly sort: (typeof cardinalitySorts)[number];
  readonly after?: { readonly size: string; readonly metric: string } | undefined;
  readonly limit: number;
}

/**
 * Returns the metrics with series at one of the two times or between them, largest first. If there are more metrics,
 * also returns the position of the last one.
 */
export const listMetricCardinality = async (
  { columns }: Pick<TenantReader, 'columns'>,
  { range, metric, sort, after, limit, ...scope }: MetricCardinalityQuery,
): Promise<{
  readonly items: z.output<typeof MetricCardinality>[];
  readonly nextPosition: { readonly size: string; readonly metric: string } | undefined;
}> => {
  const size = sortExpressions[parseSort(sort).by];
  const rows = await columns.query<CountRow & { metric: string; size: string }>(
    `SELECT metric, ${countColumns}, toString(${size}) AS size FROM (${selectSeriesTimes(scope, metric === undefined ? '' : metricCondition)}) GROUP BY metric
    HAVING countIf(${aliveBeforeSql} OR ${aliveSql} OR ${appearedSql}) > 0${
      after === undefined ? '' : ` AND (-(${size}), metric) > (-{size:Int64}, {afterMetric:String})`
    }
    ORDER BY ${size} DESC, metric LIMIT ${limit + 1}`,
    {
      ...toTimeParameters(range),
      ...toProjectScopeParameters(scope),
      ...(metric === undefined ? {} : { metric }),
      ...(after === undefined ? {} : { size: after.size, afterMetric: after.metric }),
    },
  );
  const pageRows = rows.slice(0, limit);
  const last = pageRows.at(-1);
  return {
    items: pageRows.map((row) => ({ metric: row.metric, ...toSeriesCounts(row) })),
    nextPosition: rows.length > limit && last !== undefined ? { size: last.size, metric: last.metric } : undefined,
  };
};

interface LabelRow {
  readonly label: string;
  readonly values_before: string;
  readonly values_now: string;
  readonly now: string;
}

/** Returns the labels of one metric, most values first. */
export const listLabelCardinality = async (
  { columns }: Pick<TenantReader, 'columns'>,
  { range, metric, ...scope }: CardinalityQuery & { readonly metric: string },
): Promise<z.output<typeof LabelCardinality>[]> => {
  // A series has a row for every hour with points, so unmerged rows are sufficient to determine whether it was alive.
  const aliveCondition = (endTime: string, before: string): string =>
    `(series.first_seen <= ${toTimeSql(endTime)} AND series.last_seen >= ${toTimeSql(before)})`;
  const isAlive = aliveCondition('to', 'beforeTo');
  const rows = await columns.query<LabelRow>(
    `SELECT label, toString(uniqIf(value, ${aliveCondition('from', 'beforeFrom')})) AS values_before, toString(uniqIf(value, ${isAlive})) AS values_now,
      toString(uniqIf(series_id, ${isAlive})) AS now
    FROM series ARRAY JOIN mapKeys(attributes) AS label, mapValues(attributes) AS value
    WHERE tenant_id = {tenant:String}${metricCondition}${buildProjectScopeCondition(scope)} AND series.last_seen >= ${toTimeSql('beforeFrom')}
    GROUP BY label ORDER BY uniqIf(value, ${isAlive}) DESC, label LIMIT 1000`,
    { ...toTimeParameters(range), ...toProjectScopeParameters(scope), metric },
  );
  return rows.map((row) => ({
    label: row.label,
    valuesBefore: Number(row.values_before),
    values: Number(row.values_now),
    series: Number(row.now),
  }));
};
