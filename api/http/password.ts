import { hash, verify } from '@node-rs/argon2';
import { UnavailableError } from '../../schemas/errors.ts';

/** argon2id, as OWASP's ASVS asks at least: 46 MiB, one pass, one lane. Kept in each hash, so that they may rise. */
const parameters = { memoryCost: 47_104, timeCost: 1, parallelism: 1 } as const;

/** PHC string of a password. */
export const hashPassword = (password: string): Promise<string> => hash(password, parameters);

/** Checks passwords, a few at a time: each takes tens of milliseconds of a core and 46 MiB. */
export interface Passwords {
  /** False for a wrong password, and after the same time where there is no hash to check against. */
  verify(passwordHash: string | null | undefined, password: string): Promise<boolean>;
}

const atOnce = 2;
const maxWaiting = 64;

export const openPasswords = async (): Promise<Passwords> => {
  const nobodys = await hashPassword(crypto.randomUUID());
  const waiting: (() => void)[] = [];
  let running = 0;
  const turn = async (): Promise<void> => {
    if (running >= atOnce) {
      if (waiting.length >= maxWaiting)
        throw new UnavailableError('too many people are signing in at this moment', { retryAfterSeconds: 2 });
      await new Promise<void>((go) => waiting.push(go));
    }
    running++;
  };
  return {
    async verify(passwordHash, password) {
      await turn();
      try {
        const matches = await verify(passwordHash ?? nobodys, password);
        return matches && typeof passwordHash === 'string';
      } finally {
        running--;
        waiting.shift()?.();
      }
    },
  };
};
