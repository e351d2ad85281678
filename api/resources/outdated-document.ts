import { ApiError } from '../errors.ts';

/** Thrown within a transaction if a stored document is not the one from which its change was computed. */
export class OutdatedDocumentError extends Error {}

/** Number of attempts until a change fails because others change the same documents all the time. */
const maxAttempts = 3;

/**
 * Runs work that reads documents, computes their changes, and then writes them in a transaction. Repeats it if the
 * transaction throws an `OutdatedDocumentError`. Rejects with `CONFLICT` if others change the documents each time. Work
 * that must succeed anyway bases its last attempt on the documents of its transaction.
 */
export const retryOutdated = async <Result>(
  noun: string,
  work: (isLastAttempt: boolean) => Promise<Result>,
): Promise<Result> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt >= maxAttempts);
    } catch (error) {
      if (!(error instanceof OutdatedDocumentError)) throw error;
      if (attempt >= maxAttempts)
        throw new ApiError('CONFLICT', `the ${noun} was changed by others at the same time: try again`);
    }
  }
};
