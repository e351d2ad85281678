/** Metrics query in the URL: PromQL, or one metric of the catalog */
import { computed } from '@preact/signals';
import { isTimeAggregation, parseNames, type TimeAggregation } from '../../editors/question.ts';
import { readParam } from '../../frame/address.ts';
import { projectId } from '../../frame/project.ts';
import type { Metric, MetricQueryBody } from './calls.ts';

/** Returns the default function over time: a rate for counters and histograms, which only increase. */
export const chooseDefaultFunction = ({ type, monotonic }: Metric): TimeAggregation =>
  monotonic || type.includes('histogram') ? 'rate' : 'avg';

export const promql = computed(() => readParam('promql'));
export const selectedMetric = computed(() => readParam('metric'));
export const timeFunction = computed<TimeAggregation>(() => {
  const parameter = readParam('over');
  return isTimeAggregation(parameter) ? parameter : 'avg';
});
/** Labels by which series are grouped */
export const groupBy = computed(() => parseNames(readParam('by')));

/** The query; `undefined` if there is none */
export const metricQuery = computed<MetricQueryBody | undefined>(() => {
  if (promql.value !== '') return { kind: 'promql', expression: promql.value };
  if (selectedMetric.value === '') return undefined;
  const isRate = timeFunction.value === 'rate' || timeFunction.value === 'increase';
  return {
    kind: 'metric',
    metric: selectedMetric.value,
    overTime: timeFunction.value,
    groupBy: [...groupBy.value],
    ...(projectId.value === '' ? {} : { projectId: projectId.value }),
    ...(timeFunction.value === 'quantile' ? { quantile: 0.95 } : {}),
    across: isRate ? 'sum' : 'avg',
  };
});
