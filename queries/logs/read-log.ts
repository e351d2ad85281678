/** Reads selected columns of log records, page by page. */
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { mergeServerRows } from '../merge-series.ts';
import type { Range } from '../range.ts';
import { type Condition, rangeValues, selectionClauses } from '../records.ts';
import { resourcesOf } from '../resources.ts';
import { type ChosenColumn, type ChosenRow, chosenColumn } from '../rows/columns.ts';
import { earlierOf, orderByTime, readTimeSpans } from '../rows/in-order.ts';
import type { LogPosition } from '../signals/log-record.ts';
import { afterPosition, hasRecords, type LogPageRequest, rangeAfter } from './pages.ts';

export interface ChosenLog {
  readonly position: LogPosition;
  /** In the order of the names; null if a record has no value. */
  readonly values: readonly unknown[];
}

type Row = ChosenRow & { readonly [Name in keyof LogPosition as `p_${Name}`]: string } & { readonly resource: string };

const positionOf = (row: Row): LogPosition => ({
  time: row.p_time,
  partition: row.p_partition,
  offset: row.p_offset,
  ordinal: row.p_ordinal,
});

const positionColumns = `toString(toUnixTimestamp64Nano(logs.timestamp)) AS p_time, toString(logs.partition) AS p_partition,
  toString(logs.offset) AS p_offset, toString(logs.ordinal) AS p_ordinal, toString(resource_id) AS resource`;

/** Returns columns by names of the search language. */
export const chosenColumns = (names: readonly string[]): readonly ChosenColumn[] =>
  names.map((name, index) => chosenColumn(name, 'logs', index));

/** Returns up to `limit` records of a range that match a condition (`logCondition`), in order. */
export const readChosen = async (
  columns: TenantColumns,
  chosen: readonly ChosenColumn[],
  condition: Condition,
  {
    limit,
    after,
    order = 'newest',
    range,
    isOfService,
    isSearch = false,
  }: Omit<LogPageRequest, 'range'> & { readonly range: Range },
): Promise<ChosenLog[]> => {
  const position = after === undefined ? undefined : afterPosition(order);
  const selection = [positionColumns, ...chosen.flatMap((each) => each.selection)].join(', ');
  const hasSome = isSearch && after === undefined ? hasRecords(columns, condition) : undefined;
  const options = { order, limit, isOfService, earlier: earlierOf(columns, order, condition), hasSome };
  const rows = await readTimeSpans(rangeAfter(range, after, order), options, async (stretch, missing) => {
    const found = await columns.query<Row>(
      `SELECT ${selection} FROM logs ${selectionClauses('logs', condition, stretch, position)} ORDER BY ${orderByTime('logs', order)} LIMIT ${missing}`,
      { ...condition.parameters, ...after, ...rangeValues(stretch) },
      { maxResultRows: missing, ofEachServer: true },
    );
    return mergeServerRows(found, { order, limit: missing, placeOf: positionOf });
  });
  const ids = chosen.some(({ needsResource }) => needsResource) ? rows.map(({ resource }) => resource) : [];
  const resources = await resourcesOf(columns, ids);
  return rows.map((row) => ({
    position: positionOf(row),
    values: chosen.map((each) => each.read(row, resources.get(row.resource)?.attributes)),
  }));
};
