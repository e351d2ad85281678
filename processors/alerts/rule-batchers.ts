/**
 * Queue for queries of alert rules. Rules of an organization that are due at the same time are queried in one batch,
 * and organizations share the slots fairly.
 */

import { QueryBatcher, type RunInSlot } from '../../queries/batch/query-batcher.ts';
import { FairQueue, type FairQueueLimits } from '../../queries/limits/fair-queue.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { queryTimeouts } from '../../subjects/alerts/run-query.ts';

/** Rules that are due at the same time start within one poll of the schedule. */
const batchDelayMs = 20;

interface TenantQueues {
  readonly queue: FairQueue;
  readonly byTenant: Map<string, QueryBatcher>;
}

type Limits = Pick<FairQueueLimits, 'slots' | 'maxSlotsPerTenant'>;

/**
 * Opens a function that returns the query queue of each organization. All callers share that queue, which has its own
 * slots.
 */
export const createQueuedBatchers = (limits: Limits): ((columns: Columns, tenantId: string) => QueryBatcher) => {
  const queuesByColumns = new WeakMap<Columns, TenantQueues>();
  return (columns, tenantId) => {
    const queues = queuesByColumns.get(columns) ?? {
      queue: new FairQueue({ ...limits, maxWaitingPerTenant: Number.POSITIVE_INFINITY }),
      byTenant: new Map<string, QueryBatcher>(),
    };
    queuesByColumns.set(columns, queues);
    const runQueued: RunInSlot = async (work, signal) => {
      const releaseSlot = await queues.queue.acquire(tenantId, signal);
      try {
        return await work();
      } finally {
        releaseSlot();
      }
    };
    const batcher =
      queues.byTenant.get(tenantId) ?? new QueryBatcher({ ...queryTimeouts, batchDelayMs, runInSlot: runQueued });
    queues.byTenant.set(tenantId, batcher);
    return batcher;
  };
};

/**
 * Slots for concurrent rule queries in a process. They are separate from interactive queries
 * (`queries/limits/settings.ts`), so neither waits for the other. An organization has two thirds of them at most.
 */
export const getRuleBatcher = createQueuedBatchers({ slots: 3, maxSlotsPerTenant: 2 });
