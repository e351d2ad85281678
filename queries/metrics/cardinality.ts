/** Numbers of series by metric and label, and their churn. */
import { z } from 'zod';
import { type ProjectScope, projectScopeCondition, projectScopeValues } from '../project-scope.ts';
import type { Range } from '../range.ts';
import type { Reading } from '../reading.ts';
import { sortOf } from '../sort.ts';

/** Counts of series alive at two times: with points in the hour before. */
const counts = {
  before: z.int().describe('Number of series alive at `from`: seen in the hour before'),
  series: z.int().describe('Number of series alive at `to`: seen in the hour before'),
  growth: z.int().describe('`series` minus `before`'),
  appeared: z.int().describe('Number of series first seen between `from` and `to`'),
  disappeared: z
    .int()
    .describe('Number of series alive at `from` or later, but not at `to`. Churn is `appeared` plus `disappeared`'),
};

export const SeriesCounts = z.strictObject(counts);
export const MetricCardinality = z.strictObject({ metric: z.string(), ...counts });
export const LabelCardinality = z.strictObject({
  label: z.string(),
  valuesBefore: z.int().describe('Number of distinct values among the series alive at `from`'),
  values: z.int().describe('Number of distinct values among the series alive at `to`'),
  series: z.int().describe('Number of series alive at `to` with the label'),
});

export interface CardinalityQuestion extends ProjectScope {
  readonly range: Range;
}

const hourMs = 3_600_000n;
const time = (name: string): string => `fromUnixTimestamp64Milli({${name}:Int64}, 'UTC')`;
const aliveBefore = `(first <= ${time('from')} AND last >= ${time('beforeFrom')})`;
const alive = `(first <= ${time('to')} AND last >= ${time('beforeTo')})`;
const appeared = `(first > ${time('from')} AND first <= ${time('to')})`;
/** Alive at the start of the range, or appeared since. */
const disappeared = `(first <= ${time('to')} AND last >= ${time('beforeFrom')} AND last < ${time('beforeTo')})`;

const figures = `toString(countIf(${aliveBefore})) AS before, toString(countIf(${alive})) AS now, toString(countIf(${appeared})) AS appeared, toString(countIf(${disappeared})) AS went`;

const timesOf = ({ from, to }: Range): Record<string, string> => {
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
const eachSeries = (scope: ProjectScope, more = ''): string =>
  `SELECT any(series.metric) AS metric, series_id, min(series.first_seen) AS first, max(series.last_seen) AS last
    FROM series WHERE tenant_id = {tenant:String}${more}${projectScopeCondition(scope)} GROUP BY series_id HAVING last >= ${time('beforeFrom')}`;

const ofOne = ' AND series.metric = {metric:String}';

interface Counted {
  readonly before: string;
  readonly now: string;
  readonly appeared: string;
  readonly went: string;
}

const countsOf = ({ before, now, appeared, went }: Counted): z.output<typeof SeriesCounts> => ({
  before: Number(before),
  series: Number(now),
  growth: Number(now) - Number(before),
  appeared: Number(appeared),
  disappeared: Number(went),
});

/** Returns counts of all series of an organization or project. */
export const seriesCounts = async (
  { columns }: Pick<Reading, 'columns'>,
  { range, ...scope }: CardinalityQuestion,
): Promise<z.output<typeof SeriesCounts>> => {
  const [row] = await columns.query<Counted>(`SELECT ${figures} FROM (${eachSeries(scope)})`, {
    ...timesOf(range),
    ...projectScopeValues(scope),
  });
  return countsOf(row ?? { before: '0', now: '0', appeared: '0', went: '0' });
};

const sortedBy = {
  series: `toInt64(countIf(${alive}))`,
  growth: `toInt64(countIf(${alive})) - toInt64(countIf(${aliveBefore}))`,
  churn: `toInt64(countIf(${appeared}) + countIf(${disappeared}))`,
} as const;

/** Sort orders of metrics, largest first: current series, growth, or churn. */
export const cardinalitySorts = [
  '-series',
  '-growth',
  '-churn',
] as const satisfies readonly `-${keyof typeof sortedBy}`[];

export interface MetricsQuestion extends CardinalityQuestion {
  /** One alone. */
  readonly metric?: string | undefined;
  readonly sort: (typeof cardinalitySorts)[number];
  readonly after?: { readonly size: string; readonly metric: string } | undefined;
  readonly limit: number;
}

/**
 * Returns metrics with series at either time or between, largest first, and the position of the last one if there are
 * more.
 */
export const metricCardinality = async (
  { columns }: Pick<Reading, 'columns'>,
  { range, metric, sort, after, limit, ...scope }: MetricsQuestion,
): Promise<{
  readonly items: z.output<typeof MetricCardinality>[];
  readonly more: { readonly size: string; readonly metric: string } | undefined;
}> => {
  const size = sortedBy[sortOf(sort).by];
  const rows = await columns.query<Counted & { metric: string; size: string }>(
    `SELECT metric, ${figures}, toString(${size}) AS size FROM (${eachSeries(scope, metric === undefined ? '' : ofOne)}) GROUP BY metric
    HAVING countIf(${aliveBefore} OR ${alive} OR ${appeared}) > 0${
      after === undefined ? '' : ` AND (-(${size}), metric) > (-{size:Int64}, {afterMetric:String})`
    }
    ORDER BY ${size} DESC, metric LIMIT ${limit + 1}`,
    {
      ...timesOf(range),
      ...projectScopeValues(scope),
      ...(metric === undefined ? {} : { metric }),
      ...(after === undefined ? {} : { size: after.size, afterMetric: after.metric }),
    },
  );
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map((row) => ({ metric: row.metric, ...countsOf(row) })),
    more: rows.length > limit && last !== undefined ? { size: last.size, metric: last.metric } : undefined,
  };
};

interface LabelRow {
  readonly label: string;
  readonly values_before: string;
  readonly values_now: string;
  readonly now: string;
}

/** Returns the labels of one metric, most values first. */
export const labelCardinality = async (
  { columns }: Pick<Reading, 'columns'>,
  { range, metric, ...scope }: CardinalityQuestion & { readonly metric: string },
): Promise<z.output<typeof LabelCardinality>[]> => {
  // A series has a row for every hour with points, so rows show whether it was alive without being merged.
  const wasAlive = (at: string, before: string): string =>
    `(series.first_seen <= ${time(at)} AND series.last_seen >= ${time(before)})`;
  const isAlive = wasAlive('to', 'beforeTo');
  const rows = await columns.query<LabelRow>(
    `SELECT label, toString(uniqIf(value, ${wasAlive('from', 'beforeFrom')})) AS values_before, toString(uniqIf(value, ${isAlive})) AS values_now,
      toString(uniqIf(series_id, ${isAlive})) AS now
    FROM series ARRAY JOIN mapKeys(attributes) AS label, mapValues(attributes) AS value
    WHERE tenant_id = {tenant:String}${ofOne}${projectScopeCondition(scope)} AND series.last_seen >= ${time('beforeFrom')}
    GROUP BY label ORDER BY uniqIf(value, ${isAlive}) DESC, label LIMIT 1000`,
    { ...timesOf(range), ...projectScopeValues(scope), metric },
  );
  return rows.map((row) => ({
    label: row.label,
    valuesBefore: Number(row.values_before),
    values: Number(row.values_now),
    series: Number(row.now),
  }));
};
