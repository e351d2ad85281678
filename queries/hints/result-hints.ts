/** Finds names in a query for which the result has no values, and returns a hint about them. */

import { getMeasureName } from '../aggregate/measures.ts';
import { havingHint } from '../having.ts';
import type { AggregateQuery, RowsQuery } from '../query.ts';
import type { ResultData } from '../query-result.ts';
import type { Range } from '../range.ts';
import type { TenantReader } from '../tenant-reader.ts';
import { buildRecordsHint, type EmptyResult } from './records.ts';

/** Returns the hint for a query of records; undefined if all requested fields have values. */
export const getRowsHint = (
  { signal, search, projectId, fields }: RowsQuery,
  result: ResultData,
  range: Range,
  reader: Pick<TenantReader, 'columns'>,
): Promise<string | undefined> =>
  buildRecordsHint({ signal, range, search, projectId, ...summarizeRows(result, fields) }, reader);

/** Returns the hint for a query of aggregates; undefined if all groups and measures have values. */
export const getAggregateHint = async (
  query: AggregateQuery,
  result: ResultData,
  range: Range,
  reader: Pick<TenantReader, 'columns'>,
): Promise<string | undefined> => {
  const { signal, search, projectId, having } = query;
  const hint = await buildRecordsHint(
    { signal, range, search, projectId, ...summarizeAggregates(query, result) },
    reader,
  );
  const isEmpty = result.rows.length + result.series.length === 0;
  return hint ?? (having !== undefined && isEmpty ? havingHint : undefined);
};

type ResultSummary = Pick<EmptyResult, 'hasResults' | 'names' | 'numericNames'>;

const summarizeRows = ({ rows }: ResultData, fields: readonly string[] = []): ResultSummary => ({
  hasResults: rows.length > 0,
  names: fields.filter((_field, index) => rows.every((row) => row[index] === null)),
});

/** Returns whether a value is missing: the empty string for groups, 0 for counts, null for other aggregates. */
const isMissing = (value: unknown): boolean => value === '' || value === 0 || value === null;

/** Measures with their own search are often empty, like counts of errors, and need no hint. */
const summarizeAggregates = ({ groupBy, measures }: AggregateQuery, result: ResultData): ResultSummary => {
  const columns = readColumns(result, groupBy.length);
  const unfilteredMeasures = measures
    .map((measure) => ({
      ...measure,
      isEmpty: columns.measure(getMeasureName(measure)).every(isMissing),
    }))
    .filter((measure) => measure.search === undefined);
  const emptyMeasures = unfilteredMeasures.filter(({ isEmpty }) => isEmpty);
  const emptyFields = (isNumeric: boolean): string[] =>
    emptyMeasures.flatMap(({ function: kind, field }) =>
      field !== undefined && isNumeric === (kind !== 'count' && kind !== 'distinct') ? [field] : [],
    );
  return {
    hasResults: unfilteredMeasures.length === 0 || unfilteredMeasures.length > emptyMeasures.length,
    names: [...groupBy.filter((name) => columns.group(name).every(isMissing)), ...emptyFields(false)],
    numericNames: emptyFields(true),
  };
};

/** Returns the values of each column of a table, or of all series. */
const readColumns = (
  { form, columns, rows, series }: ResultData,
  groupCount: number,
): { group(name: string): unknown[]; measure(name: string): unknown[] } => {
  const readTableColumn = (name: string, minIndex: number): unknown[] => {
    const index = columns.findIndex((column, columnIndex) => columnIndex >= minIndex && column.name === name);
    return rows.map((row) => row[index]);
  };
  if (form === 'table')
    return { group: (name) => readTableColumn(name, 0), measure: (name) => readTableColumn(name, groupCount) };
  return {
    group: (name) => series.map(({ labels }) => labels[name]),
    measure: (name) =>
      series.filter((each) => each.name === name).flatMap(({ points }) => points.map(([, value]) => value)),
  };
};
