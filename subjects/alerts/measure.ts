/** Names for the measured value of a condition, such as `p95`. */
import type { AlertHeld } from '../../schemas/alerts.ts';
import { type AlertCondition, findComparedMeasure } from './rule.ts';

/**
 * Names of aggregations. A count, the last value and the result of PromQL have none: the rule's name describes them.
 */
const aggregationNames: Readonly<Record<string, string>> = {
  avg: 'average',
  min: 'minimum',
  max: 'maximum',
  sum: 'sum',
  distinct: 'distinct values',
  rate: 'rate',
  increase: 'increase',
};

/** Formats a quantile as a percentile: 0.999 is `p99.9`. Rounding removes floating-point noise. */
const formatPercentile = (quantile: number): string => `p${Number((quantile * 100).toPrecision(12))}`;

const getMeasureName = (condition: AlertCondition): string => {
  if (condition.kind !== 'threshold') return '';
  const { query } = condition;
  if ('overTime' in query)
    return query.overTime === 'quantile'
      ? formatPercentile(query.quantile ?? 0)
      : (aggregationNames[query.overTime] ?? '');
  const measure = findComparedMeasure(condition);
  if (measure === undefined) return '';
  return measure.function === 'percentile' ? `p${measure.percentile}` : (aggregationNames[measure.function] ?? '');
};

/** Returns the `measure` of an alert, such as `p95` or `average`; nothing if the value needs no name. */
export const getAlertMeasure = (condition: AlertCondition): Pick<AlertHeld, 'measure'> => {
  const measure = getMeasureName(condition);
  return measure === '' ? {} : { measure };
};
