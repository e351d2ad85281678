import type { Clock } from '../../schemas/ports/clock.ts';
import type { Bucket, Counters } from '../../schemas/ports/counters.ts';
import type { Settings } from '../../schemas/settings.ts';
import { getSubscriberRange } from '../../schemas/source-address.ts';
import type { Caller } from '../callers/caller.ts';
import { rateLimited } from '../errors.ts';
import type { Operation } from './operation.ts';

/** Burst, in seconds of the caller's rate: a page sends many requests when it is opened. */
const burstSeconds = 5;
/** How long tokens are leased locally, so that a busy caller does not access the shared counters for every request. */
const leaseMs = 100;
const maxLeases = 10_000;

interface Lease {
  tokens: number;
  until: number;
  deniedUntil: number;
  /** Number of tokens to lease next. Doubles each time a lease was used up early. */
  size: number;
}

/** Properties of an operation that determine its rate limit. */
export type Limited = Pick<Operation, 'limit' | 'operationId'>;

/** Counts requests before they are handled. Each method throws `RATE_LIMITED` above its limit. */
export interface RequestLimits {
  /** Counts a request of an authenticated caller. */
  caller(caller: Caller, operation: Limited): Promise<void> | undefined;
  /** Counts a request of an operation without a session. */
  anonymous(address: string, operation: Limited): Promise<void> | undefined;
  /** Counts a request without valid credentials. */
  refused(address: string): Promise<void> | undefined;
  /**
   * Throws while an address exceeds its limit of requests without valid credentials. It does not count the request. Call
   * it before a lookup in the store.
   */
  beforeLookup(address: string): void;
}

type LimitSettings = Pick<Settings, 'API_REQUESTS_PER_SECOND' | 'API_ANONYMOUS_REQUESTS_PER_SECOND'>;

export const createRequestLimits = (counters: Counters, clock: Clock, settings: LimitSettings): RequestLimits => {
  const leases = new Map<string, Lease>();
  const createBucket = (rate: number): Bucket => ({ rate, burst: rate * burstSeconds });
  const callerBucket = createBucket(settings.API_REQUESTS_PER_SECOND);
  const addressBucket = createBucket(settings.API_ANONYMOUS_REQUESTS_PER_SECOND);

  const getLease = (key: string): Lease => {
    const known = leases.get(key);
    if (known !== undefined) return known;
    if (leases.size >= maxLeases)
      for (const [each, { until, deniedUntil }] of leases)
        if (Math.max(until, deniedUntil) < clock.now()) leases.delete(each);
    if (leases.size >= maxLeases) leases.clear();
    const made = { tokens: 0, until: 0, deniedUntil: 0, size: 1 };
    leases.set(key, made);
    return made;
  };

  const refill = async (key: string, bucket: Bucket, lease: Lease): Promise<void> => {
    const isUsedUpEarly = clock.now() < lease.until;
    lease.size = isUsedUpEarly ? Math.max(1, Math.min(lease.size * 2, Math.floor((bucket.rate * leaseMs) / 1000))) : 1;
    const { granted, retryAfterMs } = await counters.consume(`api/${key}`, bucket, lease.size);
    const now = clock.now();
    if (granted < 1) {
      lease.deniedUntil = now + retryAfterMs;
      throw tooManyError(retryAfterMs);
    }
    if (now >= lease.until) lease.tokens = 0;
    lease.tokens += granted - 1;
    lease.until = now + leaseMs;
  };

  const count = (key: string, bucket: Bucket): Promise<void> | undefined => {
    const lease = getLease(key);
    const now = clock.now();
    if (lease.tokens > 0 && now < lease.until) {
      lease.tokens--;
      return undefined;
    }
    if (now < lease.deniedUntil) throw tooManyError(lease.deniedUntil - now);
    return refill(key, bucket, lease);
  };

  const countRequest = (
    subjectKey: string,
    defaultBucket: Bucket,
    { limit, operationId }: Limited,
  ): Promise<void> | undefined =>
    limit === undefined ? count(subjectKey, defaultBucket) : count(`${subjectKey}/${operationId}`, limit);

  return {
    caller: ({ actor }, operation) => countRequest(`${actor.type}/${actor.id}`, callerBucket, operation),
    anonymous: (address, operation) => countRequest(`address/${getSubscriberRange(address)}`, addressBucket, operation),
    refused: (address) => count(refusedKey(address), addressBucket),
    beforeLookup(address) {
      const { deniedUntil = 0 } = leases.get(refusedKey(address)) ?? {};
      if (clock.now() < deniedUntil) throw tooManyError(deniedUntil - clock.now());
    },
  };
};

const refusedKey = (address: string): string => `refused/${getSubscriberRange(address)}`;

const tooManyError = (retryAfterMs: number): Error => rateLimited('too many requests; wait a moment', retryAfterMs);
