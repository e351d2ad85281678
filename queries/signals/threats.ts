import { computedBodySearch } from '../../schemas/tables/search.ts';
import { defineSignal } from './definition.ts';
import { threatFields, threatsSource } from './threats-source.ts';

/** Events of runtime security sensors. They have no retention of their own: the longest retention of the plan applies. */
export const threats = defineSignal({
  records: 'runtime threats',
  entitlement: 'security',
  group: 'security',
  retentionDays: (days) => Math.max(...Object.values(days)),
  newest: { table: 'runtime_threats', time: 'time' },
  fields: threatFields,
  text: computedBodySearch,
  hasAttributeIndex: false,
  queryable: { table: 'runtime_threats', from: threatsSource, unit: '{event}', hasReplacedRows: true },
});
