/** Request limits of the contract: two rates for each bucket, one for each key. */
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Bucket, Counters } from '../../schemas/ports/counters.ts';
import type { Plan } from '../../schemas/resources/plan.ts';
import type { Caller } from './keyring.ts';
import { createRefusal, type Refusal } from './refusal.ts';
import { type Grant, TokenLease } from './token-lease.ts';

const minuteMs = 60_000;
/**
 * Validity of leased tokens. The bucket refills meanwhile, so the burst can be exceeded by the refill of this time: 5 %
 * of the contract's burst.
 */
const leaseMs = 100;
const rememberedBuckets = 10_000;
const failedAuthentication: Bucket = { rate: 50, burst: 200 };
const heartbeatBucket: Bucket = { rate: 10, burst: 100 };

interface BucketLeases {
  readonly limits: Plan['limits'];
  readonly second: TokenLease;
  readonly minute: TokenLease;
}

const accountRate = createRefusal('rate-limited', 'too many requests a second for this account', 1);
const accountMinute = createRefusal('rate-limited', 'too many requests a minute for this account', 60);
const keyRate = createRefusal('rate-limited', 'too many requests a second for this license key', 1);
const tooManyFailures = createRefusal(
  'rate-limited',
  'too many requests with an unknown license key from this address',
  1,
);

/** Returns the largest lease that a rate can use within `leaseMs`. */
const maxLease = (rate: number): number => Math.max(1, Math.floor((rate * leaseMs) / 1000));

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
  countRequest(bucket: string, caller: Caller): Refusal | undefined | Promise<Refusal | undefined> {
    const key = this.#keyLease(caller).acquire();
    const { second, minute } = this.#bucket(bucket, caller.limits);
    const secondGranted = second.acquire();
    const minuteGranted = minute.acquire();
    if (key === true && secondGranted === true && minuteGranted === true) return undefined;
    return this.#settle(bucket, caller, [key, secondGranted, minuteGranted]);
  }

  /** Counts a failed authentication of an address. */
  countFailure(source: string): Refusal | undefined | Promise<Refusal | undefined> {
    let tokens = this.#failures.get(source);
    if (tokens === undefined) {
      this.#forgetIdle(this.#failures, (each) => each);
      tokens = new TokenLease(this.#consumeFrom(`ingest/failures/${source}`, failedAuthentication), this.#clock, 1);
      this.#failures.set(source, tokens);
    }
    const granted = tokens.acquire();
    if (typeof granted === 'boolean') return granted ? undefined : tooManyFailures;
    return granted.then((within) => (within ? undefined : tooManyFailures));
  }

  /** Counts a heartbeat. Returns whether it is within its limit. */
  heartbeat(heartbeat: string): boolean | Promise<boolean> {
    let tokens = this.#heartbeats.get(heartbeat);
    if (tokens === undefined) {
      this.#forgetIdle(this.#heartbeats, (each) => each);
      tokens = new TokenLease(this.#consumeFrom(`ingest/beats/${heartbeat}`, heartbeatBucket), this.#clock, 1);
      this.#heartbeats.set(heartbeat, tokens);
    }
    return tokens.acquire();
  }

  async #settle(
    bucket: string,
    caller: Caller,
    pending: readonly (boolean | Promise<boolean>)[],
  ): Promise<Refusal | undefined> {
    const [inKey, inSecond, inMinute] = await Promise.all(pending);
    if (inKey && inSecond && inMinute) return undefined;
    // A refused request must not use up the limits that would have admitted it.
    const { second, minute } = this.#bucket(bucket, caller.limits);
    if (inKey) this.#keyLease(caller).returnTokens();
    if (inSecond) second.returnTokens();
    if (inMinute) minute.returnTokens();
    if (!inMinute) return accountMinute;
    return inSecond ? keyRate : accountRate;
  }

  #bucket(bucket: string, limits: Plan['limits']): BucketLeases {
    const known = this.#buckets.get(bucket);
    // Plans are replaced as objects when they change, so a reference comparison detects a change.
    if (known !== undefined && known.limits === limits) return known;
    this.#forgetIdle(this.#buckets, ({ second }) => second);
    const rate = { rate: limits.requestsPerSecond, burst: limits.requestsBurst };
    const leases: BucketLeases = {
      limits,
      second: new TokenLease(this.#consumeFrom(`ingest/second/${bucket}`, rate), this.#clock, maxLease(rate.rate)),
      minute: new TokenLease(
        this.#spend(`ingest/minute/${bucket}`, limits.requestsPerMinute, minuteMs),
        this.#clock,
        Math.max(1, Math.floor(limits.requestsPerMinute / 100)),
      ),
    };
    this.#buckets.set(bucket, leases);
    return leases;
  }

  #keyLease({ keyId, requestsPerSecond }: Caller): TokenLease {
    const rate = requestsPerSecond ?? this.#keyRequestsPerSecond;
    const known = this.#keys.get(keyId);
    if (known !== undefined && known.rate === rate) return known.tokens;
    this.#forgetIdle(this.#keys, (each) => each.tokens);
    const grant = this.#consumeFrom(`ingest/key/${keyId}`, { rate, burst: rate });
    const tokens = new TokenLease(grant, this.#clock, maxLease(rate));
    this.#keys.set(keyId, { rate, tokens });
    return tokens;
  }

  #consumeFrom(key: string, bucket: Bucket): Grant {
    return async (amount) => {
      const { granted, retryAfterMs } = await this.#counters.consume(key, bucket, amount);
      return { granted, retryAfterMs, validMs: leaseMs };
    };
  }

  #spend(key: string, limit: number, windowMs: number): Grant {
    return async (amount) => {
      const { granted, resetMs } = await this.#counters.spend(key, limit, windowMs, amount);
      return { granted, retryAfterMs: resetMs, validMs: resetMs };
    };
  }

  #forgetIdle<Held>(map: Map<string, Held>, leaseIn: (held: Held) => TokenLease): void {
    if (map.size < rememberedBuckets) return;
    const before = this.#clock.now() - minuteMs;
    for (const [key, held] of map) if (leaseIn(held).usedAt < before) map.delete(key);
    if (map.size >= rememberedBuckets) map.clear();
  }
}
