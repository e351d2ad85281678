/**
 * Answers many questions of one tenant with few statements. A question that is asked alone costs up to three statements, and each costs
 * the engine milliseconds before it reads a row. The answer to a question is the same, whatever is asked beside it.
 */
import { LateError, orAborted } from '../../runtime/within.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import { runAnomaly } from '../anomalies/asked.ts';
import type { Answer, Asked } from '../answer.ts';
import { runForecast } from '../forecast/asked.ts';
import { runFormula } from '../formula/formula.ts';
import { signalsOf } from '../freshness.ts';
import type { QueryReading } from '../promql/reading.ts';
import type { Query } from '../query.ts';
import { refuseBeyondRetention } from '../range.ts';
import { answerOnly, heeding, type RowsAndBytes } from '../run.ts';
import { askedKey, type Kind, kinds, type SharedKind, shareOf } from './kinds.ts';
import type { Outcome, TellOutcome } from './outcome.ts';
import { RecentTimes } from './recent-times.ts';
import { type Question, WaitingQuestions } from './waiting.ts';

/** Lets work that asks the engine begin when it may, and resolves to what it does. Rejects when the signal aborts before. */
export type Turn = <Result>(work: () => Promise<Result>, signal?: AbortSignal) => Promise<Result>;

export interface AnswersOptions {
  /** How long a question waits for others. */
  readonly gatherMs: number;
  /** How long what is asked together may take; then half as many are asked together. */
  readonly sharedMs: number;
  /** How long one question may take alone. */
  readonly aloneMs: number;
  /** By default everything begins at once. */
  readonly turn?: Turn;
}

