/** Queries that wait for a slot: missed ones first, then the newest. Queries nobody waits for are removed. */
import type { Answer, QueryContext } from '../answer.ts';
import type { QueryReading } from '../promql/reading.ts';
import type { Query } from '../query.ts';
import type { RowsAndBytes } from '../run.ts';

/** A query that runs once for all its requesters. */
export interface Question {
  readonly key: string;
  /** Key shared by queries that one statement may answer; unique if it must run alone. */
  readonly share: string;
  readonly query: Query;
  readonly context: QueryContext;
  readonly reading: QueryReading;
  readonly answer: PromiseWithResolvers<Answer>;
  /** Aborts when nobody waits for the query. */
  readonly left: AbortController;
  /** Latest due time of its requesters. */
  dueMs: number;
  /** Maximum number of consecutive runs without an answer among its requesters. */
  missed: number;
  /** Requesters, with the query. */
  readonly by: Set<string>;
  waiterCount: number;
  /** Called with the cost of each of its statements, including shared ones. */
  readonly costListeners: ((cost: RowsAndBytes) => void)[];
  /** Maximum batch size of its next statement. */
  maxBatch: number;
  /** Number of batches with this query that timed out. */
  late: number;
}

/**
 * Orders queries. Under overload, missed ones go first; otherwise newer ones would always precede the same queries,
 * which would never run.
 */
const inOrder = (one: Question, other: Question): number =>
  other.missed - one.missed || other.dueMs - one.dueMs || other.maxBatch - one.maxBatch;

export class WaitingQuestions {
  readonly #byKey = new Map<string, Question>();
  readonly #shares = new Map<string, Question[]>();

  find(key: string): Question | undefined {
    return this.#byKey.get(key);
  }

  add(question: Question): void {
    const { key, share } = question;
    this.#byKey.set(key, question);
    const members = this.#shares.get(share);
    if (members === undefined) this.#shares.set(share, [question]);
    else members.push(question);
  }

  remove(question: Question): void {
    const { key, share } = question;
    const members = this.#shares.get(share) ?? [];
    const at = members.indexOf(question);
    if (at < 0) return;
    this.#byKey.delete(key);
    members.splice(at, 1);
    if (members.length === 0) this.#shares.delete(share);
  }

  /** Number of statements needed to run all waiting queries. */
  get statements(): number {
    let statements = 0;
    for (const members of this.#shares.values()) {
      const maxBatch = Math.min(...members.map((each) => each.maxBatch));
      statements += Math.ceil(members.length / maxBatch);
    }
    return statements;
  }

  /** Removes and returns the queries of the next statement. */
  next(): Question[] {
    const firsts = [...this.#shares.values()].map((members) => members.sort(inOrder)[0] as Question);
    const [first] = firsts.sort(inOrder);
    if (first === undefined) return [];
    const members = (this.#shares.get(first.share) ?? [])
      .filter(({ maxBatch }) => maxBatch >= first.maxBatch)
      .slice(0, first.maxBatch);
    for (const each of members) this.remove(each);
    return members;
  }
}
