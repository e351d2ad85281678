import { computedBodySearch } from '../../schemas/tables/search.ts';
import { defineSignal } from './definition.ts';
import { signalFields, signalsSource } from './signals-source.ts';

/**
 * Security signals of detection rules. They have no retention of their own: the longest retention of the plan applies.
 */
export const detections = defineSignal({
  records: 'signals of detection rules',
  entitlement: 'siem',
  group: 'siem',
  retentionDays: (days) => Math.max(...Object.values(days)),
  newest: { table: 'signals', time: 'time' },
  fields: signalFields,
  text: computedBodySearch,
  hasAttributeIndex: true,
  queryable: { table: 'signals', from: signalsSource, unit: '{signal}', hasReplacedRows: true },
});
