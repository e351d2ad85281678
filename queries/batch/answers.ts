/**
 * Answers many queries of one tenant with few statements. A query that runs alone needs up to three statements, each
 * with milliseconds of overhead. The answer to a query does not depend on the other queries of its batch.
 */
import { rejectOnAbort, TimeoutError } from '../../runtime/timeout.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { Answer, QueryContext } from '../answer.ts';
import { signalsOf } from '../freshness.ts';
import type { Outcome, ReportOutcome } from '../outcome.ts';
import type { QueryReading } from '../promql/reading.ts';
import type { Query } from '../query.ts';
import { kindOf, partsOf, type QueryBatch, type RunPart } from '../query-kind.ts';
import { refuseBeyondRetention } from '../range.ts';
import { answerOnly, type RowsAndBytes, withSignal } from '../run.ts';
import { contextKey } from './context-key.ts';
import { RecentTimes } from './recent-durations.ts';
import { type Question, WaitingQuestions } from './waiting-queries.ts';

/** Runs work on the engine once a slot is free, and resolves to its result. Rejects if the signal aborts before. */
export type RunInSlot = <Result>(work: () => Promise<Result>, signal?: AbortSignal) => Promise<Result>;

export interface AnswersOptions {
  /** Time a query waits for others to batch with. */
  readonly gatherMs: number;
  /** Timeout of a batch; after it, batches of half the size are tried. */
  readonly sharedMs: number;
  /** Timeout of a query that runs alone. */
  readonly aloneMs: number;
  /** By default all work starts immediately. */
  readonly runInSlot?: RunInSlot;
}

/** Evicts the oldest queries to make room for new ones. */
const makeRoom = (known: Map<string, unknown> | Set<string>): void => {
  const [oldest] = known.keys();
  if (known.size >= maxSolo && oldest !== undefined) known.delete(oldest);
};

/** Returns a signal that aborts when nobody waits for any of the queries. */
const allLeft = (questions: readonly Question[]): AbortSignal => {
  const left = new AbortController();
  let staying = questions.length;
  for (const question of questions)
    question.left.signal.addEventListener('abort', () => --staying === 0 && left.abort(question.left.signal.reason), {
      once: true,
    });
  return left.signal;
};

/** Time for which a query that failed or timed out in a batch runs alone. */
const soloMs = 600_000;
const maxSolo = 10_000;
/** Maximum number of retries of a batch that timed out. Halving a batch this often leaves one query. */
const maxLateRetries = 8;

/** Options of a query. */
export interface QuestionOptions {
  /** Aborts when the answer is no longer needed. */
  readonly signal?: AbortSignal | undefined;
  /** Due time of the query. Under overload, newer ones go first. */
  readonly dueMs?: number;
  /**
   * Identity of a recurring requester, such as a rule. Under overload, requesters without a recent answer go before
   * newer queries.
   */
  readonly requester?: string;
  /**
   * Called with the cost of each statement that answers the query; for a shared statement, each query's listener is
   * called.
   */
  readonly onCost?: ((cost: RowsAndBytes) => void) | undefined;
}

const reportCost =
  (questions: readonly Question[]) =>
  (cost: RowsAndBytes): void => {
    for (const { costListeners } of questions) for (const onCost of costListeners) onCost(cost);
  };

/** Returns the statements that answer a query together with others. Throws for a kind whose queries run alone. */
const batchOf = (query: Query): QueryBatch<Query> => {
  const { batch } = kindOf(query);
  if (batch === undefined) throw new Error(`queries of kind ${query.kind} are not batched`);
  return batch;
};

/** Returns the key that the queries of one batch share; undefined for a query that runs alone. */
const shareOf = (query: Query, context: QueryContext): string | undefined => {
  const key = kindOf(query).batch?.key(query, context);
  return key === undefined ? undefined : `${query.kind} ${key}`;
};

/** Batches the queries of one tenant that arrive within some milliseconds or wait for a slot. */
export class Answers {
  readonly #options: AnswersOptions;
  readonly #runInSlot: RunInSlot;
  readonly #waiting = new WaitingQuestions();
  /** Queries that run alone, and until when. */
  readonly #soloUntil = new Map<string, number>();
  /** Per requester and query: consecutive runs without an answer. */
  readonly #missed = new Map<string, number>();
  /** Queries that timed out in a batch, and the batch size they may still use. */
  readonly #slow = new Map<string, number>();
  readonly #times = new RecentTimes();
  #isGathering = false;
  /** Number of requested slots that are not free yet. */
  #pendingSlots = 0;

