/** Transactions: records carry the number of their transaction and become readable when its end is on the disk. */
import type { Message, Producer } from '../../schemas/ports/bus.ts';
import type { OffsetStore } from './offset-store.ts';

/** After this time a transaction is aborted, so that an abandoned transaction does not block the readers of its partitions. */
const maxTransactionMs = 60_000;

interface OpenTransaction {
  /** 0 until its first publish */
  id: number;
  /** Why the transaction can no longer publish or commit */
  endReason: Error | undefined;
  readonly publishing: Promise<void>[];
}

export interface TransactionalLog {
  publish(messages: readonly Message[], transaction: number): Promise<void>;
  /** Allows readers to continue past the records of this transaction. */
  release(transaction: number): void;
}

export class Transactions {
  readonly #store: OffsetStore;
  readonly #log: TransactionalLog;
  readonly #abortedIds: Set<number>;
  readonly #openTransactions = new Map<string, OpenTransaction>();

  constructor(store: OffsetStore, log: TransactionalLog) {
    this.#store = store;
    this.#log = log;
    this.#abortedIds = new Set(store.unfinishedTransactions());
  }

  isAborted(transaction: number): boolean {
    return this.#abortedIds.has(transaction);
  }

  async run<Result>(name: string, work: (publish: Producer['publish']) => Promise<Result>): Promise<Result> {
    const fencedError = new Error(`the transaction ${name} was fenced by a newer transaction of the same name`);
    const previous = this.#openTransactions.get(name);
    if (previous !== undefined) previous.endReason ??= fencedError;
    const transaction: OpenTransaction = { id: 0, endReason: undefined, publishing: [] };
    this.#openTransactions.set(name, transaction);
    const timer = setTimeout(() => {
      transaction.endReason ??= new Error(
        `the transaction ${name} took longer than ${maxTransactionMs / 1000} s and was aborted`,
      );
      void this.#abort(transaction);
    }, maxTransactionMs);
    try {
      if (previous !== undefined) await this.#abort(previous);
      const result = await work((messages) => this.#publish(name, transaction, messages));
      await Promise.all(transaction.publishing);
      if (transaction.endReason !== undefined) throw transaction.endReason;
      this.#commit(transaction);
      return result;
    } catch (error) {
      transaction.endReason ??= new Error(`the transaction ${name} was aborted`, { cause: error });
      await this.#abort(transaction);
      throw error;
    } finally {
      clearTimeout(timer);
      if (this.#openTransactions.get(name) === transaction) this.#openTransactions.delete(name);
    }
  }

  #publish(name: string, holder: OpenTransaction, messages: readonly Message[]): Promise<void> {
    if (holder.endReason !== undefined) return Promise.reject(holder.endReason);
    if (holder.id === 0) holder.id = this.#store.beginTransaction(name);
    const publishing = this.#log.publish(messages, holder.id);
    // The commit awaits this promise too, even if the caller does not.
    publishing.catch(() => undefined);
    holder.publishing.push(publishing);
    return publishing;
  }

  #commit(holder: OpenTransaction): void {
    if (holder.id === 0) return;
    this.#store.commitTransaction(holder.id);
    holder.endReason = new Error('the transaction has ended');
    this.#log.release(holder.id);
  }

  async #abort({ id, publishing }: OpenTransaction): Promise<void> {
    await Promise.allSettled(publishing);
    if (id === 0 || this.#abortedIds.has(id)) return;
    this.#abortedIds.add(id);
    this.#log.release(id);
  }
}
