import type { Plan } from '../schemas/resources/plan.ts';
import { QueryError } from './errors.ts';

/** Context of a read of telemetry: the features and retention of the reader's plan. */
export interface PlanReader {
  readonly plan: Pick<Plan, 'name' | 'entitlements' | 'retentionDays'>;
}

/**
 * Throws `UPGRADE_REQUIRED` if the plan lacks an entitlement. Every query of a data source calls this, in addition to
 * the check of the API operation, so that a dashboard, a saved query or an alert cannot bypass a plan.
 */
export const requireEntitlement = ({ plan }: PlanReader, entitlement: string): void => {
  if (!plan.entitlements.includes(entitlement))
    throw new QueryError('UPGRADE_REQUIRED', `the plan ${plan.name} does not include ${entitlement}`);
};
