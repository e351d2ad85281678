/** Records as a table: entire records, or selected columns. */

import { type Answer, type QueryContext, tableAnswer } from '../answer.ts';
import { invalid } from '../errors.ts';
import type { RowsQuery } from '../query.ts';
import type { Reading } from '../reading.ts';
import { recordsCondition } from '../records.ts';
import { resourcesOf } from '../resources.ts';
import type { Incompleteness } from '../result.ts';
import { recordsOf, signals } from '../signals/index.ts';
import { type ChosenRow, chosenColumn } from './columns.ts';
import { rowsInOrder } from './in-order.ts';

/** Returns records of a range. Reads one more than the limit to report whether there are more. */
export const runRows = async (query: RowsQuery, reading: Reading, { range, stepMs }: QueryContext): Promise<Answer> => {
  if (stepMs !== undefined) throw invalid('step', 'is not for rows: use an aggregate');
  const { signal, order, limit } = query;
  const { whole } = recordsOf(signal);
  const { columns } = reading;
  const condition = recordsCondition(query);
  const read = <Row>(selection: string): Promise<Row[]> =>
    rowsInOrder<Row>(columns, { signal, range, order, limit: limit + 1 }, selection, condition);

  if (query.fields === undefined && whole !== undefined) {
    const { shown, partial } = cut(await read(whole.selection), limit, order);
    return tableAnswer(whole.columns, await whole.read(columns, shown), partial);
  }
  const names = query.fields ?? signals[signal].fields.map(({ name }) => name);
  const chosen = names.map((name, index) => chosenColumn(name, signal, index));
  const selection = ['toString(resource_id) AS resource', ...chosen.flatMap((each) => each.selection)].join(', ');
  const { shown, partial } = cut(await read<ChosenRow>(selection), limit, order);
  const ids = chosen.some(({ needsResource }) => needsResource) ? shown.map(({ resource }) => String(resource)) : [];
  const resources = await resourcesOf(columns, ids);
  const rows = shown.map((row) =>
    chosen.map((each) => each.read(row, resources.get(String(row['resource']))?.attributes)),
  );
  return tableAnswer(
    chosen.map(({ column }) => column),
    rows,
    partial,
  );
};

const cut = <Row>(
  found: readonly Row[],
  limit: number,
  order: RowsQuery['order'],
): { shown: readonly Row[]; partial: Incompleteness[] } => ({
  shown: found.slice(0, limit),
  partial:
    found.length > limit ? [{ code: 'rows', message: `there are more records: these are the ${order} ${limit}` }] : [],
});
