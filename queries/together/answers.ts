/**
 * Answers many questions of one tenant with few statements. A question that is asked alone costs up to three statements, and each costs
 * the engine milliseconds before it reads a row. The answer to a question is the same, whatever is asked beside it.
 */
import { orAborted } from '../../runtime/within.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import type { Answer, Asked } from '../answer.ts';
import { runFormula } from '../formula/formula.ts';
import { signalsOf } from '../freshness.ts';
import type { AggregateQuery, MetricQuery, PromqlQuery, Query } from '../query.ts';
import { refuseBeyondRetention } from '../range.ts';
import type { Reading } from '../reading.ts';
import { answerOnly } from '../run.ts';
import { aggregatesKey, aggregatesTogether, mostAggregates } from './aggregates.ts';
import { isSharedMetric, metricsTogether, mostMetrics } from './metrics.ts';
import type { Outcome } from './outcome.ts';
import { isSharedPromql, mostPromql, promqlTogether } from './promql.ts';

/** Lets work that asks the engine begin when it may, and resolves to what it does. */
export type Turn = <Result>(work: () => Promise<Result>) => Promise<Result>;

export interface AnswersOptions {
  /** How long a question waits for others. */
  readonly gatherMs: number;
  /** How long what is asked together may take; then each question is asked alone. */
  readonly sharedMs: number;
  /** How long one question may take alone. */
  readonly aloneMs: number;
  /** By default everything begins at once. */
  readonly turn?: Turn;
}

/** A question that is asked once, however many wait for its answer. */
interface Waiting {
  readonly query: Query;
  readonly asked: Asked;
  readonly reading: Reading;
  readonly answer: PromiseWithResolvers<Answer>;
}

type Ask = (queries: readonly Query[], reading: Reading, asked: Asked) => Promise<Outcome[]>;

/** Questions that one statement may answer. */
interface Kind {
  readonly most: number;
  readonly ask: Ask;
}

const kinds: Readonly<Record<'aggregate' | 'metric' | 'promql', Kind>> = {
  aggregate: {
    most: mostAggregates,
    ask: (queries, reading, asked) => aggregatesTogether(queries as AggregateQuery[], reading, asked),
  },
  metric: {
    most: mostMetrics,
    ask: (queries, reading, asked) => metricsTogether(queries as MetricQuery[], reading, asked),
  },
  promql: {
    most: mostPromql,
    ask: (queries, reading, asked) => promqlTogether(queries as PromqlQuery[], reading, asked),
  },
};

const askedKey = ({ range, stepMs, stepsFrom }: Asked): string => `${range.from} ${range.to} ${stepMs} ${stepsFrom}`;

/** The kind of a question, and what those have in common that are asked with it; undefined where it is asked alone. */
const shareOf = (query: Query, asked: Asked): readonly [kind: keyof typeof kinds, key: string] | undefined => {
  switch (query.kind) {
    case 'aggregate': {
      const key = aggregatesKey(query, asked);
      return key === undefined ? undefined : ['aggregate', key];
    }
    case 'metric':
      return isSharedMetric(query, asked) ? ['metric', ''] : undefined;
    case 'promql':
      return isSharedPromql(asked) ? ['promql', ''] : undefined;
    default:
      return undefined;
  }
};

/** Columns whose statements end with a signal. */
const endingWith = (reading: Reading, signal: AbortSignal): Reading => {
  const { columns } = reading;
  const heeding: TenantColumns = {
    ...columns,
    query: (sql, parameters, limits) => columns.query(sql, parameters, { signal, ...limits }),
    native: (sql, parameters, limits) => columns.native(sql, parameters, { signal, ...limits }),
  };
  return { ...reading, columns: heeding };
};

/** What failed with others, or took long by itself, is asked alone for so long. */
const apartMs = 600_000;
const mostApart = 10_000;

/** Questions of one tenant that are asked within some milliseconds are asked together. */
export class Answers {
  readonly #options: AnswersOptions;
  readonly #turn: Turn;
  #waiting = new Map<string, Waiting>();
  /** Queries that are asked alone, and until when. */
  readonly #apart = new Map<string, number>();

