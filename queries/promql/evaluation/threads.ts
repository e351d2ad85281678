/**
 * Threads that evaluate PromQL, shared fairly between organizations. This is not a `WorkerPool`: an evaluation
 * reserves a thread, and an abort terminates that thread.
 */
import { availableParallelism } from 'node:os';
import { MessageChannel } from 'node:worker_threads';
import { PoolThread } from '../../../runtime/worker-pool.ts';
import { FairQueue, TooManyWaitingError } from '../../limits/fair-queue.ts';
import { selectAdditionalSeries } from '../additional-series.ts';
import { PromqlError } from '../errors.ts';
import { type BlockReader, openBlockReader } from '../fetch/known-selections.ts';
import type { Scope } from '../fetch/scope.ts';
import { type EvaluationResult, listSelections, parse } from '../index.ts';
import type { Selection, Series } from '../series.ts';
import { defaultFeatures, type Features } from '../settings.ts';
import type { BlockReply, BlockRequest, EvaluationReply, EvaluationRequest, EvaluationWindow } from './messages.ts';

/** Expression to evaluate, and the source of its series. */
export interface EvaluationQuery {
  readonly expression: string;
  readonly window: EvaluationWindow;
  readonly scope: Scope;
  /** Start of retention; nothing before it is read. */
  readonly retainedFromMs: number;
  /** Samples that are not stored yet, but are evaluated as if they were. */
  readonly additionalSeries?: readonly Series[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Evaluates PromQL. */
export interface Promql {
  /**
   * Evaluates an expression. Rejects with `PromqlSyntaxError`, with `PromqlError`, or with errors of column reads. An
   * abort ends the evaluation immediately.
   */
  evaluate(query: EvaluationQuery): Promise<EvaluationResult>;
  close(): Promise<void>;
}

const maxWaitingPerTenant = 200;
const threadMemoryMb = 2048;

/** Reads the points of one query's selections on demand, in parts. */
class SelectionFeed {
  readonly #query: EvaluationQuery;
  readonly #selections: readonly Selection[];
  readonly #needsStartTimes: boolean;
  readonly #readersByIndex = new Map<number, Promise<BlockReader>>();
  /** Error of a failed read. */
  failure: unknown;

  constructor(query: EvaluationQuery, selections: readonly Selection[], needsStartTimes: boolean) {
    this.#query = query;
    this.#selections = selections;
    this.#needsStartTimes = needsStartTimes;
  }

  /** Returns the additional samples that match any of the selections. */
  selectAdditional(additionalSeries: readonly Series[]): readonly Series[] {
    return [...new Set(this.#selections.flatMap((selection) => selectAdditionalSeries(selection, additionalSeries)))];
  }

  async next(index: number): Promise<BlockReply> {
    try {
      const reader = this.#readersByIndex.get(index) ?? this.#open(this.#selections[index] as Selection);
      this.#readersByIndex.set(index, reader);
      const block = await (await reader).next();
      return block === undefined ? { isEnd: true } : { block };
    } catch (error) {
      this.failure = error;
      return { hasFailed: true };
    }
  }

  async #open({ matchers, fromMs, toMs }: Selection): Promise<BlockReader> {
    const { scope, retainedFromMs } = this.#query;
    if (toMs <= retainedFromMs) return { next: async () => undefined };
    return openBlockReader(scope, { fromMs: Math.max(fromMs, retainedFromMs), toMs }, matchers, this.#needsStartTimes);
  }
}

class PromqlThreads implements Promql {
  readonly #queue: FairQueue;
  readonly #features: Features;
  readonly #idleThreads: PoolThread<EvaluationReply>[] = [];
  readonly #allThreads = new Set<PoolThread<EvaluationReply>>();

  constructor(size: number, features: Features) {
    this.#features = features;
    const maxSlotsPerTenant = Math.max(1, Math.ceil((size * 3) / 4));
    this.#queue = new FairQueue({ slots: size, maxSlotsPerTenant, maxWaitingPerTenant });
  }

  async evaluate(query: EvaluationQuery): Promise<EvaluationResult> {
    const { expression, window, scope, signal } = query;
    // Invalid expressions are rejected without a thread.
    const { syntax, engine } = this.#features;
    const selections = listSelections(parse(expression, syntax), window, engine);
    const releaseSlot = await this.#acquireSlot(scope.columns.tenantId, signal);
    const thread = this.#idleThreads.pop() ?? this.#start();
    try {
      return await this.#evaluateIn(thread, query, new SelectionFeed(query, selections, engine.startTimestamps));
    } finally {
      // A thread ended by an abort may still have replied.
      if (this.#allThreads.has(thread)) this.#idleThreads.push(thread);
      releaseSlot();
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#allThreads].map((thread) => thread.terminate()));
  }

  async #acquireSlot(tenantId: string, signal: AbortSignal | undefined): Promise<() => void> {
    try {
      return await this.#queue.acquire(tenantId, signal);
    } catch (error) {
      if (!(error instanceof TooManyWaitingError)) throw error;
      throw new PromqlError(
        'too_many_requests',
        `${maxWaitingPerTenant} queries of this organization are waiting already`,
      );
    }
  }

  async #evaluateIn(
    thread: PoolThread<EvaluationReply>,
    query: EvaluationQuery,
    feed: SelectionFeed,
  ): Promise<EvaluationResult> {
    const { expression, window, signal } = query;
    signal?.throwIfAborted();
    const additionalSeries = feed.selectAdditional(query.additionalSeries ?? []);
    const { port1, port2 } = new MessageChannel();
    const hasReplyFlag = new SharedArrayBuffer(4);
    const replyFlag = new Int32Array(hasReplyFlag);
    port1.on('message', async ({ selectionIndex }: BlockRequest) => {
      const blockReply = await feed.next(selectionIndex);
      const transferList =
        'block' in blockReply ? Object.values(blockReply.block.blocks).map(({ buffer }) => buffer as ArrayBuffer) : [];
      port1.postMessage(blockReply, transferList);
      Atomics.store(replyFlag, 0, 1);
      Atomics.notify(replyFlag, 0);
    });
    const endThread = (): void => void this.#endThread(thread);
    signal?.addEventListener('abort', endThread, { once: true });
    try {
      const reply = await thread.request(
        (id): EvaluationRequest => ({
          id,
          expression,
          window,
          features: this.#features,
          additionalSeries,
          port: port2,
          hasReplyFlag,
        }),
        [port2],
      );
      if ('result' in reply) return reply.result;
      throw 'failure' in reply ? new PromqlError(reply.failure.type, reply.failure.message) : feed.failure;
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener('abort', endThread);
      port1.close();
    }
  }

  #start(): PoolThread<EvaluationReply> {
    const module = new URL('./worker.ts', import.meta.url);
    const options = { name: 'promql', resourceLimits: { maxOldGenerationSizeMb: threadMemoryMb } };
    const thread: PoolThread<EvaluationReply> = new PoolThread(
      { kind: 'PromQL', module, options, endsWithProcess: true },
      () => this.#removeThread(thread),
    );
    this.#allThreads.add(thread);
    return thread;
  }

  #removeThread(thread: PoolThread<EvaluationReply>): void {
    this.#allThreads.delete(thread);
    const index = this.#idleThreads.indexOf(thread);
    if (index >= 0) this.#idleThreads.splice(index, 1);
  }

  async #endThread(thread: PoolThread<EvaluationReply>): Promise<void> {
    this.#removeThread(thread);
    await thread.terminate();
  }
}

/** Creates the thread pool: by default at most one thread per core, up to eight. Threads start on demand. */
export const openPromql = ({
  size = Math.min(8, availableParallelism()),
  features = defaultFeatures,
}: {
  readonly size?: number;
  readonly features?: Features | undefined;
} = {}): Promql => new PromqlThreads(size, features);
