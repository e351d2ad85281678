import { ConflictError, type TenantDocuments } from '../../../schemas/ports/documents.ts';
import { type OnboardingState, onboardingStateId, onboardingStates } from '../../../schemas/resources/onboarding.ts';

const nothingYet: OnboardingState = { dismissed: [], firstSeen: {} };

/** Returns the stored checklist state of the organization. */
export const stateOf = async (documents: TenantDocuments): Promise<OnboardingState> => {
  const stored = await documents.collection(onboardingStates).find(onboardingStateId);
  return stored ?? nothingYet;
};

/** Sets part of the state; the first call creates the document. */
export const remember = async (documents: TenantDocuments, changes: Partial<OnboardingState>): Promise<void> => {
  const states = documents.collection(onboardingStates);
  if ((await states.find(onboardingStateId)) === undefined) {
    try {
      await states.insert({ id: onboardingStateId, ...nothingYet, ...changes });
      return;
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
    }
  }
  await states.update(onboardingStateId, changes);
};
