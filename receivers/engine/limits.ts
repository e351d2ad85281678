/** Request limits of the plan: two rates for each bucket, one for each key. */
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Bucket, Counters } from '../../schemas/ports/counters.ts';
import type { Plan } from '../../schemas/resources/plan.ts';
import { createErrorResponse, type ErrorResponse } from './error-responses.ts';
import type { Caller } from './keyring.ts';
import { type GrantTokens, TokenLease } from './token-lease.ts';

const minuteMs = 60_000;
/**
 * Validity of leased tokens. The bucket refills meanwhile, so the burst can be exceeded by the refill of this time: 5 %
 * of the plan's burst.
 */
const leaseMs = 100;
const maxCachedBuckets = 10_000;
const failedAuthentication: Bucket = { rate: 50, burst: 200 };
const heartbeatBucket: Bucket = { rate: 10, burst: 100 };

interface BucketLeases {
  readonly limits: Plan['limits'];
  readonly second: TokenLease;
  readonly minute: TokenLease;
}

const accountRate = createErrorResponse('rate-limited', 'too many requests a second for this account', 1);
const accountMinute = createErrorResponse('rate-limited', 'too many requests a minute for this account', 60);
const keyRate = createErrorResponse('rate-limited', 'too many requests a second for this license key', 1);
const tooManyFailures = createErrorResponse(
  'rate-limited',
  'too many requests with an unknown license key from this address',
  1,
);

/** Returns the largest lease that a rate can use within `leaseMs`. */
const computeMaxLease = (rate: number): number => Math.max(1, Math.floor((rate * leaseMs) / 1000));

export class Limits {
  readonly #counters: Counters;
  readonly #clock: Clock;
  readonly #keyRequestsPerSecond: number;
  readonly #buckets = new Map<string, BucketLeases>();
  readonly #keys = new Map<string, { readonly rate: number; readonly tokens: TokenLease }>();
  readonly #failures = new Map<string, TokenLease>();
  readonly #heartbeats = new Map<string, TokenLease>();

  constructor(counters: Counters, clock: Clock, keyRequestsPerSecond: number) {
    this.#counters = counters;
    this.#clock = clock;
    this.#keyRequestsPerSecond = keyRequestsPerSecond;
  }

  /**
   * Counts one request of the bucket (a license key or an address) and of the key. Returns undefined within all limits.
   */
  countRequest(bucket: string, caller: Caller): ErrorResponse | undefined | Promise<ErrorResponse | undefined> {
    const key = this.#getKeyLease(caller).acquire();
    const { second, minute } = this.#getBucketLeases(bucket, caller.limits);
    const secondGranted = second.acquire();
    const minuteGranted = minute.acquire();
    if (key === true && secondGranted === true && minuteGranted === true) return undefined;
    return this.#settle(bucket, caller, [key, secondGranted, minuteGranted]);
  }

  /** Counts a failed authentication of an address. */
  countFailure(source: string): ErrorResponse | undefined | Promise<ErrorResponse | undefined> {
    let tokens = this.#failures.get(source);
    if (tokens === undefined) {
      this.#forgetIdle(this.#failures, (tokenLease) => tokenLease);
      tokens = new TokenLease(
        this.#createBucketGrant(`ingest/failures/${source}`, failedAuthentication),
        this.#clock,
        1,
      );
      this.#failures.set(source, tokens);
    }
    const granted = tokens.acquire();
    if (typeof granted === 'boolean') return granted ? undefined : tooManyFailures;
    return granted.then((isWithinLimit) => (isWithinLimit ? undefined : tooManyFailures));
  }

  /** Counts a heartbeat. Returns whether it is within its limit. */
  countHeartbeat(countHeartbeat: string): boolean | Promise<boolean> {
    let tokens = this.#heartbeats.get(countHeartbeat);
    if (tokens === undefined) {
      this.#forgetIdle(this.#heartbeats, (tokenLease) => tokenLease);
      tokens = new TokenLease(
        this.#createBucketGrant(`ingest/beats/${countHeartbeat}`, heartbeatBucket),
        this.#clock,
        1,
      );
      this.#heartbeats.set(countHeartbeat, tokens);
    }
    return tokens.acquire();
  }

  async #settle(
    bucket: string,
    caller: Caller,
    pending: readonly (boolean | Promise<boolean>)[],
  ): Promise<ErrorResponse | undefined> {
    const [isWithinKey, isWithinSecond, isWithinMinute] = await Promise.all(pending);
    if (isWithinKey && isWithinSecond && isWithinMinute) return undefined;
    // A rejected request must not use up the limits that would have admitted it.
    const { second, minute } = this.#getBucketLeases(bucket, caller.limits);
    if (isWithinKey) this.#getKeyLease(caller).returnTokens();
    if (isWithinSecond) second.returnTokens();
    if (isWithinMinute) minute.returnTokens();
    if (!isWithinMinute) return accountMinute;
    return isWithinSecond ? keyRate : accountRate;
  }

  #getBucketLeases(bucket: string, limits: Plan['limits']): BucketLeases {
    const cached = this.#buckets.get(bucket);
    // Plans are replaced as objects when they change, so a reference comparison detects a change.
    if (cached !== undefined && cached.limits === limits) return cached;
    this.#forgetIdle(this.#buckets, ({ second }) => second);
    const rate = { rate: limits.requestsPerSecond, burst: limits.requestsBurst };
    const leases: BucketLeases = {
      limits,
      second: new TokenLease(
        this.#createBucketGrant(`ingest/second/${bucket}`, rate),
        this.#clock,
        computeMaxLease(rate.rate),
      ),
      minute: new TokenLease(
        this.#createWindowGrant(`ingest/minute/${bucket}`, limits.requestsPerMinute, minuteMs),
        this.#clock,
        Math.max(1, Math.floor(limits.requestsPerMinute / 100)),
      ),
    };
    this.#buckets.set(bucket, leases);
    return leases;
  }

  #getKeyLease({ keyId, requestsPerSecond }: Caller): TokenLease {
    const rate = requestsPerSecond ?? this.#keyRequestsPerSecond;
    const cached = this.#keys.get(keyId);
    if (cached !== undefined && cached.rate === rate) return cached.tokens;
    this.#forgetIdle(this.#keys, (each) => each.tokens);
    const grant = this.#createBucketGrant(`ingest/key/${keyId}`, { rate, burst: rate });
    const tokens = new TokenLease(grant, this.#clock, computeMaxLease(rate));
    this.#keys.set(keyId, { rate, tokens });
    return tokens;
  }

  #createBucketGrant(key: string, bucket: Bucket): GrantTokens {
    return async (amount) => {
      const { granted, retryAfterMs } = await this.#counters.consume(key, bucket, amount);
      return { granted, retryAfterMs, validMs: leaseMs };
    };
  }

  #createWindowGrant(key: string, limit: number, windowMs: number): GrantTokens {
    return async (amount) => {
      const { granted, resetMs } = await this.#counters.spend(key, limit, windowMs, amount);
      return { granted, retryAfterMs: resetMs, validMs: resetMs };
    };
  }

  #forgetIdle<Entry>(map: Map<string, Entry>, getLease: (entry: Entry) => TokenLease): void {
    if (map.size < maxCachedBuckets) return;
    const idleSince = this.#clock.now() - minuteMs;
    for (const [key, held] of map) if (getLease(held).usedAt < idleSince) map.delete(key);
    if (map.size >= maxCachedBuckets) map.clear();
  }
}
