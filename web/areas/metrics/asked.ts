/** What is asked of metrics, as the address has it: PromQL, or one metric of the catalogue. */
import { computed } from '@preact/signals';
import { inAddress } from '../../frame/address.ts';
import { projectId } from '../../frame/project.ts';
import type { Metric, MetricQuestion } from './calls.ts';

type MetricKind = Extract<MetricQuestion, { kind: 'metric' }>;
export type OverTime = MetricKind['overTime'];

/** How points become one value for each step, and in words. */
export const overTimes: Readonly<Record<Exclude<OverTime, 'quantile'>, string>> & { readonly quantile: string } = {
  rate: 'rate per second',
  increase: 'increase',
  avg: 'average',
  last: 'last value',
  min: 'least',
  max: 'most',
  sum: 'sum',
  count: 'number of points',
  quantile: 'p95',
};

/** Counters and histograms grow, so what they say is how fast. */
export const usualOverTime = ({ type, monotonic }: Metric): OverTime =>
  monotonic || type.includes('histogram') ? 'rate' : 'avg';

const isOverTime = (text: string): text is OverTime => Object.hasOwn(overTimes, text);

export const promql = computed(() => inAddress('promql'));
export const chosen = computed(() => inAddress('metric'));
export const overTime = computed<OverTime>(() => {
  const written = inAddress('over');
  return isOverTime(written) ? written : 'avg';
});
/** Labels that each have a series of their own. */
export const groupBy = computed(() =>
  inAddress('by')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== ''),
);

/** The question; undefined where nothing is asked. */
export const question = computed<MetricQuestion | undefined>(() => {
  if (promql.value !== '') return { kind: 'promql', expression: promql.value };
  if (chosen.value === '') return undefined;
  const isRate = overTime.value === 'rate' || overTime.value === 'increase';
  return {
    ...{ kind: 'metric', metric: chosen.value, overTime: overTime.value, groupBy: [...groupBy.value] },
    ...(projectId.value === '' ? {} : { projectId: projectId.value }),
    ...(overTime.value === 'quantile' ? { quantile: 0.95 } : {}),
    across: isRate ? 'sum' : 'avg',
  };
});
