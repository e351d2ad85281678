/**
 * Answers many questions of one tenant with few statements. A question that is asked alone costs up to three statements, and each costs
 * the engine milliseconds before it reads a row. The answer to a question is the same, whatever is asked beside it.
 */
import { LateError, orAborted } from '../../runtime/timeout.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import { runAnomaly } from '../anomalies/run-anomaly.ts';
import type { Answer, QueryContext } from '../answer.ts';
import { runForecast } from '../forecast/run-forecast.ts';
import { runFormula } from '../formula/formula.ts';
import { signalsOf } from '../freshness.ts';
import type { QueryReading } from '../promql/reading.ts';
import type { Query } from '../query.ts';
import { refuseBeyondRetention } from '../range.ts';
import { answerOnly, type RowsAndBytes, withSignal } from '../run.ts';
import { contextKey, type Kind, kinds, type SharedKind, shareOf } from './kinds.ts';
import type { Outcome, ReportOutcome } from './outcome.ts';
import { RecentTimes } from './recent-durations.ts';
import { type Question, WaitingQuestions } from './waiting-queries.ts';

/** Lets work that asks the engine begin when it may, and resolves to what it does. Rejects when the signal aborts before. */
export type RunInSlot = <Result>(work: () => Promise<Result>, signal?: AbortSignal) => Promise<Result>;

export interface AnswersOptions {
  /** How long a question waits for others. */
  readonly gatherMs: number;
  /** How long what is asked together may take; then half as many are asked together. */
  readonly sharedMs: number;
  /** How long one question may take alone. */
  readonly aloneMs: number;
  /** By default everything begins at once. */
  readonly runInSlot?: RunInSlot;
}

/** Queries that are not asked any more are forgotten for newer ones. */
const makeRoom = (known: Map<string, unknown> | Set<string>): void => {
  const [oldest] = known.keys();
  if (known.size >= maxSolo && oldest !== undefined) known.delete(oldest);
};

/** Aborts when nobody waits for any of them any more. */
const allLeft = (questions: readonly Question[]): AbortSignal => {
  const left = new AbortController();
  let staying = questions.length;
  for (const question of questions)
    question.left.signal.addEventListener('abort', () => --staying === 0 && left.abort(question.left.signal.reason), {
      once: true,
    });
  return left.signal;
};

/** What failed with others, or took long by itself, is asked alone for so long. */
const soloMs = 600_000;
const maxSolo = 10_000;
/** So often questions are asked together again that took too long. Halving a statement's questions as often leaves one. */
const maxLateRetries = 8;

/** How a question is asked. */
export interface QuestionOptions {
  /** Aborts when the answer is not wanted any more. */
  readonly signal?: AbortSignal | undefined;
  /** For when it is asked: where there is more than can be asked, newer ones go first. */
  readonly dueMs?: number;
  /** Who asks it again and again, such as a rule: where there is more than can be asked, who had no answer lately goes before newer ones. */
  readonly requester?: string;
  /** Told what each statement read that answers it; of one that several share, each of them is told. */
  readonly onCost?: ((cost: RowsAndBytes) => void) | undefined;
}

const reportCost =
  (questions: readonly Question[]) =>
  (cost: RowsAndBytes): void => {
    for (const { costListeners } of questions) for (const onCost of costListeners) onCost(cost);
  };

/** Questions of one tenant that are asked within some milliseconds, or wait for their turn, are asked together. */
export class Answers {
  readonly #options: AnswersOptions;
  readonly #runInSlot: RunInSlot;
  readonly #waiting = new WaitingQuestions();
  /** Queries that are asked alone, and until when. */
  readonly #soloUntil = new Map<string, number>();
  /** Of who asks what: how often there was no answer since the last one. */
  readonly #missed = new Map<string, number>();
  /** Queries that took too long with others, and with how many they may be asked. */
  readonly #slow = new Map<string, number>();
  readonly #times = new RecentTimes();
  #isGathering = false;
  /** Turns that were asked for, and have not come. */
  #pendingSlots = 0;

