/** Who is paged for an incident, step by step, until somebody acknowledges it. */
import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';
import { Restriction } from './on-call-schedule.ts';

const Minutes = z
  .number()
  .int()
  .min(0)
  .max(7 * 24 * 60);

const Target = z.strictObject({
  kind: z.enum(['schedule', 'person', 'channel']),
  id: z.string().min(1).max(128),
});

/** What callers write of a policy. */
export const EscalationPolicyFields = z.strictObject({
  name: z.string().min(1).max(256),
  steps: z
    .array(
      z.strictObject({
        targets: z.array(Target).min(1).max(32).describe('All are paged together'),
        afterMinutes: Minutes.default(0).describe('After the step before it, or after the incident opened'),
        hours: z
          .array(Restriction.required({ location: true }))
          .max(16)
          .default([])
          .describe('With any, the step is skipped while none of them holds'),
      }),
    )
    .min(1)
    .max(32),
  repeat: z.number().int().min(0).max(9).default(0).describe('How many times all steps are run again'),
  repeatAfterMinutes: Minutes.min(1).default(15).describe('How long after the last step they are run again'),
  acknowledgeTimeoutMinutes: Minutes.min(1)
    .nullable()
    .default(null)
    .describe('After how long an acknowledged incident that has not ended is escalated further; never, if null'),
  resolveAfterMinutes: Minutes.default(5).describe('How long all its alerts have ended before an incident is resolved'),
  reopenWithinMinutes: Minutes.default(30).describe(
    'How long after it was resolved a firing opens an incident again; later it is a new one',
  ),
});
export type EscalationPolicy = z.output<typeof EscalationPolicyFields>;

export const escalationPolicies = defineCollection<EscalationPolicy>({
  name: 'escalation-policies',
  unique: [['name']],
  indexes: [['steps.targets.id']],
});
