/** The threads that run tasks, as the main thread sees them. */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { runEvery } from '../../runtime/interval.ts';
import { TransferMemoryPool } from '../../runtime/memory.ts';
import { Budget, type WindowReader } from '../../runtime/reading-window.ts';
import { type PoolThread, WorkerPool } from '../../runtime/worker-pool.ts';
import type { Batch, BusRecord, Message } from '../../schemas/ports/bus.ts';
import type { BatchResult, TaskStatus } from './batch-result.ts';
import { HeldMessages } from './pending-messages.ts';
import { Progress, type ThreadActivity } from './progress.ts';
import { ThreadShares } from './shares.ts';
import type {
  ChangeRequest,
  DocumentChange,
  MessageChunk,
  ReleaseRequest,
  TaskCall,
  TaskReply,
  TaskRequest,
  WorkerStart,
} from './task-messages.ts';

/** The task is lost; open another one from the last snapshot. */
export class TaskLostError extends Error {
  /** Activity of this task that occupied its thread when the thread ended, if any. */
  readonly activity: ThreadActivity;
  /** Whether the thread was ended because that activity took too long. */
  readonly isSlow: boolean;

  constructor(message: string, { cause, activity = { kind: 'nothing' }, isSlow = false }: LostOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'TaskLostError';
    this.activity = activity;
    this.isSlow = isSlow;
  }
}

interface LostOptions {
  readonly cause?: unknown;
  readonly activity?: ThreadActivity;
  readonly isSlow?: boolean;
}

export interface TaskPartition {
  readonly processor: string;
  readonly topic: string;
  readonly partition: number;
  /** Message keys over which the values of a tenant are spread. */
  readonly buckets: number;
}

/** Messages up to an offset. */
type MessageRange = Pick<Batch, 'records' | 'last' | 'retain'>;

/**
 * A task in a thread. Replies arrive in the order of calls. A call rejects with a `TaskLostError`, as do all later
 * calls.
 */
export interface TaskHandle {
  readonly isEmptied: boolean;
  /** Emissions of the last tick that may not be published yet. */
  readonly outbox: readonly Message[];
  readonly holding: TaskStatus;
  /** CPU time of the thread for the last snapshot. */
  readonly snapshotMs: number;
  /** Shares of the thread, among all its tasks. */
  readonly shares: ThreadShares;
  batch(batch: MessageRange): Promise<BatchResult>;
  replay(records: readonly BusRecord[], last: number): Promise<void>;
  tick(clockMs: number): Promise<BatchResult | undefined>;
  published(): Promise<void>;
  snapshot(): Promise<Uint8Array>;
  moveTo(offset: number): Promise<void>;
  skip(offset: number): Promise<void>;
  limit(tenantId: string, reason: string, forMs: number): Promise<void>;
  close(): Promise<void>;
}

export interface TaskPoolOptions {
  /** Number of threads. Default: one fewer than the cores, at most four. */
  readonly threads?: number | undefined;
  /** Module whose `processors` the threads load. */
  readonly definitions: URL;
  /** Seconds after which a thread is ended that processes one message without progress. Default 10. */
  readonly messageSeconds?: number | undefined;
  /** Bytes of decompressed messages held for slower tasks of a partition. Default 64 MiB. */
  readonly heldBytes?: number | undefined;
}

const maxThreads = 4;
/**
 * State of a tenant has a lower limit; this one ends a step that allocates without bound, without ending the process.
 * Steps mostly create short-lived objects: V8 would otherwise let 64 MiB of them accumulate, and reserve as much free
 * memory.
 */
const resourceLimits = { maxOldGenerationSizeMb: 2_048, maxYoungGenerationSizeMb: 48 } as const;
const checkMs = 1_000;

interface WatchedThread {
  readonly progress: Progress;
  readonly shares: ThreadShares;
  /** Held messages by topic and partition. */
  readonly messages: Map<string, HeldMessages>;
  isSlow: boolean;
  count: number;
  /** When this activity was first seen. */
  sinceMs: number;
}

/** Returns the CPU time of a thread; elapsed time if that is unknown. */
const readCpuMs = ({ thread }: Progress): number => {
  try {
    const fields = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    // Fields 14 and 15 are in hundredths of a second; two fields are already cut off.
    return 10 * (Number(fields[11]) + Number(fields[12]));
  } catch {
    return performance.now();
  }
};

export class TaskPool {
  readonly #pool: WorkerPool<TaskReply>;
  readonly #memory = new TransferMemoryPool();
  readonly #documents = new Map<string, DocumentChange>();
  readonly #watchedThreads = new WeakMap<PoolThread<TaskReply>, WatchedThread>();
  readonly #stopChecking: () => void;
  readonly #budget: Budget;
  #startedProgress: Progress | undefined;
  #lastTask = 0;

