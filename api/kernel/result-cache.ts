import { hash } from 'node:crypto';
import { toCanonicalJson } from '../../runtime/canonical-json.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Counters } from '../../schemas/ports/counters.ts';
import type { Caller } from '../callers/caller.ts';
import type { JsonText } from './json-text.ts';
import { ClientDisconnectedError } from './time-budget.ts';

/** Two requests with an equal query may share a result. */
export interface CachedRequest {
  readonly operationId: string;
  readonly caller: Caller;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

interface CachedResult<Text> {
  readonly text: Text;
  /** `hit`: from the cache; `shared`: computed for a concurrent request; `miss`: computed. */
  readonly state: 'hit' | 'shared' | 'miss';
  readonly ageSeconds: number;
}

/**
 * Caches the results of telemetry queries for a short time. Two callers share a result only if organization, permissions
 * and query are equal. Errors are not cached.
 */
export interface ResultCache<Text extends JsonText> {
  /** With `refresh`, recomputes the result and replaces the cached one. */
  getOrCompute(
    request: CachedRequest,
    options: { readonly ttlMs: number; readonly refresh: boolean },
    run: () => Promise<Text>,
  ): Promise<CachedResult<Text | string>>;
}

/** Caching of telemetry lists: long enough for a dashboard with many panels, too short for users to notice. */
export const listCache = { ttlMs: 2_000 };

/** Longer results and those in chunks are not cached, because caching them costs more than recomputing them. */
const maxCachedCharacters = 1024 * 1024;

export const createResultCache = <Text extends JsonText>(counters: Counters, clock: Clock): ResultCache<Text> => {
  const runsByKey = new Map<string, Promise<Text>>();

  const runAndCache = async (key: string, ttlMs: number, run: () => Promise<Text>): Promise<Text> => {
    const text = await run();
    if (typeof text === 'string' && text.length <= maxCachedCharacters)
      await counters.setCached(key, `${clock.now()}\n${text}`, ttlMs);
    return text;
  };

  return {
    async getOrCompute(request, { ttlMs, refresh }, run) {
      const key = toCacheKey(request);
      const cachedText = refresh ? undefined : await counters.getCached(key);
      if (cachedText !== undefined) {
        const end = cachedText.indexOf('\n');
        const ageMs = clock.now() - Number(cachedText.slice(0, end));
        return { text: cachedText.slice(end + 1), state: 'hit', ageSeconds: Math.max(0, Math.floor(ageMs / 1000)) };
      }
      for (
        let concurrentRun = runsByKey.get(key);
        concurrentRun !== undefined && !refresh;
        concurrentRun = runsByKey.get(key)
      ) {
        const text = await ignoreDisconnect(concurrentRun);
        if (text !== undefined) return { text, state: 'shared', ageSeconds: 0 };
      }
      const ownRun = runAndCache(key, ttlMs, run).finally(() => {
        if (runsByKey.get(key) === ownRun) runsByKey.delete(key);
      });
      runsByKey.set(key, ownRun);
      return { text: await ownRun, state: 'miss', ageSeconds: 0 };
    },
  };
};

/** `undefined` if the client that started the query disconnected: the other requests then run it again. */
const ignoreDisconnect = async <Text>(concurrentRun: Promise<Text>): Promise<Text | undefined> => {
  try {
    return await concurrentRun;
  } catch (error) {
    if (error instanceof ClientDisconnectedError) return undefined;
    throw error;
  }
};

/**
 * All fields of the caller except these count as permissions. A field that is added to the permissions later
 * separates results without a change here.
 */
const identityFields = new Set([
  ...['actor', 'user', 'userId', 'sessionId', 'sessionExpiresAt'],
  ...['serviceAccountId', 'tokenId'],
]);

const toCacheKey = ({ caller, ...request }: CachedRequest): string => {
  const permissions = Object.fromEntries(Object.entries(caller).filter(([name]) => !identityFields.has(name)));
  return `result:${hash('sha256', toCanonicalJson({ rights: permissions, request }), 'base64url')}`;
};
