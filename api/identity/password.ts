import { hash, verify } from '@node-rs/argon2';
import { z } from 'zod';
import { UnavailableError } from '../../schemas/errors.ts';

/**
 * argon2id with the minimum of OWASP's ASVS: 46 MiB, one pass, one lane. Each hash contains its parameters, so they can
 * be raised.
 */
const hashParameters = { memoryCost: 47_104, timeCost: 1, parallelism: 1 } as const;

/** A password chosen by a user. Only its length is checked here; any character is allowed. */
export const NewPassword = z.string().min(12, 'must have at least 12 characters').max(1024);

/** Returns the PHC string of a password. */
export const hashPassword = (password: string): Promise<string> => hash(password, hashParameters);

/** Verifies and hashes passwords, at most two at a time: each takes tens of milliseconds of a CPU core and 46 MiB. */
export interface Passwords {
  /** Returns false for a wrong password; without a hash, it takes the same time and returns false. */
  verify(passwordHash: string | null | undefined, password: string): Promise<boolean>;
  hash(password: string): Promise<string>;
  /** Whether a hash has weaker parameters than the current ones; the next sign-in with the password replaces it. */
  isOutdated(passwordHash: string): boolean;
}

const maxConcurrent = 2;
const maxWaiting = 64;

/** A password hash function. */
export interface PasswordAlgorithm {
  hash(password: string): Promise<string>;
  verify(passwordHash: string, password: string): Promise<boolean>;
}

/** Creates the password service. `algorithm` is argon2id, except in tests that count computations. */
export const createPasswords = async (
  algorithm: PasswordAlgorithm = {
    hash: hashPassword,
    verify: (passwordHash, password) => verify(passwordHash, password),
  },
): Promise<Passwords> => {
  const dummyHash = await algorithm.hash(crypto.randomUUID());
  const queuedStarts: (() => void)[] = [];
  let runningCount = 0;
  const runQueued = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (runningCount >= maxConcurrent) {
      if (queuedStarts.length >= maxWaiting)
        throw new UnavailableError('too many people are signing in; try again in a moment', { retryAfterSeconds: 2 });
      await new Promise<void>((start) => queuedStarts.push(start));
    }
    runningCount++;
    try {
      return await work();
    } finally {
      runningCount--;
      queuedStarts.shift()?.();
    }
  };
  return {
    async verify(passwordHash, password) {
      const matches = await runQueued(() => algorithm.verify(passwordHash ?? dummyHash, password));
      return matches && typeof passwordHash === 'string';
    },
    hash: (password) => runQueued(() => algorithm.hash(password)),
    isOutdated(passwordHash) {
      const [, memory, passes] = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=\d+\$/.exec(passwordHash) ?? [];
      return !(Number(memory) >= hashParameters.memoryCost && Number(passes) >= hashParameters.timeCost);
    },
  };
};
