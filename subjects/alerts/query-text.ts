/** Runs the queries in templates of rules (`templates/queries.ts`). */

import { QueryBatcher } from '../../queries/batch/query-batcher.ts';
import { PromqlQuery } from '../../queries/query.ts';
import { parseJsonNumber } from '../../queries/series-states.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { queryErrorMessage, queryTimeouts } from './run-query.ts';
import type { RunTemplateQuery } from './templates/queries.ts';

/** Total timeout of the template queries in one evaluation, so that they do not delay the alert. */
const totalTimeoutMs = 10_000;
const maxSamples = 1_000;

interface TemplateQueryOptions {
  readonly signal?: AbortSignal | undefined;
  /** Query runner of the rule's tenant, which batches concurrent queries. */
  readonly batcher?: QueryBatcher;
}

/**
 * Returns a function that queries the organization's data. For a failed query, the rendered text contains the error.
 */
export const createTemplateQuery = (
  reader: TenantReader,
  { signal, batcher = new QueryBatcher({ ...queryTimeouts, batchDelayMs: 0 }) }: TemplateQueryOptions = {},
): RunTemplateQuery => {
  let timeoutSignal: AbortSignal | undefined;
  return async (expression, atMs) => {
    // The timeout starts with the first query.
    timeoutSignal ??= AbortSignal.timeout(totalTimeoutMs);
    const abortSignal = AbortSignal.any([signal, timeoutSignal].filter((definedSignal) => definedSignal !== undefined));
    const parsedQuery = PromqlQuery.safeParse({ kind: 'promql', expression });
    if (!parsedQuery.success) return { error: parsedQuery.error.issues[0]?.message ?? 'the query cannot be read' };
    // One step, so that the result contains series with all their labels.
    const timeNs = BigInt(atMs) * 1_000_000n;
    const context = { range: { from: timeNs, to: timeNs }, stepMs: 1000, stepsFrom: 'range' } as const;
    try {
      const { series } = await batcher.run(parsedQuery.data, reader, context, { signal: abortSignal, dueMs: atMs });
      if (series.length > maxSamples) return { error: `the query returns more than ${maxSamples} series` };
      const samples = series.flatMap(({ labels, points }) => {
        const value = parseJsonNumber(points.at(-1)?.[1]);
        return value === null ? [] : [{ labels, value }];
      });
      return { samples };
    } catch (error) {
      signal?.throwIfAborted();
      return {
        error: timeoutSignal.aborted ? `no response within ${totalTimeoutMs / 1000} seconds` : queryErrorMessage(error),
      };
    }
  };
};
