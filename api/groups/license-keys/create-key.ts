import { z } from 'zod';
import { getFields } from '../../../runtime/stored-fields.ts';
import { generateBrowserKey, generateLicenseKey } from '../../../schemas/license-key-format.ts';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import { type LicenseKey, toSecretFields } from '../../../schemas/resources/license-key.ts';
import { ApiError } from '../../errors.ts';
import { requireNotRevoked } from './resource.ts';
import { getKeyState } from './views.ts';

/** Number of rotated secrets that are still listed; older secrets are no longer valid. */
const maxListedSecrets = 5;

const generateKey = ({ kind }: Pick<LicenseKey, 'kind'>): string =>
  kind === 'browser' ? generateBrowserKey() : generateLicenseKey();

/** Returns a new key and its stored form. */
export const createKey = (
  fields: Omit<LicenseKey, 'hash' | 'prefix' | 'publicKey' | 'revokedAt' | 'previous'>,
): { readonly key: string; readonly document: LicenseKey } => {
  const key = generateKey(fields);
  return { key, document: { ...fields, ...toSecretFields(key), revokedAt: null } };
};

/** Returns the key with a new secret. Earlier secrets expire at the end of the grace period at the latest. */
export const rotateKey = (
  before: LicenseKey & StoredMetadata,
  { graceSeconds, now }: { readonly graceSeconds: number; readonly now: number },
): { readonly key: string; readonly document: LicenseKey } => {
  requireNotRevoked(before);
  if (getKeyState(before, now) === 'expired')
    throw new ApiError('CONFLICT', `the license key “${before.name}” has expired: set a later expiresAt first`);
  const key = generateKey(before);
  const end = new Date(now + graceSeconds * 1000).toISOString();
  const { hash, prefix, previous = [] } = before;
  const rotatedSecret = { hash, prefix, rotatedAt: new Date(now).toISOString(), validUntil: end };
  const earlierSecrets = previous.map((earlierSecret) => ({
    ...earlierSecret,
    validUntil: [earlierSecret.validUntil, end].sort()[0] ?? end,
  }));
  const document: LicenseKey = {
    ...getFields(before),
    ...toSecretFields(key),
    previous: [rotatedSecret, ...earlierSecrets].slice(0, maxListedSecrets),
  };
  return { key, document };
};

/** The key itself, which no other response contains */
export const secretView = {
  key: z.string().describe('The key. A server key is shown only once and cannot be read again'),
};

const daySeconds = 86_400;

/** Grace period of the rotated key */
export const GracePeriod = z
  .strictObject({
    graceSeconds: z
      .int()
      .min(0)
      .max(90 * daySeconds)
      .default(daySeconds)
      .describe('How long the old key remains valid; 0 ends it, and all earlier rotated keys, immediately'),
  })
  .prefault({});
