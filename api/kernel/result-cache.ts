import { hash } from 'node:crypto';
import { toCanonicalJson } from '../../runtime/canonical-json.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Counters } from '../../schemas/ports/counters.ts';
import type { Caller } from '../callers/caller.ts';
import { ClientDisconnectedError } from './time-budget.ts';

/** Two requests with an equal query may share an answer. */
export interface CachedRequest {
  readonly operationId: string;
  readonly caller: Caller;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

interface CachedAnswer {
  readonly text: string;
  /** `hit`: from the cache; `shared`: computed for a concurrent request; `miss`: computed. */
  readonly state: 'hit' | 'shared' | 'miss';
  readonly ageSeconds: number;
}

/**
 * Caches answers to telemetry queries for a short time. Two callers share an answer only if organization, permissions
 * and query are equal. Errors are not cached.
 */
export interface ResultCache {
  /** With `refresh`, recomputes the answer and replaces the cached one. */
  answer(
    question: CachedRequest,
    options: { readonly ttlMs: number; readonly refresh: boolean },
    run: () => Promise<string>,
  ): Promise<CachedAnswer>;
}

/** Caching of telemetry lists: long enough for a dashboard with many panels, too short for users to notice. */
export const listCache = { ttlMs: 2_000 };

/** Longer results are not cached, because caching them costs more than recomputing them. */
const maxCharacters = 1024 * 1024;

export const createResultCache = (counters: Counters, clock: Clock): ResultCache => {
  const running = new Map<string, Promise<string>>();

  const runAndCache = async (key: string, ttlMs: number, run: () => Promise<string>): Promise<string> => {
    const text = await run();
    if (text.length <= maxCharacters) await counters.setCached(key, `${clock.now()}\n${text}`, ttlMs);
    return text;
  };

  return {
    async answer(question, { ttlMs, refresh }, run) {
      const key = toCacheKey(question);
      const cachedText = refresh ? undefined : await counters.getCached(key);
      if (cachedText !== undefined) {
        const end = cachedText.indexOf('\n');
        const ageMs = clock.now() - Number(cachedText.slice(0, end));
        return { text: cachedText.slice(end + 1), state: 'hit', ageSeconds: Math.max(0, Math.floor(ageMs / 1000)) };
      }
      for (
        let concurrentRun = running.get(key);
        concurrentRun !== undefined && !refresh;
        concurrentRun = running.get(key)
      ) {
        const text = await ignoreDisconnect(concurrentRun);
        if (text !== undefined) return { text, state: 'shared', ageSeconds: 0 };
      }
      const ownRun = runAndCache(key, ttlMs, run).finally(() => {
        if (running.get(key) === ownRun) running.delete(key);
      });
      running.set(key, ownRun);
      return { text: await ownRun, state: 'miss', ageSeconds: 0 };
    },
  };
};

/** `undefined` if the client that started the query disconnected: the other requests then run it again. */
const ignoreDisconnect = async (running: Promise<string>): Promise<string | undefined> => {
  try {
    return await running;
  } catch (error) {
    if (error instanceof ClientDisconnectedError) return undefined;
    throw error;
  }
};

/**
 * All fields of the caller except these count as permissions. A later addition to the permissions separates answers
 * without a change here.
 */
const identityFields = new Set([
  ...['actor', 'user', 'userId', 'sessionId', 'sessionExpiresAt'],
  ...['serviceAccountId', 'tokenId'],
]);

const toCacheKey = ({ caller, ...request }: CachedRequest): string => {
  const permissions = Object.fromEntries(Object.entries(caller).filter(([name]) => !identityFields.has(name)));
  return `result:${hash('sha256', toCanonicalJson({ rights: permissions, request }), 'base64url')}`;
};
