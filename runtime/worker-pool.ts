/** Threads that answer requests. */
import { type ResourceLimits, type TransferListItem, Worker } from 'node:worker_threads';

export interface WorkerPoolOptions {
  /** What the threads are called, and what it says when one died: `a scan thread died`. */
  readonly name: string;
  /** Whose threads they are, for what is asked after the end: `the sinks are stopping`. */
  readonly owner: string;
  /** The module that runs in them. It answers each message with an `id` by one with the same `id`. */
  readonly module: URL;
  readonly size: number;
  /** What a thread that starts is given. */
  workerData(): unknown;
  readonly resourceLimits?: ResourceLimits;
}

interface Waiting<Reply> {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

/** One thread. It stays the same until it dies; then everything that is asked of it rejects. */
export class PoolThread<Reply extends { readonly id: number }> {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting<Reply>>();
  #dead: Error | undefined;
  #lastId = 0;

  constructor(worker: Worker, kind: string, died: () => void) {
    this.#worker = worker;
    const fail = (error: Error): void => {
      died();
      this.#dead ??= error;
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
    };
    worker.on('message', (reply: Reply) => {
      this.#waiting.get(reply.id)?.resolve(reply);
      this.#waiting.delete(reply.id);
    });
    worker.on('error', (cause) => fail(new Error(`a ${kind} thread died`, { cause })));
    worker.on('exit', (code) => fail(new Error(`a ${kind} thread exited with code ${code}`)));
  }

  /** Requests that it has not answered. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** It answers nothing any more. */
  get isDead(): boolean {
    return this.#dead !== undefined;
  }

  request(request: (id: number) => unknown, moved: readonly TransferListItem[] = []): Promise<Reply> {
    if (this.#dead !== undefined) return Promise.reject(this.#dead);
    const id = ++this.#lastId;
    return new Promise<Reply>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage(request(id), moved);
    });
  }

  /** Sends what needs no answer. */
  post(message: unknown, moved: readonly TransferListItem[] = []): void {
    this.#worker.postMessage(message, moved);
  }

  /** Ends it at once. */
  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** A few threads. What has the same name always goes to the same one; one that dies is replaced by the next request. */
export class WorkerPool<Reply extends { readonly id: number }> {
  readonly #options: WorkerPoolOptions;
  readonly #threads: (PoolThread<Reply> | undefined)[];
  #closed = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#threads = Array.from({ length: options.size }, () => undefined);
  }

  /** Threads that run. */
  get running(): readonly PoolThread<Reply>[] {
    return this.#threads.filter((thread) => thread !== undefined);
  }

  threadOf(name: string, index: number): PoolThread<Reply> {
    if (this.#closed) throw new Error(`${this.#options.owner} are stopping`);
    let hash = index;
    for (let at = 0; at < name.length; at++) hash = Math.imul(hash, 31) + name.charCodeAt(at);
    const slot = (hash >>> 0) % this.#threads.length;
    const thread = this.#threads[slot] ?? this.#start(slot);
    this.#threads[slot] = thread;
    return thread;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.running.map((thread) => thread.end()));
  }

  #start(slot: number): PoolThread<Reply> {
    const { name, module, resourceLimits } = this.#options;
    const worker = new Worker(module, {
      name: `${name}-${slot}`,
      workerData: this.#options.workerData(),
      ...(resourceLimits !== undefined && { resourceLimits }),
    });
    const thread: PoolThread<Reply> = new PoolThread(worker, name, () => {
      if (this.#threads[slot] === thread) this.#threads[slot] = undefined;
    });
    return thread;
  }
}
