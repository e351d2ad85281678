import { hash, randomInt } from 'node:crypto';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Counters } from '../../schemas/ports/counters.ts';
import type { Documents, StoredMetadata } from '../../schemas/ports/documents.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { User } from '../../schemas/resources/user.ts';
import type { Transact } from '../changes.ts';
import { createToken, invalidateTokens } from './accounts/one-time-tokens.ts';

/** Maximum number of records per address and hour: enough to reveal an attack, too few to flood the audit chain. */
const recordLimit = { limit: 20, windowMs: 3_600_000 };

/** The record is written after a random delay, so that the response times of other requests do not reveal the write. */
const delayMs = { min: 1_000, max: 6_000 };

/** A rejected sign-in, with what is known about the user. */
export interface RejectedSignIn {
  readonly email: string;
  readonly user: (User & StoredMetadata) | undefined;
  /** The organization of the attempted sign-in */
  readonly tenantId: string | undefined;
  readonly change: Transact;
}

/**
 * Records rejected sign-ins as `session.refuse` of the organization, seconds after the response. An unknown address
 * causes a write of the same cost, so that the time does not reveal whether the user exists.
 */
export interface SignInFailures {
  /** Returns immediately. */
  recordRejection(rejectedSignIn: RejectedSignIn): void;
  /** Writes all pending records immediately. */
  close(): Promise<void>;
}

export const createSignInFailures = ({
  counters,
  documents,
  clock,
  log,
}: {
  readonly counters: Counters;
  readonly documents: Documents;
  readonly clock: Clock;
  readonly log: Log;
}): SignInFailures => {
  const pendingWrites = new Map<NodeJS.Timeout, () => Promise<void>>();

  const writeRecord = async ({ email, user, tenantId, change }: RejectedSignIn): Promise<void> => {
    const key = `sign-in-failures/${hash('sha256', email)}`;
    const { granted } = await counters.spend(key, recordLimit.limit, recordLimit.windowMs, 1);
    if (granted < 1) return;
    if (user !== undefined && tenantId !== undefined)
      return change(async ({ record }) =>
        record({ action: 'session.refuse', id: user.id, name: user.email, tenantId }),
      );
    // Write a token without a user, which replaces the previous one: the same cost as a record.
    await documents.transaction(async (scope) => {
      await invalidateTokens(scope, { userId: '' });
      await createToken(scope, {
        purpose: 'reset-password',
        userId: '',
        expiresAt: new Date(clock.now()).toISOString(),
      });
    });
  };

  return {
    recordRejection(rejectedSignIn) {
      const work = (): Promise<void> => {
        pendingWrites.delete(timer);
        clearTimeout(timer);
        return writeRecord(rejectedSignIn).catch((error: unknown) =>
          log.warn({ error }, 'a refused sign-in could not be recorded'),
        );
      };
      const timer = setTimeout(() => void work(), randomInt(delayMs.min, delayMs.max));
      timer.unref();
      pendingWrites.set(timer, work);
    },
    async close() {
      await Promise.all([...pendingWrites.values()].map((work) => work()));
    },
  };
};
