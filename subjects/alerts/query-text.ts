/** Asks what the texts of rules ask (`templates/queries.ts`). */

import { Answers } from '../../queries/batch/answers.ts';
import { PromqlQuery } from '../../queries/query.ts';
import type { Reading } from '../../queries/reading.ts';
import { messageOf, numberOf, queryTimeouts } from './run-query.ts';
import type { QueryText } from './templates/queries.ts';

/** How long all texts of one evaluation wait for answers: an alert counts more than what it says. */
const withinMs = 10_000;
const maxSamples = 1_000;

interface TextQueryOptions {
  readonly signal?: AbortSignal | undefined;
  /** Of the rule's tenant; questions of the same moment are asked together. */
  readonly answers?: Answers;
}

/** With the organization's own data. What cannot be asked is an error, which the text then says. */
export const createTextQuery = (
  reading: Reading,
  { signal, answers = new Answers({ ...queryTimeouts, gatherMs: 0 }) }: TextQueryOptions = {},
): QueryText => {
  let over: AbortSignal | undefined;
  return async (expression, atMs) => {
    // Nothing is waited for until something is asked.
    over ??= AbortSignal.timeout(withinMs);
    const ending = AbortSignal.any([signal, over].filter((each) => each !== undefined));
    const read = PromqlQuery.safeParse({ kind: 'promql', expression });
    if (!read.success) return { error: read.error.issues[0]?.message ?? 'the query cannot be read' };
    // One step, so that the answer is series with all their labels.
    const at = BigInt(atMs) * 1_000_000n;
    const context = { range: { from: at, to: at }, stepMs: 1000, stepsFrom: 'range' } as const;
    try {
      const { series } = await answers.run(read.data, reading, context, { signal: ending, dueMs: atMs });
      if (series.length > maxSamples) return { error: `the query gives more than ${maxSamples} series` };
      const samples = series.flatMap(({ labels, points }) => {
        const value = numberOf(points.at(-1)?.[1]);
        return value === null ? [] : [{ labels, value }];
      });
      return { samples };
    } catch (error) {
      signal?.throwIfAborted();
      return { error: over.aborted ? `no answer within ${withinMs / 1000} seconds` : messageOf(error) };
    }
  };
};
