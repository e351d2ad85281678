/** Reads selected columns of log records, page by page. */
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { mergeServerRows } from '../merge-series.ts';
import type { Range } from '../range.ts';
import { buildRangeParameters, buildSelectionClauses, type Condition } from '../records.ts';
import { getResources } from '../resources.ts';
import { buildSelectedColumn, type SelectedColumn, type SelectedRow } from '../rows/columns.ts';
import { buildTimeOrder, findPreviousRead, readGrowingRanges } from '../rows/in-order.ts';
import type { LogPosition } from '../signals/log-record.ts';
import {
  buildExistenceCheck,
  buildPositionAfterCondition,
  computeRemainingRange,
  type LogPageRequest,
} from './pages.ts';

export interface SelectedLog {
  readonly position: LogPosition;
  /** In the order of the names; null if a record has no value. */
  readonly values: readonly unknown[];
}

type Row = SelectedRow & { readonly [Name in keyof LogPosition as `p_${Name}`]: string } & {
  readonly resource: string;
};

const toPosition = (row: Row): LogPosition => ({
  time: row.p_time,
  partition: row.p_partition,
  offset: row.p_offset,
  ordinal: row.p_ordinal,
});

const positionColumns = `toString(toUnixTimestamp64Nano(logs.timestamp)) AS p_time, toString(logs.partition) AS p_partition,
  toString(logs.offset) AS p_offset, toString(logs.ordinal) AS p_ordinal, toString(resource_id) AS resource`;

/** Returns columns by names of the search language. */
export const resolveColumns = (names: readonly string[]): readonly SelectedColumn[] =>
  names.map((name, index) => buildSelectedColumn(name, 'logs', index));

/** Returns up to `limit` records of a range that match a condition (`buildLogCondition`), in order. */
export const readSelectedColumns = async (
  columns: TenantColumns,
  selectedColumns: readonly SelectedColumn[],
  condition: Condition,
  {
    limit,
    after,
    order = 'newest',
    range,
    hasServiceCondition,
    isSearch = false,
  }: Omit<LogPageRequest, 'range'> & { readonly range: Range },
): Promise<SelectedLog[]> => {
  const position = after === undefined ? undefined : buildPositionAfterCondition(order);
  const selection = [positionColumns, ...selectedColumns.flatMap((selectedColumn) => selectedColumn.selection)].join(
    ', ',
  );
  const existsInRange = isSearch && after === undefined ? buildExistenceCheck(columns, condition) : undefined;
  const options = {
    order,
    limit,
    isOfService: hasServiceCondition,
    previousReadCache: findPreviousRead(columns, order, condition),
    hasRows: existsInRange,
  };
  const rows = await readGrowingRanges(
    computeRemainingRange(range, after, order),
    options,
    async (subrange, missingCount) => {
      const rowsOfServers = await columns.query<Row>(
        `SELECT ${selection} FROM logs ${buildSelectionClauses('logs', condition, subrange, position)} ORDER BY ${buildTimeOrder('logs', order)} LIMIT ${missingCount}`,
        { ...condition.parameters, ...after, ...buildRangeParameters(subrange) },
        { maxResultRows: missingCount, runsOnEachServer: true },
      );
      return mergeServerRows(rowsOfServers, { order, limit: missingCount, getPosition: toPosition });
    },
  );
  const ids = selectedColumns.some(({ needsResource }) => needsResource) ? rows.map(({ resource }) => resource) : [];
  const resources = await getResources(columns, ids);
  return rows.map((row) => ({
    position: toPosition(row),
    values: selectedColumns.map((selectedColumn) =>
      selectedColumn.readValue(row, resources.get(row.resource)?.attributes),
    ),
  }));
};
