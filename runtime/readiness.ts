import { UnavailableError } from '../schemas/errors.ts';
import { TimeoutError, withTimeout } from './timeout.ts';

/** Below the timeout of typical readiness probes. */
const checkTimeoutMs = 2_000;

/**
 * Checks several stores concurrently. Rejects within two seconds with all problems, including the names of stores
 * that do not respond.
 */
export const checkStores = async (checks: Readonly<Record<string, () => Promise<void>>>): Promise<void> => {
  const problemsByStore = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      try {
        await withTimeout(checkTimeoutMs, check());
        return [];
      } catch (error) {
        if (error instanceof TimeoutError) return [`${name} does not respond`];
        return [error instanceof Error ? error.message : String(error)];
      }
    }),
  );
  const problems = problemsByStore.flat();
  if (problems.length > 0) throw new UnavailableError(problems.join('; '));
};
