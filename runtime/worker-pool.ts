/** Worker threads that process requests. */
import { type ResourceLimits, type TransferListItem, Worker, type WorkerOptions } from 'node:worker_threads';

export interface WorkerPoolOptions {
  /** Name of the threads, for error messages such as `a scan thread died`. */
  readonly name: string;
  /** Owner of the threads, for requests after the end: `the sinks are stopping`. */
  readonly owner: string;
  /** Module that runs in the threads. It sends one reply with the same `id` for each message that has an `id`. */
  readonly module: URL;
  readonly size: number;
  /** Returns the data for a new thread. */
  workerData(): unknown;
  readonly resourceLimits?: ResourceLimits;
}

interface PendingRequest<Reply> {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

export interface ThreadOptions {
  /** Name for error messages such as `a scan thread died`. */
  readonly kind: string;
  /** Module that runs in the thread, as in `WorkerPoolOptions`. */
  readonly module: URL;
  readonly options: WorkerOptions;
  /** Whether an idle thread does not keep the process running. Pending requests always keep it running. */
  readonly endsWithProcess?: boolean;
}

/** One thread. After it dies, all requests to it reject. */
export class PoolThread<Reply extends { readonly id: number }> {
  readonly #worker: Worker;
  readonly #endsWithProcess: boolean;
  readonly #pending = new Map<number, PendingRequest<Reply>>();
  #failure: Error | undefined;
  #lastId = 0;

  constructor({ kind, module, options, endsWithProcess = false }: ThreadOptions, onExit: () => void) {
    const worker = new Worker(module, options);
    this.#worker = worker;
    this.#endsWithProcess = endsWithProcess;
    const fail = (error: Error): void => {
      onExit();
      this.#failure ??= error;
      for (const { reject } of this.#pending.values()) reject(error);
      this.#pending.clear();
    };
    worker.on('message', (reply: Reply) => {
      this.#pending.get(reply.id)?.resolve(reply);
      this.#pending.delete(reply.id);
      if (endsWithProcess && this.#pending.size === 0) worker.unref();
    });
    worker.on('error', (cause) => fail(new Error(`a ${kind} thread died`, { cause })));
    worker.on('exit', (code) => fail(new Error(`a ${kind} thread exited with code ${code}`)));
    // Only after adding the listeners, which would prevent the process from exiting.
    if (endsWithProcess) worker.unref();
  }

  /** Number of pending requests. */
  get pendingCount(): number {
    return this.#pending.size;
  }

  /** Whether the thread has ended and processes no more requests. */
  get isDead(): boolean {
    return this.#failure !== undefined;
  }

  request(request: (id: number) => unknown, transferList: readonly TransferListItem[] = []): Promise<Reply> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const id = ++this.#lastId;
    return new Promise<Reply>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      if (this.#endsWithProcess) this.#worker.ref();
      try {
        this.#worker.postMessage(request(id), transferList);
      } catch (error) {
        this.#pending.delete(id);
        reject(error);
      }
    });
  }

  /** Sends a message that needs no reply. */
  post(message: unknown, transferList: readonly TransferListItem[] = []): void {
    this.#worker.postMessage(message, transferList);
  }

  /** Terminates the thread immediately. */
  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }
}

/**
 * A small pool of threads. Requests with the same name always go to the same thread. The next request replaces a dead
 * thread.
 */
export class WorkerPool<Reply extends { readonly id: number }> {
  readonly #options: WorkerPoolOptions;
  readonly #threads: (PoolThread<Reply> | undefined)[];
  #closed = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#threads = Array.from({ length: options.size }, () => undefined);
  }

  /** Running threads. */
  get runningThreads(): readonly PoolThread<Reply>[] {
    return this.#threads.filter((thread) => thread !== undefined);
  }

  getThread(name: string, index: number): PoolThread<Reply> {
    if (this.#closed) throw new Error(`${this.#options.owner} are stopping`);
    let hash = index;
    for (let index = 0; index < name.length; index++) hash = Math.imul(hash, 31) + name.charCodeAt(index);
    const slot = (hash >>> 0) % this.#threads.length;
    const thread = this.#threads[slot] ?? this.#startThread(slot);
    this.#threads[slot] = thread;
    return thread;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.runningThreads.map((thread) => thread.terminate()));
  }

  #startThread(slot: number): PoolThread<Reply> {
    const { name, module, resourceLimits } = this.#options;
    const options = {
      name: `${name}-${slot}`,
      workerData: this.#options.workerData(),
      ...(resourceLimits !== undefined && { resourceLimits }),
    };
    const thread: PoolThread<Reply> = new PoolThread({ kind: name, module, options }, () => {
      if (this.#threads[slot] === thread) this.#threads[slot] = undefined;
    });
    return thread;
  }
}
