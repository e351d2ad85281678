/** Runs the queries in templates of rules (`templates/queries.ts`). */

import { Answers } from '../../queries/batch/answers.ts';
import { PromqlQuery } from '../../queries/query.ts';
import type { Reading } from '../../queries/reading.ts';
import { numberOf } from '../../queries/series-states.ts';
import { messageOf, queryTimeouts } from './run-query.ts';
import type { QueryText } from './templates/queries.ts';

/** Timeout of all queries in one evaluation's texts: the alert matters more than its texts. */
const timeoutMs = 10_000;
const maxSamples = 1_000;

interface TextQueryOptions {
  readonly signal?: AbortSignal | undefined;
  /** Query runner of the rule's tenant, which batches concurrent queries. */
  readonly answers?: Answers;
}

/** Returns a function that queries the organization's own data. A failed query becomes an error in the text. */
export const createTextQuery = (
  reading: Reading,
  { signal, answers = new Answers({ ...queryTimeouts, gatherMs: 0 }) }: TextQueryOptions = {},
): QueryText => {
  let over: AbortSignal | undefined;
  return async (expression, atMs) => {
    // The timeout starts with the first query.
    over ??= AbortSignal.timeout(timeoutMs);
    const ending = AbortSignal.any([signal, over].filter((each) => each !== undefined));
    const read = PromqlQuery.safeParse({ kind: 'promql', expression });
    if (!read.success) return { error: read.error.issues[0]?.message ?? 'the query cannot be read' };
    // One step, so that the result contains series with all their labels.
    const at = BigInt(atMs) * 1_000_000n;
    const context = { range: { from: at, to: at }, stepMs: 1000, stepsFrom: 'range' } as const;
    try {
      const { series } = await answers.run(read.data, reading, context, { signal: ending, dueMs: atMs });
      if (series.length > maxSamples) return { error: `the query returns more than ${maxSamples} series` };
      const samples = series.flatMap(({ labels, points }) => {
        const value = numberOf(points.at(-1)?.[1]);
        return value === null ? [] : [{ labels, value }];
      });
      return { samples };
    } catch (error) {
      signal?.throwIfAborted();
      return { error: over.aborted ? `no response within ${timeoutMs / 1000} seconds` : messageOf(error) };
    }
  };
};
