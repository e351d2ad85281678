import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';
import { Matcher } from './alert-routing.ts';

/** Mutes the alerts whose labels match, from its begin to its end. What callers write of it. */
export const SilenceFields = z.strictObject({
  matchers: z.array(Matcher).min(1).max(64).describe('All must hold, and one must not match a label that is not there'),
  startsAt: z.iso.datetime({ offset: true }).optional().describe('Now, if absent'),
  endsAt: z.iso.datetime({ offset: true }),
  comment: z.string().max(4096).default('').describe('Why'),
});

export interface Silence extends z.output<typeof SilenceFields> {
  readonly startsAt: string;
  /** Id of the user or service account who made it. */
  readonly createdBy: string;
}
export const silences = defineCollection<Silence>({ name: 'silences', indexes: [['endsAt']] });

/** Whether it is still to come, mutes now, or is over. */
export const silenceStateAt = (
  { startsAt, endsAt }: Pick<Silence, 'startsAt' | 'endsAt'>,
  atMs: number,
): 'pending' | 'active' | 'expired' => {
  if (Date.parse(endsAt) <= atMs) return 'expired';
  return Date.parse(startsAt) > atMs ? 'pending' : 'active';
};
