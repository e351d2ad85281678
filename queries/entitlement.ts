import type { Plan } from '../schemas/resources/plan.ts';
import { QueryError } from './errors.ts';

/** What a read of telemetry knows of the one who asks: what their plan includes and keeps. */
export interface Reader {
  readonly plan: Pick<Plan, 'name' | 'entitlements' | 'retentionDays'>;
}

/**
 * Throws `UPGRADE_REQUIRED` if the plan lacks an entitlement. Every query of a signal calls this, and not only the operation that was
 * called: a dashboard, a saved query or an alert gets around no plan.
 */
export const requireEntitlement = ({ plan }: Reader, entitlement: string): void => {
  if (!plan.entitlements.includes(entitlement))
    throw new QueryError('UPGRADE_REQUIRED', `the plan ${plan.name} does not include ${entitlement}`);
};
