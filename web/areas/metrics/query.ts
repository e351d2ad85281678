/** Metrics query in the URL: PromQL, or one metric of the catalogue */
import { computed } from '@preact/signals';
import { isOverTime, namesIn, type OverTimeOf } from '../../editors/question.ts';
import { inAddress } from '../../frame/address.ts';
import { projectId } from '../../frame/project.ts';
import type { Metric, MetricQuestion } from './calls.ts';

/** Counters and histograms increase, so their default is a rate. */
export const defaultOverTime = ({ type, monotonic }: Metric): OverTimeOf =>
  monotonic || type.includes('histogram') ? 'rate' : 'avg';

export const promql = computed(() => inAddress('promql'));
export const chosen = computed(() => inAddress('metric'));
export const overTime = computed<OverTimeOf>(() => {
  const written = inAddress('over');
  return isOverTime(written) ? written : 'avg';
});
/** Labels by which series are grouped */
export const groupBy = computed(() => namesIn(inAddress('by')));

/** The query; `undefined` if there is none */
export const question = computed<MetricQuestion | undefined>(() => {
  if (promql.value !== '') return { kind: 'promql', expression: promql.value };
  if (chosen.value === '') return undefined;
  const isRate = overTime.value === 'rate' || overTime.value === 'increase';
  return {
    kind: 'metric',
    metric: chosen.value,
    overTime: overTime.value,
    groupBy: [...groupBy.value],
    ...(projectId.value === '' ? {} : { projectId: projectId.value }),
    ...(overTime.value === 'quantile' ? { quantile: 0.95 } : {}),
    across: isRate ? 'sum' : 'avg',
  };
});
