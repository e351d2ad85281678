import type { Plan } from '../schemas/resources/plan.ts';
import { coversScope, type ScopeName } from '../schemas/scopes.ts';
import { QueryError } from './errors.ts';

/** Context of a read of telemetry: the features and retention of the reader's plan, and the scopes of its API token. */
export interface PlanReader {
  readonly plan: Pick<Plan, 'name' | 'entitlements' | 'retentionDays'>;
  /** Scopes that limit what may be read. Absent for people, rules and schedules. */
  readonly readScopes?: readonly ScopeName[] | undefined;
}

/** Throws `UPGRADE_REQUIRED` if the plan lacks an entitlement. */
export const requireEntitlement = ({ plan }: PlanReader, entitlement: string): void => {
  if (!plan.entitlements.includes(entitlement))
    throw new QueryError('UPGRADE_REQUIRED', `the plan ${plan.name} does not include ${entitlement}`);
};

/** Whether the plan and the API token of the reader permit reading telemetry. */
export const canRead = ({ plan, readScopes }: PlanReader, entitlement: string): boolean =>
  plan.entitlements.includes(entitlement) && coversScope(readScopes, `${entitlement}:read`);

/** Throws `FORBIDDEN` if the reader has an API token without the read scope of a group of the API, such as `logs`. */
export const requireReadScope = ({ readScopes }: Pick<PlanReader, 'readScopes'>, group: string): void => {
  const scope = `${group}:read`;
  if (!coversScope(readScopes, scope))
    throw new QueryError('FORBIDDEN', `the API token lacks the scope ${scope}, which this query needs`);
};

/**
 * Throws if the plan or the API token of the reader does not permit reading telemetry. Every query of a data source
 * calls this, in addition to the checks of the API operation, so that no dashboard, saved query or draft bypasses them.
 */
export const requireReadAccess = (reader: PlanReader, entitlement: string, group = entitlement): void => {
  requireEntitlement(reader, entitlement);
  requireReadScope(reader, group);
};
