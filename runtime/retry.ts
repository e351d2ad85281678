/** Retries work while the store that it needs is unavailable. */
import { setTimeout as sleep } from 'node:timers/promises';
import { UnavailableError } from '../schemas/errors.ts';

const retryDelayMs = 1_000;

/**
 * Retries the work a second after each failure with an `UnavailableError`, and calls `onUnavailable` with it. Rejects
 * with any other failure, and between two attempts when the signal aborts. Does not interrupt work in progress.
 */
export const retryUntilAvailable = async <Result>(
  work: () => Promise<Result>,
  { signal, onUnavailable }: { readonly signal: AbortSignal; onUnavailable(error: UnavailableError): void },
): Promise<Result> => {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      onUnavailable(error);
    }
    await sleep(retryDelayMs, undefined, { signal });
  }
};

/**
 * Waits until all have settled. Rejects with an error that is not transient, or else with the messages of all
 * unavailable stores.
 */
export const waitForAll = async (promises: readonly Promise<unknown>[]): Promise<void> => {
  const results = await Promise.allSettled(promises);
  const failures = results.flatMap((result): Error[] => (result.status === 'rejected' ? [result.reason] : []));
  const permanentFailure = failures.find((failure) => !(failure instanceof UnavailableError));
  if (permanentFailure !== undefined) throw permanentFailure;
  if (failures.length > 0)
    throw new UnavailableError(failures.map(({ message }) => message).join('; '), { cause: failures[0] });
};
