/** Query access of schedules to a tenant: its rows, and the features and retention of its plan. */
import type { QueryReader } from '../../queries/promql/query-reader.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import { readPlan } from '../../schemas/resources/tenant-plan.ts';
import type { SchedulePorts } from './schedule.ts';

type Plan = QueryReader['plan'];

interface CachedPlan {
  readonly untilMs: number;
  readonly plan: Promise<Plan | undefined>;
}

/** Maximum age of a cached plan. */
const maxCacheAgeMs = 10_000;
/** Limits of one statement. */
const limits = { maxExecutionSeconds: 20 };

const plansByDocuments = new WeakMap<Documents, Map<string, CachedPlan>>();

/** Returns the plan of the tenant, cached for a while; undefined for a disabled or closed organization. */
const readCachedPlan = (documents: Documents, tenantId: string): Promise<Plan | undefined> => {
  const cachedPlans = plansByDocuments.get(documents) ?? new Map<string, CachedPlan>();
  plansByDocuments.set(documents, cachedPlans);
  const cachedPlan = cachedPlans.get(tenantId);
  if (cachedPlan !== undefined && cachedPlan.untilMs > Date.now()) return cachedPlan.plan;
  const plan = readPlan(documents, tenantId);
  cachedPlans.set(tenantId, { untilMs: Date.now() + maxCacheAgeMs, plan });
  plan.catch(() => cachedPlans.delete(tenantId));
  return plan;
};

/**
 * Returns the query context of a tenant's rules; undefined if the organization is disabled and its rules are not
 * evaluated.
 */
export const openTenantReader = async (
  { columns, documents, promql }: SchedulePorts,
  tenantId: string,
  nowMs: number,
): Promise<QueryReader | undefined> => {
  const plan = await readCachedPlan(documents, tenantId);
  if (plan === undefined) return undefined;
  const tenantColumns = columns.forTenant(tenantId);
  return {
    plan,
    nowMs,
    promql,
    columns: {
      ...tenantColumns,
      query: (sql, parameters, options) => tenantColumns.query(sql, parameters, { ...limits, ...options }),
      queryNative: (sql, parameters, options) => tenantColumns.queryNative(sql, parameters, { ...limits, ...options }),
    },
  };
};
