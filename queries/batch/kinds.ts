/** Defines which queries are batched, and by which statements. */
import type { QueryContext } from '../answer.ts';
import { maxChecksPerBatch, runCheckBatch } from '../checks/run-check.ts';
import type { QueryReading } from '../promql/reading.ts';
import type { AggregateQuery, CheckQuery, MetricQuery, PromqlQuery, Query, SloQuery } from '../query.ts';
import { maxSlosPerBatch, runSloBatch, sloKey } from '../slos/run-slo.ts';
import { aggregatesKey, maxAggregates, runAggregateBatch } from './aggregates.ts';
import { isSharedMetric, maxMetrics, runMetricBatch } from './metrics.ts';
import type { Outcome, ReportOutcome } from './outcome.ts';
import { isSharedPromql, maxPromqlQueries, runPromqlBatch } from './promql.ts';

/**
 * Runs queries, each with its range; queries that share a statement of one range have the same range. Early outcomes
 * may be reported before all are known.
 */
type RunBatch = (
  queries: readonly Query[],
  reading: QueryReading,
  contexts: readonly [QueryContext, ...QueryContext[]],
  report: ReportOutcome,
) => Promise<Outcome[]>;

/** Queries that one statement may answer. */
export interface Kind {
  readonly maxBatch: number;
  readonly runBatch: RunBatch;
}

export type SharedKind = 'aggregate' | 'metric' | 'promql' | 'slo' | 'check';

export const kinds: Readonly<Record<SharedKind, Kind>> = {
  aggregate: {
    maxBatch: maxAggregates,
    runBatch: (queries, reading, contexts) => runAggregateBatch(queries as AggregateQuery[], reading, contexts),
  },
  metric: {
    maxBatch: maxMetrics,
    runBatch: (queries, reading, [context]) => runMetricBatch(queries as MetricQuery[], reading, context),
  },
  promql: {
    maxBatch: maxPromqlQueries,
    runBatch: (queries, reading, [context], report) =>
      runPromqlBatch(queries as PromqlQuery[], reading, context, report),
  },
  slo: {
    maxBatch: maxSlosPerBatch,
    runBatch: (queries, reading, [context]) => runSloBatch(queries as SloQuery[], reading, context),
  },
  check: {
    maxBatch: maxChecksPerBatch,
    runBatch: (queries, reading, [context]) => runCheckBatch(queries as CheckQuery[], reading, context),
  },
};

/** Returns the key of a query's context: equal queries with equal keys have one answer. */
export const contextKey = ({ range, stepMs, stepsFrom, isNewestWithin }: QueryContext): string =>
  `${range.from} ${range.to} ${stepMs} ${stepsFrom} ${isNewestWithin}`;

/** Returns the key of a PromQL query. Without steps it is evaluated at the end of its range, wherever that begins. */
const promqlKey = (context: QueryContext): string =>
  context.stepMs === undefined ? `at ${context.range.to}` : contextKey(context);

/** Returns the kind of a query and the key that its batch shares; undefined if it runs alone. */
export const shareOf = (query: Query, context: QueryContext): readonly [kind: SharedKind, key: string] | undefined => {
  switch (query.kind) {
    case 'aggregate': {
      const key = aggregatesKey(query, context);
      return key === undefined ? undefined : ['aggregate', key];
    }
    case 'metric':
      return isSharedMetric(query, context) ? ['metric', contextKey(context)] : undefined;
    case 'slo':
      return ['slo', `${sloKey(query)} ${contextKey(context)}`];
    case 'check':
      return ['check', contextKey(context)];
    case 'promql':
      return isSharedPromql(context) ? ['promql', promqlKey(context)] : undefined;
    default:
      return undefined;
  }
};
