/** Records as a table: entire records, or selected columns. */

import { createValidationError } from '../errors.ts';
import type { RowsQuery } from '../query.ts';
import { buildTableResult, type QueryContext, type ResultData } from '../query-result.ts';
import { buildRecordsCondition } from '../records.ts';
import { getResources } from '../resources.ts';
import type { Incompleteness } from '../result.ts';
import { getSignalRecords, signalDefinitions } from '../signals/index.ts';
import type { TenantReader } from '../tenant-reader.ts';
import { buildSelectedColumn, type SelectedRow } from './columns.ts';
import { readRowsInOrder } from './in-order.ts';

/** Returns records of a range. Reads one more than the limit to report whether there are more. */
export const runRows = async (
  query: RowsQuery,
  reader: TenantReader,
  { range, stepMs }: QueryContext,
): Promise<ResultData> => {
  if (stepMs !== undefined) throw createValidationError('step', 'is not for rows: use an aggregate');
  const { signal, order, limit } = query;
  const { whole: wholeRecords } = getSignalRecords(signal);
  const { columns } = reader;
  const condition = buildRecordsCondition(query);
  const readRows = <Row>(selection: string): Promise<Row[]> =>
    readRowsInOrder<Row>(columns, { signal, range, order, limit: limit + 1 }, selection, condition);

  if (query.fields === undefined && wholeRecords !== undefined) {
    const { shownRows, partial } = limitRows(await readRows(wholeRecords.selection), limit, order);
    return buildTableResult(wholeRecords.columns, await wholeRecords.read(columns, shownRows), partial);
  }
  const names = query.fields ?? signalDefinitions[signal].fields.map(({ name }) => name);
  const selectedColumns = names.map((name, index) => buildSelectedColumn(name, signal, index));
  const selection = [
    'toString(resource_id) AS resource',
    ...selectedColumns.flatMap((selectedColumn) => selectedColumn.selection),
  ].join(', ');
  const { shownRows, partial } = limitRows(await readRows<SelectedRow>(selection), limit, order);
  const ids = selectedColumns.some(({ needsResource }) => needsResource)
    ? shownRows.map(({ resource }) => String(resource))
    : [];
  const resources = await getResources(columns, ids);
  const rows = shownRows.map((row) =>
    selectedColumns.map((selectedColumn) =>
      selectedColumn.readValue(row, resources.get(String(row['resource']))?.attributes),
    ),
  );
  return buildTableResult(
    selectedColumns.map(({ column }) => column),
    rows,
    partial,
  );
};

const limitRows = <Row>(
  rows: readonly Row[],
  limit: number,
  order: RowsQuery['order'],
): { shownRows: readonly Row[]; partial: Incompleteness[] } => ({
  shownRows: rows.slice(0, limit),
  partial:
    rows.length > limit ? [{ code: 'rows', message: `there are more records: these are the ${order} ${limit}` }] : [],
});
