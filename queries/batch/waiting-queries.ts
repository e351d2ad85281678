/**
 * Queries that wait for a slot: those with missed runs first, then the newest. Queries that nobody waits for are
 * removed.
 */

import type { QueryReader } from '../promql/query-reader.ts';
import type { Query } from '../query.ts';
import type { QueryContext, ResultData } from '../query-result.ts';
import type { RowsAndBytes } from '../run.ts';

/** A query that runs once for all its requesters. */
export interface WaitingQuery {
  readonly key: string;
  /** Key shared by queries that one statement can combine; unique if the query must run alone. */
  readonly batchKey: string;
  readonly query: Query;
  readonly context: QueryContext;
  readonly reader: QueryReader;
  readonly deferred: PromiseWithResolvers<ResultData>;
  /** Aborts when nobody waits for the query. */
  readonly abortController: AbortController;
  /** Latest due time of its requesters. */
  dueMs: number;
  /** Maximum number of consecutive runs without a result among its requesters. */
  missedRunCount: number;
  /** Requesters, with the query. */
  readonly requesterKeys: Set<string>;
  waiterCount: number;
  /** Called with the cost of each of its statements, including shared ones. */
  readonly costListeners: ((cost: RowsAndBytes) => void)[];
  /** Maximum batch size of its next statement. */
  maxBatch: number;
  /** Number of batches with this query that timed out. */
  timedOutBatchCount: number;
}

/**
 * Orders queries. Under overload, queries with missed runs go first; otherwise newer queries would always precede them,
 * and they would never run.
 */
const comparePriority = (left: WaitingQuery, right: WaitingQuery): number =>
  right.missedRunCount - left.missedRunCount || right.dueMs - left.dueMs || right.maxBatch - left.maxBatch;

export class WaitingQueries {
  readonly #byKey = new Map<string, WaitingQuery>();
  readonly #byBatchKey = new Map<string, WaitingQuery[]>();

  find(key: string): WaitingQuery | undefined {
    return this.#byKey.get(key);
  }

  add(waitingQuery: WaitingQuery): void {
    const { key, batchKey } = waitingQuery;
    this.#byKey.set(key, waitingQuery);
    const members = this.#byBatchKey.get(batchKey);
    if (members === undefined) this.#byBatchKey.set(batchKey, [waitingQuery]);
    else members.push(waitingQuery);
  }

  remove(waitingQuery: WaitingQuery): void {
    const { key, batchKey } = waitingQuery;
    const members = this.#byBatchKey.get(batchKey) ?? [];
    const index = members.indexOf(waitingQuery);
    if (index < 0) return;
    this.#byKey.delete(key);
    members.splice(index, 1);
    if (members.length === 0) this.#byBatchKey.delete(batchKey);
  }

  /** Number of statements needed to run all waiting queries. */
  get statementCount(): number {
    let statements = 0;
    for (const members of this.#byBatchKey.values()) {
      const maxBatch = Math.min(...members.map((member) => member.maxBatch));
      statements += Math.ceil(members.length / maxBatch);
    }
    return statements;
  }

  /** Removes and returns the queries of the next statement. */
  dequeueNextBatch(): WaitingQuery[] {
    const firstOfEachBatch = [...this.#byBatchKey.values()].map(
      (members) => members.sort(comparePriority)[0] as WaitingQuery,
    );
    const [first] = firstOfEachBatch.sort(comparePriority);
    if (first === undefined) return [];
    const members = (this.#byBatchKey.get(first.batchKey) ?? [])
      .filter(({ maxBatch }) => maxBatch >= first.maxBatch)
      .slice(0, first.maxBatch);
    for (const member of members) this.remove(member);
    return members;
  }
}