  constructor(options: AnswersOptions) {
    this.#options = options;
    this.#runInSlot = options.runInSlot ?? ((work) => work());
  }

  /**
   * As `answerOnly` (`run.ts`). What fails or takes too long fails for those who asked it, and not for those who asked with them. Rejects with
   * `LateError` where it took too long while everything does.
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
    if (query.kind === 'formula') return runFormula(query, (part) => this.run(part, reading, context, options));
    const runPart = (part: Query, of: QueryContext): Promise<Answer> => this.run(part, reading, of, options);
    if (query.kind === 'forecast') return runForecast(query, reading, context, runPart);
    if (query.kind === 'anomaly' && query.query !== undefined) return runAnomaly(query, reading, context, runPart);
    const question = this.#questionOf(query, reading, context, options);
    question.waiterCount++;
    if (onCost !== undefined) question.costListeners.push(onCost);
    if (signal === undefined) return question.answer.promise;
    try {
      return await orAborted(question.answer.promise, signal);
    } finally {
      if (--question.waiterCount === 0 && signal.aborted) this.#giveUp(question);
    }
  }

  /** Asks something else of the engine, in its turn. */
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
      share: share === undefined ? key : share.join(' '),
      maxBatch: share === undefined ? 1 : this.#maxBatchOf(text, kinds[share[0]]),
      answer: Promise.withResolvers(),
      left: new AbortController(),
    };
    // Those who asked may have left.
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

  #maxBatchOf(text: string, { maxBatch }: Kind): number {
    return this.#isLoaded ? maxBatch : Math.min(maxBatch, this.#slow.get(text) ?? maxBatch);
  }

  /** Whether statements take long in general: then one that takes long is not slow by itself. */
  get #isLoaded(): boolean {
    return this.#times.medianMs() > this.#options.sharedMs / 4;
  }

  #isSolo(text: string): boolean {
    const isSolo = (this.#soloUntil.get(text) ?? 0) > performance.now();
    if (!isSolo) this.#soloUntil.delete(text);
    return isSolo;
  }

  #giveUp(question: Question): void {
    question.left.abort(new Error('nobody waits for the answer any more'));
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

  /** It is told of the query why there is no answer; where that says nothing of it, it was missed. */
  #refuse(question: Question, error: unknown): void {
    if (error instanceof LateError) this.#miss(question);
    else for (const each of question.by) this.#missed.delete(each);
    question.answer.reject(error);
  }

  /** What is asked is chosen when the turn has come: it may be more by then, or newer, or nothing. */
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
    const { runBatch } = kinds[first.kind as SharedKind];
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
      // Nobody waits for it any more: what is still asked ends with those who wait for the others.
      question.left.abort();
    };
    let outcomes: readonly Outcome[] = [];
    try {
      const columns = withSignal(reading.columns, AbortSignal.any([late, left]), reportCost(questions));
      outcomes = await runBatch(
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

  /** What took too long is asked in halves, to find the one that is slow; where everything is slow, halves would only be more work. */
  #retryInHalves(questions: readonly Question[]): void {
    const { sharedMs } = this.#options;
    const isLoaded = this.#isLoaded;
    const half = Math.ceil(questions.length / 2);
    for (const question of questions) {
      question.late++;
      if (question.late > (isLoaded ? 2 : maxLateRetries))
        this.#refuse(question, this.timeoutError(sharedMs, ', with others'));
      else if (isLoaded) this.#wait(question, kinds[question.query.kind as SharedKind].maxBatch);
      else this.#wait(question, half);
      if (isLoaded) continue;
      makeRoom(this.#slow);
      this.#slow.set(JSON.stringify(question.query), half);
    }
    this.#requestSlots();
  }

  /** It waits for another turn, with as many others. */
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

  /** Why there is no answer after so long. Where statements take long in general, it is a `LateError`: that says nothing of the query. */
  timeoutError(ms: number, how = ''): Error {
    return this.#isLoaded
      ? new LateError(ms)
      : new UnavailableError(`the query took longer than ${ms / 1000} seconds${how}`);
  }

  /** An engine that is away is so for all. */
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
