/** Converts a draft about a metric to queries */
import type { MetricQuery } from '../../queries/query.ts';
import { type Draft, UnclearQuestionError } from './assemble.ts';
import type { CatalogueMetric } from './catalogue.ts';
import { createEqualityCondition } from './conditions.ts';
import { toMetricHaving } from './group-conditions.ts';
import type { MeasureFunction } from './marks.ts';
import { getMetricAddition } from './metric-addition.ts';
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
    avg: { overTime: 'avg', across: 'avg' },
    max: { overTime: 'max', across: 'max' },
    min: { overTime: 'min', across: 'min' },
    sum: { overTime: 'avg', across: 'sum' },
    total: { overTime: 'avg', across: 'sum' },
    count: { overTime: 'avg', across: 'sum' },
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
  const { conditions, groupBy, stepMs, aggregationWords: words, unassignedFields: fields } = draft;
  const step = stepMs ?? (words.has('overTime') ? ('usual' as const) : undefined);
  const searches = [...conditions.map((condition) => condition.search), ...getUsedState(draft, metric)];
  const limitFields = createLimit(draft, extremeFunction);
  const common = {
    kind: 'metric' as const,
    metric: metric.name,
    ...(searches.length === 0 ? {} : { search: searches.join(' ') }),
    ...(hasGroups(draft) ? { groupBy: [...groupBy, ...fields.map(({ field }) => field)] } : {}),
  };
  const isHistogram = metric.kind === 'histogram' || metric.kind === 'summary';
  const createHaving = (overTime: MetricQuery['overTime']): Pick<MetricQuery, 'having'> => {
    const isObservationCount = isHistogram && (overTime === 'increase' || overTime === 'rate');
    const having = toMetricHaving(draft, metric, isObservationCount);
    return having === undefined ? {} : { having };
  };
  if (isGrowth(draft, metric, extremeFunction)) {
    rejectUnsupportedGrowth(draft, metric, step);
    const query = createGrowthQuery(common, { ...limitFields, ...createHaving('max') });
    return [{ stepMs: undefined, conditions: searches, query }];
  }
  return chooseAggregations(draft, metric, extremeFunction).map((aggregation) => ({
    stepMs: step,
    conditions: searches,
    query: { ...common, ...aggregation, ...limitFields, ...createHaving(aggregation.overTime) },
  }));
};

const hasGroups = ({ groupBy, unassignedFields: fields }: Draft): boolean => groupBy.length + fields.length > 0;
const isRanked = ({ aggregationWords: words }: Draft): boolean => words.has('most') || words.has('least');

/** Returns the limit and the order of a ranking of groups; nothing for a question without one. */
const createLimit = (draft: Draft, extreme: Extreme): Pick<MetricQuery, 'order'> & { readonly limit?: number } => {
  const { limit, aggregationWords: words } = draft;
  if (limit === undefined && (!isRanked(draft) || extreme !== undefined)) return {};
  return { limit: limit ?? defaultGroupLimit, ...(words.has('least') ? { order: 'ascending' as const } : {}) };
};

const rejectUnsupportedGrowth = ({ aggregationWords: words }: Draft, metric: CatalogueMetric, step: unknown): void => {
  if (step !== undefined) throw new UnclearQuestionError(growthProblem(metric));
  if (words.has('least'))
    throw new UnclearQuestionError('growth is listed in descending order: the smallest groups are not supported');
};

const growthProblem = ({ name }: CatalogueMetric): string =>
  `${name} is a count so far in the form of a gauge, whose growth per step is not exact: query its growth without steps, or use PromQL`;

/** A count so far that is a gauge, such as restarts of containers, grows by the events in the range. */
const isGrowth = ({ measures, aggregationWords: words }: Draft, metric: CatalogueMetric, extreme: Extreme): boolean =>
  metric.kind === 'gauge' &&
  getMetricAddition(metric).combination === 'increase' &&
  measures.length === 0 &&
  extreme === undefined &&
  !words.has('current') &&
  !words.has('newest');

/** Senders start at their current count, so the growth of each series is its largest value minus its smallest. */
const createGrowthQuery = (
  common: { readonly kind: 'metric'; readonly metric: string; readonly search?: string; readonly groupBy?: string[] },
  limitFields: { readonly limit?: number } & Pick<MetricQuery, 'having'>,
): Meaning['query'] => ({
  kind: 'formula',
  expression: 'highest - lowest',
  queries: {
    highest: { ...common, overTime: 'max', across: 'sum' },
    lowest: { ...common, overTime: 'min', across: 'sum' },
  },
  ...limitFields,
});

