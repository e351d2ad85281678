/**
 * A limit with leased tokens for the hot path: a few tokens are leased from the shared counters and spent here, so that
 * not every request needs the counters. Leased tokens count as used for all instances, so the total never exceeds the
 * limit; unspent tokens of a lease are dropped.
 */
import type { Clock } from '../../schemas/ports/clock.ts';

/** Requests tokens from the shared counters. A lease ends `validMs` after it was granted. */
export type GrantTokens = (amount: number) => Promise<{ granted: number; retryAfterMs: number; validMs: number }>;

export class TokenLease {
  readonly #grant: GrantTokens;
  readonly #clock: Clock;
  readonly #maxLeaseTokens: number;
  #tokens = 0;
  #validUntil = 0;
  #deniedUntil = 0;
  #leaseSize = 1;
  #pendingRequest: Promise<void> | undefined;
  #waitingTokens = 0;
  usedAt = 0;

  constructor(grant: GrantTokens, clock: Clock, largestLease: number) {
    this.#grant = grant;
    this.#clock = clock;
    this.#maxLeaseTokens = largestLease;
  }

  /** Acquires `amount` tokens or none. Returns synchronously while the lease lasts. */
  acquire(amount = 1): boolean | Promise<boolean> {
    const now = this.#clock.now();
    this.usedAt = now;
    if (this.#spend(amount, now)) return true;
    if (now < this.#deniedUntil) return false;
    return this.#refill(amount);
  }

  /** Returns tokens of a request that another limit rejected. */
  returnTokens(amount = 1): void {
    this.#tokens += amount;
  }

  #spend(amount: number, now: number): boolean {
    if (now >= this.#validUntil) this.#tokens = 0;
    if (this.#tokens < amount) return false;
    this.#tokens -= amount;
    return true;
  }

  async #refill(amount: number): Promise<boolean> {
    for (;;) {
      this.#waitingTokens += amount;
      this.#pendingRequest ??= this.#requestTokens();
      await this.#pendingRequest;
      const now = this.#clock.now();
      if (this.#spend(amount, now)) return true;
      if (now < this.#deniedUntil) return false;
    }
  }

  async #requestTokens(): Promise<void> {
    // One call serves all requests that wait at the end of this iteration of the event loop.
    await Promise.resolve();
    const now = this.#clock.now();
    // A lease that is used up early was too small; one with tokens left at its end was too large.
    this.#leaseSize = now < this.#validUntil ? Math.min(this.#leaseSize * 2, this.#maxLeaseTokens) : 1;
    const amount = this.#waitingTokens + this.#leaseSize - 1;
    this.#waitingTokens = 0;
    try {
      const { granted, retryAfterMs, validMs } = await this.#grant(amount);
      const grantedAt = this.#clock.now();
      if (grantedAt >= this.#validUntil) this.#tokens = 0;
      this.#tokens += granted;
      this.#validUntil = grantedAt + validMs;
      if (granted < amount) this.#deniedUntil = grantedAt + Math.max(1, retryAfterMs);
    } finally {
      this.#pendingRequest = undefined;
    }
  }
}
