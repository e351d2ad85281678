/** Who is paged for an incident, step by step, until somebody acknowledges the incident. */
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

/** Fields of a policy that callers write. */
export const EscalationPolicyFields = z.strictObject({
  name: z.string().min(1).max(256),
  steps: z
    .array(
      z.strictObject({
        targets: z.array(Target).min(1).max(32).describe('Targets, which are paged at the same time'),
        afterMinutes: Minutes.default(0).describe('Minutes after the previous step, or after the incident opened'),
        hours: z
          .array(Restriction.required({ location: true }))
          .max(16)
          .default([])
          .describe('Time intervals; outside of them the step is skipped, empty for no restriction'),
      }),
    )
    .min(1)
    .max(32),
  repeat: z.number().int().min(0).max(9).default(0).describe('Number of repetitions of all steps'),
  repeatAfterMinutes: Minutes.min(1).default(15).describe('Minutes from the last step to the next repetition'),
  acknowledgeTimeoutMinutes: Minutes.min(1)
    .nullable()
    .default(null)
    .describe('Minutes after which an acknowledged, unresolved incident is escalated further; `null` for never'),
  resolveAfterMinutes: Minutes.default(5).describe(
    'Minutes after the end of all alerts until the incident is resolved',
  ),
  reopenWithinMinutes: Minutes.default(30).describe(
    'Minutes after the resolution in which a firing alert reopens the incident; later it opens a new one',
  ),
});
export type EscalationPolicy = z.output<typeof EscalationPolicyFields>;

export const escalationPolicies = defineCollection<EscalationPolicy>({
  name: 'escalation-policies',
  unique: [['name']],
  indexes: [['steps.targets.id']],
});
