import { z } from 'zod';

export const Landed = z.strictObject({ records: z.int(), bytes: z.int() });
export const Amount = z.strictObject({ requests: z.int(), records: z.int(), bytes: z.int() });
export type Amount = z.output<typeof Amount>;

/** What became of what was sent. `accepted + replayed = landed + deadLettered`, in records, once nothing is pending. */
export const Volume = z.strictObject({
  accepted: Amount.describe('Durable when acknowledged; bytes are those of the requests as encoded, decompressed'),
  landed: Landed.describe('The part of accepted that is stored and can be read'),
  deadLettered: Amount.describe('The part of accepted that could not be stored and is kept as dead letters'),
  replayed: Amount.describe('Dead letters of accepted records that were replayed'),
  refused: Amount.describe(
    'Malformed, kept as dead letters; record counts are unknown, bytes are decompressed if possible, else as received',
  ),
  dropped: Amount.describe('The part of refused and deadLettered that was discarded'),
  rejected: Amount.describe(
    'Not accepted and not kept; records and bytes are 0 if the body was not read. It may be too low: a process that is killed loses what it had not written yet',
  ),
  rejectedBy: z.array(z.strictObject({ reason: z.string(), ...Amount.shape })),
});
export type Volume = z.output<typeof Volume>;
