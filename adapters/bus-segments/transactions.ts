/** Transactions: records carry the number of their transaction and become readable when its end is on the disk. */
import type { Message, Producer } from '../../schemas/ports/bus.ts';
import type { OffsetStore } from './offset-store.ts';

/** After this time a transaction is aborted, so that a forgotten one does not block the readers of its partitions. */
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
  readonly #aborted: Set<number>;
  readonly #openTransactions = new Map<string, OpenTransaction>();

  constructor(store: OffsetStore, log: TransactionalLog) {
    this.#store = store;
    this.#log = log;
    this.#aborted = new Set(store.unfinishedTransactions());
  }

  isAborted(transaction: number): boolean {
    return this.#aborted.has(transaction);
  }

  async run<Result>(name: string, work: (publish: Producer['publish']) => Promise<Result>): Promise<Result> {
    const fenced = new Error(`the transaction ${name} was fenced by a newer transaction of the same name`);
    const previous = this.#openTransactions.get(name);
    if (previous !== undefined) previous.endReason ??= fenced;
    const holder: OpenTransaction = { id: 0, endReason: undefined, publishing: [] };
    this.#openTransactions.set(name, holder);
    const timer = setTimeout(() => {
      holder.endReason ??= new Error(
        `the transaction ${name} took longer than ${maxTransactionMs / 1000} s and was aborted`,
      );
      void this.#abort(holder);
    }, maxTransactionMs);
    try {
      if (previous !== undefined) await this.#abort(previous);
      const result = await work((messages) => this.#publish(name, holder, messages));
      await Promise.all(holder.publishing);
      if (holder.endReason !== undefined) throw holder.endReason;
      this.#commit(holder);
      return result;
    } catch (error) {
      holder.endReason ??= new Error(`the transaction ${name} was aborted`, { cause: error });
      await this.#abort(holder);
      throw error;
    } finally {
      clearTimeout(timer);
      if (this.#openTransactions.get(name) === holder) this.#openTransactions.delete(name);
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
    if (id === 0 || this.#aborted.has(id)) return;
    this.#aborted.add(id);
    this.#log.release(id);
  }
}
