import { createHash } from 'node:crypto';
import type { Bucket } from '../../schemas/ports/counters.ts';
import { subscriberOf } from '../../schemas/source-address.ts';
import { rateLimited } from '../kernel/errors.ts';
import type { Ports } from '../kernel/ports.ts';

/** Wrong attempts at one account from one address: ten without a wait, then ever slower. Nobody elsewhere notices. */
const ofPair = [
  { limit: 10, windowMs: 60_000 },
  { limit: 40, windowMs: 15 * 60_000 },
] as const;

/** Attempts at any account from one address, right ones too, are a tenth of all its requests; more of them at once, since people come in the morning. */
const ofAddress = (requestsPerSecond: number): Bucket => ({
  rate: requestsPerSecond / 10,
  burst: requestsPerSecond * 3,
});

/** One try of a password. */
export interface Attempt {
  /** It was right, and so does not count. */
  succeeded(): Promise<void>;
}

/** Counts an attempt before it is made, so that many at once count too. Throws `RATE_LIMITED` above the limits. */
export const countAttempt = async (
  { counters, settings }: Pick<Ports, 'counters' | 'settings'>,
  address: string,
  email: string,
): Promise<Attempt> => {
  const from = subscriberOf(address);
  const pair = createHash('sha256').update(`${from}\n${email}`).digest('base64url');
  const keyOf = (windowMs: number): string => `sign-in/${windowMs}/${pair}`;
  const byAddress = await counters.take(`sign-in/${from}`, ofAddress(settings.API_ANONYMOUS_REQUESTS_PER_SECOND), 1);
  if (byAddress.granted < 1) throw tooMany(byAddress.retryAfterMs);

  const spent = await Promise.all(
    ofPair.map(async ({ limit, windowMs }) => {
      const { granted, resetMs } = await counters.spend(keyOf(windowMs), limit, windowMs, 1);
      return { windowMs, granted, resetMs };
    }),
  );
  const giveBack = async (): Promise<void> => {
    const counted = spent.filter(({ granted }) => granted > 0);
    await Promise.all(
      counted.map(({ windowMs }) => counters.spend(keyOf(windowMs), Number.MAX_SAFE_INTEGER, windowMs, -1)),
    );
  };
  const refused = spent.filter(({ granted }) => granted < 1);
  if (refused.length > 0) {
    // What was not tried does not count; else waiting would never end.
    await giveBack();
    throw tooMany(Math.max(...refused.map(({ resetMs }) => resetMs)));
  }
  return { succeeded: giveBack };
};

const tooMany = (retryAfterMs: number): Error =>
  rateLimited('too many attempts to sign in; wait a moment', retryAfterMs);
