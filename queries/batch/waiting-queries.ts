/** Questions that wait for their turn: those that were missed come first, then the newest; those that nobody waits for any more are gone. */
import type { Answer, QueryContext } from '../answer.ts';
import type { QueryReading } from '../promql/reading.ts';
import type { Query } from '../query.ts';
import type { RowsAndBytes } from '../run.ts';

/** A question that is asked once, however many wait for its answer. */
export interface Question {
  readonly key: string;
  /** What those have in common that one statement may answer; of its own where it is asked alone. */
  readonly share: string;
  readonly query: Query;
  readonly context: QueryContext;
  readonly reading: QueryReading;
  readonly answer: PromiseWithResolvers<Answer>;
  /** Aborts when nobody waits for it any more. */
  readonly left: AbortController;
  /** The newest for which it is asked. */
  dueMs: number;
  /** How often those who ask it had no answer since their last one: the most of them. */
  missed: number;
  /** Who asks it, with the query. */
  readonly by: Set<string>;
  waiterCount: number;
  /** Told what each of its statements read, those that it shares as well. */
  readonly costListeners: ((cost: RowsAndBytes) => void)[];
  /** How many questions one statement may answer with it. */
  maxBatch: number;
  /** How often it was asked with others and took too long. */
  late: number;
}

/** Under pressure those that were missed come first: else newer ones would go before the same ones each time, and these never have their turn. */
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

  /** Statements that it takes to ask all. */
  get statements(): number {
    let statements = 0;
    for (const members of this.#shares.values()) {
      const maxBatch = Math.min(...members.map((each) => each.maxBatch));
      statements += Math.ceil(members.length / maxBatch);
    }
    return statements;
  }

  /** Takes those that the next statement is to answer. */
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
