import { bodySearch } from '../../schemas/tables/search.ts';
import { defineSignal } from './definition.ts';
import { signalFields, signalsSource } from './found-signals.ts';

/** Detections have no retention of their own: they are retained for the plan's maximum. */
export const detections = defineSignal({
  records: 'signals of detection rules',
  entitlement: 'siem',
  retentionDays: (days) => Math.max(...Object.values(days)),
  newest: { table: 'signals', time: 'time' },
  fields: signalFields,
  text: bodySearch,
  hasAttributeIndex: true,
  queryable: { table: 'signals', from: signalsSource, unit: '{signal}', hasReplacedRows: true },
});