  constructor(options: AnswersOptions) {
    this.#options = options;
    this.#runInSlot = options.runInSlot ?? ((work) => work());
  }

  /**
   * Runs a query like `answerOnly` (`../run.ts`). A query that fails or times out does not affect others of its batch.
   * Rejects with `LateError` if it timed out while all statements are slow.
   */
  async run(
    query: Query,
    reading: QueryReading,
    context: QueryContext,
    options: QuestionOptions = {},
  ): Promise<Answer> {
    const { signal, onCost } = options;
    signal?.throwIfAborted();
    for (const each of signalsOf(query))
      refuseBeyondRetention(context.range, { caller: reading, signal: each, nowMs: reading.nowMs });
    const runPart: RunPart = (part, ofPart) => this.run(part, reading, ofPart, options);
    if (partsOf(query).length > 0) return kindOf(query).run(query, reading, context, runPart);
    const question = this.#questionOf(query, reading, context, options);
    question.waiterCount++;
    if (onCost !== undefined) question.costListeners.push(onCost);
    if (signal === undefined) return question.answer.promise;
    try {
      return await rejectOnAbort(question.answer.promise, signal);
    } finally {
      if (--question.waiterCount === 0 && signal.aborted) this.#giveUp(question);
    }
  }

  /** Runs other work on the engine in a slot. */
  runInSlot<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    return this.#runInSlot(work, signal);
  }

  #questionOf(
    query: Query,
    reading: QueryReading,
    context: QueryContext,
    { dueMs = 0, requester = '' }: QuestionOptions,
  ): Question {
    const text = JSON.stringify(query);
    const key = `${contextKey(context)} ${text}`;
    const by = `${requester} ${text}`;
    const missed = this.#missed.get(by) ?? 0;
    const known = this.#waiting.find(key);
    if (known !== undefined) {
      known.dueMs = Math.max(known.dueMs, dueMs);
      known.missed = Math.max(known.missed, missed);
      known.by.add(by);
      return known;
    }
    const share = this.#isSolo(text) ? undefined : shareOf(query, context);
    const question: Question = {
      key,
      query,
      reading,
      context,
      dueMs,
      missed,
      by: new Set([by]),
      waiterCount: 0,
      costListeners: [],
      late: 0,
      share: share ?? key,
      maxBatch: share === undefined ? 1 : this.#maxBatchOf(text, batchOf(query).max),
      answer: Promise.withResolvers(),
      left: new AbortController(),
    };
    // All requesters may have left.
    question.answer.promise.catch(() => undefined);
    this.#waiting.add(question);
    if (!this.#isGathering) {
      this.#isGathering = true;
      setTimeout(() => {
        this.#isGathering = false;
        this.#requestSlots();
      }, this.#options.gatherMs);
    }
    return question;
  }

  #maxBatchOf(text: string, maxBatch: number): number {
    return this.#isLoaded ? maxBatch : Math.min(maxBatch, this.#slow.get(text) ?? maxBatch);
  }

  /** Whether statements are slow in general; a long statement is then not slow by itself. */
  get #isLoaded(): boolean {
    return this.#times.medianMs() > this.#options.sharedMs / 4;
  }

  #isSolo(text: string): boolean {
    const isSolo = (this.#soloUntil.get(text) ?? 0) > performance.now();
    if (!isSolo) this.#soloUntil.delete(text);
    return isSolo;
  }

  #giveUp(question: Question): void {
    question.left.abort(new Error('the client no longer waits for the answer'));
    this.#waiting.remove(question);
    this.#miss(question);
  }

  #miss({ by }: Question): void {
    for (const each of by) {
      const missed = this.#missed.get(each) ?? 0;
      if (missed === 0) makeRoom(this.#missed);
      this.#missed.set(each, missed + 1);
    }
  }

  /** Rejects a query. If the error is not about the query itself, it counts as missed. */
  #refuse(question: Question, error: unknown): void {
    if (error instanceof TimeoutError) this.#miss(question);
    else for (const each of question.by) this.#missed.delete(each);
    question.answer.reject(error);
  }

  /** Requests slots. Queries are selected when a slot is free: by then there may be more, newer ones or none. */
  #requestSlots(): void {
    for (let missingSlots = this.#waiting.statements - this.#pendingSlots; missingSlots > 0; missingSlots--) {
      this.#pendingSlots++;
      void this.#runInSlot(async () => {
        this.#pendingSlots--;
        await this.#runNext();
      });
    }
  }

  async #runNext(): Promise<void> {
    const questions = this.#waiting.next();
    const [first] = questions;
    if (first === undefined) return;
    const begun = performance.now();
    if (first.maxBatch === 1) await this.#runAlone(first);
    else await this.#runBatch(questions);
    this.#times.add(performance.now() - begun);
  }

  async #runBatch(questions: readonly Question[]): Promise<void> {
    const [{ query: first, reading }] = questions as readonly [Question];
    const begun = performance.now();
    const late = AbortSignal.timeout(this.#options.sharedMs);
    const left = allLeft(questions);
    const settledIndexes = new Set<number>();
    const reportOutcome: ReportOutcome = (index, outcome) => {
      const question = questions[index];
      if (question === undefined || settledIndexes.has(index)) return;
      settledIndexes.add(index);
      if ('answer' in outcome) this.#answered(question, outcome.answer);
      else this.#refuse(question, outcome.error);
      // Nobody waits for it anymore; its running statement ends when nobody waits for the others.
      question.left.abort();
    };
    let outcomes: readonly Outcome[] = [];
    try {
      const columns = withSignal(reading.columns, AbortSignal.any([late, left]), reportCost(questions));
      outcomes = await batchOf(first).run(
        questions.map(({ query }) => query),
        { ...reading, columns },
        questions.map(({ context }) => context) as [QueryContext, ...QueryContext[]],
        reportOutcome,
      );
    } catch (error) {
      if (left.aborted) return;
      if (late.aborted) return this.#retryInHalves(questions.filter((_, index) => !settledIndexes.has(index)));
      if (this.#isAway(error, begun)) outcomes = questions.map(() => ({ error }));
    }
    for (const [index, question] of questions.entries()) {
      const outcome = outcomes[index];
      if (outcome !== undefined) reportOutcome(index, outcome);
      else if (!settledIndexes.has(index)) this.#wait(question, 1);
    }
    this.#requestSlots();
  }

  /**
   * Retries a timed-out batch in halves, to find the slow query. If all statements are slow, halves would only add
   * work.
   */
  #retryInHalves(questions: readonly Question[]): void {
    const { sharedMs } = this.#options;
    const isLoaded = this.#isLoaded;
    const half = Math.ceil(questions.length / 2);
    for (const question of questions) {
      question.late++;
      if (question.late > (isLoaded ? 2 : maxLateRetries))
        this.#refuse(question, this.timeoutError(sharedMs, ', with others'));
      else if (isLoaded) this.#wait(question, batchOf(question.query).max);
      else this.#wait(question, half);
      if (isLoaded) continue;
      makeRoom(this.#slow);
      this.#slow.set(JSON.stringify(question.query), half);
    }
    this.#requestSlots();
  }

  /** Requeues a query, with this maximum batch size. */
  #wait(question: Question, maxBatch: number): void {
    question.maxBatch = maxBatch;
    if (!question.left.signal.aborted) this.#waiting.add(question);
  }

  async #runAlone(question: Question): Promise<void> {
    const { query, reading, context, left } = question;
    const { aloneMs, sharedMs } = this.#options;
    const begun = performance.now();
    const late = AbortSignal.timeout(aloneMs);
    try {
      const signal = AbortSignal.any([late, left.signal]);
      const columns = withSignal(reading.columns, signal, reportCost([question]));
      const answered = await answerOnly(query, { ...reading, columns }, { ...context, signal });
      const elapsedMs = performance.now() - begun;
      if (elapsedMs > sharedMs / 2 && !this.#isLoaded) this.#setSolo(query);
      this.#answered(question, answered);
    } catch (error) {
      if (left.signal.aborted) return;
      if (!(late.aborted && this.#isLoaded) && !this.#isAway(error, begun)) this.#setSolo(query);
      this.#refuse(question, late.aborted ? this.timeoutError(aloneMs) : error);
    }
  }

  /**
   * Returns the error of a timeout. If statements are slow in general, it is a `LateError`, which does not blame the
   * query.
   */
  timeoutError(ms: number, how = ''): Error {
    return this.#isLoaded
      ? new TimeoutError(ms)
      : new UnavailableError(`the query took longer than ${ms / 1000} seconds${how}`);
  }

  /** Returns whether the engine is unavailable, which affects all queries. */
  #isAway(error: unknown, begun: number): boolean {
    return error instanceof UnavailableError && performance.now() - begun < this.#options.sharedMs / 2;
  }

  #answered({ query, by, answer }: Question, answered: Answer): void {
    for (const each of by) this.#missed.delete(each);
    this.#slow.delete(JSON.stringify(query));
    answer.resolve(answered);
  }

  #setSolo(query: Query): void {
    makeRoom(this.#soloUntil);
    this.#soloUntil.set(JSON.stringify(query), performance.now() + soloMs);
  }
}
