import { computedBodySearch } from '../../schemas/tables/search.ts';
import { defineSignal } from './definition.ts';
import { rumEventsSource, rumFields } from './rum-events-source.ts';

/** Events of browsers. They arrive as log records and spans, and have the retention of logs. */
export const rum = defineSignal({
  records: 'events of browsers',
  entitlement: 'rum',
  group: 'rum',
  retentionDays: ({ logs }) => logs,
  newest: { table: 'rum_events', time: 'timestamp' },
  fields: rumFields,
  text: computedBodySearch,
  hasAttributeIndex: false,
  queryable: { table: 'rum_events', from: rumEventsSource, unit: '{event}', hasReplacedRows: true },
});
