import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';

/** Steps of the Get Started checklist, in order. */
export const onboardingSteps = [
  'create-key',
  'send-logs',
  'send-metrics',
  'send-traces',
  'create-dashboard',
  'create-alert',
  'invite-teammate',
] as const;
export type OnboardingStep = (typeof onboardingSteps)[number];

/** State of an organization's checklist: one document, `state`. Completion of steps is derived, not stored. */
export const OnboardingState = z.strictObject({
  dismissed: z.array(z.enum(onboardingSteps)),
  /**
   * When each telemetry signal was first received, in ISO 8601. Stored here so that the step stays complete after the
   * telemetry has expired.
   */
  firstSeen: z.partialRecord(z.enum(['logs', 'metrics', 'traces']), z.iso.datetime()),
});
export type OnboardingState = z.output<typeof OnboardingState>;

export const onboardingStates = defineCollection<OnboardingState>({ name: 'onboarding' });
export const onboardingStateId = 'state';
