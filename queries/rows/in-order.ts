/**
 * Reads records in the order of time, newest or oldest first, without reading all matches. It starts at the end of the
 * range where the order begins, and reads growing time ranges until there are enough records. A query that ran recently
 * starts with the range that was sufficient then.
 */
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { mergeServerRows, type RowOrder, type RowPosition } from '../merge-series.ts';
import type { Range } from '../range.ts';
import { buildRangeCondition, buildRangeParameters, buildSelectionClauses, type Condition } from '../records.ts';
import { RowCache } from '../row-cache.ts';
import { getSignalRecords, type QuerySignal } from '../signals/index.ts';

/** Sufficient for frequent records under high load. Time indexes and the sorting key limit it to few granules. */
const firstRangeNs = 60_000_000_000n;
/** For one service: the sorting key has services in ten-minute units, so a minute costs as much as ten. */
const firstServiceRangeNs = 600_000_000_000n;
/** Growth factor of the time range if nothing was found. */
const growthFactor = 20n;
/**
 * The last of at most `maxRanges` time ranges is the entire remainder: indexes find rare records, and a statement costs
 * as much as reading 50,000 rows. The remainder is also read early if it is at most this many times as long as the
 * range without results.
 */
const maxRanges = 4;
const maxRemainderFactor = 80n;
/**
 * A remainder smaller than this fraction of a time range is read together with it. A range of a minute includes both
 * ends, and is thus one nanosecond longer than a minute.
 */
const smallRemainderDivisor = 10n;

/** Number of rows requested, and number of rows found so far. */
export interface RangeResult {
  readonly limit: number;
  readonly found: number;
}

/** Number of rows that a query found in a time range from the start of its order. */
interface PreviousRead {
  readonly rows: number;
  readonly readNs: bigint;
  readonly atMs: number;
}

/** Recent result of the same query. It only affects the length of the first time range. */
export interface PreviousReadCache {
  get(): PreviousRead | undefined;
  set(previousRead: PreviousRead): void;
}

const maxCachedQueries = 10_000;
/**
 * Time after which a cached result expires, however often it is used: rare records may have become frequent, and too
 * long a time range would be read.
 */
const cacheTtlMs = 60_000;
const readCache = new RowCache<PreviousRead>(maxCachedQueries);

/**
 * Returns the cached result of a condition in an order. The cache key excludes the bounds of the range, which may be
 * among the parameters, so that all pages share it.
 */
export const findPreviousRead = (
  columns: TenantColumns,
  order: RowOrder,
  { sql, parameters }: Condition,
): PreviousReadCache => {
  const cache = readCache.forTenant(columns);
  const { from: _from, to: _to, ...relevantParameters } = parameters;
  const key = JSON.stringify([order, sql, relevantParameters]);
  return {
    get() {
      const cachedWindow = cache.get(key);
      return cachedWindow !== undefined && performance.now() - cachedWindow.atMs < cacheTtlMs
        ? cachedWindow
        : undefined;
    },
    set(previousRead) {
      cache.set(key, previousRead);
    },
  };
};

/**
 * Returns the length of the first time range, which should contain all requested rows according to the previous result.
 */
const computeFirstRangeLength = (
  totalNs: bigint,
  limit: number,
  isOfService: boolean,
  previousRead: PreviousRead | undefined,
): bigint => {
  const defaultSize = isOfService ? firstServiceRangeNs : firstRangeNs;
  if (previousRead === undefined) return defaultSize;
  const { rows, readNs } = previousRead;
  if (rows === 0) return totalNs <= readNs * maxRemainderFactor ? totalNs : readNs;
  const estimatedNs = (readNs * BigInt(limit)) / BigInt(rows);
  return estimatedNs > defaultSize ? estimatedNs : defaultSize;
};

/** Returns the length of the next time range, which should contain all missing rows according to the rows so far. */
const computeNextRangeLength = (
  read: bigint,
  lastNs: bigint,
  remainingNs: bigint,
  { limit, found: cachedWindow }: RangeResult,
): bigint => {
  if (cachedWindow === 0) return remainingNs <= read * maxRemainderFactor ? remainingNs : lastNs * growthFactor;
  const missing = BigInt(Math.max(1, limit - cachedWindow));
  const estimatedNs = (read * missing * 3n) / (BigInt(cachedWindow) * 2n);
  return estimatedNs > lastNs * 2n ? estimatedNs : lastNs * 2n;
};

/**
 * Yields at most four time ranges that cover the range in order, without gaps or overlap. `next` accepts the number of
 * rows in all time ranges so far.
 */
