/** What questions are asked together, by which statements. */
import type { Asked } from '../answer.ts';
import { checksTogether, mostChecksTogether } from '../checks/asked.ts';
import type { QueryReading } from '../promql/reading.ts';
import type { AggregateQuery, CheckQuery, MetricQuery, PromqlQuery, Query, SloQuery } from '../query.ts';
import { mostSlosTogether, sloKey, slosTogether } from '../slos/asked.ts';
import { aggregatesKey, aggregatesTogether, mostAggregates } from './aggregates.ts';
import { isSharedMetric, metricsTogether, mostMetrics } from './metrics.ts';
import type { Outcome, TellOutcome } from './outcome.ts';
import { isSharedPromql, mostPromql, promqlTogether } from './promql.ts';

/** What is asked, each with its range: where they share a statement of one range, it is the same. Those that are known before all are may be told before. */
type Ask = (
  queries: readonly Query[],
  reading: QueryReading,
  asked: readonly [Asked, ...Asked[]],
  tell: TellOutcome,
) => Promise<Outcome[]>;

/** Questions that one statement may answer. */
export interface Kind {
  readonly most: number;
  readonly ask: Ask;
}

export type SharedKind = 'aggregate' | 'metric' | 'promql' | 'slo' | 'check';

export const kinds: Readonly<Record<SharedKind, Kind>> = {
  aggregate: {
    most: mostAggregates,
    ask: (queries, reading, asked) => aggregatesTogether(queries as AggregateQuery[], reading, asked),
  },
  metric: {
    most: mostMetrics,
    ask: (queries, reading, [asked]) => metricsTogether(queries as MetricQuery[], reading, asked),
  },
  promql: {
    most: mostPromql,
    ask: (queries, reading, [asked], tell) => promqlTogether(queries as PromqlQuery[], reading, asked, tell),
  },
  slo: {
    most: mostSlosTogether,
    ask: (queries, reading, [asked]) => slosTogether(queries as SloQuery[], reading, asked),
  },
  check: {
    most: mostChecksTogether,
    ask: (queries, reading, [asked]) => checksTogether(queries as CheckQuery[], reading, asked),
  },
};

/** What is asked of a query: equal ones of equal keys have one answer. */
export const askedKey = ({ range, stepMs, stepsFrom, isNewestWithin }: Asked): string =>
  `${range.from} ${range.to} ${stepMs} ${stepsFrom} ${isNewestWithin}`;

/** PromQL without steps is evaluated at the end of its range, wherever that begins. */
const promqlKey = (asked: Asked): string => (asked.stepMs === undefined ? `at ${asked.range.to}` : askedKey(asked));

/** The kind of a question, and what those have in common that are asked with it; undefined where it is asked alone. */
export const shareOf = (query: Query, asked: Asked): readonly [kind: SharedKind, key: string] | undefined => {
  switch (query.kind) {
    case 'aggregate': {
      const key = aggregatesKey(query, asked);
      return key === undefined ? undefined : ['aggregate', key];
    }
    case 'metric':
      return isSharedMetric(query, asked) ? ['metric', askedKey(asked)] : undefined;
    case 'slo':
      return ['slo', `${sloKey(query)} ${askedKey(asked)}`];
    case 'check':
      return ['check', askedKey(asked)];
    case 'promql':
      return isSharedPromql(asked) ? ['promql', promqlKey(asked)] : undefined;
    default:
      return undefined;
  }
};
