import { hash } from 'node:crypto';

/** An id of 32 characters that follows from these values: the same ones give the same id, in any process. */
export const hashOf = (...parts: readonly unknown[]): string =>
  hash('sha256', JSON.stringify(parts), 'hex').slice(0, 32);
