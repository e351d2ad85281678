import { UnavailableError } from '../schemas/errors.ts';
import { TimeoutError, withTimeout } from './timeout.ts';

/** Below the timeout of typical readiness probes. */
const checkTimeoutMs = 2_000;
/** A store with a slow server, as on a busy machine, counts as available for this long after its last response. */
const maxSilenceMs = 10_000;

/** Whether a server of the store was slow: another one may respond. A store that does not respond at all is none. */
const isSlowServer = (error: unknown): boolean => error instanceof Error && error.cause instanceof TimeoutError;

/**
 * Returns a check of several stores, which runs concurrently. It rejects within two seconds with all problems, including
 * the names of stores that do not respond. One slow server of a store is no problem for ten seconds.
 */
export const createStoresCheck = (checks: Readonly<Record<string, () => Promise<void>>>): (() => Promise<void>) => {
  const respondedAt = new Map<string, number>();
  const findProblem = async ([name, check]: [string, () => Promise<void>]): Promise<string[]> => {
    const checking = check().then(() => void respondedAt.set(name, performance.now()));
    try {
      await withTimeout(checkTimeoutMs, checking);
      return [];
    } catch (error) {
      const silenceMs = performance.now() - (respondedAt.get(name) ?? Number.NEGATIVE_INFINITY);
      if (isSlowServer(error) && silenceMs < maxSilenceMs) return [];
      if (error instanceof TimeoutError) return [`${name} does not respond`];
      return [error instanceof Error ? error.message : String(error)];
    }
  };
  return async () => {
    const problems = (await Promise.all(Object.entries(checks).map(findProblem))).flat();
    if (problems.length > 0) throw new UnavailableError(problems.join('; '));
  };
};
