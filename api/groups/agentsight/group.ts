import { defineGroup } from '../define-group.ts';
import { listAgents, showAgent } from './agents.ts';
import { listAgentEventsOperation } from './events.ts';
import { listAgentRisks } from './risks.ts';
import { listAgentSessions } from './sessions.ts';

export const agentsightGroup = defineGroup({
  name: 'agentsight',
  summary: 'Agents on hosts: their prompts and tool calls, and the effects of their processes.',
  entitlement: 'agentsight',
  reads: ['llm', 'traces', 'logs'],
  operations: [listAgents, showAgent, listAgentEventsOperation, listAgentSessions, listAgentRisks],
});
