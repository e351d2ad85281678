import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';

/** Steps of the Get Started checklist, in the order in which people take them. */
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

/** What an organization's checklist remembers; one document, `state`. Whether a step is done is derived, not kept. */
export const OnboardingState = z.strictObject({
  dismissed: z.array(z.enum(onboardingSteps)),
  /** When each signal was first seen, ISO-8601: kept here because telemetry goes with its retention, and the step stays done. */
  firstSeen: z.partialRecord(z.enum(['logs', 'metrics', 'traces']), z.iso.datetime()),
});
export type OnboardingState = z.output<typeof OnboardingState>;

export const onboardingStates = defineCollection<OnboardingState>({ name: 'onboarding' });
export const onboardingStateId = 'state';
