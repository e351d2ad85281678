/** Lists labels of a metric's series and attributes of their resources, and their values. */
import { z } from 'zod';
import { buildAttributeExpressions, resolveReference, seriesFields } from '../../schemas/fields.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import { buildProjectScopeCondition, type ProjectScope, toProjectScopeParameters } from '../project-scope.ts';
import type { Range } from '../range.ts';
import { seriesSeenCondition, toSeriesSeenParameters } from '../series-first-seen.ts';
import type { TenantReader } from '../tenant-reader.ts';

/** A label, or an attribute of the resource. */
export const MetricLabel = z.strictObject({
  name: z.string(),
  of: z
    .enum(['series', 'resource'])
    .describe('resource: an attribute of the resource, also `resource.<name>` in searches'),
  values: z.int().describe('Number of distinct values; above 65,536 an estimate within 1 %'),
  series: z.int().describe('Number of series with the label; above 65,536 an estimate within 1 %'),
  examples: z.array(z.string()).describe('Up to 5 example values'),
});

export interface LabelsQuery extends ProjectScope {
  readonly metric: string;
  readonly range: Range;
}

interface LabelRow {
  readonly name: string;
  readonly value_count: string;
  readonly series_count: string;
  readonly examples: readonly string[];
}

const metricCondition = (scope: ProjectScope): string =>
  `tenant_id = {tenant:String} AND metric = {metric:String} AND ${seriesSeenCondition}${buildProjectScopeCondition(scope)}`;

const countColumns = `toString(uniq(value)) AS value_count, toString(uniq(series_id)) AS series_count, arraySort(groupArraySample(5, 1)(DISTINCT value)) AS examples`;

/** Returns all labels and resource attributes of a metric's series in a range, by name. */
export const listLabels = async (
  { columns }: Pick<TenantReader, 'columns'>,
  { metric, range, ...scope }: LabelsQuery,
): Promise<z.output<typeof MetricLabel>[]> => {
  const parameters = { metric, ...toSeriesSeenParameters(range), ...toProjectScopeParameters(scope) };
  const [seriesLabels, resourceAttributes] = await Promise.all([
    columns.query<LabelRow>(
      `SELECT name, ${countColumns} FROM series ARRAY JOIN mapKeys(attributes) AS name, mapValues(attributes) AS value
      WHERE ${metricCondition(scope)} GROUP BY name ORDER BY name`,
      parameters,
    ),
    columns.query<LabelRow>(
      `SELECT name, toString(uniq(value)) AS value_count, toString(sum(series)) AS series_count, arraySort(groupArraySample(5, 1)(DISTINCT value)) AS examples FROM (
        SELECT resource_id, any(mapKeys(attributes)) AS names, any(mapValues(attributes)) AS texts, any(series_of) AS series
        FROM resources INNER JOIN (SELECT resource_id, uniq(series_id) AS series_of FROM series WHERE ${metricCondition(scope)} AND resource_id != 0 GROUP BY resource_id) AS used USING (resource_id)
        WHERE tenant_id = {tenant:String} GROUP BY resource_id
      ) ARRAY JOIN names AS name, texts AS value GROUP BY name ORDER BY name`,
      parameters,
    ),
  ]);
  const toLabels = (rows: readonly LabelRow[], of: 'series' | 'resource') =>
    rows.map((row) => ({
      name: row.name,
      of,
      values: Number(row.value_count),
      series: Number(row.series_count),
      examples: [...row.examples],
    }));
  return [...toLabels(seriesLabels, 'series'), ...toLabels(resourceAttributes, 'resource')];
};

/** A value of a label, and its number of series. */
export const LabelValue = z.strictObject({ value: z.string(), series: z.int() });

export interface LabelValuesQuery extends LabelsQuery {
  /** Name as in the search language. */
  readonly label: string;
  readonly prefix?: string | undefined;
  /** Last value of the previous page. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/**
 * Returns the values of a label in order, and the last one if there are more. A name without a prefix refers to the
 * label of the series if it exists, otherwise to the attribute of its resource.
 */
export const listLabelValues = async (
  { columns }: Pick<TenantReader, 'columns'>,
  { metric, label, range, prefix, after, limit, ...scope }: LabelValuesQuery,
): Promise<{ readonly items: z.output<typeof LabelValue>[]; readonly nextValue: string | undefined }> => {
  const { value, exists, join } = buildValueSql(label);
  const conditions = [
    ...(prefix === undefined ? [] : ['startsWith(value, {prefix:String})']),
    ...(after === undefined ? [] : ['value > {after:String}']),
  ];
  const rows = await columns.query<{ value: string; series_count: string }>(
    `SELECT value, toString(uniqExact(series_id)) AS series_count FROM (SELECT series_id, ${value} AS value FROM series${join} WHERE ${metricCondition(scope)} AND ${exists})
    ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`} GROUP BY value ORDER BY value LIMIT ${limit + 1}`,
    {
      metric,
      ...toSeriesSeenParameters(range),
      ...toProjectScopeParameters(scope),
      ...(prefix === undefined ? {} : { prefix }),
      ...(after === undefined ? {} : { after }),
    },
  );
  const pageRows = rows.slice(0, limit);
  return {
    items: pageRows.map((row) => ({ value: row.value, series: Number(row.series_count) })),
    nextValue: rows.length > limit ? pageRows.at(-1)?.value : undefined,
  };
};

/** Returns SQL of a label's value over `series`, and the join it needs. */
const buildValueSql = (label: string): { value: string; exists: string; join: string } => {
  const reference = resolveReference(seriesFields, label);
  if (reference.kind === 'field') {
    const value = `toString(series.${reference.field.column})`;
    return { value, exists: `${value} != ''`, join: '' };
  }
  const key = quoteString(reference.key);
  const seriesLabel = { exists: `mapContains(series.attributes, ${key})`, value: `series.attributes[${key}]` };
  if (reference.kind === 'attribute') return { ...seriesLabel, join: '' };
  if (reference.kind === 'scope') {
    const value = `JSONExtractString(scope_attributes, ${key})`;
    return { value, exists: `JSONHas(scope_attributes, ${key})`, join: '' };
  }
  const { exists, text } = buildAttributeExpressions(reference.key);
  const join = ` LEFT ANY JOIN (SELECT resource_id, any(${text}) AS of_resource, any(toUInt8(${exists})) AS is_there FROM resources
    WHERE tenant_id = {tenant:String} GROUP BY resource_id) AS own_resources USING (resource_id)`;
  if (reference.kind === 'resource') return { value: 'of_resource', exists: 'is_there = 1', join };
  return {
    value: `if(${seriesLabel.exists}, ${seriesLabel.value}, of_resource)`,
    exists: `(${seriesLabel.exists} OR is_there = 1)`,
    join,
  };
};
