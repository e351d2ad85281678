import { createHash } from 'node:crypto';
import { z } from 'zod';
import { displayPrefix, isWellFormedBrowserKey } from '../license-key-format.ts';
import { defineCollection } from '../ports/documents.ts';
import { parseNetworks } from '../source-address.ts';
import { type Signal, signals } from '../telemetry-signals.ts';
import { isOriginPattern } from '../web-origin.ts';

const isNetwork = (entry: string): boolean => {
  try {
    parseNetworks([entry]);
    return true;
  } catch {
    return false;
  }
};

const originHint = 'must be an origin such as https://shop.example.com, or https://*.example.com';

export const licenseKeyKinds = ['server', 'browser'] as const;

/** Telemetry signals that browsers send. */
export const browserSignals = ['logs', 'traces'] as const satisfies readonly Signal[];

/** Fields of a license key that callers write. */
export const LicenseKeyFields = z.strictObject({
  name: z.string().min(1).max(256),
  kind: z
    .enum(licenseKeyKinds)
    .default('server')
    .describe('server: a secret for collectors and SDKs; browser: a public key for the pages of an application'),
  application: z
    .string()
    .min(1)
    .max(256)
    .nullable()
    .default(null)
    .describe('`service.name` of the application that a browser key is for; `null` for server keys'),
  origins: z
    .array(z.string().max(256).refine(isOriginPattern, originHint))
    .max(100)
    .default([])
    .describe('Origins of the pages that may use a browser key; empty for server keys'),
  maxBytesPerDay: z
    .int()
    .positive()
    .nullable()
    .default(null)
    .describe('Decompressed bytes that a browser key may send per day (UTC); `null` for no limit of its own'),
  signals: z
    .array(z.enum(signals))
    .min(1)
    .max(signals.length)
    .default([...signals])
    .describe('Telemetry that the key may send; a browser key sends logs and traces only'),
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

/** A credential for ingest. Of a server key only the SHA-256 is stored. */
export const LicenseKey = LicenseKeyFields.extend({
  projectId: z.string(),
  /** The whole key of a browser key, which is public; absent for server keys. */
  publicKey: z.string().optional(),
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
export const toSecretFields = (key: string): Pick<LicenseKey, 'hash' | 'prefix' | 'publicKey'> => ({
  hash: createHash('sha256').update(key).digest('hex'),
  prefix: displayPrefix(key),
  ...(isWellFormedBrowserKey(key) && { publicKey: key }),
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
  kind: 'server',
  application: null,
  origins: [],
  maxBytesPerDay: null,
  signals: [...signals],
  allowedCidrs: [],
  revokedAt: null,
  requestsPerSecond: null,
});
