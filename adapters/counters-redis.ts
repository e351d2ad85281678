/**
 * Counters shared through Redis. A call is one script, and calls in the same tick of the event loop share a round trip
 * (in a cluster, those for the same server). The scripts use Redis' clock, so instances with different clocks count
 * alike. While Redis does not respond, each instance counts on its own.
 */
import type { Cluster, Redis } from 'ioredis';
import { createStoreMembers } from '../runtime/store-members.ts';
import type { Clock } from '../schemas/ports/clock.ts';
import type { Bucket, Counters } from '../schemas/ports/counters.ts';
import { type Log, silentLog } from '../schemas/ports/log.ts';
import { type Metrics, silentMetrics } from '../schemas/ports/metrics.ts';
import type { StoreMembers } from '../schemas/ports/store-members.ts';
import { computeMsUntilToken, createMemoryCounters } from './counters-memory.ts';
import { connectRedis, reconnect } from './redis-client.ts';
import { RedisMembers } from './redis-members.ts';

const probeMs = 250;

/** The bucket is stored as "tokens time"; it expires when it would be full, which is equivalent to a missing bucket. */
const consumeScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local rate, burst, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local tokens = burst
local kept = redis.call('GET', KEYS[1])
if kept then
  local level, at = string.match(kept, '^(%S+) (%S+)$')
  tokens = math.min(burst, tonumber(level) + math.max(0, now - tonumber(at)) * rate / 1000)
end
local granted = math.max(0, math.min(math.floor(tokens), wanted))
local left = tokens - granted
local ttl = math.ceil((burst - left) / rate * 1000)
if ttl > 0 then
  redis.call('SET', KEYS[1], string.format('%.17g %.0f', left, now), 'PX', string.format('%.0f', math.min(ttl, 86400000)))
end
return {granted, string.format('%.17g', left)}
`;

const spendScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local limit, window, amount = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local reset = now - now % window + window
local used = 0
local kept = redis.call('GET', KEYS[1])
if kept then
  local ends, count = string.match(kept, '^(%S+) (%S+)$')
  if tonumber(ends) == reset then used = tonumber(count) end
end
local granted
if amount < 0 then granted = math.max(amount, -used) else granted = math.max(0, math.min(amount, limit - used)) end
used = used + granted
redis.call('SET', KEYS[1], string.format('%.0f %.17g', reset, used), 'PX', string.format('%.0f', reset - now))
return {string.format('%.17g', granted), string.format('%.17g', used), reset - now}
`;

/** The scripts as methods of the client. */
interface Scripts {
  oiqConsume(key: string, rate: number, burst: number, amount: number): Promise<[granted: number, left: string]>;
  oiqSpend(
    key: string,
    limit: number,
    windowMs: number,
    amount: number,
  ): Promise<[granted: string, used: string, resetMs: number]>;
}

type Client = (Redis | Cluster) & Scripts;

const connect = (url: string): Client =>
  connectRedis(url, {
    oiqConsume: { lua: consumeScript, numberOfKeys: 1 },
    oiqSpend: { lua: spendScript, numberOfKeys: 1 },
  }) as Client;

interface CounterOptions {
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'set'>;
  readonly prefix: string;
  stopWatching(): void;
}

class RedisCounters implements Counters {
  readonly #redis: Client;
  readonly #local: Counters;
  readonly #log: Log;
  readonly #metrics: Pick<Metrics, 'set'>;
  readonly #prefix: string;
  readonly #probeTimer: NodeJS.Timeout;
  readonly #stopWatching: () => void;
  #isReachable = false;
  /** Whether the loss of Redis was already logged. */
  #hasReportedLoss = false;
  /** Failure of the last connection */
  #failure: string | undefined;
  #runningProbe: Promise<void> | undefined;
  /** A key on the cluster node of the last failed call, so that a different, healthy node does not hide the failure. */
  #probeKey: string;
  #isClosed = false;

  constructor(redis: Client, local: Counters, { log, metrics, prefix, stopWatching }: CounterOptions) {
    this.#stopWatching = stopWatching;
    this.#redis = redis;
    this.#local = local;
    this.#log = log;
    this.#metrics = metrics;
    this.#prefix = prefix;
    this.#probeKey = `${prefix}probe`;
    this.#report();
    // Without a listener the client would print errors. The first call, probe or connection that fails logs the failure
    // once.
    redis.on('error', ({ message }: Error) => {
      this.#failure = message;
    });
    redis.on('ready', () => this.#probe());
    redis.on('close', () => {
      this.#handleLoss(this.#failure || 'connection closed');
      this.#failure = undefined;
    });
    this.#probeTimer = setInterval(() => this.#probe(), probeMs);
    this.#probeTimer.unref();
  }

  #report(): void {
    this.#metrics.set('oiq_counters_degraded', this.isDegraded() ? 1 : 0, {});
  }

