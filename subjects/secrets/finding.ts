/** What is stored of a secret: never its text. */
import { createHmac, hash } from 'node:crypto';
import type { SecretMatch } from './scan.ts';

const fingerprintLength = 24;
const maxPreviewLength = 4;

/**
 * Returns the HMAC by which a secret is recognized again in the same organization. It cannot be computed without the key
 * of the installation.
 */
export const computeFingerprint = (key: string, tenantId: string, secret: string): string =>
  createHmac('sha256', key).update(`${tenantId}\n${secret}`).digest('hex').slice(0, fingerprintLength);

/** Returns the beginning of a secret: at most a quarter of it, and at most four characters. */
export const createPreview = (secret: string): string =>
  secret.slice(0, Math.min(maxPreviewLength, Math.floor(secret.length / 4)));

/** Returns the SHA-256 of a key of this platform, which its document has too; empty for other secrets. */
export const hashOwnKey = ({ rule, secret }: Pick<SecretMatch, 'rule' | 'secret'>): string =>
  rule.keyFormat === undefined ? '' : hash('sha256', secret);
