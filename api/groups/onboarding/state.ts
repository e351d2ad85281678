import { ConflictError, type TenantDocuments } from '../../../schemas/ports/documents.ts';
import { type OnboardingState, onboardingStateId, onboardingStates } from '../../../schemas/resources/onboarding.ts';

const initialState: OnboardingState = { dismissed: [], firstSeen: {} };

/** Returns the stored checklist state of the organization. */
export const readState = async (documents: TenantDocuments): Promise<OnboardingState> => {
  const stored = await documents.collection(onboardingStates).find(onboardingStateId);
  return stored ?? initialState;
};

/** Sets part of the state; the first call creates the document. */
export const updateState = async (documents: TenantDocuments, changes: Partial<OnboardingState>): Promise<void> => {
  const states = documents.collection(onboardingStates);
  if ((await states.find(onboardingStateId)) === undefined) {
    try {
      await states.insert({ id: onboardingStateId, ...initialState, ...changes });
      return;
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
    }
  }
  await states.update(onboardingStateId, changes);
};
