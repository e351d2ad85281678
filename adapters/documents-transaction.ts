/** Code that the transactions of both stores share. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { TimeoutError, withTimeout } from '../runtime/timeout.ts';
import { UnavailableError } from '../schemas/errors.ts';

export const transactionLimitMs = 10_000;

/** Rejects with `UnavailableError` when `work` does not settle in time; later results of `work` are ignored. */
export const withTimeLimit = async <Result>(
  limitMs: number,
  action: string,
  work: Promise<Result>,
): Promise<Result> => {
  try {
    return await withTimeout(limitMs, work);
  } catch (error) {
    if (!(error instanceof TimeoutError)) throw error;
    throw new UnavailableError(`${action} took longer than ${limitMs / 1000} seconds`);
  }
};

/**
 * One run of a transaction's work. Operations run one after the other, in call order. A failed operation fails the
 * whole run, even if the work continues, because MongoDB has already aborted the transaction.
 */
export class TransactionRun {
  #isOpen = true;
  #failure: { readonly error: unknown } | undefined;
  #lastOperation: Promise<unknown> = Promise.resolve();

  get isActive(): boolean {
    return this.#isOpen;
  }

  runOperation<Result>(operation: () => Result | Promise<Result>): Promise<Result> {
    const result = this.#lastOperation.then(async () => {
      if (!this.#isOpen) throw new Error('transaction is over: await every operation before its work ends');
      if (this.#failure !== undefined) throw this.#failure.error;
      try {
        return await operation();
      } catch (error) {
        this.#failure = { error };
        throw error;
      }
    });
    this.#lastOperation = result.catch(() => undefined);
    return result;
  }

  /** Waits for operations that the work did not await, closes the run, and throws the error of a failed operation. */
  async finish(): Promise<void> {
    await this.#lastOperation;
    this.close();
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  close(): void {
    this.#isOpen = false;
  }
}

/** Tracks through asynchronous calls whether the caller is inside a transaction's work. */
export class TransactionScope {
  readonly #runs = new AsyncLocalStorage<TransactionRun>();

  enter<Result>(run: TransactionRun, work: () => Promise<Result>): Promise<Result> {
    return this.#runs.run(run, work);
  }

  /**
   * Throws inside a transaction. A write outside the open transaction would deadlock in SQLite, and survive the
   * transaction's failure in MongoDB.
   */
  rejectInside(what: string): void {
    if (this.#runs.getStore()?.isActive === true)
      throw new Error(`${what} inside a transaction must go through the transaction it is in`);
  }
}
