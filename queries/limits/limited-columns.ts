/** Limits and counts reads of tenants: slots, time, memory, rows. All reads of requests use this. */
import { UnavailableError } from '../../schemas/errors.ts';
import type { Columns, QueryLimits, StatementCost } from '../../schemas/ports/columns.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';
import { QueryError } from '../errors.ts';
import { FairQueue, type FairQueueLimits, TooManyWaiting } from './fair-queue.ts';

export interface ReadLimits extends FairQueueLimits {
  /** Maximum wait of a statement for its slot. */
  readonly waitSeconds: number;
  /** Maximum duration of a statement. */
  readonly maxExecutionSeconds: number;
  /** `undefined` leaves the limit to the adapter. */
  readonly maxMemoryBytes?: number | undefined;
  readonly maxRowsRead: number;
}

const lower = (one: number | undefined, other: number | undefined): number =>
  Math.min(one ?? Number.POSITIVE_INFINITY, other ?? Number.POSITIVE_INFINITY);

/** Returns the limits that a caller requests, bounded by the allowed ones. */
const clampLimits = (limits: QueryLimits, allowed: ReadLimits): QueryLimits => {
  const memory = lower(limits.maxMemoryBytes, allowed.maxMemoryBytes);
  return {
    ...limits,
    maxExecutionSeconds: lower(limits.maxExecutionSeconds, allowed.maxExecutionSeconds),
    maxRowsRead: lower(limits.maxRowsRead, allowed.maxRowsRead),
    ...(Number.isFinite(memory) && { maxMemoryBytes: memory }),
  };
};

/**
 * Returns the same columns with queued and limited reads for tenants. The platform's own reads and inserts are
 * unchanged. A read without a slot in time rejects with `UnavailableError`, a read of a tenant with too many waiting
 * with `RATE_LIMITED`.
 */
export const limitedColumns = (
  columns: Columns,
  { limits, metrics }: { readonly limits: ReadLimits; readonly metrics: Metrics },
): Columns => {
  const queue = new FairQueue(limits);
  const count = (): void => {
    metrics.set('oiq_queries_running', queue.running, {});
    metrics.set('oiq_queries_waiting', queue.waiting, {});
  };
  count();

  const acquireSlot = (tenantId: string, signal: AbortSignal | undefined): Promise<() => void> | (() => void) => {
    signal?.throwIfAborted();
    const free = queue.tryAcquire(tenantId);
    if (free === undefined) return waitedFor(tenantId, signal);
    metrics.observe('oiq_query_wait_seconds', 0, {});
    count();
    return free;
  };

  const waitedFor = async (tenantId: string, signal: AbortSignal | undefined): Promise<() => void> => {
    const queuedAt = performance.now();
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(), limits.waitSeconds * 1000);
    try {
      const slot = queue.acquire(tenantId, signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]));
      count();
      return await slot;
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof TooManyWaiting) && !over.signal.aborted) throw error;
      const reason = over.signal.aborted ? 'waited' : 'too-many';
      metrics.add('oiq_queries_refused_total', 1, { reason });
      throw reason === 'waited' ? busy(limits) : tooMany(limits);
    } finally {
      clearTimeout(timer);
      metrics.observe('oiq_query_wait_seconds', (performance.now() - queuedAt) / 1000, {});
      count();
    }
  };

  const read = async <Result>(
    tenantId: string,
    queryLimits: QueryLimits,
    work: (limits: QueryLimits) => Promise<Result>,
  ): Promise<Result> => {
    const end = await acquireSlot(tenantId, queryLimits.signal);
    const started = performance.now();
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
      end();
      count();
      metrics.observe('oiq_query_duration_seconds', (performance.now() - started) / 1000, { outcome });
    }
  };

  return {
    of(tenantId) {
      const own = columns.of(tenantId);
      return {
        ...own,
        query: (sql, parameters, queryLimits = {}) =>
          read(tenantId, queryLimits, (clampLimits) => own.query(sql, parameters, clampLimits)),
        native: (sql, parameters, queryLimits = {}) =>
          read(tenantId, queryLimits, (clampLimits) => own.native(sql, parameters, clampLimits)),
      };
    },
    insert: (...block) => columns.insert(...block),
    recordWatermark: (...args) => columns.recordWatermark(...args),
    query: (sql, parameters, queryLimits) => columns.query(sql, parameters, queryLimits),
    execute: (sql) => columns.execute(sql),
    each: () => columns.each(),
    tablesChanged: () => columns.tablesChanged(),
    check: () => columns.check(),
    close: () => columns.close(),
  };
};

const busy = ({ waitSeconds }: ReadLimits): UnavailableError =>
  new UnavailableError(
    `the query waited ${waitSeconds} seconds for others and was not started: retry later, or narrow the query`,
    { retryAfterSeconds: Math.ceil(waitSeconds) },
  );
const tooMany = ({ waitingPerTenant, waitSeconds }: ReadLimits): QueryError =>
  new QueryError(
    'RATE_LIMITED',
    `${waitingPerTenant} queries of this organization are waiting already: retry later, or send fewer at a time`,
    undefined,
    { retryAfterSeconds: Math.ceil(waitSeconds) },
  );
