import { z } from 'zod';
import { defineCollection, platformTenant } from '../ports/documents.ts';

/**
 * A user's authenticator, across organizations. Stored under `platformTenant` with the user's ID as document ID.
 * Deleting it disables multi-factor authentication.
 */
export const MultiFactor = z.strictObject({
  /** Base32 secret, encrypted with the installation's secret key. */
  secret: z.string(),
  /** Null until the first code is entered. Until then no code is required. */
  confirmedAt: z.iso.datetime().nullable(),
  /** Time step of the last accepted code. This code and earlier codes are rejected. */
  lastTimeStep: z.int(),
  /** Keyed hashes. Used codes are removed. */
  recoveryCodes: z.array(z.string()),
});
export type MultiFactor = z.output<typeof MultiFactor>;

export const multiFactors = defineCollection<MultiFactor>({ name: 'multi-factors' });
export const multiFactorsTenant = platformTenant;
