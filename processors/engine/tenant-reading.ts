/** Query access of schedules to a tenant: its rows, and the features and retention of its plan. */
import type { QueryReading } from '../../queries/promql/reading.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import { readPlanOf } from '../../schemas/resources/tenant-plan.ts';
import type { SchedulePorts } from './schedule.ts';

type Plan = QueryReading['plan'];

interface Remembered {
  readonly untilMs: number;
  readonly plan: Promise<Plan | undefined>;
}

/** Maximum age of a cached plan. */
const rememberedMs = 10_000;
/** Limits of one statement. */
const limits = { maxExecutionSeconds: 20 };

const remembered = new WeakMap<Documents, Map<string, Remembered>>();

/** Returns the plan of the tenant, cached for a while; undefined for a disabled or closed organization. */
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

/**
 * Returns the query context of a tenant's rules; undefined if the organization is disabled and its rules are not
 * evaluated.
 */
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
