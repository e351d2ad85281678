/** Lists log records, page by page. */

import type { QueryParameters, TenantColumns } from '../../schemas/ports/columns.ts';
import { anyRowClause } from '../../schemas/tables/any-row.ts';
import { mergeServerRows } from '../merge-series.ts';
import type { Range } from '../range.ts';
import { buildRangeParameters, buildSelectionClauses, type Condition, isLongRange } from '../records.ts';
import { findPreviousRead, orderByTime, readGrowingRanges } from '../rows/in-order.ts';
import { type LogPosition, type LogRow, type LogWithPosition, logColumns, toLogs } from '../signals/log-record.ts';

/** Orders of lists: by time, then by position on the bus, so that there are no ties. */
export const logOrders = ['newest', 'oldest'] as const;
export type LogOrder = (typeof logOrders)[number];

/** Returns the condition for records after a position in an order; its parameters are the position's fields. */
export const positionAfterCondition = (order: LogOrder): string =>
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
  toLogs(columns, await readRows(columns, tenantClause(condition), parameters, limit, order));

const andCondition = (condition: string, position: string | undefined): string =>
  position === undefined ? condition : `${condition} AND ${position}`;
const tenantClause = (condition: string): string => `WHERE tenant_id = {tenant:String} AND ${condition}`;

const readRows = async (
  columns: TenantColumns,
  clauses: string,
  parameters: QueryParameters,
  limit: number,
  order: LogOrder,
): Promise<readonly LogRow[]> => {
  const rows = await columns.query<LogRow>(
    `SELECT ${logColumns} FROM logs ${clauses} ORDER BY ${orderByTime('logs', order)} LIMIT ${limit}`,
    parameters,
    { onEachServer: true },
  );
  return mergeServerRows(rows, { order, limit, positionOf: (row) => row });
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
  const found = await readLogsOfRange(columns, condition, { ...request, limit: limit + 1 });
  const pageLogs = found.slice(0, limit);
  return { found: pageLogs, nextPosition: found.length > limit ? pageLogs.at(-1)?.position : undefined };
};

/** As `readLogPage`, without checking whether more records follow. */
export const readLogsOfRange = async (
  columns: TenantColumns,
  condition: Condition,
  { limit, after, range, order = 'newest', hasServiceCondition, isSearch = false }: LogPageRequest,
): Promise<LogWithPosition[]> => {
  const position = after === undefined ? undefined : positionAfterCondition(order);
  const { sql, parameters } = condition;
  if (range === undefined)
    return readLogs(columns, andCondition(sql, position), { ...parameters, ...after }, limit, order);
  const earlier = findPreviousRead(columns, order, condition);
  const isFirst = isSearch && after === undefined;
  const hasSome = isFirst ? buildExistenceCheck(columns, condition) : undefined;
  const options = { order, limit, isOfService: hasServiceCondition, earlier, hasSome };
  const rows = await readGrowingRanges(remainingRange(range, after, order), options, (stretch, missing) =>
    readRows(
      columns,
      buildSelectionClauses('logs', condition, stretch, position),
      { ...parameters, ...after, ...buildRangeParameters(stretch) },
      missing,
      order,
    ),
  );
  return toLogs(columns, rows);
};

/**
 * Returns a check whether a time range has matching records. It costs half as much as an empty list, for which
 * ClickHouse also plans columns and order, and ClickHouse caches negative results. Undefined if the condition uses no
 * index, because most of the range would be read twice.
 */
export const buildExistenceCheck = (
  columns: TenantColumns,
  condition: Condition,
): ((stretch: Range) => Promise<boolean>) | undefined =>
  condition.usesIndex
    ? async (stretch) => {
        const rows = await columns.query(
          `SELECT 1 AS one FROM logs ${buildSelectionClauses('logs', condition, stretch)} ${anyRowClause}`,
          { ...condition.parameters, ...buildRangeParameters(stretch) },
          { maxResultRows: 1, onEachServer: true, isShort: !isLongRange(stretch) },
        );
        return rows.length > 0;
      }
    : undefined;

/** Returns the rest of a range after a position. */
export const remainingRange = (range: Range, after: LogPosition | undefined, order: LogOrder): Range => {
  if (after === undefined) return range;
  const time = BigInt(after.time);
  return order === 'newest' ? { from: range.from, to: time } : { from: time, to: range.to };
};
