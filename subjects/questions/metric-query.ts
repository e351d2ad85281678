/** Converts a draft on a metric to queries */
import type { MetricQuery } from '../../queries/query.ts';
import { type Draft, UnclearQuestionError } from './assemble.ts';
import type { KnownMetric } from './catalogue.ts';
import type { Figure } from './marks.ts';
import type { Meaning } from './records-query.ts';

type Aggregation = Pick<MetricQuery, 'overTime' | 'across'> & { readonly quantile?: number };

/**
 * Aggregations of one measure. The mean of histograms is over all observations, which is the meaning of their `sum`.
 */
type AggregationsByWord = Readonly<
  Partial<Record<Figure['function'] | 'none' | 'count' | 'total' | 'current' | 'currentCount', Aggregation>>
>;
const aggregations: Readonly<Record<KnownMetric['kind'], AggregationsByWord>> = {
  counter: {
    none: { overTime: 'increase', across: 'sum' },
    count: { overTime: 'increase', across: 'sum' },
    total: { overTime: 'increase', across: 'sum' },
    sum: { overTime: 'increase', across: 'sum' },
    rate: { overTime: 'rate', across: 'sum' },
    current: { overTime: 'last', across: 'sum' },
  },
  gauge: {
    none: { overTime: 'avg', across: 'avg' },
    avg: { overTime: 'avg', across: 'avg' },
    max: { overTime: 'max', across: 'max' },
    min: { overTime: 'min', across: 'min' },
    sum: { overTime: 'avg', across: 'sum' },
    total: { overTime: 'avg', across: 'sum' },
    count: { overTime: 'avg', across: 'sum' },
    current: { overTime: 'last', across: 'avg' },
    currentCount: { overTime: 'last', across: 'sum' },
  },
  histogram: {
    avg: { overTime: 'avg', across: 'sum' },
    max: { overTime: 'max', across: 'max' },
    min: { overTime: 'min', across: 'min' },
    sum: { overTime: 'sum', across: 'sum' },
    total: { overTime: 'sum', across: 'sum' },
    count: { overTime: 'increase', across: 'sum' },
    rate: { overTime: 'rate', across: 'sum' },
  },
  summary: {
    avg: { overTime: 'avg', across: 'sum' },
    sum: { overTime: 'sum', across: 'sum' },
    count: { overTime: 'increase', across: 'sum' },
    rate: { overTime: 'rate', across: 'sum' },
  },
};

const defaultGroupLimit = 10;

/** Returns the queries that a draft on a metric may mean. */
export const interpretMetric = (draft: Draft, metric: KnownMetric): Meaning[] => {
  const extreme = findExtreme(draft);
  rejectUnsupported(draft, metric, extreme);
  const { conditions, groupBy, limit, stepMs, aggregationWords: draftWays, unassignedFields: loose } = draft;
  const isRanked = draftWays.has('most') || limit !== undefined || draftWays.has('which');
  if (loose.length > 0 && !isRanked)
    throw new UnclearQuestionError(
      `the question contains ${loose[0]?.field} without a purpose: write "by ${loose[0]?.field}", or a value of it`,
    );
  const step = stepMs ?? (draftWays.has('overTime') ? ('usual' as const) : undefined);
  const search = conditions.map((each) => each.search).join(' ');
  return chooseAggregations(draft, metric, extreme).map((way) => ({
    stepMs: step,
    conditions: conditions.map((each) => each.search),
    query: {
      kind: 'metric',
      metric: metric.name,
      ...way,
      ...(search === '' ? {} : { search }),
      ...(groupBy.length + loose.length === 0 ? {} : { groupBy: [...groupBy, ...loose.map(({ field }) => field)] }),
      ...(limit === undefined && (!draftWays.has('most') || extreme !== undefined)
        ? {}
        : { limit: limit ?? defaultGroupLimit }),
    },
  }));
};

type Extreme = 'max' | 'min' | undefined;

/**
 * "The highest level" is one value, and "the highest level by branch" one value per branch; "most by branch" is an
 * order.
 */
const findExtreme = ({
  figures,
  groupBy,
  unassignedFields: loose,
  limit,
  aggregationWords: draftWays,
}: Draft): Extreme => {
  if (figures.length + loose.length > 0 || limit !== undefined || draftWays.has('which')) return undefined;
  if (groupBy.length > 0 && !draftWays.has('extreme')) return undefined;
  return draftWays.has('most') ? 'max' : draftWays.has('least') ? 'min' : undefined;
};

const rejectUnsupported = (
  { aggregationWords: draftWays, distinct, figures }: Draft,
  { name }: KnownMetric,
  extreme: Extreme,
): void => {
  if (draftWays.has('distinct') && distinct.length === 0)
    throw new UnclearQuestionError('distinct values of a metric cannot be counted');
  if (draftWays.has('oldest') || draftWays.has('when'))
    throw new UnclearQuestionError(`${name} is available as aggregated values over time, not as individual events`);
  if (distinct.length > 0)
    throw new UnclearQuestionError(`values of labels cannot be counted: query ${name} by ${distinct[0]}`);
  if (draftWays.has('share')) throw new UnclearQuestionError(`a share of the metric ${name} needs a formula`);
  if (figures.length > 1)
    throw new UnclearQuestionError('a metric query has one aggregation: run a separate query for each');
  if ((draftWays.has('least') && extreme === undefined) || draftWays.has('slowest') || draftWays.has('fastest'))
    throw new UnclearQuestionError('groups of a metric are listed in descending order: the smallest are not supported');
};

const chooseAggregations = (
  { figures, aggregationWords: draftWays }: Draft,
  metric: KnownMetric,
  extreme: Extreme,
): Aggregation[] => {
  const { name, kind } = metric;
  const [figure] = figures;
  if (figure?.function === 'percentile') return [createQuantile(figure.percentile ?? 50, metric)];
  const requestedWay =
    figure?.function ??
    extreme ??
    (draftWays.has('newest') ? 'current' : undefined) ??
    (['current', 'total', 'count'] as const).find((each) => draftWays.has(each)) ??
    'none';
  const isCounted = draftWays.has('count') || draftWays.has('total');
  const way =
    (requestedWay === 'current' && isCounted && aggregations[kind].currentCount) || aggregations[kind][requestedWay];
  if (way !== undefined) return [way];
  if (requestedWay === 'none') return [createQuantile(95, metric), aggregations[kind].avg as Aggregation];
  throw new UnclearQuestionError(`${name} is a ${kind}, which does not support ${requestedWay}`);
};

const createQuantile = (percentile: number, { name, kind }: KnownMetric): Aggregation => {
  if (kind === 'counter') throw new UnclearQuestionError(`${name} is a counter, which does not support percentiles`);
  const across = kind === 'histogram' ? 'sum' : kind === 'summary' ? 'none' : 'avg';
  return { overTime: 'quantile', quantile: percentile / 100, across };
};
