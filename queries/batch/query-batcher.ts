/**
 * Runs many queries of one tenant with few statements. A query that runs alone needs up to three statements, each
 * with milliseconds of overhead. The result of a query does not depend on the other queries of its batch.
 */
import { rejectOnAbort, TimeoutError } from '../../runtime/timeout.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { QueryOutcome, ReportOutcome } from '../outcome.ts';
import type { QueryReader } from '../promql/query-reader.ts';
import type { Query } from '../query.ts';
import { getQueryKind, listPartQueries, type QueryBatch, type RunPartQuery } from '../query-kind.ts';
import type { QueryContext, ResultData } from '../query-result.ts';
import { requireReadable } from '../require-readable.ts';
import { extendColumns, type RowsAndBytes, runWithoutCost } from '../run.ts';
import { toContextKey } from './context-key.ts';
import { RecentDurations } from './recent-durations.ts';
import { WaitingQueries, type WaitingQuery } from './waiting-queries.ts';

/**
 * Runs work on the engine once a slot is free, and resolves to its result. Rejects if the signal aborts before that.
 */
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
  if (entries.size >= maxSoloQueries && oldest !== undefined) entries.delete(oldest);
};

/** Returns an abort signal that fires when nobody waits for any of the queries. */
const abortWhenUnneeded = (waitingQueries: readonly WaitingQuery[]): AbortSignal => {
  const abandonController = new AbortController();
  let neededCount = waitingQueries.length;
  for (const waitingQuery of waitingQueries)
    waitingQuery.abortController.signal.addEventListener(
      'abort',
      () => --neededCount === 0 && abandonController.abort(waitingQuery.abortController.signal.reason),
      {
        once: true,
      },
    );
  return abandonController.signal;
};

/** Time for which a query that failed or timed out in a batch runs alone. */
const soloDurationMs = 600_000;
const maxSoloQueries = 10_000;
/** Maximum number of retries of a batch that timed out. Halving a batch this often leaves one query. */
const maxLateRetries = 8;

/** Options of a query. */
export interface QueryOptions {
  /** Aborts when the result is no longer needed. */
  readonly signal?: AbortSignal | undefined;
  /** Due time of the query. Under overload, newer ones go first. */
  readonly dueMs?: number;
  /**
   * Identity of a recurring requester, such as a rule. Under overload, requesters without a recent result are served
   * before newer queries.
   */
  readonly requester?: string;
  /**
   * Called with the cost of each statement that serves the query; for a shared statement, each query's listener is
   * called.
   */
  readonly onCost?: ((cost: RowsAndBytes) => void) | undefined;
}

const reportCost =
  (waitingQueries: readonly WaitingQuery[]) =>
  (cost: RowsAndBytes): void => {
    for (const { costListeners } of waitingQueries) for (const onCost of costListeners) onCost(cost);
  };

/** Returns the statements that serve a query together with others. Throws for a kind whose queries run alone. */
const requireBatch = (query: Query): QueryBatch<Query> => {
  const { batch } = getQueryKind(query);
  if (batch === undefined) throw new Error(`queries of kind ${query.kind} are not batched`);
  return batch;
};

