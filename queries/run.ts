/** Runs any query and returns the common result format. */
import type { QueryLimits, TenantColumns } from '../schemas/ports/columns.ts';
import { createValidationError } from './errors.ts';
import { getFreshness } from './freshness.ts';
import type { QueryReader } from './promql/query-reader.ts';
import { Query, type QueryRequest } from './query.ts';
import { getQueryKind, type RunContext } from './query-kind.ts';
import type { ResultData } from './query-result.ts';
import { requireReadable } from './require-readable.ts';
import type { Result } from './result.ts';
import { formatTime } from './time.ts';

/**
 * Runs a query over a range: series with a step, a table without one. Throws a `QueryError` if the query is invalid or
 * the plan does not permit it. Entitlement and retention are checked for every data source, including parts of
 * formulas. Queries that exceed the limits of ClickHouse are rejected, because a value over only a part of the records
 * would be wrong.
 */
export const run = async (
  request: QueryRequest,
  reader: QueryReader,
  { signal, ...options }: RunContext,
): Promise<Result> => {
  const query = parseQuery(request);
  if (options.range.from > options.range.to) throw createValidationError('from', 'is after to');
  requireReadable(query, options.range, reader);
  const startedMs = performance.now();
  const cost = { rowsRead: 0, bytesRead: 0 };
  // If one statement fails, concurrent ones are aborted.
  const failureController = new AbortController();
  const endSignal =
    signal === undefined ? failureController.signal : AbortSignal.any([signal, failureController.signal]);
  const countingReader = { ...reader, columns: countColumnReads(reader.columns, cost, endSignal) };
  try {
    const [data, freshness] = await Promise.all([
      runByKind(query, countingReader, { ...options, signal: endSignal }),
      getFreshness(query, countingReader),
    ]);
    const hint = await getHint(query, data, countingReader, options.range);
    return {
      ...data,
      from: formatTime(options.range.from),
      to: formatTime(options.range.to),
      stepMs: options.stepMs ?? null,
      cost: { ...cost, elapsedMs: performance.now() - startedMs, isCached: false },
      freshness,
      ...(hint === undefined ? {} : { hint }),
    };
  } catch (error) {
    failureController.abort(error);
    throw error;
  }
};

/** Runs a query like `run`, without cost and freshness: for recurring queries, such as those of rules. */
export const runWithoutCost = (
  query: Query,
  reader: QueryReader,
  { signal, ...context }: RunContext,
): Promise<ResultData> => {
  requireReadable(query, context.range, reader);
  const columns = signal === undefined ? reader.columns : extendColumns(reader.columns, signal);
  return runByKind(query, { ...reader, columns }, { ...context, signal });
};

/** Returns columns whose statements are canceled by the abort signal, and report their costs. */
export const extendColumns = (
  columns: TenantColumns,
  signal: AbortSignal,
  onCost?: (cost: RowsAndBytes) => void,
): TenantColumns => {
  const extendLimits = (limits: QueryLimits | undefined): QueryLimits => ({
    signal,
    ...limits,
    ...(onCost && {
      onCost(cost) {
        onCost(cost);
        limits?.onCost?.(cost);
      },
    }),
  });
  return {
    ...columns,
    query: (sql, parameters, limits) => columns.query(sql, parameters, extendLimits(limits)),
    queryNative: (sql, parameters, limits) => columns.queryNative(sql, parameters, extendLimits(limits)),
  };
};

const runByKind = (query: Query, reader: QueryReader, context: RunContext): Promise<ResultData> =>
  getQueryKind(query).run(query, reader, context, (part, partContext) =>
    runByKind(part, reader, { ...partContext, signal: context.signal }),
  );

/** Returns the hint for a result without the requested values. */
export const getHint = async (
  query: Query,
  data: ResultData,
  reader: QueryReader,
  range: RunContext['range'],
): Promise<string | undefined> => getQueryKind(query).hint?.(query, data, range, reader);

/** Returns the query with its defaults. Throws `VALIDATION_FAILED` about the first error. */
export const parseQuery = (input: unknown): Query => {
  const parsed = Query.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw createValidationError(['query', ...(issue?.path ?? [])].join('.'), issue?.message ?? 'is not a query');
};

/** Rows and bytes read by statements. */
export interface RowsAndBytes {
  rowsRead: number;
  bytesRead: number;
}

/** Returns columns that add up the reads of their statements, which the abort signal cancels. */
export const countColumnReads = (columns: TenantColumns, total: RowsAndBytes, signal: AbortSignal): TenantColumns =>
  extendColumns(columns, signal, (cost) => {
    total.rowsRead += cost.rowsRead;
    total.bytesRead += cost.bytesRead;
  });
