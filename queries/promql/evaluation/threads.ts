/**
 * Threads that evaluate PromQL, shared fairly between organizations. They do not form a `WorkerPool`, because an
 * evaluation reserves a thread, and an abort terminates it.
 */
import { availableParallelism } from 'node:os';
import { MessageChannel } from 'node:worker_threads';
import { PoolThread } from '../../../runtime/worker-pool.ts';
import { FairQueue, TooManyWaiting } from '../../limits/fair-queue.ts';
import { selectAdditionalSeries } from '../added.ts';
import { PromqlError } from '../errors.ts';
import { type BlockReader, openPieces } from '../fetch/known-selections.ts';
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
  evaluate(question: EvaluationQuery): Promise<EvaluationResult>;
  close(): Promise<void>;
}

const maxWaitingPerTenant = 200;
const threadMemoryMb = 2048;

/** Reads the points of one query's selections on demand, in parts. */
class SelectionFeed {
  readonly #question: EvaluationQuery;
  readonly #selections: readonly Selection[];
  readonly #hasStarts: boolean;
  readonly #pieces = new Map<number, Promise<BlockReader>>();
  /** Error of a failed read. */
  failure: unknown;

  constructor(question: EvaluationQuery, selections: readonly Selection[], hasStarts: boolean) {
    this.#question = question;
    this.#selections = selections;
    this.#hasStarts = hasStarts;
  }

  /** Returns the additional samples that match any of the selections. */
  selectAdditional(added: readonly Series[]): readonly Series[] {
    return [...new Set(this.#selections.flatMap((selection) => selectAdditionalSeries(selection, added)))];
  }

  async next(index: number): Promise<BlockReply> {
    try {
      const pieces = this.#pieces.get(index) ?? this.#open(this.#selections[index] as Selection);
      this.#pieces.set(index, pieces);
      const piece = await (await pieces).next();
      return piece === undefined ? { ended: true } : { piece };
    } catch (error) {
      this.failure = error;
      return { failed: true };
    }
  }

  async #open({ matchers, fromMs, toMs }: Selection): Promise<BlockReader> {
    const { scope, retainedFromMs } = this.#question;
    if (toMs <= retainedFromMs) return { next: async () => undefined };
    return openPieces(scope, { fromMs: Math.max(fromMs, retainedFromMs), toMs }, matchers, this.#hasStarts);
  }
}

class PromqlThreads implements Promql {
  readonly #queue: FairQueue;
  readonly #features: Features;
  readonly #idle: PoolThread<EvaluationReply>[] = [];
  readonly #allThreads = new Set<PoolThread<EvaluationReply>>();

  constructor(size: number, features: Features) {
    this.#features = features;
    const maxSlotsPerTenant = Math.max(1, Math.ceil((size * 3) / 4));
    this.#queue = new FairQueue({ slots: size, maxSlotsPerTenant, maxWaitingPerTenant });
  }

  async evaluate(question: EvaluationQuery): Promise<EvaluationResult> {
    const { expression, window, scope, signal } = question;
    // Invalid expressions are rejected without a thread.
    const { syntax, engine } = this.#features;
    const selections = listSelections(parse(expression, syntax), window, engine);
    const releaseSlot = await this.#acquireSlot(scope.columns.tenantId, signal);
    const thread = this.#idle.pop() ?? this.#start();
    try {
      return await this.#evaluateIn(thread, question, new SelectionFeed(question, selections, engine.startTimestamps));
    } finally {
      // A thread ended by an abort may still have replied.
      if (this.#allThreads.has(thread)) this.#idle.push(thread);
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
      if (!(error instanceof TooManyWaiting)) throw error;
      throw new PromqlError(
        'too_many_requests',
        `${maxWaitingPerTenant} queries of this organization are waiting already`,
      );
    }
  }

  async #evaluateIn(
    thread: PoolThread<EvaluationReply>,
    question: EvaluationQuery,
    feed: SelectionFeed,
  ): Promise<EvaluationResult> {
    const { expression, window, signal } = question;
    signal?.throwIfAborted();
    const additionalSeries = feed.selectAdditional(question.additionalSeries ?? []);
    const { port1, port2 } = new MessageChannel();
    const hasReplyFlag = new SharedArrayBuffer(4);
    const state = new Int32Array(hasReplyFlag);
    port1.on('message', async ({ selection }: BlockRequest) => {
      const blockReply = await feed.next(selection);
      const transferList =
        'piece' in blockReply ? Object.values(blockReply.piece.blocks).map(({ buffer }) => buffer as ArrayBuffer) : [];
      port1.postMessage(blockReply, transferList);
      Atomics.store(state, 0, 1);
      Atomics.notify(state, 0);
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
    const at = this.#idle.indexOf(thread);
    if (at >= 0) this.#idle.splice(at, 1);
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
