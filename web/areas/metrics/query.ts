/** What is asked of metrics, as the address has it: PromQL, or one metric of the catalogue. */
import { computed } from '@preact/signals';
import { isOverTime, namesIn, type OverTimeOf } from '../../editors/question.ts';
import { inAddress } from '../../frame/address.ts';
import { projectId } from '../../frame/project.ts';
import type { Metric, MetricQuestion } from './calls.ts';

/** Counters and histograms grow, so what they say is how fast. */
export const defaultOverTime = ({ type, monotonic }: Metric): OverTimeOf =>
  monotonic || type.includes('histogram') ? 'rate' : 'avg';

export const promql = computed(() => inAddress('promql'));
export const chosen = computed(() => inAddress('metric'));
export const overTime = computed<OverTimeOf>(() => {
  const written = inAddress('over');
  return isOverTime(written) ? written : 'avg';
});
/** Labels that each have a series of their own. */
export const groupBy = computed(() => namesIn(inAddress('by')));

/** The question; undefined where nothing is asked. */
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
