/**
 * The key of fingerprints of secrets, which is derived from the installation's secret key. It is set before the threads
 * of processors start, and they inherit it.
 */
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import type { SecretBox } from './secret-box.ts';

const environmentName = 'oiq.fingerprint-key';

/** Returns the key of fingerprints of an installation. */
export const deriveFingerprintKey = (secretBox: Pick<SecretBox, 'derive'>): string =>
  secretBox.derive('secret-fingerprint', '').toString('hex');

/** Sets the key for this thread, and for threads that it starts from now on. */
export const setFingerprintKey = (key: string): void => setEnvironmentData(environmentName, key);

/** Throws if the key was not set. */
export const getFingerprintKey = (): string => {
  const key = getEnvironmentData(environmentName);
  if (typeof key !== 'string') throw new Error('the key of fingerprints is not set');
  return key;
};
