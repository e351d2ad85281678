/** Work that needs a store, done again for as long as the store does not answer. */
import { setTimeout as sleep } from 'node:timers/promises';
import { UnavailableError } from '../schemas/errors.ts';

const pauseMs = 1_000;

/**
 * Does the work again, a second after each failure with an `UnavailableError`, which `away` is told. Rejects with any other failure,
 * and between two tries when the signal aborts: work under way is not cut short.
 */
export const untilAnswered = async <Result>(
  work: () => Promise<Result>,
  { signal, away }: { readonly signal: AbortSignal; away(error: UnavailableError): void },
): Promise<Result> => {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      away(error);
    }
    await sleep(pauseMs, undefined, { signal });
  }
};

/** Waits until all have ended. Rejects with what waiting does not help with, or else with all that do not answer. */
export const allAnswered = async (works: readonly Promise<unknown>[]): Promise<void> => {
  const ends = await Promise.allSettled(works);
  const failures = ends.flatMap((end): Error[] => (end.status === 'rejected' ? [end.reason] : []));
  const lasting = failures.find((failure) => !(failure instanceof UnavailableError));
  if (lasting !== undefined) throw lasting;
  if (failures.length > 0)
    throw new UnavailableError(failures.map(({ message }) => message).join('; '), { cause: failures[0] });
};
