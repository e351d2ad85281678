import type { Clock } from '../../schemas/ports/clock.ts';
import type { Bucket, Counters } from '../../schemas/ports/counters.ts';
import type { Settings } from '../../schemas/settings.ts';
import { getSubscriberRange } from '../../schemas/source-address.ts';
import type { Caller } from '../callers/caller.ts';
import { createRateLimitError } from '../errors.ts';
import type { Operation } from './operation.ts';

/** Burst, in seconds of the caller's rate: a page sends many requests when it is opened. */
const burstSeconds = 5;
/** How long tokens are leased locally, so that a busy caller does not access the shared counters for every request. */
const leaseMs = 100;
const maxLeases = 10_000;

interface Lease {
  tokens: number;
  expiresAtMs: number;
  deniedUntilMs: number;
  /** Number of tokens to lease next. Doubles whenever a lease is used up early. */
  size: number;
}

/** Properties of an operation that determine its rate limit. */
export type RateLimitedOperation = Pick<Operation, 'limit' | 'operationId'>;

/** Counts requests before they are handled. Each method throws `RATE_LIMITED` above its limit. */
export interface RequestLimits {
  /** Counts a request of an authenticated caller. */
  countCaller(countCaller: Caller, operation: RateLimitedOperation): Promise<void> | undefined;
  /** Counts a request of an operation without a session. */
  countAnonymous(address: string, operation: RateLimitedOperation): Promise<void> | undefined;
  /** Counts a request without valid credentials. */
  countUnauthenticated(address: string): Promise<void> | undefined;
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
    const existingLease = leases.get(key);
    if (existingLease !== undefined) return existingLease;
    if (leases.size >= maxLeases)
      for (const [leaseKey, { expiresAtMs, deniedUntilMs }] of leases)
        if (Math.max(expiresAtMs, deniedUntilMs) < clock.now()) leases.delete(leaseKey);
    if (leases.size >= maxLeases) leases.clear();
    const newLease = { tokens: 0, expiresAtMs: 0, deniedUntilMs: 0, size: 1 };
    leases.set(key, newLease);
    return newLease;
  };

  const refill = async (key: string, bucket: Bucket, lease: Lease): Promise<void> => {
    const isUsedUpEarly = clock.now() < lease.expiresAtMs;
    lease.size = isUsedUpEarly ? Math.max(1, Math.min(lease.size * 2, Math.floor((bucket.rate * leaseMs) / 1000))) : 1;
    const { granted, retryAfterMs } = await counters.consume(`api/${key}`, bucket, lease.size);
    const now = clock.now();
    if (granted < 1) {
      lease.deniedUntilMs = now + retryAfterMs;
      throw createTooManyRequestsError(retryAfterMs);
    }
    if (now >= lease.expiresAtMs) lease.tokens = 0;
    lease.tokens += granted - 1;
    lease.expiresAtMs = now + leaseMs;
  };

  const count = (key: string, bucket: Bucket): Promise<void> | undefined => {
    const lease = getLease(key);
    const now = clock.now();
    if (lease.tokens > 0 && now < lease.expiresAtMs) {
      lease.tokens--;
      return undefined;
    }
    if (now < lease.deniedUntilMs) throw createTooManyRequestsError(lease.deniedUntilMs - now);
    return refill(key, bucket, lease);
  };

  const countRequest = (
    subjectKey: string,
    defaultBucket: Bucket,
    { limit, operationId }: RateLimitedOperation,
  ): Promise<void> | undefined =>
    limit === undefined ? count(subjectKey, defaultBucket) : count(`${subjectKey}/${operationId}`, limit);

  return {
    countCaller: ({ actor }, operation) => countRequest(`${actor.type}/${actor.id}`, callerBucket, operation),
    countAnonymous: (address, operation) =>
      countRequest(`address/${getSubscriberRange(address)}`, addressBucket, operation),
    countUnauthenticated: (address) => count(toUnauthenticatedKey(address), addressBucket),
    beforeLookup(address) {
      const { deniedUntilMs = 0 } = leases.get(toUnauthenticatedKey(address)) ?? {};
      if (clock.now() < deniedUntilMs) throw createTooManyRequestsError(deniedUntilMs - clock.now());
    },
  };
};

const toUnauthenticatedKey = (address: string): string => `refused/${getSubscriberRange(address)}`;

const createTooManyRequestsError = (retryAfterMs: number): Error =>
  createRateLimitError('too many requests; wait a moment', retryAfterMs);
