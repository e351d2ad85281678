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

/** Why a transaction is rejected whose work awaits anything but its own documents. */
const foreignWaitMessage =
  'the work of a transaction may only await the documents of that transaction: everything else must happen before it, because other writers wait';

/**
 * One run of a transaction's work. Operations run one after the other, in call order. A failed operation fails the
 * whole run, even if the work continues, because MongoDB has already aborted the transaction.
 *
 * A run also fails if its work awaits anything but its operations. Between the end of an operation and the next one, or
 * the end of the work, no turn of the event loop may pass.
 */
export class TransactionRun {
  #isOpen = true;
  #failure: { readonly error: unknown } | undefined;
  #lastOperation: Promise<unknown> = Promise.resolve();
  #pendingCount = 0;
  readonly #foreignWait = Promise.withResolvers<never>();

  get isActive(): boolean {
    return this.#isOpen;
  }

  /** Runs the work, and waits for operations that it did not await. Rejects with the error of a failed operation. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    // Nobody listens once the work has settled.
    this.#foreignWait.promise.catch(() => undefined);
    try {
      const pendingResult = work();
      this.#checkProgress();
      const result = await Promise.race([pendingResult, this.#foreignWait.promise]);
      await this.#lastOperation;
      if (this.#failure !== undefined) throw this.#failure.error;
      return result;
    } finally {
      this.close();
    }
  }

  /** Fails the run if its work is not over and has started no operation when this turn of the event loop ends. */
  #checkProgress(): void {
    setImmediate(() => {
      if (this.#isOpen && this.#pendingCount === 0) this.#foreignWait.reject(new Error(foreignWaitMessage));
    });
  }

  runOperation<Result>(operation: () => Result | Promise<Result>): Promise<Result> {
    this.#pendingCount++;
    const result = this.#lastOperation.then(async () => {
      if (!this.#isOpen) throw new Error('transaction is over: await every operation before its work ends');
      if (this.#failure !== undefined) throw this.#failure.error;
      try {
        return await operation();
      } catch (error) {
        this.#failure = { error };
        throw error;
      } finally {
        this.#pendingCount--;
        if (this.#pendingCount === 0) this.#checkProgress();
      }
    });
    this.#lastOperation = result.catch(() => undefined);
    return result;
  }

  close(): void {
    this.#isOpen = false;
  }
}

/** Tracks through asynchronous calls whether the caller is inside a transaction's work. */
export class TransactionScope {
  readonly #runs = new AsyncLocalStorage<TransactionRun>();

  /** Runs the work of a transaction. Its rejections are those of `TransactionRun.run`. */
  enter<Result>(run: TransactionRun, work: () => Promise<Result>): Promise<Result> {
    return this.#runs.run(run, () => run.run(work));
  }

  /**
   * Throws inside a transaction. A write outside the open transaction would deadlock in SQLite, and survive the
   * transaction's failure in MongoDB.
   */
  rejectInside(operation: string): void {
    if (this.#runs.getStore()?.isActive === true)
      throw new Error(`${operation} inside a transaction must go through the transaction it is in`);
  }
}
