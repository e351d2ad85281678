/**
 * Queue for queries of alert rules. Rules of an organization that are due at the same time are queried in one batch,
 * and organizations share the slots fairly.
 */

import { Answers, type RunInSlot } from '../../queries/batch/answers.ts';
import { FairQueue, type FairQueueLimits } from '../../queries/limits/fair-queue.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { queryTimeouts } from '../../subjects/alerts/run-query.ts';

/** Rules that are due at the same time start within one poll of the schedule. */
const gatherMs = 20;

interface OfColumns {
  readonly queue: FairQueue;
  readonly byTenant: Map<string, Answers>;
}

type Limits = Pick<FairQueueLimits, 'slots' | 'slotsPerTenant'>;

/**
 * Opens a function that returns the query queue of each organization. All callers share that queue, which has its own
 * slots.
 */
export const openQueuedAnswers = (limits: Limits): ((columns: Columns, tenantId: string) => Answers) => {
  const known = new WeakMap<Columns, OfColumns>();
  return (columns, tenantId) => {
    const own = known.get(columns) ?? {
      queue: new FairQueue({ ...limits, waitingPerTenant: Number.POSITIVE_INFINITY }),
      byTenant: new Map<string, Answers>(),
    };
    known.set(columns, own);
    const runQueued: RunInSlot = async (work, signal) => {
      const end = await own.queue.acquire(tenantId, signal);
      try {
        return await work();
      } finally {
        end();
      }
    };
    const answers = own.byTenant.get(tenantId) ?? new Answers({ ...queryTimeouts, gatherMs, runInSlot: runQueued });
    own.byTenant.set(tenantId, answers);
    return answers;
  };
};

/**
 * Slots for concurrent rule queries in a process. They are separate from interactive queries
 * (`queries/limits/settings.ts`), so neither waits for the other. An organization has two thirds of them at most.
 */
export const ruleAnswers = openQueuedAnswers({ slots: 3, slotsPerTenant: 2 });
