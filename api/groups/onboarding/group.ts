import { onboardingStates } from '../../../schemas/resources/onboarding.ts';
import { defineGroup } from '../define-group.ts';
import { dismissOnboardingSteps } from './dismiss.ts';
import { askDoctor } from './doctor.ts';
import { showOnboarding } from './show.ts';
import { listSnippets } from './snippets.ts';

export const onboardingGroup = defineGroup({
  name: 'onboarding',
  summary: 'The checklist of a new organization, ready-made configuration, and why telemetry does not arrive.',
  operations: [showOnboarding, dismissOnboardingSteps, askDoctor, listSnippets],
  collections: [onboardingStates],
});
