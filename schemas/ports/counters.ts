/**
 * The counters port: limits and short-lived caches. In memory, or Redis. If Redis is unavailable, limits apply per
 * instance.
 */

/** A token bucket: `rate` tokens per second, with bursts of at most `burst`. */
export interface Bucket {
  readonly rate: number;
  readonly burst: number;
}

export interface Counters {
  /**
   * Consumes up to the requested number of tokens. `granted` may be less, down to 0: then `retryAfterMs` is the time
   * until a token is available. Callers on hot paths consume several at once and spend them locally.
   */
  consume(
    key: string,
    bucket: Bucket,
    amount: number,
  ): Promise<{ readonly granted: number; readonly retryAfterMs: number }>;
  /**
   * Adds to a counter that restarts every `windowMs` (aligned to the epoch) and never exceeds `limit`. Returns the
   * amount granted and added (all, or as much as fits), the new counter, and the time to the next window. A negative
   * amount is a refund.
   */
  spend(
    key: string,
    limit: number,
    windowMs: number,
    amount: number,
  ): Promise<{ readonly granted: number; readonly used: number; readonly resetMs: number }>;
  getCached(key: string): Promise<string | undefined>;
  setCached(key: string, value: string, ttlMs: number): Promise<void>;
  /** Returns whether the shared store is unreachable, so that counts are local to this instance. */
  isDegraded(): boolean;
  close(): Promise<void>;
}