  constructor(options: AnswersOptions) {
    this.#options = options;
    this.#turn = options.turn ?? ((work) => work());
  }

  /** As `answerOnly` (`run.ts`). What fails or takes too long fails for those who asked it, and not for those who asked with them. */
  async ask(query: Query, reading: Reading, asked: Asked, signal?: AbortSignal): Promise<Answer> {
    for (const each of signalsOf(query))
      refuseBeyondRetention(asked.range, { caller: reading, signal: each, nowMs: reading.nowMs });
    if (query.kind === 'formula') return runFormula(query, (part) => this.ask(part, reading, asked, signal));
    const key = `${askedKey(asked)} ${JSON.stringify(query)}`;
    const waiting =
      this.#waiting.get(key) ?? this.#add(key, { query, reading, asked, answer: Promise.withResolvers() });
    return signal === undefined ? waiting.answer.promise : orAborted(waiting.answer.promise, signal);
  }

  /** Asks something else of the engine, in its turn. */
  turn<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#turn(work);
  }

  #add(key: string, waiting: Waiting): Waiting {
    if (this.#waiting.size === 0) setTimeout(() => this.#flush(), this.#options.gatherMs);
    this.#waiting.set(key, waiting);
    // Those who asked may have left.
    waiting.answer.promise.catch(() => undefined);
    return waiting;
  }

  #flush(): void {
    const all = [...this.#waiting.values()];
    this.#waiting = new Map();
    const nowMs = performance.now();
    for (const [query, untilMs] of this.#apart) if (untilMs < nowMs) this.#apart.delete(query);
    const shared = new Map<string, { readonly kind: Kind; readonly members: Waiting[] }>();
    for (const one of all) {
      const share = this.#apart.has(JSON.stringify(one.query)) ? undefined : shareOf(one.query, one.asked);
      if (share === undefined) {
        void this.#askAlone(one);
        continue;
      }
      const key = `${share.join(' ')} ${askedKey(one.asked)}`;
      const known = shared.get(key) ?? { kind: kinds[share[0]], members: [] };
      shared.set(key, known);
      known.members.push(one);
    }
    for (const { kind, members } of shared.values())
      for (let at = 0; at < members.length; at += kind.most)
        void this.#askTogether(kind, members.slice(at, at + kind.most));
  }

  async #askTogether({ ask }: Kind, members: readonly Waiting[]): Promise<void> {
    const [{ reading, asked }] = members as readonly [Waiting];
    const outcomes = await this.#turn(() => {
      const late = AbortSignal.timeout(this.#options.sharedMs);
      return ask(
        members.map(({ query }) => query),
        endingWith(reading, late),
        asked,
      );
    }).catch(() => members.map((): Outcome => undefined));
    for (const [index, member] of members.entries()) {
      const outcome = outcomes[index];
      if (outcome === undefined) void this.#askAlone(member);
      else if ('answer' in outcome) member.answer.resolve(outcome.answer);
      else member.answer.reject(outcome.error);
    }
  }

  async #askAlone({ query, reading, asked, answer }: Waiting): Promise<void> {
    const { aloneMs, sharedMs } = this.#options;
    let begun = performance.now();
    try {
      const answered = await this.#turn(() => {
        begun = performance.now();
        const late = AbortSignal.timeout(aloneMs);
        return answerOnly(query, reading, { ...asked, signal: late }).catch((error: unknown) => {
          throw late.aborted ? new UnavailableError(`the query took longer than ${aloneMs / 1000} seconds`) : error;
        });
      });
      if (performance.now() - begun > sharedMs / 2) this.#setApart(query);
      answer.resolve(answered);
    } catch (error) {
      // An engine that is away is so for all.
      const isAway = error instanceof UnavailableError && performance.now() - begun < sharedMs / 2;
      if (!isAway) this.#setApart(query);
      answer.reject(error);
    }
  }

  #setApart(query: Query): void {
    if (this.#apart.size < mostApart) this.#apart.set(JSON.stringify(query), performance.now() + apartMs);
  }
}
