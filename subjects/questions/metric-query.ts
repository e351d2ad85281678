/** Converts a draft about a metric to queries */
import type { MetricQuery } from '../../queries/query.ts';
import { type Draft, UnclearQuestionError } from './assemble.ts';
import type { CatalogueMetric } from './catalogue.ts';
import type { MeasureFunction } from './marks.ts';
import type { Meaning } from './records-query.ts';

type Aggregation = Pick<MetricQuery, 'overTime' | 'across'> & { readonly quantile?: number };

/**
 * Aggregations of one measure. The mean of histograms is over all observations, which is the meaning of their `sum`.
 */
type AggregationsByWord = Readonly<
  Partial<Record<MeasureFunction['function'] | 'none' | 'count' | 'total' | 'current' | 'currentCount', Aggregation>>
>;
const aggregations: Readonly<Record<CatalogueMetric['kind'], AggregationsByWord>> = {
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

/** Returns the queries that a draft about a metric may mean. */
export const interpretMetric = (draft: Draft, metric: CatalogueMetric): Meaning[] => {
  const extremeFunction = findExtreme(draft);
  rejectUnsupported(draft, metric, extremeFunction);
  const { conditions, groupBy, limit, stepMs, aggregationWords: words, unassignedFields: fields } = draft;
  const isRanked = words.has('most') || limit !== undefined || words.has('which');
  if (fields.length > 0 && !isRanked)
    throw new UnclearQuestionError(
      `the question contains ${fields[0]?.field} without a purpose: write "by ${fields[0]?.field}", or a value of it`,
    );
  const step = stepMs ?? (words.has('overTime') ? ('usual' as const) : undefined);
  const search = conditions.map((condition) => condition.search).join(' ');
  return chooseAggregations(draft, metric, extremeFunction).map((aggregation) => ({
    stepMs: step,
    conditions: conditions.map((condition) => condition.search),
    query: {
      kind: 'metric',
      metric: metric.name,
      ...aggregation,
      ...(search === '' ? {} : { search }),
      ...(groupBy.length + fields.length === 0 ? {} : { groupBy: [...groupBy, ...fields.map(({ field }) => field)] }),
      ...(limit === undefined && (!words.has('most') || extremeFunction !== undefined)
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
  measures,
  groupBy,
  unassignedFields: fields,
  limit,
  aggregationWords: words,
}: Draft): Extreme => {
  if (measures.length + fields.length > 0 || limit !== undefined || words.has('which')) return undefined;
  if (groupBy.length > 0 && !words.has('extreme')) return undefined;
  return words.has('most') ? 'max' : words.has('least') ? 'min' : undefined;
};

const rejectUnsupported = (
  { aggregationWords: words, distinct, measures }: Draft,
  { name }: CatalogueMetric,
  extremeFunction: Extreme,
): void => {
  if (words.has('distinct') && distinct.length === 0)
    throw new UnclearQuestionError('distinct values of a metric cannot be counted');
  if (words.has('oldest') || words.has('when'))
    throw new UnclearQuestionError(`${name} is available as aggregated values over time, not as individual events`);
  if (distinct.length > 0)
    throw new UnclearQuestionError(`values of labels cannot be counted: query ${name} by ${distinct[0]}`);
  if (words.has('share')) throw new UnclearQuestionError(`a share of the metric ${name} needs a formula`);
  if (measures.length > 1)
    throw new UnclearQuestionError('a metric query has one aggregation: run a separate query for each');
  if ((words.has('least') && extremeFunction === undefined) || words.has('slowest') || words.has('fastest'))
    throw new UnclearQuestionError('groups of a metric are listed in descending order: the smallest are not supported');
};

const chooseAggregations = (
  { measures, aggregationWords: words }: Draft,
  metric: CatalogueMetric,
  extremeFunction: Extreme,
): Aggregation[] => {
  const { name, kind } = metric;
  const [measure] = measures;
  if (measure?.function === 'percentile') return [createQuantile(measure.percentile ?? 50, metric)];
  const requested =
    measure?.function ??
    extremeFunction ??
    (words.has('newest') ? 'current' : undefined) ??
    (['current', 'total', 'count'] as const).find((value) => words.has(value)) ??
    'none';
  const isCount = words.has('count') || words.has('total');
  const aggregation =
    (requested === 'current' && isCount && aggregations[kind].currentCount) || aggregations[kind][requested];
  if (aggregation !== undefined) return [aggregation];
  if (requested === 'none') return [createQuantile(95, metric), aggregations[kind].avg as Aggregation];
  throw new UnclearQuestionError(`${name} is a ${kind}, which does not support ${requested}`);
};

const createQuantile = (percentile: number, { name, kind }: CatalogueMetric): Aggregation => {
  if (kind === 'counter') throw new UnclearQuestionError(`${name} is a counter, which does not support percentiles`);
  const across = kind === 'histogram' ? 'sum' : kind === 'summary' ? 'none' : 'avg';
  return { overTime: 'quantile', quantile: percentile / 100, across };
};
