/** Field table of events of agents, which `subjects/agents/sigma-event.ts` writes with the names of rules. */
import type { FieldTable } from './table.ts';

export const agentTables: readonly FieldTable[] = [
  {
    name: 'agentsight',
    summary: 'Events of agents: requests to models, tool calls, processes, files and connections',
    rules: [{ product: 'agentsight' }],
    fields: {},
    sources: [{ when: [{ names: ['agentsight.kind'] }], is: { product: 'agentsight' } }],
  },
];
