import { createHash } from 'node:crypto';
import { z } from 'zod';
import { displayPrefix } from '../license-key-format.ts';
import { defineCollection } from '../ports/documents.ts';
import { parseNetworks } from '../source-address.ts';
import { signals } from '../telemetry-signals.ts';

const isNetwork = (entry: string): boolean => {
  try {
    parseNetworks([entry]);
    return true;
  } catch {
    return false;
  }
};

/** Fields of a license key that callers write. */
export const LicenseKeyFields = z.strictObject({
  name: z.string().min(1).max(256),
  signals: z
    .array(z.enum(signals))
    .min(1)
    .max(signals.length)
    .default([...signals]),
  allowedCidrs: z
    .array(z.string().max(64).refine(isNetwork, 'must be an address or a network such as 10.0.0.0/8'))
    .max(100)
    .default([])
    .describe('Source networks that may use the key; empty to allow all'),
  expiresAt: z.iso.datetime().nullable().default(null),
  requestsPerSecond: z
    .int()
    .min(1)
    .max(1_000_000)
    .nullable()
    .default(null)
    .describe('Limit of this key; `null` for the setting of the installation'),
});

/** A former secret of a rotated key, valid until `validUntil`. */
const PreviousSecret = z.strictObject({
  hash: z.string().length(64),
  prefix: z.string(),
  rotatedAt: z.iso.datetime(),
  validUntil: z.iso.datetime(),
});

/** A credential for ingest. Only the SHA-256 of its secret is stored. */
export const LicenseKey = LicenseKeyFields.extend({
  projectId: z.string(),
  /** Hexadecimal SHA-256 of the key. */
  hash: z.string().length(64),
  /** First characters of the key, for display. */
  prefix: z.string(),
  revokedAt: z.iso.datetime().nullable().default(null),
  /** Newest first. */
  previous: z.array(PreviousSecret).optional(),
});
export type LicenseKey = z.output<typeof LicenseKey>;

export const licenseKeys = defineCollection<LicenseKey>({
  name: 'license-keys',
  uniqueEverywhere: [['hash']],
  indexes: [['prefix'], ['projectId']],
});

/** Returns the stored fields of a key's secret. */
export const toSecretFields = (key: string): Pick<LicenseKey, 'hash' | 'prefix'> => ({
  hash: createHash('sha256').update(key).digest('hex'),
  prefix: displayPrefix(key),
});

/**
 * Returns the stored fields of a new key for all telemetry signals, from any address, under the installation's limits.
 */
export const buildLicenseKey = (
  key: string,
  fields: Pick<LicenseKey, 'name' | 'projectId' | 'expiresAt'>,
): LicenseKey => ({
  ...fields,
  ...toSecretFields(key),
  signals: [...signals],
  allowedCidrs: [],
  revokedAt: null,
  requestsPerSecond: null,
});