/** Queries that are not asked any more are forgotten for newer ones. */
const makeRoom = (known: Map<string, unknown> | Set<string>): void => {
  const [oldest] = known.keys();
  if (known.size >= mostApart && oldest !== undefined) known.delete(oldest);
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
const apartMs = 600_000;
const mostApart = 10_000;
/** So often questions are asked together again that took too long. Halving a statement's questions as often leaves one. */
const mostLate = 8;

/** How a question is asked. */
export interface AskingOptions {
  /** Aborts when the answer is not wanted any more. */
  readonly signal?: AbortSignal | undefined;
  /** For when it is asked: where there is more than can be asked, newer ones go first. */
  readonly dueMs?: number;
  /** Who asks it again and again, such as a rule: where there is more than can be asked, who had no answer lately goes before newer ones. */
  readonly asker?: string;
  /** Told what each statement read that answers it; of one that several share, each of them is told. */
  readonly onCost?: ((cost: RowsAndBytes) => void) | undefined;
}

const tell =
  (questions: readonly Question[]) =>
  (cost: RowsAndBytes): void => {
    for (const { hearers } of questions) for (const hear of hearers) hear(cost);
  };

/** Questions of one tenant that are asked within some milliseconds, or wait for their turn, are asked together. */
export class Answers {
  readonly #options: AnswersOptions;
  readonly #turn: Turn;
  readonly #waiting = new WaitingQuestions();
  /** Queries that are asked alone, and until when. */
  readonly #apart = new Map<string, number>();
  /** Of who asks what: how often there was no answer since the last one. */
  readonly #missed = new Map<string, number>();
  /** Queries that took too long with others, and with how many they may be asked. */
  readonly #slow = new Map<string, number>();
  readonly #times = new RecentTimes();
  #isGathering = false;
  /** Turns that were asked for, and have not come. */
  #turns = 0;

  constructor(options: AnswersOptions) {
    this.#options = options;
    this.#turn = options.turn ?? ((work) => work());
  }

  /**
   * As `answerOnly` (`run.ts`). What fails or takes too long fails for those who asked it, and not for those who asked with them. Rejects with
   * `LateError` where it took too long while everything does.
   */
  async ask(query: Query, reading: QueryReading, asked: Asked, options: AskingOptions = {}): Promise<Answer> {
    const { signal, onCost } = options;
    signal?.throwIfAborted();
    for (const each of signalsOf(query))
      refuseBeyondRetention(asked.range, { caller: reading, signal: each, nowMs: reading.nowMs });
    if (query.kind === 'formula') return runFormula(query, (part) => this.ask(part, reading, asked, options));
    const askPart = (part: Query, of: Asked): Promise<Answer> => this.ask(part, reading, of, options);
    if (query.kind === 'forecast') return runForecast(query, reading, asked, askPart);
    if (query.kind === 'anomaly' && query.query !== undefined) return runAnomaly(query, reading, asked, askPart);
    const question = this.#questionOf(query, reading, asked, options);
    question.askers++;
    if (onCost !== undefined) question.hearers.push(onCost);
    if (signal === undefined) return question.answer.promise;
    try {
      return await orAborted(question.answer.promise, signal);
    } finally {
      if (--question.askers === 0 && signal.aborted) this.#giveUp(question);
    }
  }

  /** Asks something else of the engine, in its turn. */
  turn<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    return this.#turn(work, signal);
  }

  #questionOf(query: Query, reading: QueryReading, asked: Asked, { dueMs = 0, asker = '' }: AskingOptions): Question {
    const text = JSON.stringify(query);
    const key = `${askedKey(asked)} ${text}`;
    const by = `${asker} ${text}`;
    const missed = this.#missed.get(by) ?? 0;
    const known = this.#waiting.find(key);
    if (known !== undefined) {
      known.dueMs = Math.max(known.dueMs, dueMs);
      known.missed = Math.max(known.missed, missed);
      known.by.add(by);
      return known;
    }
    const share = this.#isApart(text) ? undefined : shareOf(query, asked);
    const question: Question = {
      ...{ key, query, reading, asked, dueMs, missed, by: new Set([by]), askers: 0, hearers: [], late: 0 },
      share: share === undefined ? key : share.join(' '),
      most: share === undefined ? 1 : this.#mostWith(text, kinds[share[0]]),
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
        this.#takeTurns();
      }, this.#options.gatherMs);
    }
    return question;
  }

  #mostWith(text: string, { most }: Kind): number {
    return this.#isLoaded ? most : Math.min(most, this.#slow.get(text) ?? most);
  }

  /** Whether statements take long in general: then one that takes long is not slow by itself. */
  get #isLoaded(): boolean {
    return this.#times.usualMs() > this.#options.sharedMs / 4;
  }

  #isApart(text: string): boolean {
    const isApart = (this.#apart.get(text) ?? 0) > performance.now();
    if (!isApart) this.#apart.delete(text);
    return isApart;
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
  #takeTurns(): void {
    for (let wanted = this.#waiting.statements - this.#turns; wanted > 0; wanted--) {
      this.#turns++;
      void this.#turn(async () => {
        this.#turns--;
        await this.#askNext();
      });
    }
  }

  async #askNext(): Promise<void> {
    const questions = this.#waiting.next();
    const [first] = questions;
    if (first === undefined) return;
    const begun = performance.now();
    if (first.most === 1) await this.#askAlone(first);
    else await this.#askTogether(questions);
    this.#times.add(performance.now() - begun);
  }

  async #askTogether(questions: readonly Question[]): Promise<void> {
    const [{ query: first, reading }] = questions as readonly [Question];
    const { ask } = kinds[first.kind as SharedKind];
    const begun = performance.now();
    const late = AbortSignal.timeout(this.#options.sharedMs);
    const left = allLeft(questions);
    const told = new Set<number>();
    const tellOutcome: TellOutcome = (index, outcome) => {
      const question = questions[index];
      if (question === undefined || told.has(index)) return;
      told.add(index);
      if ('answer' in outcome) this.#answered(question, outcome.answer);
      else this.#refuse(question, outcome.error);
      // Nobody waits for it any more: what is still asked ends with those who wait for the others.
      question.left.abort();
    };
    let outcomes: readonly Outcome[] = [];
    try {
      const columns = heeding(reading.columns, AbortSignal.any([late, left]), tell(questions));
      outcomes = await ask(
        questions.map(({ query }) => query),
        { ...reading, columns },
        questions.map(({ asked }) => asked) as [Asked, ...Asked[]],
        tellOutcome,
      );
    } catch (error) {
      if (left.aborted) return;
      if (late.aborted) return this.#askAgain(questions.filter((_, index) => !told.has(index)));
      if (this.#isAway(error, begun)) outcomes = questions.map(() => ({ error }));
    }
    for (const [index, question] of questions.entries()) {
      const outcome = outcomes[index];
      if (outcome !== undefined) tellOutcome(index, outcome);
      else if (!told.has(index)) this.#wait(question, 1);
    }
    this.#takeTurns();
  }

  /** What took too long is asked in halves, to find the one that is slow; where everything is slow, halves would only be more work. */
  #askAgain(questions: readonly Question[]): void {
    const { sharedMs } = this.#options;
    const isLoaded = this.#isLoaded;
    const half = Math.ceil(questions.length / 2);
    for (const question of questions) {
      question.late++;
      if (question.late > (isLoaded ? 2 : mostLate)) this.#refuse(question, this.tookLong(sharedMs, ', with others'));
      else if (isLoaded) this.#wait(question, kinds[question.query.kind as SharedKind].most);
      else this.#wait(question, half);
      if (isLoaded) continue;
      makeRoom(this.#slow);
      this.#slow.set(JSON.stringify(question.query), half);
    }
    this.#takeTurns();
  }

  /** It waits for another turn, with as many others. */
  #wait(question: Question, most: number): void {
    question.most = most;
    if (!question.left.signal.aborted) this.#waiting.add(question);
  }

  async #askAlone(question: Question): Promise<void> {
    const { query, reading, asked, left } = question;
    const { aloneMs, sharedMs } = this.#options;
    const begun = performance.now();
    const late = AbortSignal.timeout(aloneMs);
    try {
      const signal = AbortSignal.any([late, left.signal]);
      const columns = heeding(reading.columns, signal, tell([question]));
      const answered = await answerOnly(query, { ...reading, columns }, { ...asked, signal });
      const tookMs = performance.now() - begun;
      if (tookMs > sharedMs / 2 && !this.#isLoaded) this.#setApart(query);
      this.#answered(question, answered);
    } catch (error) {
      if (left.signal.aborted) return;
      if (!(late.aborted && this.#isLoaded) && !this.#isAway(error, begun)) this.#setApart(query);
      this.#refuse(question, late.aborted ? this.tookLong(aloneMs) : error);
    }
  }

  /** Why there is no answer after so long. Where statements take long in general, it is a `LateError`: that says nothing of the query. */
  tookLong(ms: number, how = ''): Error {
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

  #setApart(query: Query): void {
    makeRoom(this.#apart);
    this.#apart.set(JSON.stringify(query), performance.now() + apartMs);
  }
}
