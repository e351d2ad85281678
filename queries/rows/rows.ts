/** Records as a table: entire records, or selected columns. */

import { type Answer, buildTableAnswer, type QueryContext } from '../answer.ts';
import { invalid } from '../errors.ts';
import type { RowsQuery } from '../query.ts';
import type { Reading } from '../reading.ts';
import { buildRecordsCondition } from '../records.ts';
import { getResources } from '../resources.ts';
import type { Incompleteness } from '../result.ts';
import { getSignalRecords, signalDefinitions } from '../signals/index.ts';
import { buildSelectedColumn, type SelectedRow } from './columns.ts';
import { readRowsInOrder } from './in-order.ts';

/** Returns records of a range. Reads one more than the limit to report whether there are more. */
export const runRows = async (query: RowsQuery, reading: Reading, { range, stepMs }: QueryContext): Promise<Answer> => {
  if (stepMs !== undefined) throw invalid('step', 'is not for rows: use an aggregate');
  const { signal, order, limit } = query;
  const { whole: wholeRecords } = getSignalRecords(signal);
  const { columns } = reading;
  const condition = buildRecordsCondition(query);
  const readRows = <Row>(selection: string): Promise<Row[]> =>
    readRowsInOrder<Row>(columns, { signal, range, order, limit: limit + 1 }, selection, condition);

  if (query.fields === undefined && wholeRecords !== undefined) {
    const { shown, partial } = limitRows(await readRows(wholeRecords.selection), limit, order);
    return buildTableAnswer(wholeRecords.columns, await wholeRecords.read(columns, shown), partial);
  }
  const names = query.fields ?? signalDefinitions[signal].fields.map(({ name }) => name);
  const selectedColumns = names.map((name, index) => buildSelectedColumn(name, signal, index));
  const selection = ['toString(resource_id) AS resource', ...selectedColumns.flatMap((each) => each.selection)].join(
    ', ',
  );
  const { shown, partial } = limitRows(await readRows<SelectedRow>(selection), limit, order);
  const ids = selectedColumns.some(({ needsResource }) => needsResource)
    ? shown.map(({ resource }) => String(resource))
    : [];
  const resources = await getResources(columns, ids);
  const rows = shown.map((row) =>
    selectedColumns.map((each) => each.readValue(row, resources.get(String(row['resource']))?.attributes)),
  );
  return buildTableAnswer(
    selectedColumns.map(({ column }) => column),
    rows,
    partial,
  );
};

const limitRows = <Row>(
  found: readonly Row[],
  limit: number,
  order: RowsQuery['order'],
): { shown: readonly Row[]; partial: Incompleteness[] } => ({
  shown: found.slice(0, limit),
  partial:
    found.length > limit ? [{ code: 'rows', message: `there are more records: these are the ${order} ${limit}` }] : [],
});
