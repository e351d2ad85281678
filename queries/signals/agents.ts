import { computedBodySearch } from '../../schemas/tables/search.ts';
import { agentEventFields, agentEventsSource } from './agent-events-source.ts';
import { defineSignal } from './definition.ts';

/** Events of agents on hosts. They arrive as log records and spans, and have the retention of logs. */
export const agents = defineSignal({
  records: 'events of agents',
  entitlement: 'agentsight',
  group: 'agentsight',
  retentionDays: ({ logs }) => logs,
  newest: { table: 'agent_events', time: 'timestamp' },
  fields: agentEventFields,
  text: computedBodySearch,
  hasAttributeIndex: false,
  queryable: { table: 'agent_events', from: agentEventsSource, unit: '{event}', hasReplacedRows: true },
});
