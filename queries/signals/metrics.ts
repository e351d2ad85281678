import { seriesFields } from '../../schemas/fields.ts';
import { seriesSearch } from '../../schemas/tables/search.ts';
import { defineSignal } from './definition.ts';

/** Conditions are of time series; figures of their points are asked by queries of the kinds `metric` and `promql`. */
export const metrics = defineSignal({
  records: 'time series',
  entitlement: 'metrics',
  keptDays: (days) => days.metrics,
  newest: { table: 'samples', time: 'timestamp' },
  fields: seriesFields,
  text: seriesSearch,
  hasAttributeIndex: false,
});
