/** Lists log records, page by page. */

import type { QueryParameters, TenantColumns } from '../../schemas/ports/columns.ts';
import { anyRowClause } from '../../schemas/tables/any-row.ts';
import { mergeServerRows } from '../merge-series.ts';
import type { Range } from '../range.ts';
import { buildRangeParameters, buildSelectionClauses, type Condition, isLongRange } from '../records.ts';
import { buildTimeOrder, findPreviousRead, readGrowingRanges } from '../rows/in-order.ts';
import { type LogPosition, type LogRow, type LogWithPosition, logColumns, toLogs } from '../signals/log-record.ts';

/** Orders of lists: by time, then by position on the bus, so that there are no ties. */
export const logOrders = ['newest', 'oldest'] as const;
export type LogOrder = (typeof logOrders)[number];

/** Returns the condition for records after a position in an order; its parameters are the position's fields. */
export const buildPositionAfterCondition = (order: LogOrder): string =>
  `(logs.timestamp, logs.partition, logs.offset, logs.ordinal) ${order === 'newest' ? '<' : '>'}
  (fromUnixTimestamp64Nano({time:Int64}, 'UTC'), {partition:UInt16}, {offset:UInt64}, {ordinal:UInt32})`;

/** Returns records that match a condition, in order, with their positions. */
export const readLogs = async (
  columns: TenantColumns,
  condition: string,
  parameters: QueryParameters,
  limit: number,
  order: LogOrder = 'newest',
): Promise<LogWithPosition[]> =>
  toLogs(columns, await readRows(columns, addTenantCondition(condition), parameters, limit, order));

const joinConditions = (condition: string, position: string | undefined): string =>
  position === undefined ? condition : `${condition} AND ${position}`;
const addTenantCondition = (condition: string): string => `WHERE tenant_id = {tenant:String} AND ${condition}`;

const readRows = async (
  columns: TenantColumns,
  clauses: string,
  parameters: QueryParameters,
  limit: number,
  order: LogOrder,
): Promise<readonly LogRow[]> => {
  const rows = await columns.query<LogRow>(
    `SELECT ${logColumns} FROM logs ${clauses} ORDER BY ${buildTimeOrder('logs', order)} LIMIT ${limit}`,
    parameters,
    { runsOnEachServer: true },
  );
  return mergeServerRows(rows, { order, limit, getPosition: (row) => row });
};

/** A page of a list, and the position after which the next one begins. */
export interface LogPage {
  readonly found: readonly LogWithPosition[];
  /** `undefined` if there is no next page. */
  readonly nextPosition: LogPosition | undefined;
}

/** Selection of a page of a list. */
export interface LogPageRequest {
  readonly limit: number;
  /** End of the previous page. */
  readonly after?: LogPosition | undefined;
  /** Newest first by default. */
  readonly order?: LogOrder | undefined;
  /**
   * Range of the records. Records are read in the requested order, only as far as needed. Without a range, all matching
   * records are read.
   */
  readonly range?: Range | undefined;
  /** Whether the condition is limited to one service. */
  readonly hasServiceCondition?: boolean | undefined;
  /** Whether the condition is a search, which may match nothing. */
  readonly isSearch?: boolean | undefined;
}

/** Returns records that match a condition, up to `limit`. */
export const readLogPage = async (
  columns: TenantColumns,
  condition: Condition,
  { limit, ...request }: LogPageRequest,
): Promise<LogPage> => {
  const readLogsWithNext = await readLogsOfRange(columns, condition, { ...request, limit: limit + 1 });
  const pageLogs = readLogsWithNext.slice(0, limit);
  return { found: pageLogs, nextPosition: readLogsWithNext.length > limit ? pageLogs.at(-1)?.position : undefined };
};

/** Like `readLogPage`, but does not check whether more records follow. */
export const readLogsOfRange = async (
  columns: TenantColumns,
  condition: Condition,
  { limit, after, range, order = 'newest', hasServiceCondition, isSearch = false }: LogPageRequest,
): Promise<LogWithPosition[]> => {
  const position = after === undefined ? undefined : buildPositionAfterCondition(order);
  const { sql, parameters } = condition;
  if (range === undefined)
    return readLogs(columns, joinConditions(sql, position), { ...parameters, ...after }, limit, order);
  const previousRead = findPreviousRead(columns, order, condition);
  const isFirst = isSearch && after === undefined;
  const existsInRange = isFirst ? buildExistenceCheck(columns, condition) : undefined;
  const options = {
    order,
    limit,
    isOfService: hasServiceCondition,
    previousReadCache: previousRead,
    hasRows: existsInRange,
  };
  const rows = await readGrowingRanges(computeRemainingRange(range, after, order), options, (subrange, missingCount) =>
    readRows(
      columns,
      buildSelectionClauses('logs', condition, subrange, position),
      { ...parameters, ...after, ...buildRangeParameters(subrange) },
      missingCount,
      order,
    ),
  );
  return toLogs(columns, rows);
};

/**
 * Returns a function that checks whether a time range has matching records. It costs half as much as a list without
 * results, for which ClickHouse also plans columns and order, and ClickHouse caches negative results. Undefined if
 * the condition uses no index, because most of the range would then be read twice.
 */
export const buildExistenceCheck = (
  columns: TenantColumns,
  condition: Condition,
): ((subrange: Range) => Promise<boolean>) | undefined =>
  condition.usesIndex
    ? async (subrange) => {
        const rows = await columns.query(
          `SELECT 1 AS one FROM logs ${buildSelectionClauses('logs', condition, subrange)} ${anyRowClause}`,
          { ...condition.parameters, ...buildRangeParameters(subrange) },
          { maxResultRows: 1, runsOnEachServer: true, isShort: !isLongRange(subrange) },
        );
        return rows.length > 0;
      }
    : undefined;

/** Returns the rest of a range after a position. */
export const computeRemainingRange = (range: Range, after: LogPosition | undefined, order: LogOrder): Range => {
  if (after === undefined) return range;
  const time = BigInt(after.time);
  return order === 'newest' ? { from: range.from, to: time } : { from: time, to: range.to };
};
