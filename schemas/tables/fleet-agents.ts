import { defineTable } from './table.ts';

/**
 * What agents report over OpAMP: one row per agent and part (`heartbeat`, `description`, `health`, `configuration`), the
 * latest. Read with FINAL.
 */
export const fleetAgentsTable = defineTable({
  name: 'fleet_agents',
  summary: 'Agents that speak OpAMP: last message, description, health and configuration',
  retention: 'longest',
  identity: 'agent_id',
  engine: 'ReplacingMergeTree(version)',
  columns: {
    tenant_id: 'LowCardinality(String)',
    project_id: 'LowCardinality(String)',
    agent_id: 'String',
    part: 'LowCardinality(String)',
    instance_uid: 'String',
    /** Milliseconds: of a heartbeat, the time of the message; of other parts, the time of the report. */
    version: 'UInt64',
    last_seen: "DateTime64(3, 'UTC')",
    /** JSON of the part without long lists, for lists of agents: `AgentHealthSummary`, or the part itself. */
    summary: 'String CODEC(ZSTD(1))',
    /** JSON, `AgentPart`. Empty if the summary is the part itself. */
    content: 'String CODEC(ZSTD(3))',
  },
  orderBy: ['tenant_id', 'agent_id', 'part'],
});
