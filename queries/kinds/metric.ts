/** Query kind for values of a metric. */
import { toContextKey } from '../batch/context-key.ts';
import { isBatchableMetric, maxMetrics, runMetricBatch } from '../batch/metrics.ts';
import { createValidationError } from '../errors.ts';
import { describeHaving } from '../having.ts';
import { buildMetricHint } from '../metrics/hint.ts';
import { runMetric } from '../metrics/metric.ts';
import { MetricQuery } from '../query.ts';
import { defineQueryKind, type SentenceParts } from '../query-kind.ts';
import { parseSearch } from '../search/parse.ts';
import { changeSearch, describeGroups } from './conditions.ts';

const overTimeTexts: Readonly<Record<MetricQuery['overTime'], string>> = {
  last: 'last value',
  avg: 'average',
  min: 'minimum',
  max: 'maximum',
  sum: 'sum',
  count: 'number of points',
  rate: 'rate per second',
  increase: 'increase',
  quantile: 'quantile',
};
const acrossTexts: Readonly<Record<MetricQuery['across'], string>> = {
  sum: 'over all its series',
  avg: 'averaged over its series',
  min: 'minimum of its series',
  max: 'maximum of its series',
  count: 'as the number of its series',
  none: 'for each series separately',
};

const describeQuery = (query: MetricQuery, parts: SentenceParts): string => {
  const { metric, overTime, across, quantile, search } = query;
  const valueText =
    quantile === undefined ? overTimeTexts[overTime] : `${Number((quantile * 100).toPrecision(6))}th percentile`;
  const condition = search === undefined ? '' : ` where ${parts.search(search, 'metrics')}`;
  return `${valueText} of the metric ${metric}${condition}, ${acrossTexts[across]}${describeGroups(query)}${describeHaving(query.having)}`;
};

const additiveFunctions: readonly MetricQuery['overTime'][] = ['rate', 'increase', 'sum', 'last', 'avg', 'count'];

export const metric = defineQueryKind<MetricQuery>({
  schema: MetricQuery,
  isFormulaPart: true,
  signals: () => ['metrics'],
  run: (query, reader, context) => runMetric(query, reader, context),
  batch: {
    max: maxMetrics,
    key: (query, context) => (isBatchableMetric(query, context) ? toContextKey(context) : undefined),
    run: (queries, reader, [context]) => runMetricBatch(queries, reader, context),
  },
  hint: (query, result, _range, reader) => buildMetricHint(query, result, reader),
  inspect({ overTime, quantile, search, metric: name }, inspection) {
    inspection.attempt(() => {
      if (overTime === 'quantile' && quantile === undefined)
        throw createValidationError('quantile', 'is required for quantile, such as 0.95');
      if (search !== undefined) parseSearch(search, 'metrics', { path: 'search' });
    });
    inspection.metric(name, 'metric');
  },
  limitGroups: (query, limit) => ({ ...query, limit }),
  changeTexts: (query, { search, text, names }) => ({
    ...changeSearch(query, search),
    metric: text(query.metric),
    groupBy: names(query.groupBy),
  }),
  addFilters: (query, { search }) => ({ ...query, search: search(query.search, 'metrics') }),
  groupBy: ({ across, groupBy }) => (across === 'none' ? undefined : groupBy),
  metrics: ({ metric: name }) => [name],
  countMatches({ search: _search, having: _having, ...query }, search) {
    return search === undefined ? query : { ...query, search };
  },
  countValues: ({ having: _having, ...query }) => ({ ...query, overTime: 'count', across: 'sum' }),
  splittable: (query, _figure, limit) =>
    query.across === 'sum' && additiveFunctions.includes(query.overTime)
      ? { ...query, order: undefined, having: undefined, limit }
      : 'only sums over series can be split into contributions',
  sentence: describeQuery,
});
