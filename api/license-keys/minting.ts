import { z } from 'zod';
import { fieldsOf } from '../../runtime/stored-fields.ts';
import { makeLicenseKey } from '../../schemas/license-key-format.ts';
import type { Stored } from '../../schemas/ports/documents.ts';
import { type LicenseKey, secretFields } from '../../schemas/resources/license-key.ts';
import { ApiError } from '../errors.ts';
import { refuseRevoked } from './resource.ts';
import { stateOf } from './views.ts';

/** Secrets that were rotated out and are still listed; what was rotated before them works no longer. */
const listedSecrets = 5;

/** A new key and what is stored of it. */
export const minted = (
  fields: Omit<LicenseKey, 'hash' | 'prefix' | 'revokedAt' | 'previous'>,
): { readonly key: string; readonly document: LicenseKey } => {
  const key = makeLicenseKey();
  return { key, document: { ...fields, ...secretFields(key), revokedAt: null } };
};

/** The key with a new secret. Earlier secrets are valid until the grace period is over at the latest. */
export const rotated = (
  before: LicenseKey & Stored,
  { graceSeconds, now }: { readonly graceSeconds: number; readonly now: number },
): { readonly key: string; readonly document: LicenseKey } => {
  refuseRevoked(before);
  if (stateOf(before, now) === 'expired')
    throw new ApiError('CONFLICT', `the license key “${before.name}” has expired: set a later expiresAt first`);
  const key = makeLicenseKey();
  const end = new Date(now + graceSeconds * 1000).toISOString();
  const { hash, prefix, previous = [] } = before;
  const out = { hash, prefix, rotatedAt: new Date(now).toISOString(), validUntil: end };
  const earlier = previous.map((one) => ({ ...one, validUntil: [one.validUntil, end].sort()[0] ?? end }));
  const document: LicenseKey = {
    ...fieldsOf(before),
    ...secretFields(key),
    previous: [out, ...earlier].slice(0, listedSecrets),
  };
  return { key, document };
};

/** The key itself, which no other answer carries. */
export const shownOnce = { key: z.string().describe('The key. It is shown this once and cannot be read again') };

const daySeconds = 86_400;

/** How long the key that is rotated out goes on working. */
export const Grace = z
  .strictObject({
    graceSeconds: z
      .int()
      .min(0)
      .max(90 * daySeconds)
      .default(daySeconds)
      .describe('How long the old key goes on working; 0 ends it, and all that were rotated out before, at once'),
  })
  .prefault({});
