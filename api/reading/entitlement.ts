import type { Caller } from '../http/directory.ts';
import { ApiError } from '../http/errors.ts';

/**
 * Throws `UPGRADE_REQUIRED` where the plan does not include something. Whatever reads a signal asks this, and not only the operation that was
 * called: a dashboard, a saved query or an alert gets around no plan.
 */
export const requireEntitlement = ({ plan }: Pick<Caller, 'plan'>, entitlement: string): void => {
  if (!plan.entitlements.includes(entitlement))
    throw new ApiError('UPGRADE_REQUIRED', `the plan ${plan.name} does not include ${entitlement}`);
};