/** Labels for the state of memory and disks, of which only one value is usage */
const stateLabel = /(?:^|\.)state$/;

/** "Memory usage" is the memory in the state used, not the memory in all states. */
const getUsedState = (
  { conditions, groupBy, unassignedFields }: Draft,
  { name, labels }: CatalogueMetric,
): string[] => {
  if (!/(?:^|[._])usage(?:$|[._])/.test(name)) return [];
  const state = labels.find((label) => stateLabel.test(label.name) && label.values.includes('used'));
  const isNamed = [...conditions, ...unassignedFields].some(({ field }) => field === state?.name);
  return state === undefined || isNamed || groupBy.includes(state.name)
    ? []
    : [createEqualityCondition(state.name, 'used').search];
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

const rejectUnsupported = (draft: Draft, { name }: CatalogueMetric, extreme: Extreme): void => {
  const { aggregationWords: words, distinct, unassignedFields: fields, limit, having } = draft;
  if (words.has('least') && extreme === undefined && !hasGroups(draft))
    throw new UnclearQuestionError('the smallest has no field: name a field, such as "by service"');
  const isSelection = isRanked(draft) || limit !== undefined || having !== undefined || words.has('which');
  if (fields.length > 0 && !isSelection)
    throw new UnclearQuestionError(
      `the question contains ${fields[0]?.field} without a purpose: write "by ${fields[0]?.field}", or a value of it`,
    );
  if (words.has('distinct') && distinct.length === 0)
    throw new UnclearQuestionError('distinct values of a metric cannot be counted');
  if (words.has('oldest') || words.has('when'))
    throw new UnclearQuestionError(`${name} is available as aggregated values over time, not as individual events`);
  if (distinct.length > 0)
    throw new UnclearQuestionError(`values of labels cannot be counted: query ${name} by ${distinct[0]}`);
  if (words.has('share')) throw new UnclearQuestionError(`a share of the metric ${name} needs a formula`);
  rejectSeveralMeasures(draft);
  if (words.has('slowest') || words.has('fastest'))
    throw new UnclearQuestionError(`${name} is not a list of requests: query its largest or smallest values`);
};

const rejectSeveralMeasures = ({ measures, aggregationWords: words }: Draft): void => {
  const isTotalOfMean = words.has('total') && measures.some(({ function: name }) => name !== 'sum' && name !== 'rate');
  if (measures.length > 1 || isTotalOfMean)
    throw new UnclearQuestionError('a metric query has one aggregation: run a separate query for each');
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
  const gaugeAggregation = kind === 'gauge' ? chooseGaugeAggregation(metric, requested, isCount) : undefined;
  if (gaugeAggregation !== undefined) return [gaugeAggregation];
  const aggregation =
    (requested === 'current' && isCount && aggregations[kind].currentCount) || aggregations[kind][requested];
  if (aggregation !== undefined) return [aggregation];
  if (requested === 'none') return [createQuantile(95, metric), aggregations[kind].avg as Aggregation];
  throw new UnclearQuestionError(`${name} is a ${kind}, which does not support ${requested}`);
};

/** Returns the aggregation of a gauge that no word of the question states; throws if its values do not add up. */
const chooseGaugeAggregation = (
  metric: CatalogueMetric,
  requested: string,
  isCount: boolean,
): Aggregation | undefined => {
  const { combination, isNeverSummed } = getMetricAddition(metric);
  if (isNeverSummed === true && (isCount || requested === 'sum'))
    throw new UnclearQuestionError(`values of ${metric.name} do not add up: query its average, minimum or maximum`);
  const across = combination === 'average' ? 'avg' : 'sum';
  if (requested === 'none') return { overTime: 'avg', across };
  return requested === 'current' && !isCount ? { overTime: 'last', across } : undefined;
};

const createQuantile = (percentile: number, { name, kind }: CatalogueMetric): Aggregation => {
  if (kind === 'counter') throw new UnclearQuestionError(`${name} is a counter, which does not support percentiles`);
  const across = kind === 'histogram' ? 'sum' : kind === 'summary' ? 'none' : 'avg';
  return { overTime: 'quantile', quantile: percentile / 100, across };
};
