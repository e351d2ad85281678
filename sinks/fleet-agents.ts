import type { AgentPart } from '../schemas/fleet-agents.ts';
import { fleetAgentsTable } from '../schemas/tables/fleet-agents.ts';
import { topics } from '../schemas/topics.ts';
import { summarizeHealth } from '../subjects/instrumentation/agent-health.ts';
import { defineValueSink } from './engine/land-values.ts';

const toContent = (part: AgentPart): { readonly summary: string; readonly content: string } => {
  const content = JSON.stringify(part);
  if (part.kind === 'health') return { summary: JSON.stringify(summarizeHealth(part)), content };
  return part.kind === 'configuration' ? { summary: '', content } : { summary: content, content: '' };
};

export const fleetAgents = defineValueSink({
  topic: topics.fleetAgents,
  table: fleetAgentsTable,
  row: ({ tenantId, projectId, agentId, instanceUid, atMs, parts }) =>
    parts.map((part) => ({
      tenant_id: tenantId,
      project_id: projectId,
      agent_id: agentId,
      part: part.kind,
      instance_uid: instanceUid,
      // Of two instances, the one that received the later message knows the agent's connection.
      version: part.kind === 'heartbeat' ? part.lastSeenMs : atMs,
      last_seen: new Date(part.kind === 'heartbeat' ? part.lastSeenMs : atMs).toISOString(),
      ...toContent(part),
    })),
});
