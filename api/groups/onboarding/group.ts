import { onboardingStates } from '../../../schemas/resources/onboarding.ts';
import { defineGroup } from '../define-group.ts';
import { dismissOnboardingSteps, showOnboarding } from './checklist.ts';
import { runDoctor } from './doctor.ts';
import { listSnippets } from './snippets.ts';

export const onboardingGroup = defineGroup({
  name: 'onboarding',
  summary: 'Checklist for new organizations, ready-made configuration, and diagnosis of missing telemetry.',
  operations: [showOnboarding, dismissOnboardingSteps, runDoctor, listSnippets],
  collections: [onboardingStates],
});
