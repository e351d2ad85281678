import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { createFieldError } from '../errors.ts';
import type { GuessesRequest } from './password-guesses-worker.ts';

/** Minimum number of guesses: an attacker with ten guesses per minute from each of 100 addresses needs about two years. */
const minGuesses = 1e9;

/** Returns words that an attacker who knows the address and this product would try first. */
const listKnownWords = (email: string): string[] => {
  const address = email.toLowerCase();
  const [localPart = '', domain = ''] = address.split('@');
  const names = [localPart, domain].flatMap((part) => part.split(/[^\p{L}\p{N}]+/u)).filter(({ length }) => length > 2);
  return [address, localPart, domain, ...names, 'oiq', 'observability', 'opentelemetry', 'prometheus', 'monitoring'];
};

/**
 * Returns the estimated number of guesses for a password, computed by zxcvbn. Its thread does not belong to a
 * `WorkerPool`, because it ends after the estimate and releases the memory of the dictionaries.
 */
const estimateGuesses = async (password: string, email: string): Promise<number> => {
  const workerData: GuessesRequest = { password, knownWords: listKnownWords(email) };
  const worker = new Worker(new URL('./password-guesses-worker.ts', import.meta.url), { workerData });
  try {
    const [guesses] = await once(worker, 'message');
    return guesses as number;
  } finally {
    await worker.terminate();
  }
};

/** Throws `VALIDATION_FAILED` for a password that is easy to guess. Its schema checks the length. */
export const requireHardToGuess = async (password: string, email: string, path = 'password'): Promise<void> => {
  if ((await estimateGuesses(password, email)) >= minGuesses) return;
  throw createFieldError(
    path,
    'is easy to guess: it is common, repeats itself, or contains the address or the name of this product; choose another, such as four unrelated words',
  );
};
