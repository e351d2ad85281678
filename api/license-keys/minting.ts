import { z } from 'zod';
import { makeLicenseKey } from '../../schemas/license-key-format.ts';
import type { Stored } from '../../schemas/ports/documents.ts';
import { type LicenseKey, LicenseKeyFields, secretFields } from '../../schemas/resources/license-key.ts';
import { ApiError } from '../errors.ts';
import { defineOperation } from '../kernel/operation.ts';
import { fieldsOf } from '../resources/resource-history.ts';
import { idParameter } from '../resources/resource-operations.ts';
import { licenseKeyResource, refusePast, refuseRevoked } from './resource.ts';
import { LicenseKeyView, stateOf } from './views.ts';

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

export const mintLicenseKey = defineOperation({
  method: 'POST',
  path: '/api/license-keys',
  operationId: 'createLicenseKey',
  summary: 'Mint a license key; it is shown this once',
  role: 'admin',
  audit: 'license-key.create',
  versions: 'shown',
  body: LicenseKeyFields.extend({
    projectId: z.string().min(1).max(128).describe('The project to which what it sends belongs'),
  }).meta({ examples: [{ ...licenseKeyResource.example, projectId: 'default' }] }),
  response: LicenseKeyView.extend(shownOnce),
  async handler(input, ports) {
    const { caller, body, change } = input;
    refusePast(body, ports.clock.now());
    const { key, document } = minted({ ...body, signals: [...new Set(body.signals)] });
    const made = await change((scope) => licenseKeyResource.writer(scope, caller).create(document));
    return { ...(await licenseKeyResource.answer(made, input, ports)), key };
  },
});

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

export const rotateLicenseKey = defineOperation({
  method: 'POST',
  path: '/api/license-keys/{id}/rotate',
  operationId: 'rotateLicenseKey',
  summary: 'A new key under the same id; the old one goes on working for a grace period',
  role: 'admin',
  audit: 'license-key.rotate',
  versions: 'write',
  params: idParameter,
  body: Grace,
  response: LicenseKeyView.extend(shownOnce),
  async handler(input, ports) {
    const { graceSeconds } = input.body;
    let secret = '';
    const next: Parameters<typeof licenseKeyResource.change>[1] = async (before) => {
      const { key, document } = rotated(before, { graceSeconds, now: ports.clock.now() });
      secret = key;
      return document;
    };
    const after = await licenseKeyResource.change(input.params.id, next, input);
    return { ...(await licenseKeyResource.answer(after, input, ports)), key: secret };
  },
});
