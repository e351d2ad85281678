/**
 * Threads that evaluate PromQL, shared fairly between organizations. They do not form a `WorkerPool`, because an
 * evaluation reserves a thread, and an abort terminates it.
 */
import { availableParallelism } from 'node:os';
import { MessageChannel } from 'node:worker_threads';
import { PoolThread } from '../../../runtime/worker-pool.ts';
import { FairQueue, TooManyWaiting } from '../../limits/fair-queue.ts';
import { addedTo } from '../added.ts';
import { PromqlError } from '../errors.ts';
import { openPieces, type PieceReader } from '../fetch/known-selections.ts';
import type { Scope } from '../fetch/scope.ts';
import { type Evaluated, parse, selectionsOf } from '../index.ts';
import type { Selection, Series } from '../series.ts';
import { defaultFeatures, type Features } from '../settings.ts';
import type { EvaluationWindow, PieceReply, PieceRequest, Reply } from './messages.ts';

/** Expression to evaluate, and the source of its series. */
export interface Question {
  readonly expression: string;
  readonly window: EvaluationWindow;
  readonly scope: Scope;
  /** Start of retention; nothing before it is read. */
  readonly retainedFromMs: number;
  /** Samples that count as stored before they are. */
  readonly added?: readonly Series[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Evaluates PromQL. */
export interface Promql {
  /**
   * Evaluates an expression. Rejects with `PromqlSyntaxError`, with `PromqlError`, or with errors of column reads. An
   * abort ends the evaluation immediately.
   */
  evaluate(question: Question): Promise<Evaluated>;
  close(): Promise<void>;
}

const waitingPerTenant = 200;
const threadMemoryMb = 2048;

/** Pieces of one query's selections, read on demand. */
class Feed {
  readonly #question: Question;
  readonly #selections: readonly Selection[];
  readonly #hasStarts: boolean;
  readonly #pieces = new Map<number, Promise<PieceReader>>();
  /** Error of a failed read. */
  failure: unknown;

  constructor(question: Question, selections: readonly Selection[], hasStarts: boolean) {
    this.#question = question;
    this.#selections = selections;
    this.#hasStarts = hasStarts;
  }

  /** Returns the samples that any of the selections reads. */
  addedOf(added: readonly Series[]): readonly Series[] {
    return [...new Set(this.#selections.flatMap((selection) => addedTo(selection, added)))];
  }

  async next(index: number): Promise<PieceReply> {
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

  async #open({ matchers, fromMs, toMs }: Selection): Promise<PieceReader> {
    const { scope, retainedFromMs } = this.#question;
    if (toMs <= retainedFromMs) return { next: async () => undefined };
    return openPieces(scope, { fromMs: Math.max(fromMs, retainedFromMs), toMs }, matchers, this.#hasStarts);
  }
}

class Threads implements Promql {
  readonly #queue: FairQueue;
  readonly #features: Features;
  readonly #idle: PoolThread<Reply>[] = [];
  readonly #all = new Set<PoolThread<Reply>>();

  constructor(size: number, features: Features) {
    this.#features = features;
    const slotsPerTenant = Math.max(1, Math.ceil((size * 3) / 4));
    this.#queue = new FairQueue({ slots: size, slotsPerTenant, waitingPerTenant });
  }

  async evaluate(question: Question): Promise<Evaluated> {
    const { expression, window, scope, signal } = question;
    // Invalid expressions are rejected without a thread.
    const { syntax, engine } = this.#features;
    const selections = selectionsOf(parse(expression, syntax), window, engine);
    const end = await this.#acquireSlot(scope.columns.tenantId, signal);
    const thread = this.#idle.pop() ?? this.#start();
    try {
      return await this.#evaluateIn(thread, question, new Feed(question, selections, engine.startTimestamps));
    } finally {
      // A thread ended by an abort may still have replied.
      if (this.#all.has(thread)) this.#idle.push(thread);
      end();
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map((thread) => thread.end()));
  }

  async #acquireSlot(tenantId: string, signal: AbortSignal | undefined): Promise<() => void> {
    try {
      return await this.#queue.acquire(tenantId, signal);
    } catch (error) {
      if (!(error instanceof TooManyWaiting)) throw error;
      throw new PromqlError(
        'too_many_requests',
        `${waitingPerTenant} queries of this organization are waiting already`,
      );
    }
  }

  async #evaluateIn(thread: PoolThread<Reply>, question: Question, feed: Feed): Promise<Evaluated> {
    const { expression, window, signal } = question;
    signal?.throwIfAborted();
    const added = feed.addedOf(question.added ?? []);
    const { port1, port2 } = new MessageChannel();
    const answered = new SharedArrayBuffer(4);
    const state = new Int32Array(answered);
    port1.on('message', async ({ selection }: PieceRequest) => {
      const given = await feed.next(selection);
      const moved =
        'piece' in given ? Object.values(given.piece.blocks).map(({ buffer }) => buffer as ArrayBuffer) : [];
      port1.postMessage(given, moved);
      Atomics.store(state, 0, 1);
      Atomics.notify(state, 0);
    });
    const stop = (): void => void this.#drop(thread);
    signal?.addEventListener('abort', stop, { once: true });
    try {
      const reply = await thread.request(
        (id) => ({ id, expression, window, features: this.#features, added, port: port2, answered }),
        [port2],
      );
      if ('result' in reply) return reply.result;
      throw 'failure' in reply ? new PromqlError(reply.failure.type, reply.failure.message) : feed.failure;
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener('abort', stop);
      port1.close();
    }
  }

  #start(): PoolThread<Reply> {
    const module = new URL('./worker.ts', import.meta.url);
    const options = { name: 'promql', resourceLimits: { maxOldGenerationSizeMb: threadMemoryMb } };
    const thread: PoolThread<Reply> = new PoolThread({ kind: 'PromQL', module, options, endsWithProcess: true }, () =>
      this.#forget(thread),
    );
    this.#all.add(thread);
    return thread;
  }

  #forget(thread: PoolThread<Reply>): void {
    this.#all.delete(thread);
    const at = this.#idle.indexOf(thread);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  async #drop(thread: PoolThread<Reply>): Promise<void> {
    this.#forget(thread);
    await thread.end();
  }
}

/** Opens the threads, which start with the first queries: one per core of the machine, at most eight. */
export const openPromql = ({
  size = Math.min(8, availableParallelism()),
  features = defaultFeatures,
}: {
  readonly size?: number;
  readonly features?: Features | undefined;
} = {}): Promql => new Threads(size, features);
