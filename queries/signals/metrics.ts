import { seriesFields } from '../../schemas/fields.ts';
import { seriesSearch } from '../../schemas/tables/search.ts';
import { defineSignal } from './definition.ts';

/** Data source for conditions on time series; values of their points are queried by `metric` and `promql`. */
export const metrics = defineSignal({
  records: 'time series',
  entitlement: 'metrics',
  group: 'metrics',
  retentionDays: (days) => days.metrics,
  newest: { table: 'samples', time: 'timestamp' },
  fields: seriesFields,
  text: seriesSearch,
  hasAttributeIndex: false,
});