/** Returns the key that the queries of one batch share; undefined for a query that runs alone. */
const toBatchKey = (query: Query, context: QueryContext): string | undefined => {
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
  /** Per requester and query: consecutive runs without a result. */
  readonly #missedRuns = new Map<string, number>();
  /** Queries that timed out in a batch, and the batch size they may still use. */
  readonly #maxBatchByQuery = new Map<string, number>();
  readonly #recentDurations = new RecentDurations();
  #isCollecting = false;
  /** Number of requested slots that are not free yet. */
  #pendingSlots = 0;

  constructor(options: BatchRunnerOptions) {
    this.#options = options;
    this.#runInSlot = options.runInSlot ?? ((work) => work());
  }

  /**
   * Runs a query like `run` (`../run.ts`). A query that fails or times out does not affect others of its batch.
   * Rejects with `TimeoutError` if it timed out while all statements are slow.
   */
  async run(query: Query, reader: QueryReader, context: QueryContext, options: QueryOptions = {}): Promise<ResultData> {
    const { signal, onCost } = options;
    signal?.throwIfAborted();
    requireReadable(query, context.range, reader);
    const runPart: RunPartQuery = (part, partContext) => this.run(part, reader, partContext, options);
    if (listPartQueries(query).length > 0) return getQueryKind(query).run(query, reader, context, runPart);
    const waitingQuery = this.#findOrEnqueue(query, reader, context, options);
    waitingQuery.waiterCount++;
    if (onCost !== undefined) waitingQuery.costListeners.push(onCost);
    if (signal === undefined) return waitingQuery.deferred.promise;
    try {
      return await rejectOnAbort(waitingQuery.deferred.promise, signal);
    } finally {
      if (--waitingQuery.waiterCount === 0 && signal.aborted) this.#abandon(waitingQuery);
    }
  }

  /** Runs other work on the engine in a slot. */
  runInSlot<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    return this.#runInSlot(work, signal);
  }

  #findOrEnqueue(
    query: Query,
    reader: QueryReader,
    context: QueryContext,
    { dueMs = 0, requester = '' }: QueryOptions,
  ): WaitingQuery {
    const queryJson = JSON.stringify(query);
    const key = `${toContextKey(context)} ${queryJson}`;
    const requesterKey = `${requester} ${queryJson}`;
    const missedRunCount = this.#missedRuns.get(requesterKey) ?? 0;
    const existing = this.#waiting.find(key);
    if (existing !== undefined) {
      existing.dueMs = Math.max(existing.dueMs, dueMs);
      existing.missedRunCount = Math.max(existing.missedRunCount, missedRunCount);
      existing.requesterKeys.add(requesterKey);
      return existing;
    }
    const sharedKey = this.#isSolo(queryJson) ? undefined : toBatchKey(query, context);
    const waitingQuery: WaitingQuery = {
      key,
      query,
      reader,
      context,
      dueMs,
      missedRunCount,
      requesterKeys: new Set([requesterKey]),
      waiterCount: 0,
      costListeners: [],
      timedOutBatchCount: 0,
      batchKey: sharedKey ?? key,
      maxBatch: sharedKey === undefined ? 1 : this.#getMaxBatch(queryJson, requireBatch(query).max),
      deferred: Promise.withResolvers(),
      abortController: new AbortController(),
    };
    // Prevents an unhandled rejection: all requesters may have stopped waiting.
    waitingQuery.deferred.promise.catch(() => undefined);
    this.#waiting.add(waitingQuery);
    if (!this.#isCollecting) {
      this.#isCollecting = true;
      setTimeout(() => {
        this.#isCollecting = false;
        this.#requestSlots();
      }, this.#options.batchDelayMs);
    }
    return waitingQuery;
  }

  #getMaxBatch(queryJson: string, maxBatch: number): number {
    return this.#isLoaded ? maxBatch : Math.min(maxBatch, this.#maxBatchByQuery.get(queryJson) ?? maxBatch);
  }

  /** Whether statements are slow in general; a long statement is then not slow by itself. */
  get #isLoaded(): boolean {
    return this.#recentDurations.getMedianMs() > this.#options.batchTimeoutMs / 4;
  }

  #isSolo(queryJson: string): boolean {
    const isSolo = (this.#soloUntil.get(queryJson) ?? 0) > performance.now();
    if (!isSolo) this.#soloUntil.delete(queryJson);
    return isSolo;
  }

  #abandon(waitingQuery: WaitingQuery): void {
    waitingQuery.abortController.abort(new Error('the client no longer waits for the answer'));
    this.#waiting.remove(waitingQuery);
    this.#countMissedRun(waitingQuery);
  }

  #countMissedRun({ requesterKeys }: WaitingQuery): void {
    for (const requesterKey of requesterKeys) {
      const missedCount = this.#missedRuns.get(requesterKey) ?? 0;
      if (missedCount === 0) evictOldest(this.#missedRuns);
      this.#missedRuns.set(requesterKey, missedCount + 1);
    }
  }

  /** Rejects a query. A timeout that is not the fault of the query itself counts as a missed run. */
  #reject(waitingQuery: WaitingQuery, error: unknown): void {
    if (error instanceof TimeoutError) this.#countMissedRun(waitingQuery);
    else for (const requesterKey of waitingQuery.requesterKeys) this.#missedRuns.delete(requesterKey);
    waitingQuery.deferred.reject(error);
  }

  /**
   * Requests slots. Queries are selected when a slot becomes free, because the waiting queries may change until
   * then.
   */
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
    const waitingQueries = this.#waiting.dequeueNextBatch();
    const [first] = waitingQueries;
    if (first === undefined) return;
    const startMs = performance.now();
    if (first.maxBatch === 1) await this.#runAlone(first);
    else await this.#runBatch(waitingQueries);
    this.#recentDurations.add(performance.now() - startMs);
  }

  async #runBatch(questions: readonly WaitingQuery[]): Promise<void> {
    const [{ query: first, reader }] = questions as readonly [WaitingQuery];
    const begun = performance.now();
    const timeoutSignal = AbortSignal.timeout(this.#options.batchTimeoutMs);
    const abandonController = abortWhenUnneeded(questions);
    const settledIndexes = new Set<number>();
    const reportOutcome: ReportOutcome = (index, outcome) => {
      const waitingQuery = questions[index];
      if (waitingQuery === undefined || settledIndexes.has(index)) return;
      settledIndexes.add(index);
      if ('result' in outcome) this.#resolve(waitingQuery, outcome.result);
      else this.#reject(waitingQuery, outcome.error);
      // This query is finished. The running statement is canceled once no query of the batch is waiting.
      waitingQuery.abortController.abort();
    };
    let outcomes: readonly QueryOutcome[] = [];
    try {
      const columns = extendColumns(
        reader.columns,
        AbortSignal.any([timeoutSignal, abandonController]),
        reportCost(questions),
      );
      outcomes = await requireBatch(first).run(
        questions.map(({ query }) => query),
        { ...reader, columns },
        questions.map(({ context }) => context) as [QueryContext, ...QueryContext[]],
        reportOutcome,
      );
    } catch (error) {
      if (abandonController.aborted) return;
      if (timeoutSignal.aborted) return this.#retryInHalves(questions.filter((_, index) => !settledIndexes.has(index)));
      if (this.#isEngineUnavailable(error, begun)) outcomes = questions.map(() => ({ error }));
    }
    for (const [index, waitingQuery] of questions.entries()) {
      const outcome = outcomes[index];
      if (outcome !== undefined) reportOutcome(index, outcome);
      else if (!settledIndexes.has(index)) this.#requeue(waitingQuery, 1);
    }
    this.#requestSlots();
  }

  /**
   * Retries a timed-out batch in halves, to find the slow query. If all statements are slow, halves would only add
   * work.
   */
  #retryInHalves(waitingQueries: readonly WaitingQuery[]): void {
    const { batchTimeoutMs } = this.#options;
    const isLoaded = this.#isLoaded;
    const half = Math.ceil(waitingQueries.length / 2);
    for (const waitingQuery of waitingQueries) {
      waitingQuery.timedOutBatchCount++;
      if (waitingQuery.timedOutBatchCount > (isLoaded ? 2 : maxLateRetries))
        this.#reject(waitingQuery, this.createTimeoutError(batchTimeoutMs, ', with others'));
      else if (isLoaded) this.#requeue(waitingQuery, requireBatch(waitingQuery.query).max);
      else this.#requeue(waitingQuery, half);
      if (isLoaded) continue;
      evictOldest(this.#maxBatchByQuery);
      this.#maxBatchByQuery.set(JSON.stringify(waitingQuery.query), half);
    }
    this.#requestSlots();
  }

  /** Requeues a query, with this maximum batch size. */
  #requeue(waitingQuery: WaitingQuery, maxBatch: number): void {
    waitingQuery.maxBatch = maxBatch;
    if (!waitingQuery.abortController.signal.aborted) this.#waiting.add(waitingQuery);
  }

  async #runAlone(question: WaitingQuery): Promise<void> {
    const { query, reader, context, abortController } = question;
    const { singleTimeoutMs, batchTimeoutMs } = this.#options;
    const startMs = performance.now();
    const timeoutSignal = AbortSignal.timeout(singleTimeoutMs);
    try {
      const signal = AbortSignal.any([timeoutSignal, abortController.signal]);
      const columns = extendColumns(reader.columns, signal, reportCost([question]));
      const result = await runWithoutCost(query, { ...reader, columns }, { ...context, signal });
      const elapsedMs = performance.now() - startMs;
      if (elapsedMs > batchTimeoutMs / 2 && !this.#isLoaded) this.#setSolo(query);
      this.#resolve(question, result);
    } catch (error) {
      if (abortController.signal.aborted) return;
      if (!(timeoutSignal.aborted && this.#isLoaded) && !this.#isEngineUnavailable(error, startMs))
        this.#setSolo(query);
      this.#reject(question, timeoutSignal.aborted ? this.createTimeoutError(singleTimeoutMs) : error);
    }
  }

  /**
   * Returns the error for a timeout. If statements are slow in general, it is a `TimeoutError`, which does not blame
   * the query.
   */
  createTimeoutError(ms: number, detail = ''): Error {
    return this.#isLoaded
      ? new TimeoutError(ms)
      : new UnavailableError(`the query took longer than ${ms / 1000} seconds${detail}`);
  }

  /** Returns whether the engine is unavailable, which affects all queries. */
  #isEngineUnavailable(error: unknown, startMs: number): boolean {
    return error instanceof UnavailableError && performance.now() - startMs < this.#options.batchTimeoutMs / 2;
  }

  #resolve({ query, requesterKeys, deferred }: WaitingQuery, result: ResultData): void {
    for (const requesterKey of requesterKeys) this.#missedRuns.delete(requesterKey);
    this.#maxBatchByQuery.delete(JSON.stringify(query));
    deferred.resolve(result);
  }

  #setSolo(query: Query): void {
    evictOldest(this.#soloUntil);
    this.#soloUntil.set(JSON.stringify(query), performance.now() + soloDurationMs);
  }
}
