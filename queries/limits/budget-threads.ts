/**
 * Threads for work whose size users control. Work has limits of time and memory, ends with its request, and is queued
 * per organization. This is not a `WorkerPool`: work reserves a whole thread, and an abort or an exceeded limit
 * terminates that thread.
 */
import type { TransferListItem } from 'node:worker_threads';
import { PoolThread } from '../../runtime/worker-pool.ts';
import { QueryError } from '../errors.ts';
import { FairQueue, TooManyWaitingError } from './fair-queue.ts';

export interface BudgetThreadsOptions {
  readonly name: string;
  /** Module of the threads. It replies to each message with the `id` of that message. */
  readonly module: URL;
  readonly memoryMb: number;
  /** Name of the queued work in messages: `runs of detection rules`. */
  readonly workDescription: string;
}

/** Organization of the work, and its limits. */
export interface Budget {
  readonly tenantId: string;
  /** User or service account; people of an organization take turns. */
  readonly callerId?: string | undefined;
  /** Maximum time on a thread. The wait for a free thread is not included; the caller limits it by `signal`. */
  readonly budgetMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Errors thrown when a limit is exceeded. */
export interface LimitErrors {
  readonly createTimeoutError: () => Error;
  /** The work needs more memory than its thread has. */
  readonly createMemoryError: () => Error;
}

/**
 * Sends a request to the thread. An abort or the end of the budget terminates the thread immediately. Transferred
 * memory is no longer usable in this thread.
 */
export type SendRequest<Reply> = (
  request: (id: number) => unknown,
  transferList?: readonly TransferListItem[],
) => Promise<Reply>;

const maxWaitingPerTenant = 50;
/** One organization has at most one thread, so that it does not block the others. */
const threadCount = 3;

/** Threads for one purpose, started on demand. */
export class BudgetThreads<Reply extends { readonly id: number }> {
  readonly #options: BudgetThreadsOptions;
  readonly #queue = new FairQueue({ slots: threadCount, maxSlotsPerTenant: 1, maxWaitingPerTenant });
  readonly #idle: PoolThread<Reply>[] = [];

  constructor(options: BudgetThreadsOptions) {
    this.#options = options;
  }

  /**
   * Reserves a thread while `work` runs. Once a limit is exceeded, all requests reject with the error of that
   * limit.
   */
  async run<Result>(
    { tenantId, callerId, budgetMs, signal }: Budget,
    { createTimeoutError, createMemoryError }: LimitErrors,
    work: (sendRequest: SendRequest<Reply>) => Promise<Result>,
  ): Promise<Result> {
    const releaseSlot = await this.#acquireSlot(tenantId, callerId, signal);
    const timeoutController = new AbortController();
    const timer = setTimeout(() => timeoutController.abort(createTimeoutError()), budgetMs);
    const endSignal =
      signal === undefined ? timeoutController.signal : AbortSignal.any([signal, timeoutController.signal]);
    const thread = this.#idle.pop() ?? this.#start();
    try {
      return await work((request, transferList) => requestUntil(thread, endSignal, request, transferList));
    } catch (error) {
      throw isOutOfMemory(error) ? createMemoryError() : error;
    } finally {
      clearTimeout(timer);
      if (endSignal.aborted || thread.isDead) void thread.terminate();
      else this.#idle.push(thread);
      releaseSlot();
    }
  }

  async #acquireSlot(
    tenantId: string,
    callerId: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<() => void> {
    try {
      return await this.#queue.acquire(tenantId, signal, callerId);
    } catch (error) {
      if (!(error instanceof TooManyWaitingError)) throw error;
      const message = `${maxWaitingPerTenant} ${this.#options.workDescription} of this organization are waiting already`;
      throw new QueryError('RATE_LIMITED', message, undefined, { retryAfterSeconds: 10 });
    }
  }

  #start(): PoolThread<Reply> {
    const { name, module, memoryMb } = this.#options;
    const options = { name, resourceLimits: { maxOldGenerationSizeMb: memoryMb } };
    const thread: PoolThread<Reply> = new PoolThread({ kind: name, module, options, endsWithProcess: true }, () => {
      const index = this.#idle.indexOf(thread);
      if (index >= 0) this.#idle.splice(index, 1);
    });
    return thread;
  }
}

/** Returns whether the error is from a thread that ran out of memory. */
const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY';

const requestUntil = async <Reply extends { readonly id: number }>(
  thread: PoolThread<Reply>,
  ending: AbortSignal,
  ...args: Parameters<SendRequest<Reply>>
): Promise<Reply> => {
  ending.throwIfAborted();
  const endThread = (): void => void thread.terminate();
  ending.addEventListener('abort', endThread, { once: true });
  try {
    return await thread.request(...args);
  } catch (error) {
    ending.throwIfAborted();
    throw error;
  } finally {
    ending.removeEventListener('abort', endThread);
  }
};
