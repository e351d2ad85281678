/** Answers any query, in one form. */
import type { z } from 'zod';
import { runAggregate } from './aggregate/aggregate.ts';
import type { Answer, Asked } from './answer.ts';
import { invalid, QueryError } from './errors.ts';
import { runMetric } from './metrics/metric.ts';
import { Query } from './query.ts';
import { refuseBeyondRetention } from './range.ts';
import type { Reading } from './reading.ts';
import type { Result } from './result.ts';
import { runRows } from './rows/rows.ts';
import { formatTime } from './time.ts';

export interface RunOptions extends Asked {
  /** Ends the query, in the engine too. */
  readonly signal?: AbortSignal | undefined;
}

/** A query as callers write it: what has a default may be left out. */
export type AskedQuery = z.input<typeof Query>;

/**
 * Runs a query over a range: series with a step, a table without one. Throws a `QueryError` for a query that is invalid or that the
 * reader's plan does not allow: every signal that a query reads is held against its entitlement and retention, parts of formulas too.
 */
export const run = async (asked: AskedQuery, reading: Reading, { signal, ...options }: RunOptions): Promise<Result> => {
  const query = queryOf(asked);
  if (options.range.from > options.range.to) throw invalid('from', 'is after to');
  const started = performance.now();
  const answer = await dispatch(query, within(reading, signal), options);
  return {
    ...answer,
    from: formatTime(options.range.from),
    to: formatTime(options.range.to),
    stepMs: options.stepMs ?? null,
    cost: { rowsRead: 0, bytesRead: 0, elapsedMs: performance.now() - started, isCached: false },
    freshness: { value: null, reason: 'not known yet' },
  };
};

const queryOf = (asked: AskedQuery): Query => {
  const parsed = Query.safeParse(asked);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalid(['query', ...(issue?.path ?? [])].join('.'), issue?.message ?? 'is not a query');
};

const within = (reading: Reading, signal: AbortSignal | undefined): Reading =>
  signal === undefined
    ? reading
    : {
        ...reading,
        columns: {
          tenantId: reading.columns.tenantId,
          query: (sql, parameters, limits) => reading.columns.query(sql, parameters, { signal, ...limits }),
        },
      };

const dispatch = (query: Query, reading: Reading, asked: Asked): Promise<Answer> => {
  switch (query.kind) {
    case 'rows':
      refuseBeyondRetention(asked.range, { caller: reading, signal: query.signal, nowMs: reading.nowMs });
      return runRows(query, reading, asked);
    case 'aggregate':
      refuseBeyondRetention(asked.range, { caller: reading, signal: query.signal, nowMs: reading.nowMs });
      return runAggregate(query, reading, asked);
    case 'metric':
      return runMetric(query, reading, asked);
    default:
      throw new QueryError('NOT_IMPLEMENTED', `queries of the kind ${query.kind} are not answered yet`);
  }
};
