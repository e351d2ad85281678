import { createHash } from 'node:crypto';
import type { Bucket } from '../../schemas/ports/counters.ts';
import { getSubscriberRange } from '../../schemas/source-address.ts';
import { createRateLimitError } from '../errors.ts';
import { countInWindows } from './attempt-windows.ts';
import type { IdentityPorts } from './ports.ts';

/**
 * Limits of wrong attempts on one account from one address: ten without a wait, then increasingly slower. Other
 * addresses are not affected.
 */
const pairWindows = [
  { limit: 10, windowMs: 60_000 },
  { limit: 40, windowMs: 15 * 60_000 },
] as const;

/**
 * Limit of attempts on all accounts from one address, including successful ones: a tenth of its request limit, with a
 * larger burst, because many people sign in at the same time in the morning.
 */
const createAddressLimit = (requestsPerSecond: number): Bucket => ({
  rate: requestsPerSecond / 10,
  burst: requestsPerSecond * 3,
});

/**
 * Limit of attempts on one account from all addresses that never signed in to it: an attacker with very many addresses
 * can try 9,000 passwords a day. A user who signs in from a known address is not affected.
 */
const unknownAddressLimit: Bucket = { rate: 1 / 10, burst: 100 };
const knownAddressMs = 90 * 86_400_000;

/** An attempt to sign in with a password. */
export interface SignInAttempt {
  /** Reports success: the attempt does not count, and the address is known for the account from now on. */
  reportSuccess(): Promise<void>;
}

/**
 * Counts an attempt before it is made, so that concurrent attempts count too. Throws `RATE_LIMITED` above the limits.
 */
export const countSignInAttempt = async (
  { counters, settings }: Pick<IdentityPorts, 'counters' | 'settings'>,
  address: string,
  email: string,
): Promise<SignInAttempt> => {
  const source = getSubscriberRange(address);
  const sourceAndAccount = createHash('sha256').update(`${source}\n${email}`).digest('base64url');
  const addressResult = await counters.consume(
    `sign-in/${source}`,
    createAddressLimit(settings.API_ANONYMOUS_REQUESTS_PER_SECOND),
    1,
  );
  if (addressResult.granted < 1) throw createTooManyAttemptsError(addressResult.retryAfterMs);

  const { waitsMs, undo } = await countInWindows(
    counters,
    pairWindows.map(({ limit, windowMs }) => ({ key: `sign-in/${windowMs}/${sourceAndAccount}`, limit, windowMs })),
  );
  const knownAddressKey = `signed-in/${sourceAndAccount}`;
  if (waitsMs.length === 0 && (await counters.getCached(knownAddressKey)) === undefined) {
    const account = createHash('sha256').update(email).digest('base64url');
    const { granted, retryAfterMs } = await counters.consume(`sign-in-strangers/${account}`, unknownAddressLimit, 1);
    if (granted < 1) waitsMs.push(retryAfterMs);
  }
  if (waitsMs.length > 0) {
    // Rejected attempts do not count; otherwise the wait would never end.
    await undo();
    throw createTooManyAttemptsError(Math.max(...waitsMs));
  }
  return {
    async reportSuccess() {
      await Promise.all([undo(), counters.setCached(knownAddressKey, '1', knownAddressMs)]);
    },
  };
};

const createTooManyAttemptsError = (retryAfterMs: number): Error =>
  createRateLimitError('too many attempts to sign in; wait a moment', retryAfterMs);
