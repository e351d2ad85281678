/** What schedules read with of a tenant: its rows, and what its plan includes and keeps. */
import type { QueryReading } from '../../queries/promql/reading.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import { readPlanOf } from '../../schemas/resources/tenant-plan.ts';
import type { SchedulePorts } from './schedule.ts';

type Plan = QueryReading['plan'];

interface Remembered {
  readonly untilMs: number;
  readonly plan: Promise<Plan | undefined>;
}

/** A plan that was changed is known after so long. */
const rememberedMs = 10_000;
/** Of one statement. */
const limits = { maxExecutionSeconds: 20 };

const remembered = new WeakMap<Documents, Map<string, Remembered>>();

/** The tenant's plan, read again after a while; undefined for one that is disabled or closed. */
const rememberedPlan = (documents: Documents, tenantId: string): Promise<Plan | undefined> => {
  const known = remembered.get(documents) ?? new Map<string, Remembered>();
  remembered.set(documents, known);
  const own = known.get(tenantId);
  if (own !== undefined && own.untilMs > Date.now()) return own.plan;
  const plan = readPlanOf(documents, tenantId);
  known.set(tenantId, { untilMs: Date.now() + rememberedMs, plan });
  plan.catch(() => known.delete(tenantId));
  return plan;
};

/** What a tenant's rules read with at a time; undefined where they are not evaluated, as the organization is disabled. */
export const tenantReading = async (
  { columns, documents, promql }: SchedulePorts,
  tenantId: string,
  nowMs: number,
): Promise<QueryReading | undefined> => {
  const plan = await rememberedPlan(documents, tenantId);
  if (plan === undefined) return undefined;
  const own = columns.of(tenantId);
  return {
    plan,
    nowMs,
    promql,
    columns: {
      ...own,
      query: (sql, parameters, options) => own.query(sql, parameters, { ...limits, ...options }),
      native: (sql, parameters, options) => own.native(sql, parameters, { ...limits, ...options }),
    },
  };
};