export function* iterateTimeRanges(
  { from, to }: Range,
  order: RowOrder,
  first = firstRangeNs,
): Generator<Range, void, RangeResult> {
  const totalNs = to - from + 1n;
  let size = first;
  let read = 0n;
  for (let count = 1; read < totalNs; count++) {
    const remainingNs = totalNs - read;
    const rangeSize = count === maxRanges || remainingNs - size <= size / smallRemainderDivisor ? remainingNs : size;
    const timeRange: Range =
      order === 'newest'
        ? { from: to - read - rangeSize + 1n, to: to - read }
        : { from: from + read, to: from + read + rangeSize - 1n };
    const result = yield timeRange;
    read += rangeSize;
    size = computeNextRangeLength(read, size, totalNs - read, result);
  }
}

/**
 * Returns up to `limit` rows of a range, in order. `read` returns up to a number of rows of a time range, in order.
 * `isOfService` is true if all rows belong to one service; `previousReadCache` has the previous result of the same
 * query and is updated.
 *
 * With `hasRows`, a cheaper check, the first time range is read only if it has rows. The check is omitted if the
 * previous result had rows.
 */
export const readGrowingRanges = async <Row>(
  range: Range,
  {
    order,
    limit,
    isOfService = false,
    previousReadCache,
    hasRows,
  }: {
    readonly order: RowOrder;
    readonly limit: number;
    readonly isOfService?: boolean | undefined;
    readonly previousReadCache?: PreviousReadCache | undefined;
    readonly hasRows?: ((timeRange: Range) => Promise<boolean>) | undefined;
  },
  read: (timeRange: Range, limit: number) => Promise<readonly Row[]>,
): Promise<Row[]> => {
  const rows: Row[] = [];
  const previousRead = previousReadCache?.get();
  const timeRanges = iterateTimeRanges(
    range,
    order,
    computeFirstRangeLength(range.to - range.from + 1n, limit, isOfService, previousRead),
  );
  const isUncertain = previousRead === undefined || previousRead.rows === 0;
  let readNs = 0n;
  for (let next = timeRanges.next({ limit, found: 0 }); next.done !== true; ) {
    const { from, to } = next.value;
    const needsProbe = hasRows !== undefined && isUncertain && readNs === 0n;
    if (!needsProbe || (await hasRows(next.value))) rows.push(...(await read(next.value, limit - rows.length)));
    readNs += to - from + 1n;
    if (rows.length >= limit) break;
    next = timeRanges.next({ limit, found: rows.length });
  }
  if (previousRead === undefined) previousReadCache?.set({ rows: rows.length, readNs, atMs: performance.now() });
  return rows;
};

/**
 * Returns SQL of an order by time, then by position on the bus, without ties. Columns are qualified, because aliases of
 * their names are strings. The time is an expression instead of the column: for a column with a limit, the engine
 * (26.7) adds its own filter and no longer caches which granules match the condition.
 */
export const buildTimeOrder = (table: string, order: RowOrder): string => {
  const positionColumns = ['partition', 'offset', 'ordinal'].map((column) => `${table}.${column}`);
  return [`toUnixTimestamp64Nano(${table}.timestamp)`, ...positionColumns]
    .map((expression) => `${expression} ${order === 'newest' ? 'DESC' : 'ASC'}`)
    .join(', ');
};

interface PositionedRow {
  readonly place_in_order: readonly [time: string, partition: string, offset: string, ordinal: string];
}
const readRowPosition = ({ place_in_order: [time, partition, offset, ordinal] }: PositionedRow): RowPosition => ({
  time,
  partition,
  offset,
  ordinal,
});

/**
 * Returns up to `limit` rows that match a condition, in order. `selection` has the table's columns; records of one
 * nanosecond are in the order of the bus.
 */
export const readRowsInOrder = async <Row>(
  columns: TenantColumns,
  { signal, range, order, limit }: { signal: QuerySignal; range: Range; order: RowOrder; limit: number },
  selection: string,
  condition: Condition,
): Promise<Row[]> => {
  const { table, from = table } = getSignalRecords(signal);
  const positionTexts = ['partition', 'offset', 'ordinal'].map((column) => `toString(${table}.${column})`).join(', ');
  const positionSql = `[toString(toUnixTimestamp64Nano(${table}.timestamp)), ${positionTexts}] AS place_in_order`;
  const previousReadCache = findPreviousRead(columns, order, condition);
  return readGrowingRanges(range, { order, limit, previousReadCache }, async (timeRange, missing) => {
    const whereSql =
      from === table
        ? buildSelectionClauses(signal, condition, timeRange)
        : `WHERE tenant_id = {tenant:String} AND ${buildRangeCondition(signal)} AND ${condition.sql}`;
    const rows = await columns.query<Row & PositionedRow>(
      `SELECT ${selection}, ${positionSql} FROM ${from} ${whereSql}
      ORDER BY ${buildTimeOrder(table, order)} LIMIT ${missing}`,
      { ...condition.parameters, ...buildRangeParameters(timeRange) },
      { maxResultRows: missing, runsOnEachServer: from === table },
    );
    return mergeServerRows(rows, { order, limit: missing, getPosition: readRowPosition });
  });
};
