import { z } from 'zod';

export const Landed = z.strictObject({ records: z.int(), bytes: z.int() });
export const Amount = z.strictObject({ requests: z.int(), records: z.int(), bytes: z.int() });
export type Amount = z.output<typeof Amount>;

/** Volume by outcome. `accepted + replayed = landed + deadLettered`, in records, once nothing is pending. */
export const Volume = z.strictObject({
  accepted: Amount.describe(
    'Accepted volume, which is durable when acknowledged; bytes are those of the encoded requests, decompressed',
  ),
  landed: Landed.describe('Part of `accepted` that is stored and can be read'),
  deadLettered: Amount.describe('Part of `accepted` that could not be stored and is retained as dead letters'),
  replayed: Amount.describe('Dead letters of accepted records that were replayed'),
  refused: Amount.describe(
    'Malformed payloads, retained as dead letters; record counts are unknown, bytes are decompressed if possible, otherwise as received',
  ),
  dropped: Amount.describe('Part of `refused` and `deadLettered` that was discarded'),
  rejected: Amount.describe(
    'Rejected and not stored; records and bytes are 0 if the body was not read. The value may be too low, because a killed process loses counts that it has not written',
  ),
  rejectedBy: z.array(z.strictObject({ reason: z.string(), ...Amount.shape })),
});
export type Volume = z.output<typeof Volume>;
