/** Where alert rules ask: rules of an organization that are due together ask together, and organizations take turns. */

import { Answers, type RunInSlot } from '../../queries/batch/answers.ts';
import { FairQueue, type FairQueueLimits } from '../../queries/limits/fair-queue.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { queryTimeouts } from '../../subjects/alerts/run-query.ts';

/** Rules that are due together begin within one look at what is due. */
const gatherMs = 20;

interface OfColumns {
  readonly queue: FairQueue;
  readonly byTenant: Map<string, Answers>;
}

type Limits = Pick<FairQueueLimits, 'slots' | 'slotsPerTenant'>;

/** Answers of each organization, the same for all that asks there; they take turns that are their own. */
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
 * What rules may ask at once in a process, beside what people ask (`queries/limits/settings.ts`): neither waits for the other's turns.
 * An organization has two thirds of it at most.
 */
export const ruleAnswers = openQueuedAnswers({ slots: 3, slotsPerTenant: 2 });
