/** Decisions of users about findings of security. A finding without a decision has no document; the IDs are equal. */
import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';

export const securityStates = ['open', 'resolved', 'ignored', 'accepted'] as const;
export type SecurityState = (typeof securityStates)[number];

export interface SecurityTriage {
  readonly state: SecurityState;
  /** End of the state ignored or accepted; null for no end. */
  readonly until: string | null;
  readonly assigneeId: string | null;
  readonly reason: string;
  /** Time of the last change of the state. */
  readonly changedAt: string;
}

export const SecurityTriageFields = z.strictObject({
  state: z
    .enum(securityStates)
    .optional()
    .describe(
      'resolved: open again with the next occurrence; ignored: hidden until a time; accepted: a risk for a time',
    ),
  until: z.iso
    .datetime({ offset: true })
    .nullable()
    .optional()
    .describe('End of the state ignored or accepted, after which the finding is open again; required for accepted'),
  assigneeId: z.string().min(1).max(128).nullable().optional().describe('A user of the organization; null for nobody'),
  reason: z.string().max(4096).optional(),
});
export type SecurityTriageFields = z.output<typeof SecurityTriageFields>;

export const secretTriages = defineCollection<SecurityTriage>({ name: 'secret-triages' });
export const vulnerabilityTriages = defineCollection<SecurityTriage>({ name: 'vulnerability-triages' });
export const threatTriages = defineCollection<SecurityTriage>({ name: 'threat-triages' });
