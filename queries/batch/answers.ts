/**
 * Answers many queries of one tenant with few statements. A query that runs alone needs up to three statements, each
 * with milliseconds of overhead. The answer to a query does not depend on the other queries of its batch.
 */
import { rejectOnAbort, TimeoutError } from '../../runtime/timeout.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { Answer, QueryContext } from '../answer.ts';
import { listSignals } from '../freshness.ts';
import type { QueryOutcome, ReportOutcome } from '../outcome.ts';
import type { QueryReading } from '../promql/reading.ts';
import type { Query } from '../query.ts';
import { getQueryKind, listPartQueries, type QueryBatch, type RunPartQuery } from '../query-kind.ts';
import { requireRetained } from '../range.ts';
import { extendColumns, type RowsAndBytes, runForAnswer } from '../run.ts';
import { contextKey } from './context-key.ts';
import { RecentDurations } from './recent-durations.ts';
import { WaitingQueries, type WaitingQuery } from './waiting-queries.ts';

/** Runs work on the engine once a slot is free, and resolves to its result. Rejects if the signal aborts before. */
export type RunInSlot = <Result>(work: () => Promise<Result>, signal?: AbortSignal) => Promise<Result>;

export interface BatchRunnerOptions {
  /** Time a query waits for others to batch with. */
  readonly batchDelayMs: number;
  /** Timeout of a batch; after it, batches of half the size are tried. */
  readonly batchTimeoutMs: number;
  /** Timeout of a query that runs alone. */
  readonly singleTimeoutMs: number;
  /** By default all work starts immediately. */
  readonly runInSlot?: RunInSlot;
}

/** Evicts the oldest queries to make room for new ones. */
const evictOldest = (entries: Map<string, unknown> | Set<string>): void => {
  const [oldest] = entries.keys();
  if (entries.size >= maxSolo && oldest !== undefined) entries.delete(oldest);
};

/** Returns an abort signal that fires when nobody waits for any of the queries. */
const abortWhenUnneeded = (questions: readonly WaitingQuery[]): AbortSignal => {
  const left = new AbortController();
  let neededCount = questions.length;
  for (const question of questions)
    question.abortController.signal.addEventListener(
      'abort',
      () => --neededCount === 0 && left.abort(question.abortController.signal.reason),
      {
        once: true,
      },
    );
  return left.signal;
};

/** Time for which a query that failed or timed out in a batch runs alone. */
const soloDurationMs = 600_000;
const maxSolo = 10_000;
/** Maximum number of retries of a batch that timed out. Halving a batch this often leaves one query. */
const maxLateRetries = 8;

/** Options of a query. */
export interface QueryOptions {
  /** Aborts when the answer is no longer needed. */
  readonly signal?: AbortSignal | undefined;
  /** Due time of the query. Under overload, newer ones go first. */
  readonly dueMs?: number;
  /**
   * Identity of a recurring requester, such as a rule. Under overload, requesters without a recent answer are served
   * before newer queries.
   */
  readonly requester?: string;
  /**
   * Called with the cost of each statement that answers the query; for a shared statement, each query's listener is
   * called.
   */
  readonly onCost?: ((cost: RowsAndBytes) => void) | undefined;
}

const reportCost =
  (questions: readonly WaitingQuery[]) =>
  (cost: RowsAndBytes): void => {
    for (const { costListeners } of questions) for (const onCost of costListeners) onCost(cost);
  };

/** Returns the statements that answer a query together with others. Throws for a kind whose queries run alone. */
const requireBatch = (query: Query): QueryBatch<Query> => {
  const { batch } = getQueryKind(query);
  if (batch === undefined) throw new Error(`queries of kind ${query.kind} are not batched`);
  return batch;
};

/** Returns the key that the queries of one batch share; undefined for a query that runs alone. */
const batchKey = (query: Query, context: QueryContext): string | undefined => {
  const key = getQueryKind(query).batch?.key(query, context);
  return key === undefined ? undefined : `${query.kind} ${key}`;
};

/** Batches the queries of one tenant that arrive within some milliseconds or wait for a slot. */
export class QueryBatcher {
  readonly #options: BatchRunnerOptions;
  readonly #runInSlot: RunInSlot;
  readonly #waiting = new WaitingQueries();
  /** Queries that run alone, and until when. */
  readonly #soloUntil = new Map<string, number>();
  /** Per requester and query: consecutive runs without an answer. */
  readonly #missedRuns = new Map<string, number>();
  /** Queries that timed out in a batch, and the batch size they may still use. */
  readonly #maxBatchOfSlowQueries = new Map<string, number>();
  readonly #recentDurations = new RecentDurations();
  #isGathering = false;
  /** Number of requested slots that are not free yet. */
  #pendingSlots = 0;

  constructor(options: BatchRunnerOptions) {
    this.#options = options;
    this.#runInSlot = options.runInSlot ?? ((work) => work());
  }

