import { UnavailableError } from '../schemas/errors.ts';
import { LateError, within } from './timeout.ts';

/** Below the timeout of typical readiness probes. */
const answerMs = 2_000;

/**
 * Checks several stores concurrently. Rejects within two seconds with all problems, including the names of stores that
 * do not answer.
 */
export const answering = async (checks: Readonly<Record<string, () => Promise<void>>>): Promise<void> => {
  const wrong = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      try {
        await within(answerMs, check());
        return [];
      } catch (error) {
        if (error instanceof LateError) return [`${name} does not answer`];
        return [error instanceof Error ? error.message : String(error)];
      }
    }),
  );
  const all = wrong.flat();
  if (all.length > 0) throw new UnavailableError(all.join('; '));
};
