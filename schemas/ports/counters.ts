/** The counters port: limits and brief caches. In memory, or Redis; when Redis is gone, limits count per instance. */

/** A token bucket: `rate` tokens a second, at most `burst` at once. */
export interface Bucket {
  readonly rate: number;
  readonly burst: number;
}

export interface Counters {
  /**
   * Takes up to `wanted` tokens. `granted` may be less, down to 0; then `retryAfterMs` says when at least one will be there.
   * Callers on hot paths take several at once and spend them locally.
   */
  consume(
    key: string,
    bucket: Bucket,
    amount: number,
  ): Promise<{ readonly granted: number; readonly retryAfterMs: number }>;
  /**
   * Adds to a counter that begins anew every `windowMs` (aligned to the epoch) and never passes `limit`. Answers what was granted,
   * which is what was added (all, or as much as fits), the counter after it, and the time to the next window. A negative amount gives back.
   */
  spend(
    key: string,
    limit: number,
    windowMs: number,
    amount: number,
  ): Promise<{ readonly granted: number; readonly used: number; readonly resetMs: number }>;
  cached(key: string): Promise<string | undefined>;
  cache(key: string, value: string, ttlMs: number): Promise<void>;
  /** True when the shared store cannot be reached and counts are this instance's alone. */
  degraded(): boolean;
  close(): Promise<void>;
}
