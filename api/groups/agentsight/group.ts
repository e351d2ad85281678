import { defineGroup } from '../define-group.ts';

export const agentsightGroup = defineGroup({
  name: 'agentsight',
  summary: 'Activity of AI agents on their hosts, observed with eBPF.',
  entitlement: 'agentsight',
  planned: [
    ['GET /api/agentsight/agents', 'viewer', 'AI agents observed by eBPF'],
    ['GET /api/agentsight/agents/{id}', 'viewer', 'one agent: processes, files, connections, model calls'],
    ['GET /api/agentsight/events', 'viewer', 'activity of an agent, in chronological order'],
    ['GET /api/agentsight/sessions', 'viewer', 'sessions: intent (prompts) and effect (system actions)'],
    ['GET /api/agentsight/risks', 'viewer', 'detected risky actions'],
  ],
});
