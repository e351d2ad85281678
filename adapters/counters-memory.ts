/** Counters of one process, in bounded memory */
import { type Clock, systemClock } from '../schemas/ports/clock.ts';
import type { Bucket, Counters } from '../schemas/ports/counters.ts';

const maxEntries = 100_000;
const maxCachedCharacters = 64 * 1024 * 1024;
const dayMs = 86_400_000;

interface ExpiringEntry {
  /** From this time on, the entry is equivalent to a missing entry. */
  readonly expiresAt: number;
}

/**
 * A map of two generations. When the young one has half of the allowed entries it becomes the old one, and unused
 * entries of the old one are dropped. (Removing the oldest key of a Map becomes slower with the number of removed
 * keys.)
 */
class BoundedMap<Value extends ExpiringEntry> {
  readonly #getSize: (value: Value) => number;
  readonly #half: number;
  #youngGeneration = new Map<string, Value>();
  #oldGeneration: ReadonlyMap<string, Value> = new Map();
  #size = 0;

  constructor(maxSize: number, getSize: (value: Value) => number) {
    this.#half = maxSize / 2;
    this.#getSize = getSize;
  }

  get(key: string, now: number): Value | undefined {
    const youngValue = this.#youngGeneration.get(key);
    const value = youngValue ?? this.#oldGeneration.get(key);
    if (value === undefined || value.expiresAt <= now) return undefined;
    if (youngValue === undefined) this.set(key, value);
    return value;
  }

  set(key: string, value: Value): void {
    const previous = this.#youngGeneration.get(key);
    this.#size += this.#getSize(value) - (previous === undefined ? 0 : this.#getSize(previous));
    this.#youngGeneration.set(key, value);
    if (this.#size <= this.#half) return;
    this.#oldGeneration = this.#youngGeneration;
    this.#youngGeneration = new Map();
    this.#size = 0;
  }
}

interface BucketLevel extends ExpiringEntry {
  readonly tokens: number;
  readonly updatedAt: number;
}

interface Window extends ExpiringEntry {
  readonly used: number;
}

interface CachedEntry extends ExpiringEntry {
  readonly value: string;
}

/** Time until an empty bucket has one token. */
export const computeMsUntilToken = (tokens: number, rate: number): number =>
  Math.min(dayMs, Math.max(1, Math.ceil(((1 - tokens) / rate) * 1000)));

/** The part of `amount` that fits below `limit`; a negative amount never makes a counter negative. */
const limitAmount = (used: number, limit: number, amount: number): number =>
  amount < 0 ? Math.max(amount, -used) : Math.max(0, Math.min(amount, limit - used));

class MemoryCounters implements Counters {
  readonly #clock: Clock;
  readonly #levels = new BoundedMap<BucketLevel>(maxEntries, () => 1);
  readonly #windows = new BoundedMap<Window>(maxEntries, () => 1);
  readonly #cache = new BoundedMap<CachedEntry>(maxCachedCharacters, ({ value }) => value.length + 100);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async consume(key: string, { rate, burst }: Bucket, amount: number) {
    const now = this.#clock.now();
    const level = this.#levels.get(key, now);
    const elapsedMs = level === undefined ? 0 : Math.max(0, now - level.updatedAt);
    const tokens = level === undefined ? burst : Math.min(burst, level.tokens + (elapsedMs * rate) / 1000);
    const granted = Math.max(0, Math.min(Math.floor(tokens), amount));
    const remainingTokens = tokens - granted;
    // A full bucket is equivalent to a missing one.
    this.#levels.set(key, {
      tokens: remainingTokens,
      updatedAt: now,
      expiresAt: now + ((burst - remainingTokens) / rate) * 1000,
    });
    return { granted, retryAfterMs: granted < amount ? computeMsUntilToken(remainingTokens, rate) : 0 };
  }

  async spend(key: string, limit: number, windowMs: number, amount: number) {
    const now = this.#clock.now();
    const end = now - (now % windowMs) + windowMs;
    const window = this.#windows.get(key, now);
    const usedBefore = window?.expiresAt === end ? window.used : 0;
    const granted = limitAmount(usedBefore, limit, amount);
    const used = usedBefore + granted;
    this.#windows.set(key, { used, expiresAt: end });
    return { granted, used, resetMs: end - now };
  }

  async getCached(key: string): Promise<string | undefined> {
    return this.#cache.get(key, this.#clock.now())?.value;
  }

  async setCached(key: string, value: string, ttlMs: number): Promise<void> {
    if (value.length > maxCachedCharacters / 2) return;
    this.#cache.set(key, { value, expiresAt: this.#clock.now() + ttlMs });
  }

  isDegraded(): boolean {
    return false;
  }

  async close(): Promise<void> {}
}

/**
 * Returns counters for this process only, with at most 100,000 buckets, as many windows, and 64 M characters of cached
 * text. The most recently used half is always retained.
 */
export const createMemoryCounters = ({ clock = systemClock }: { readonly clock?: Clock } = {}): Counters =>
  new MemoryCounters(clock);
