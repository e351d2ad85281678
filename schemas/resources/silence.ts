import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';
import { Matcher } from './alert-routing.ts';

/** Mutes alerts with matching labels between two times. These are the fields that callers write. */
export const SilenceFields = z.strictObject({
  matchers: z
    .array(Matcher)
    .min(1)
    .max(64)
    .describe('Matchers, all of which must match; at least one must not match an absent label'),
  startsAt: z.iso.datetime({ offset: true }).optional().describe('Start; now if absent'),
  endsAt: z.iso.datetime({ offset: true }),
  comment: z.string().max(4096).default('').describe('Reason for the silence'),
});

export interface Silence extends z.output<typeof SilenceFields> {
  readonly startsAt: string;
  /** ID of the user or service account that created it. */
  readonly createdBy: string;
}
export const silences = defineCollection<Silence>({ name: 'silences', indexes: [['endsAt']] });

/** Returns whether the silence is pending, active or expired. */
export const getSilenceState = (
  { startsAt, endsAt }: Pick<Silence, 'startsAt' | 'endsAt'>,
  atMs: number,
): 'pending' | 'active' | 'expired' => {
  if (Date.parse(endsAt) <= atMs) return 'expired';
  return Date.parse(startsAt) > atMs ? 'pending' : 'active';
};
