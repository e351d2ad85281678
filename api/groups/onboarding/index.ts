import type { Operation } from '../../kernel/operation.ts';
import { dismissOnboardingSteps } from './dismiss.ts';
import { askDoctor } from './doctor.ts';
import { showOnboarding } from './show.ts';
import { listSnippets } from './snippets.ts';

export const onboardingOperations: readonly Operation[] = [
  showOnboarding,
  dismissOnboardingSteps,
  askDoctor,
  listSnippets,
];
