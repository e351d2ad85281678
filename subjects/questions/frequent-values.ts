/** Most frequent values of all fields of records, from one statement over a sample */

import type { Range } from '../../queries/range.ts';
import { buildRangeCondition, buildRangeParameters } from '../../queries/records.ts';
import { seriesSeenCondition, toSeriesSeenParameters } from '../../queries/series-first-seen.ts';
import { getSignalRecords, type SearchSignal } from '../../queries/signals/index.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { addToList } from '../../schemas/add-to-list.ts';

/** Maximum number of sampled records */
export const maxRecords = 100_000;
/** Maximum number of values of each name; the next constant limits all names together */
export const maxValues = 50;
const maxTotalValues = 5_000;
/** Maximum length of a value; longer values do not occur in questions */
const maxValueLength = 100;

/** Values by name, the most frequent first */
export type ValuesByName = ReadonlyMap<string, readonly string[]>;

interface Row {
  readonly name: string;
  readonly value: string;
}

const groupByName = (rows: readonly Row[]): ValuesByName => {
  const values = new Map<string, string[]>();
  for (const { name, value } of rows) addToList(values, name, value);
  return values;
};

const valueCondition = `length(value) BETWEEN 1 AND ${maxValueLength}`;
const limitClause = `ORDER BY n DESC, name, value LIMIT ${maxValues} BY name LIMIT ${maxTotalValues}`;

/** Returns the values of record attributes, of `service`, and of the given columns. */
export const readRecordValues = async (
  { columns }: Pick<TenantReader, 'columns'>,
  { signal, range, fields }: { signal: SearchSignal; range: Range; fields: Readonly<Record<string, string>> },
): Promise<ValuesByName> => {
  const { table } = getSignalRecords(signal);
  const fieldEntries = Object.entries(fields).map(([name, expression]) => `'${name}', toString(${expression})`);
  const rows = await columns.query<Row>(
    `SELECT name, value, count() AS n FROM (
      SELECT mapUpdate(CAST(attributes, 'Map(String, String)'), map(${fieldEntries.join(', ')})) AS parts FROM ${table}
      WHERE tenant_id = {tenant:String} AND ${buildRangeCondition(signal)} LIMIT ${maxRecords})
    ARRAY JOIN mapKeys(parts) AS name, mapValues(parts) AS value WHERE ${valueCondition} GROUP BY name, value ${limitClause}`,
    buildRangeParameters(range),
  );
  return groupByName(rows);
};

/** Returns the values of resource attributes. */
export const readResourceValues = async (
  { columns }: Pick<TenantReader, 'columns'>,
  sinceMs: number,
): Promise<ValuesByName> => {
  const rows = await columns.query<Row>(
    `SELECT name, value, count() AS n FROM resources ARRAY JOIN mapKeys(attributes) AS name, mapValues(attributes) AS value
    WHERE tenant_id = {tenant:String} AND last_seen >= fromUnixTimestamp64Milli({since:Int64}, 'UTC') AND ${valueCondition} GROUP BY name, value ${limitClause}`,
    { since: String(Math.trunc(sinceMs)) },
  );
  return groupByName(rows);
};

/**
 * Returns the labels of a metric's series and the attributes of their resources, with their values. A label of the
 * series has precedence over an attribute of its resource.
 */
export const readLabelValues = async (
  { columns }: Pick<TenantReader, 'columns'>,
  metric: string,
  range: Range,
): Promise<{ readonly attributes: ValuesByName; readonly resource: ValuesByName }> => {
  const metricCondition = `tenant_id = {tenant:String} AND metric = {metric:String} AND ${seriesSeenCondition}`;
  const parameters = { metric, ...toSeriesSeenParameters(range) };
  const [attributeRows, resourceRows] = await Promise.all([
    columns.query<Row>(
      `SELECT name, value, uniq(series_id) AS n FROM series ARRAY JOIN mapKeys(attributes) AS name, mapValues(attributes) AS value
      WHERE ${metricCondition} AND ${valueCondition} GROUP BY name, value ${limitClause}`,
      parameters,
    ),
    columns.query<Row>(
      `SELECT name, value, count() AS n FROM resources ARRAY JOIN mapKeys(attributes) AS name, mapValues(attributes) AS value
      WHERE tenant_id = {tenant:String} AND resource_id IN (SELECT resource_id FROM series WHERE ${metricCondition}) AND ${valueCondition} GROUP BY name, value ${limitClause}`,
      parameters,
    ),
  ]);
  return { attributes: groupByName(attributeRows), resource: groupByName(resourceRows) };
};
