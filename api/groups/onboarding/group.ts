import { onboardingStates } from '../../../schemas/resources/onboarding.ts';
import { defineGroup } from '../define-group.ts';
import { dismissOnboardingSteps, showOnboarding } from './checklist.ts';
import { deleteDemo, loadDemo, showDemo } from './demo.ts';
import { runDoctor } from './doctor.ts';
import { showReceivedTelemetry } from './received-telemetry.ts';
import { listSnippets } from './snippets.ts';

export const onboardingGroup = defineGroup({
  name: 'onboarding',
  summary: 'Checklist for new organizations, ready-made configuration, and diagnosis of missing telemetry.',
  operations: [
    showOnboarding,
    dismissOnboardingSteps,
    runDoctor,
    listSnippets,
    showReceivedTelemetry,
    showDemo,
    loadDemo,
    deleteDemo,
  ],
  collections: [onboardingStates],
});