  constructor({ threads, definitions, messageSeconds = 10, heldBytes = 64 * 1024 * 1024 }: TaskPoolOptions) {
    this.#budget = new Budget(heldBytes);
    this.#pool = new WorkerPool<TaskReply>({
      name: 'processor',
      owner: 'the processors',
      module: new URL('./worker.ts', import.meta.url),
      size: threads ?? Math.max(1, Math.min(maxThreads, availableParallelism() - 1)),
      workerData: () => this.#start(definitions),
      resourceLimits,
    });
    this.#stopChecking = runEvery(checkMs, () => this.#endSlowThreads(messageSeconds));
  }

  /** Applies a change of a followed document. Each thread applies changes between two calls. */
  change(change: DocumentChange): void {
    const key = `${change.collection}\n${change.tenantId}\n${change.id}`;
    if (change.document === undefined) this.#documents.delete(key);
    else this.#documents.set(key, change);
    const request: ChangeRequest = { changes: [change] };
    for (const thread of this.#pool.runningThreads) thread.post(request);
  }

  /**
   * Opens a task from a result of `snapshot`, or empty. All tasks of a partition share one thread, which receives and
   * decodes each message once.
   */
  async open(
    { processor, topic, partition, buckets }: TaskPartition,
    saved: Uint8Array | undefined,
  ): Promise<TaskHandle> {
    const thread = this.#getThread(topic, partition);
    const messages = this.#getMessages(thread, topic, partition);
    const task = ++this.#lastTask;
    const sendCall = async (
      call: TaskCall,
      chunks: readonly MessageChunk[] = [],
      transferList: readonly ArrayBuffer[] = [],
    ): Promise<TaskReply> => {
      const reply = await thread
        .request((id): TaskRequest => ({ id, task, call, chunks }), transferList)
        .catch((cause: unknown): never => {
          messages.discardAll();
          throw this.#toLostError(thread, task, cause);
        });
      if (reply.failure !== undefined) throw new TaskLostError(`processor ${processor} failed: ${reply.failure}`);
      if (reply.status !== undefined) handle.holding = reply.status;
      if (reply.snapshotMs !== undefined) handle.snapshotMs = reply.snapshotMs;
      return reply;
    };
    const sendMessages = async (
      kind: 'batch' | 'replay',
      { records, last, retain }: MessageRange,
    ): Promise<TaskReply> => {
      const { runs: ranges, chunks, transferred, onSettled } = messages.send(records, retain);
      return await sendCall({ kind, ranges, last }, chunks, transferred).finally(onSettled);
    };
    const reader: WindowReader = {
      get next() {
        return handle.holding.nextOffset;
      },
    };
    const initialHolding: TaskStatus = {
      nextOffset: 0,
      nextTickMs: Number.POSITIVE_INFINITY,
      tenants: 0,
      entries: 0,
      bytes: 0,
    };
    const handle: { -readonly [Key in keyof TaskHandle]: TaskHandle[Key] } = {
      isEmptied: false,
      outbox: [],
      holding: initialHolding,
      snapshotMs: 0,
      shares: this.#watchedThreads.get(thread)?.shares ?? new ThreadShares(),
      batch: async (batch) => (await sendMessages('batch', batch)).result as BatchResult,
      replay: async (records, last) => void (await sendMessages('replay', { records, last })),
      tick: async (clockMs) => (await sendCall({ kind: 'tick', clockMs })).result,
      published: async () => void (await sendCall({ kind: 'published' })),
      snapshot: async () => (await sendCall({ kind: 'snapshot' })).saved as Uint8Array,
      moveTo: async (offset) => void (await sendCall({ kind: 'move', offset })),
      skip: async (offset) => void (await sendCall({ kind: 'skip', offset })),
      limit: async (tenantId, reason, forMs) => void (await sendCall({ kind: 'limit', tenantId, reason, forMs })),
      close: async () => {
        messages.readers.delete(reader);
        messages.clean();
        await sendCall({ kind: 'close' }).catch(() => undefined);
      },
    };
    messages.readers.add(reader);
    const { outbox = [], isEmptied = false } = await sendCall({
      kind: 'open',
      processor,
      topic,
      partition,
      buckets,
      saved,
    });
    return Object.assign(handle, { outbox, isEmptied });
  }

  async close(): Promise<void> {
    this.#stopChecking();
    await this.#pool.close();
  }

  #getThread(name: string, partition: number): PoolThread<TaskReply> {
    const thread = this.#pool.getThread(name, partition);
    const progress = this.#startedProgress;
    if (progress !== undefined)
      this.#watchedThreads.set(thread, {
        progress,
        shares: new ThreadShares(),
        messages: new Map(),
        isSlow: false,
        count: 0,
        sinceMs: 0,
      });
    this.#startedProgress = undefined;
    return thread;
  }

  #getMessages(thread: PoolThread<TaskReply>, topic: string, partition: number): HeldMessages {
    const messagesByPartition = this.#watchedThreads.get(thread)?.messages ?? new Map<string, HeldMessages>();
    const key = `${topic}/${partition}`;
    const existing = messagesByPartition.get(key);
    if (existing !== undefined) return existing;
    const releaseChunks = (numbers: readonly number[]): Promise<TaskReply> =>
      thread.request((id): ReleaseRequest => ({ id, chunksToRelease: numbers }));
    const heldMessages = new HeldMessages(this.#budget, this.#memory, releaseChunks);
    messagesByPartition.set(key, heldMessages);
    return heldMessages;
  }

  #start(definitions: URL): WorkerStart {
    this.#startedProgress = new Progress();
    return {
      definitions: definitions.href,
      progress: this.#startedProgress.memory,
      documents: [...this.#documents.values()],
    };
  }

  #toLostError(thread: PoolThread<TaskReply>, task: number, cause: unknown): TaskLostError {
    const message = cause instanceof Error ? cause.message : String(cause);
    const watched = this.#watchedThreads.get(thread);
    const activity = watched?.progress.activity;
    if (watched === undefined || activity === undefined || activity.kind === 'nothing' || activity.task !== task)
      return new TaskLostError(message, { cause });
    return new TaskLostError(message, { cause, activity, isSlow: watched.isSlow });
  }

  #endSlowThreads(messageSeconds: number): void {
    for (const thread of this.#pool.runningThreads) {
      const watched = this.#watchedThreads.get(thread);
      if (watched === undefined) continue;
      const { count, activity } = watched.progress;
      const busyMs = readCpuMs(watched.progress);
      if (count !== watched.count || activity.kind === 'nothing') watched.sinceMs = busyMs;
      watched.count = count;
      if (busyMs - watched.sinceMs < messageSeconds * 1_000) continue;
      watched.isSlow = true;
      void thread.terminate();
    }
  }
}