  #handleLoss(reason: string): void {
    if (this.#hasReportedLoss || this.#isClosed) return;
    this.#hasReportedLoss = true;
    this.#isReachable = false;
    this.#report();
    this.#log.warn({ reason }, 'redis does not answer: limits count per instance');
  }

  /** Probes with a write, because a replica or a full Redis still responds to a ping. */
  #probe(): void {
    if (this.#isReachable || this.#redis.status !== 'ready') return;
    this.#runningProbe ??= this.#redis
      .oiqConsume(this.#probeKey, 1, 1, 1)
      .then(() => {
        this.#isReachable = true;
        this.#hasReportedLoss = false;
        this.#report();
        this.#log.info({}, 'redis answers: limits count across instances');
      })
      .catch((error: Error) => {
        this.#handleLoss(error.message);
        if (!this.#isClosed) reconnect(this.#redis, error);
      })
      .finally(() => {
        this.#runningProbe = undefined;
      });
  }

  /** Calls Redis, or the counters in memory when Redis does not respond. */
  async #callWithFallback<Answer>(
    name: string,
    callRedis: (key: string) => Promise<Answer>,
    callLocal: () => Promise<Answer>,
  ): Promise<Answer> {
    if (!this.#isReachable) return callLocal();
    const key = this.#prefix + name;
    try {
      return await callRedis(key);
    } catch (error) {
      this.#probeKey = `${this.#prefix}probe:{${key}}`;
      this.#handleLoss(error instanceof Error ? error.message : 'unknown');
      return callLocal();
    }
  }

  consume(key: string, bucket: Bucket, amount: number) {
    const { rate, burst } = bucket;
    return this.#callWithFallback(
      `take:${key}`,
      async (redisKey) => {
        const [granted, left] = await this.#redis.oiqConsume(redisKey, rate, burst, amount);
        return { granted, retryAfterMs: granted < amount ? computeMsUntilToken(Number(left), rate) : 0 };
      },
      () => this.#local.consume(key, bucket, amount),
    );
  }

  spend(key: string, limit: number, windowMs: number, amount: number) {
    return this.#callWithFallback(
      `spend:${key}`,
      async (shared) => {
        const [granted, used, resetMs] = await this.#redis.oiqSpend(shared, limit, windowMs, amount);
        return { granted: Number(granted), used: Number(used), resetMs };
      },
      () => this.#local.spend(key, limit, windowMs, amount),
    );
  }

  getCached(key: string): Promise<string | undefined> {
    return this.#callWithFallback(
      `cache:${key}`,
      async (shared) => (await this.#redis.get(shared)) ?? undefined,
      () => this.#local.getCached(key),
    );
  }

  setCached(key: string, value: string, ttlMs: number): Promise<void> {
    return this.#callWithFallback(
      `cache:${key}`,
      async (shared) => {
        await this.#redis.set(shared, value, 'PX', Math.max(1, Math.ceil(ttlMs)));
      },
      () => this.#local.setCached(key, value, ttlMs),
    );
  }

  isDegraded(): boolean {
    return !this.#isReachable;
  }

  async close(): Promise<void> {
    clearInterval(this.#probeTimer);
    this.#stopWatching();
    this.#isClosed = true;
    this.#isReachable = false;
    this.#redis.disconnect();
    await this.#runningProbe;
    await this.#local.close();
  }
}

/**
 * Returns counters across all instances that use the same Redis and `prefix`. They work from the start. While Redis
 * does not respond within half a second, limits apply per instance (`isDegraded`); when it is back, they count across all
 * instances again. `clock` is used by the local counters only.
 */
export const createRedisCounters = ({
  url,
  clock,
  log = silentLog,
  metrics = silentMetrics,
  storeMembers = createStoreMembers(),
  prefix = 'oiq:',
}: {
  readonly url: string;
  readonly clock?: Clock;
  readonly log?: Log;
  readonly metrics?: Pick<Metrics, 'set'>;
  /** Watches the servers of Redis. */
  readonly storeMembers?: StoreMembers;
  readonly prefix?: string;
}): Counters => {
  const redis = connect(url);
  const local = createMemoryCounters(clock === undefined ? {} : { clock });
  const members = new RedisMembers(redis, url);
  const watch = storeMembers.watch('Redis', () => members.list());
  const stopWatching = (): void => {
    watch.close();
    members.close();
  };
  return new RedisCounters(redis, local, { log, metrics, prefix, stopWatching });
};
