/** Metrics query in the URL: PromQL, or one metric of the catalog */
import { computed } from '@preact/signals';
import {
  isTimeAggregation,
  parseNames,
  type TimeAggregation,
  timeAggregationTitles,
} from '../../editors/query-form.ts';
import { readParam } from '../../frame/address.ts';
import { projectId } from '../../frame/project.ts';
import { isSeriesAggregation, type SeriesAggregation } from './aggregations.ts';
import type { Metric, MetricQueryBody } from './calls.ts';
import { getDefaultAcross } from './promql-conversion.ts';

/** Returns the default function over time: a rate for counters and histograms, which only increase. */
export const chooseDefaultFunction = ({ type, monotonic }: Metric): TimeAggregation =>
  monotonic || type.includes('histogram') ? 'rate' : 'avg';

export const promql = computed(() => readParam('promql'));
export const selectedMetric = computed(() => readParam('metric'));
export const timeFunction = computed<TimeAggregation>(() => {
  const parameter = readParam('over');
  return isTimeAggregation(parameter) ? parameter : 'avg';
});
/** Aggregation across the series of a group; by default the sum of rates, and the average of other values */
export const seriesAggregation = computed<SeriesAggregation>(() => {
  const parameter = readParam('across');
  return isSeriesAggregation(parameter) ? parameter : getDefaultAcross(timeFunction.value);
});
/** Condition on the labels of the series */
export const labelFilter = computed(() => readParam('filter'));
/** Labels by which series are grouped */
export const groupBy = computed(() => parseNames(readParam('by')));

/** Returns a title of the query of the builder. */
export const formatBuilderQuery = (): string => {
  const filter = labelFilter.value === '' ? '' : `, ${labelFilter.value}`;
  const grouping = groupBy.value.length === 0 ? '' : ` by ${groupBy.value.join(', ')}`;
  return `${selectedMetric.value}${filter}: ${timeAggregationTitles[timeFunction.value]}${grouping}`;
};

/** Editor of the query: the one that the user selected, otherwise that of the current query */
export const queryEditor = computed<'builder' | 'promql'>(() => {
  const selected = readParam('editor');
  if (selected === 'promql' || promql.value !== '') return 'promql';
  return 'builder';
});

/** The query; `undefined` if there is none */
export const metricQuery = computed<MetricQueryBody | undefined>(() => {
  if (promql.value !== '') return { kind: 'promql', expression: promql.value };
  if (selectedMetric.value === '') return undefined;
  return {
    kind: 'metric',
    metric: selectedMetric.value,
    overTime: timeFunction.value,
    groupBy: [...groupBy.value],
    ...(labelFilter.value === '' ? {} : { search: labelFilter.value }),
    ...(projectId.value === '' ? {} : { projectId: projectId.value }),
    ...(timeFunction.value === 'quantile' ? { quantile: 0.95 } : {}),
    across: seriesAggregation.value,
  };
});
