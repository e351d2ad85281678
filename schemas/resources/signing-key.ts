import { z } from 'zod';
import { defineCollection, platformTenant } from '../ports/documents.ts';

/** A key pair for signing session tokens. Stored under `platformTenant`; the document ID is the `kid`. */
export const SigningKey = z.strictObject({
  /** Public JWK, as published. */
  publicKey: z.record(z.string(), z.unknown()),
  /** Private JWK, encrypted with the installation's secret key. */
  privateKey: z.string(),
});
export type SigningKey = z.output<typeof SigningKey>;

export const signingKeys = defineCollection<SigningKey>({ name: 'signing-keys' });
export const signingKeysTenant = platformTenant;
