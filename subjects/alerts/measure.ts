/** What the value of a condition is, as people call it. */
import type { AlertHeld } from '../../schemas/alerts.ts';
import { type AlertCondition, comparedMeasure } from './rule.ts';

/** Words for what is done to values. A count, the last value and what PromQL computes have none: the rule's name says it. */
const words: Readonly<Record<string, string>> = {
  avg: 'average',
  min: 'minimum',
  max: 'maximum',
  sum: 'sum',
  distinct: 'distinct values',
  rate: 'rate',
  increase: 'increase',
};

/** Without the digits that a product of floating point adds: 0.999 is p99.9. */
const percentileOf = (quantile: number): string => `p${Number((quantile * 100).toPrecision(12))}`;

const measureOf = (condition: AlertCondition): string => {
  if (condition.kind !== 'threshold') return '';
  const { query } = condition;
  if (query.kind === 'metric')
    return query.overTime === 'quantile' ? percentileOf(query.quantile ?? 0) : (words[query.overTime] ?? '');
  const measure = comparedMeasure(condition);
  if (measure === undefined) return '';
  return measure.function === 'percentile' ? `p${measure.percentile}` : (words[measure.function] ?? '');
};

/** `measure` of what is told of an alert: `p95` of a percentile, `average`; nothing where the value needs no word. */
export const alertMeasure = (condition: AlertCondition): Pick<AlertHeld, 'measure'> => {
  const measure = measureOf(condition);
  return measure === '' ? {} : { measure };
};