  /**
   * Runs a query like `runForAnswer` (`../run.ts`). A query that fails or times out does not affect others of its batch.
   * Rejects with `TimeoutError` if it timed out while all statements are slow.
   */
  async run(query: Query, reading: QueryReading, context: QueryContext, options: QueryOptions = {}): Promise<Answer> {
    const { signal, onCost } = options;
    signal?.throwIfAborted();
    for (const each of listSignals(query))
      requireRetained(context.range, { caller: reading, signal: each, nowMs: reading.nowMs });
    const runPart: RunPartQuery = (part, ofPart) => this.run(part, reading, ofPart, options);
    if (listPartQueries(query).length > 0) return getQueryKind(query).run(query, reading, context, runPart);
    const question = this.#findOrEnqueue(query, reading, context, options);
    question.waiterCount++;
    if (onCost !== undefined) question.costListeners.push(onCost);
    if (signal === undefined) return question.answer.promise;
    try {
      return await rejectOnAbort(question.answer.promise, signal);
    } finally {
      if (--question.waiterCount === 0 && signal.aborted) this.#abandon(question);
    }
  }

  /** Runs other work on the engine in a slot. */
  runInSlot<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    return this.#runInSlot(work, signal);
  }

  #findOrEnqueue(
    query: Query,
    reading: QueryReading,
    context: QueryContext,
    { dueMs = 0, requester = '' }: QueryOptions,
  ): WaitingQuery {
    const text = JSON.stringify(query);
    const key = `${contextKey(context)} ${text}`;
    const requesterKey = `${requester} ${text}`;
    const missedRunCount = this.#missedRuns.get(requesterKey) ?? 0;
    const known = this.#waiting.find(key);
    if (known !== undefined) {
      known.dueMs = Math.max(known.dueMs, dueMs);
      known.missedRunCount = Math.max(known.missedRunCount, missedRunCount);
      known.requesterKeys.add(requesterKey);
      return known;
    }
    const share = this.#isSolo(text) ? undefined : batchKey(query, context);
    const question: WaitingQuery = {
      key,
      query,
      reading,
      context,
      dueMs,
      missedRunCount,
      requesterKeys: new Set([requesterKey]),
      waiterCount: 0,
      costListeners: [],
      timedOutBatchCount: 0,
      batchKey: share ?? key,
      maxBatch: share === undefined ? 1 : this.#maxBatchOf(text, requireBatch(query).max),
      answer: Promise.withResolvers(),
      abortController: new AbortController(),
    };
    // Prevents an unhandled rejection: all requesters may have stopped waiting.
    question.answer.promise.catch(() => undefined);
    this.#waiting.add(question);
    if (!this.#isGathering) {
      this.#isGathering = true;
      setTimeout(() => {
        this.#isGathering = false;
        this.#requestSlots();
      }, this.#options.batchDelayMs);
    }
    return question;
  }

  #maxBatchOf(text: string, maxBatch: number): number {
    return this.#isLoaded ? maxBatch : Math.min(maxBatch, this.#maxBatchOfSlowQueries.get(text) ?? maxBatch);
  }

  /** Whether statements are slow in general; a long statement is then not slow by itself. */
  get #isLoaded(): boolean {
    return this.#recentDurations.medianMs() > this.#options.batchTimeoutMs / 4;
  }

  #isSolo(text: string): boolean {
    const isSolo = (this.#soloUntil.get(text) ?? 0) > performance.now();
    if (!isSolo) this.#soloUntil.delete(text);
    return isSolo;
  }

  #abandon(question: WaitingQuery): void {
    question.abortController.abort(new Error('the client no longer waits for the answer'));
    this.#waiting.remove(question);
    this.#countMissedRun(question);
  }

  #countMissedRun({ requesterKeys }: WaitingQuery): void {
    for (const each of requesterKeys) {
      const missed = this.#missedRuns.get(each) ?? 0;
      if (missed === 0) evictOldest(this.#missedRuns);
      this.#missedRuns.set(each, missed + 1);
    }
  }

  /** Rejects a query. A timeout that is not the fault of the query itself counts as a missed run. */
  #reject(question: WaitingQuery, error: unknown): void {
    if (error instanceof TimeoutError) this.#countMissedRun(question);
    else for (const each of question.requesterKeys) this.#missedRuns.delete(each);
    question.answer.reject(error);
  }

  /** Requests slots. Queries are selected when a slot is free: by then there may be more, newer ones or none. */
  #requestSlots(): void {
    for (let missingSlots = this.#waiting.statementCount - this.#pendingSlots; missingSlots > 0; missingSlots--) {
      this.#pendingSlots++;
      void this.#runInSlot(async () => {
        this.#pendingSlots--;
        await this.#runNext();
      });
    }
  }

  async #runNext(): Promise<void> {
    const questions = this.#waiting.takeNextBatch();
    const [first] = questions;
    if (first === undefined) return;
    const begun = performance.now();
    if (first.maxBatch === 1) await this.#runAlone(first);
    else await this.#runBatch(questions);
    this.#recentDurations.add(performance.now() - begun);
  }

  async #runBatch(questions: readonly WaitingQuery[]): Promise<void> {
    const [{ query: first, reading }] = questions as readonly [WaitingQuery];
    const begun = performance.now();
    const late = AbortSignal.timeout(this.#options.batchTimeoutMs);
    const left = abortWhenUnneeded(questions);
    const settledIndexes = new Set<number>();
    const reportOutcome: ReportOutcome = (index, outcome) => {
      const question = questions[index];
      if (question === undefined || settledIndexes.has(index)) return;
      settledIndexes.add(index);
      if ('answer' in outcome) this.#resolve(question, outcome.answer);
      else this.#reject(question, outcome.error);
      // This query is finished. The running statement is canceled once no query of the batch is waiting.
      question.abortController.abort();
    };
    let outcomes: readonly QueryOutcome[] = [];
    try {
      const columns = extendColumns(reading.columns, AbortSignal.any([late, left]), reportCost(questions));
      outcomes = await requireBatch(first).run(
        questions.map(({ query }) => query),
        { ...reading, columns },
        questions.map(({ context }) => context) as [QueryContext, ...QueryContext[]],
        reportOutcome,
      );
    } catch (error) {
      if (left.aborted) return;
      if (late.aborted) return this.#retryInHalves(questions.filter((_, index) => !settledIndexes.has(index)));
      if (this.#isEngineUnavailable(error, begun)) outcomes = questions.map(() => ({ error }));
    }
    for (const [index, question] of questions.entries()) {
      const outcome = outcomes[index];
      if (outcome !== undefined) reportOutcome(index, outcome);
      else if (!settledIndexes.has(index)) this.#requeue(question, 1);
    }
    this.#requestSlots();
  }

  /**
   * Retries a timed-out batch in halves, to find the slow query. If all statements are slow, halves would only add
   * work.
   */
  #retryInHalves(questions: readonly WaitingQuery[]): void {
    const { batchTimeoutMs } = this.#options;
    const isLoaded = this.#isLoaded;
    const half = Math.ceil(questions.length / 2);
    for (const question of questions) {
      question.timedOutBatchCount++;
      if (question.timedOutBatchCount > (isLoaded ? 2 : maxLateRetries))
        this.#reject(question, this.timeoutError(batchTimeoutMs, ', with others'));
      else if (isLoaded) this.#requeue(question, requireBatch(question.query).max);
      else this.#requeue(question, half);
      if (isLoaded) continue;
      evictOldest(this.#maxBatchOfSlowQueries);
      this.#maxBatchOfSlowQueries.set(JSON.stringify(question.query), half);
    }
    this.#requestSlots();
  }

  /** Requeues a query, with this maximum batch size. */
  #requeue(question: WaitingQuery, maxBatch: number): void {
    question.maxBatch = maxBatch;
    if (!question.abortController.signal.aborted) this.#waiting.add(question);
  }

  async #runAlone(question: WaitingQuery): Promise<void> {
    const { query, reading, context, abortController } = question;
    const { singleTimeoutMs, batchTimeoutMs } = this.#options;
    const begun = performance.now();
    const late = AbortSignal.timeout(singleTimeoutMs);
    try {
      const signal = AbortSignal.any([late, abortController.signal]);
      const columns = extendColumns(reading.columns, signal, reportCost([question]));
      const answered = await runForAnswer(query, { ...reading, columns }, { ...context, signal });
      const elapsedMs = performance.now() - begun;
      if (elapsedMs > batchTimeoutMs / 2 && !this.#isLoaded) this.#setSolo(query);
      this.#resolve(question, answered);
    } catch (error) {
      if (abortController.signal.aborted) return;
      if (!(late.aborted && this.#isLoaded) && !this.#isEngineUnavailable(error, begun)) this.#setSolo(query);
      this.#reject(question, late.aborted ? this.timeoutError(singleTimeoutMs) : error);
    }
  }

  /**
   * Returns the error for a timeout. If statements are slow in general, it is a `TimeoutError`, which does not blame
   * the query.
   */
  timeoutError(ms: number, how = ''): Error {
    return this.#isLoaded
      ? new TimeoutError(ms)
      : new UnavailableError(`the query took longer than ${ms / 1000} seconds${how}`);
  }

  /** Returns whether the engine is unavailable, which affects all queries. */
  #isEngineUnavailable(error: unknown, begun: number): boolean {
    return error instanceof UnavailableError && performance.now() - begun < this.#options.batchTimeoutMs / 2;
  }

  #resolve({ query, requesterKeys, answer }: WaitingQuery, answered: Answer): void {
    for (const each of requesterKeys) this.#missedRuns.delete(each);
    this.#maxBatchOfSlowQueries.delete(JSON.stringify(query));
    answer.resolve(answered);
  }

  #setSolo(query: Query): void {
    evictOldest(this.#soloUntil);
    this.#soloUntil.set(JSON.stringify(query), performance.now() + soloDurationMs);
  }
}
