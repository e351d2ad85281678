import { createHash } from 'node:crypto';
import { z } from 'zod';
import { defineCollection } from '../documents.ts';
import { displayPrefix } from '../license-key-format.ts';
import { signals } from '../topics.ts';

/** A credential that authenticates ingest. Only its SHA-256 is kept. */
export const LicenseKey = z.strictObject({
  name: z.string().min(1).max(256),
  projectId: z.string(),
  /** Hex SHA-256 of the key. */
  hash: z.string().length(64),
  /** First characters, for people. */
  prefix: z.string(),
  signals: z.array(z.enum(signals)),
  /** Source networks that may use it; empty allows all. */
  allowedCidrs: z.array(z.string()).default([]),
  expiresAt: z.iso.datetime().nullable().default(null),
  revokedAt: z.iso.datetime().nullable().default(null),
  /** Requests a second for this key alone; null takes the installation's setting. */
  requestsPerSecond: z.int().positive().nullable().default(null),
});
export type LicenseKey = z.output<typeof LicenseKey>;

export const licenseKeys = defineCollection<LicenseKey>({
  name: 'license-keys',
  uniqueEverywhere: [['hash']],
  indexes: [['prefix']],
});

/** What is stored of a new key that may send every signal, from anywhere, under the installation's limits. */
export const licenseKeyFields = (
  key: string,
  fields: Pick<LicenseKey, 'name' | 'projectId' | 'expiresAt'>,
): LicenseKey => ({
  ...fields,
  hash: createHash('sha256').update(key).digest('hex'),
  prefix: displayPrefix(key),
  signals: [...signals],
  allowedCidrs: [],
  revokedAt: null,
  requestsPerSecond: null,
});
