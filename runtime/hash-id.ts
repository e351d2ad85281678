import { hash } from 'node:crypto';

/** Returns a deterministic 32-character ID of these values. Equal values give the same ID in any process. */
export const computeHashId = (...parts: readonly unknown[]): string =>
  hash('sha256', JSON.stringify(parts), 'hex').slice(0, 32);
