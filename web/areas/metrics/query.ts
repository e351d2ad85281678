/** Metrics query in the URL: PromQL, or one metric of the catalogue */
import { computed } from '@preact/signals';
import { isOverTime, namesIn, type OverTimeOf } from '../../editors/question.ts';
import { inAddress } from '../../frame/address.ts';
import { projectId } from '../../frame/project.ts';
import type { Metric, MetricQueryBody } from './calls.ts';

/** Returns the default function over time: a rate for counters and histograms, which only increase. */
export const defaultTimeFunction = ({ type, monotonic }: Metric): OverTimeOf =>
  monotonic || type.includes('histogram') ? 'rate' : 'avg';

export const promql = computed(() => inAddress('promql'));
export const selectedMetric = computed(() => inAddress('metric'));
export const timeFunction = computed<OverTimeOf>(() => {
  const parameter = inAddress('over');
  return isOverTime(parameter) ? parameter : 'avg';
});
/** Labels by which series are grouped */
export const groupBy = computed(() => namesIn(inAddress('by')));

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
