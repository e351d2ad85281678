import type { Documents } from '../../schemas/documents.ts';
import { multiFactors, multiFactorsTenant } from '../../schemas/resources/multi-factor.ts';

/** Whether a second factor is asked for when a user signs in. */
export const hasSecondFactor = async (scope: Pick<Documents, 'of'>, userId: string): Promise<boolean> => {
  const enrolment = await scope.of(multiFactorsTenant).collection(multiFactors).find(userId);
  return enrolment !== undefined && enrolment.confirmedAt !== null;
};
