/** Threads for work that users size. It has a budget of time and of memory, ends with its request, and waits its organization's turn. */
import { type TransferListItem, Worker } from 'node:worker_threads';
import { PoolThread } from '../../runtime/worker-pool.ts';
import { QueryError } from '../errors.ts';
import { FairQueue, TooManyWaiting } from './fair-queue.ts';

export interface BudgetThreadsOptions {
  readonly name: string;
  /** The module that runs in them. It answers each message with an `id` by one with the same `id`. */
  readonly module: URL;
  readonly memoryMb: number;
  /** Work of an organization that waits is called so: `runs of detection rules`. */
  readonly works: string;
}

/** Whose work it is, and what it may take. */
export interface Budget {
  readonly tenantId: string;
  /** How long it may take once it has a thread; how long it waits for one is the caller's, by `signal`. */
  readonly budgetMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** What is thrown where the budget is not enough. */
export interface Refusals {
  readonly tooLong: () => Error;
  /** It needs more memory than its thread has. */
  readonly tooLarge: () => Error;
}

/** Asks the thread. What an abort or the budget ends is ended at once. What is moved there is gone here. */
export type SendRequest<Reply> = (
  request: (id: number) => unknown,
  moved?: readonly TransferListItem[],
) => Promise<Reply>;

const waitingPerTenant = 50;
/** One organization leaves a thread to others. */
const slots = 2;

/** Threads of one purpose. They start when they are needed. */
export class BudgetThreads<Reply extends { readonly id: number }> {
  readonly #options: BudgetThreadsOptions;
  readonly #queue = new FairQueue({ slots, slotsPerTenant: 1, waitingPerTenant });
  readonly #idle: PoolThread<Reply>[] = [];

  constructor(options: BudgetThreadsOptions) {
    this.#options = options;
  }

  /** Has a thread to itself for the time of `work`. Everything asked rejects with one of the refusals once the budget is spent. */
  async run<Result>(
    { tenantId, budgetMs, signal }: Budget,
    { tooLong, tooLarge }: Refusals,
    work: (sendRequest: SendRequest<Reply>) => Promise<Result>,
  ): Promise<Result> {
    const leave = await this.#acquireSlot(tenantId, signal);
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(tooLong()), budgetMs);
    const ending = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
    const thread = this.#idle.pop() ?? this.#start();
    try {
      return await work((request, moved) => requestUntil(thread, ending, request, moved));
    } catch (error) {
      throw isOutOfMemory(error) ? tooLarge() : error;
    } finally {
      clearTimeout(timer);
      if (ending.aborted || thread.isDead) void thread.end();
      else this.#idle.push(thread);
      leave();
    }
  }

  async #acquireSlot(tenantId: string, signal: AbortSignal | undefined): Promise<() => void> {
    try {
      return await this.#queue.acquire(tenantId, signal);
    } catch (error) {
      if (!(error instanceof TooManyWaiting)) throw error;
      const message = `${waitingPerTenant} ${this.#options.works} of this organization are waiting already`;
      throw new QueryError('RATE_LIMITED', message, undefined, { retryAfterSeconds: 10 });
    }
  }

  #start(): PoolThread<Reply> {
    const { name, module, memoryMb } = this.#options;
    const worker = new Worker(module, { name, resourceLimits: { maxOldGenerationSizeMb: memoryMb } });
    const thread: PoolThread<Reply> = new PoolThread(worker, name, () => {
      const at = this.#idle.indexOf(thread);
      if (at >= 0) this.#idle.splice(at, 1);
    });
    // Only now: a thread that is listened to keeps the process.
    worker.unref();
    return thread;
  }
}

/** Whether it is of a thread that died as it needed more memory than it has. */
const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY';

const requestUntil = async <Reply extends { readonly id: number }>(
  thread: PoolThread<Reply>,
  ending: AbortSignal,
  ...args: Parameters<SendRequest<Reply>>
): Promise<Reply> => {
  ending.throwIfAborted();
  const stop = (): void => void thread.end();
  ending.addEventListener('abort', stop, { once: true });
  try {
    return await thread.request(...args);
  } catch (error) {
    ending.throwIfAborted();
    throw error;
  } finally {
    ending.removeEventListener('abort', stop);
  }
};
