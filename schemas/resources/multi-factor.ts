import { z } from 'zod';
import { defineCollection, platformTenant } from '../ports/documents.ts';

/**
 * A user's authenticator, across organizations. Stored under `platformTenant`; the document id is the user's id. Deleting
 * it turns multi-factor off.
 */
export const MultiFactor = z.strictObject({
  /** Base32 secret, encrypted with the installation's secret key. */
  secret: z.string(),
  /** Null until the first code was given: till then it asks for nothing. */
  confirmedAt: z.iso.datetime().nullable(),
  /** The time step of the code that was accepted last: neither it nor an earlier one is accepted again. */
  lastTimeStep: z.int(),
  /** Keyed hashes; a code that was used is gone. */
  recoveryCodes: z.array(z.string()),
});
export type MultiFactor = z.output<typeof MultiFactor>;

export const multiFactors = defineCollection<MultiFactor>({ name: 'multi-factors' });
export const multiFactorsTenant = platformTenant;
