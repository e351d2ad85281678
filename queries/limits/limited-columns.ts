/** Limits and counts the reads of tenants by slots, time, memory and rows. All reads for API requests go through it. */
import { UnavailableError } from '../../schemas/errors.ts';
import type { Columns, QueryLimits, StatementCost } from '../../schemas/ports/columns.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';
import { QueryError } from '../errors.ts';
import { FairQueue, type FairQueueLimits, TooManyWaitingError } from './fair-queue.ts';

export interface ReadLimits extends FairQueueLimits {
  /** Maximum wait of a statement for its slot. */
  readonly waitSeconds: number;
  /** Maximum duration of a statement. */
  readonly maxExecutionSeconds: number;
  /** `undefined` uses the limit of the adapter. */
  readonly maxMemoryBytes?: number | undefined;
  readonly maxRowsRead: number;
}

const minLimit = (left: number | undefined, right: number | undefined): number =>
  Math.min(left ?? Number.POSITIVE_INFINITY, right ?? Number.POSITIVE_INFINITY);

/** Returns the limits that a caller requests, bounded by the allowed ones. */
const clampLimits = (limits: QueryLimits, allowed: ReadLimits): QueryLimits => {
  const memory = minLimit(limits.maxMemoryBytes, allowed.maxMemoryBytes);
  return {
    ...limits,
    maxExecutionSeconds: minLimit(limits.maxExecutionSeconds, allowed.maxExecutionSeconds),
    maxRowsRead: minLimit(limits.maxRowsRead, allowed.maxRowsRead),
    ...(Number.isFinite(memory) && { maxMemoryBytes: memory }),
  };
};

/**
 * Wraps columns so that reads of tenants are queued and limited. The platform's own reads and inserts are unchanged. A
 * read that gets no slot in time rejects with `UnavailableError`; a read of a tenant with too many waiting statements
 * rejects with `RATE_LIMITED`.
 */
export const limitColumns = (
  columns: Columns,
  { limits, metrics }: { readonly limits: ReadLimits; readonly metrics: Metrics },
): Columns => {
  const queue = new FairQueue(limits);
  const publishCounts = (): void => {
    metrics.set('oiq_queries_running', queue.runningCount, {});
    metrics.set('oiq_queries_waiting', queue.waitingCount, {});
  };
  publishCounts();

  const acquireSlot = (tenantId: string, signal: AbortSignal | undefined): Promise<() => void> | (() => void) => {
    signal?.throwIfAborted();
    const release = queue.tryAcquire(tenantId);
    if (release === undefined) return waitForSlot(tenantId, signal);
    metrics.observe('oiq_query_wait_seconds', 0, {});
    publishCounts();
    return release;
  };

  const waitForSlot = async (tenantId: string, signal: AbortSignal | undefined): Promise<() => void> => {
    const queuedAt = performance.now();
    const timeoutController = new AbortController();
    const timer = setTimeout(() => timeoutController.abort(), limits.waitSeconds * 1000);
    try {
      const slot = queue.acquire(
        tenantId,
        signal === undefined ? timeoutController.signal : AbortSignal.any([signal, timeoutController.signal]),
      );
      publishCounts();
      return await slot;
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof TooManyWaitingError) && !timeoutController.signal.aborted) throw error;
      const reason = timeoutController.signal.aborted ? 'waited' : 'too-many';
      metrics.add('oiq_queries_refused_total', 1, { reason });
      throw reason === 'waited' ? createWaitTimeoutError(limits) : createQueueFullError(limits);
    } finally {
      clearTimeout(timer);
      metrics.observe('oiq_query_wait_seconds', (performance.now() - queuedAt) / 1000, {});
      publishCounts();
    }
  };

  const runLimited = async <Result>(
    tenantId: string,
    queryLimits: QueryLimits,
    work: (limits: QueryLimits) => Promise<Result>,
  ): Promise<Result> => {
    const releaseSlot = await acquireSlot(tenantId, queryLimits.signal);
    const startMs = performance.now();
    let outcome: 'answered' | 'failed' | 'cancelled' = 'failed';
    const onCost = (cost: StatementCost): void => {
      metrics.add('oiq_query_rows_read_total', cost.rowsRead, {});
      metrics.add('oiq_query_bytes_read_total', cost.bytesRead, {});
      queryLimits.onCost?.(cost);
    };
    try {
      const result = await work({ ...clampLimits(queryLimits, limits), onCost });
      outcome = 'answered';
      return result;
    } catch (error) {
      if (queryLimits.signal?.aborted === true) outcome = 'cancelled';
      throw error;
    } finally {
      releaseSlot();
      publishCounts();
      metrics.observe('oiq_query_duration_seconds', (performance.now() - startMs) / 1000, { outcome });
    }
  };

  return {
    forTenant(tenantId) {
      const tenantColumns = columns.forTenant(tenantId);
      return {
        ...tenantColumns,
        query: (sql, parameters, queryLimits = {}) =>
          runLimited(tenantId, queryLimits, (clampedLimits) => tenantColumns.query(sql, parameters, clampedLimits)),
        queryNative: (sql, parameters, queryLimits = {}) =>
          runLimited(tenantId, queryLimits, (clampedLimits) =>
            tenantColumns.queryNative(sql, parameters, clampedLimits),
          ),
      };
    },
    insert: (...block) => columns.insert(...block),
    recordWatermark: (...args) => columns.recordWatermark(...args),
    query: (sql, parameters, queryLimits) => columns.query(sql, parameters, queryLimits),
    execute: (sql) => columns.execute(sql),
    listServers: () => columns.listServers(),
    handleTablesChanged: () => columns.handleTablesChanged(),
    check: () => columns.check(),
    close: () => columns.close(),
  };
};

const createWaitTimeoutError = ({ waitSeconds }: ReadLimits): UnavailableError =>
  new UnavailableError(
    `the query waited ${waitSeconds} seconds for others and was not started: retry later, or narrow the query`,
    { retryAfterSeconds: Math.ceil(waitSeconds) },
  );
const createQueueFullError = ({ maxWaitingPerTenant, waitSeconds }: ReadLimits): QueryError =>
  new QueryError(
    'RATE_LIMITED',
    `${maxWaitingPerTenant} queries of this organization are waiting already: retry later, or send fewer at a time`,
    undefined,
    { retryAfterSeconds: Math.ceil(waitSeconds) },
  );
