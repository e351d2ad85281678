/** Agents of a range, with counts of what they did. */
import { z } from 'zod';
import { agentEventsSource } from '../../queries/signals/agent-events-source.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';
import { toNullIfEmpty } from '../../schemas/text.ts';
import { idleMs } from './activity.ts';
import { type CoverageState, coverageStates, readAgentProcesses } from './coverage.ts';
import { findAgentByName } from './known-agents.ts';
import type { AgentScope } from './scope.ts';

export const EffectCounts = z.strictObject({
  stated: z.int().describe('Effects that a tool call names'),
  likely: z.int().describe('Effects of processes that a tool started, and usual ones of the agent'),
  unexplained: z.int(),
});
export type EffectCounts = z.output<typeof EffectCounts>;

export const Losses = z.strictObject({
  events: z.int().describe('Events that tracers lost'),
  bytes: z.int().describe('Bytes of traffic that tracers lost'),
  truncated: z.int().describe('Events with truncated content'),
  warnings: z.array(z.string()).describe('Warnings of tracers, at most 10'),
});

export const AgentView = z.strictObject({
  id: z.string(),
  name: z.string(),
  title: z.string(),
  host: z.string().nullable(),
  projectId: z.string(),
  firstSeenAt: z.string().describe('In the range'),
  lastSeenAt: z.string(),
  isActive: z.boolean().describe('Whether events arrived within 30 minutes'),
  events: z.int(),
  sessions: z.int(),
  prompts: z.int(),
  modelRequests: z.int(),
  toolCalls: z.int(),
  models: z.array(z.string()),
  processes: z.int(),
  files: z.int().describe('Different files'),
  connections: z.int().describe('Different hosts and addresses'),
  effects: EffectCounts,
  losses: Losses,
  coverage: z
    .strictObject(
      Object.fromEntries(coverageStates.map((state) => [state, z.int()])) as Record<CoverageState, z.ZodInt>,
    )
    .describe('Processes by coverage'),
});
export type AgentView = z.output<typeof AgentView>;

interface Row {
  readonly agent_key: string;
  readonly name: string;
  readonly agent_host: string;
  readonly project: string;
  readonly first: string;
  readonly last: string;
  readonly counts: readonly string[];
  readonly model_names: readonly string[];
  readonly warnings: readonly string[];
}

const countExpressions = [
  'count()',
  "uniqExactIf(session_id, session_id != '')",
  'uniqExactIf((session_id, turn), turn > 0)',
  "countIf(kind = 'model_request')",
  "countIf(kind = 'tool_call')",
  'uniqExact(process_id)',
  "uniqExactIf(path, kind = 'file')",
  "uniqExactIf((host_name, address), kind IN ('connection', 'http_request'))",
  "countIf(link = 'stated')",
  "countIf(link = 'likely')",
  "countIf(link = 'unexplained')",
  'sum(lost_events)',
  'sum(lost_bytes)',
  'countIf(is_truncated = 1)',
] as const;

const maxAgents = 1_000;

/** Returns the agents of a scope, the latest first. */
export const readAgents = async (reader: TenantReader, scope: AgentScope): Promise<AgentView[]> => {
  const agentScope = { ...scope, condition: `${scope.condition} AND agent_id != ''` };
  const [rows, processes] = await Promise.all([
    reader.columns.query<Row>(
      `SELECT toString(agent_id) AS agent_key, toString(any(agent)) AS name, toString(any(host)) AS agent_host, toString(any(project_id)) AS project,
        toString(toUnixTimestamp64Nano(min(timestamp))) AS first, toString(toUnixTimestamp64Nano(max(timestamp))) AS last,
        [${countExpressions.map((expression) => `toString(${expression})`).join(', ')}] AS counts,
        arraySort(groupUniqArrayIf(20)(toString(model), model != '')) AS model_names, groupUniqArrayIf(10)(toString(warning), warning != '') AS warnings
      FROM ${agentEventsSource} WHERE ${agentScope.condition} GROUP BY agent_key ORDER BY last DESC LIMIT ${maxAgents}`,
      scope.parameters,
    ),
    readCoverageCounts(reader, agentScope),
  ]);
  return rows.map((row) => toAgent(row, reader.nowMs, processes.get(row.agent_key)));
};

const noCoverage: AgentView['coverage'] = { captured: 0, outgoing: 0, blind: 0, idle: 0, unknown: 0 };

const readCoverageCounts = async (
  reader: TenantReader,
  scope: AgentScope,
): Promise<ReadonlyMap<string, AgentView['coverage']>> => {
  const [processes, owners] = await Promise.all([
    readAgentProcesses(reader, scope),
    reader.columns.query<{ process: string; owner: string }>(
      `SELECT process_id AS process, toString(any(agent_id)) AS owner FROM ${agentEventsSource} WHERE ${scope.condition} GROUP BY process LIMIT 10000`,
      scope.parameters,
    ),
  ]);
  const ownerOf = new Map(owners.map(({ process, owner }) => [process, owner]));
  const counts = new Map<string, AgentView['coverage']>();
  for (const { id, coverage } of processes) {
    const owner = ownerOf.get(id) ?? '';
    const current = counts.get(owner) ?? noCoverage;
    counts.set(owner, { ...current, [coverage.state]: current[coverage.state] + 1 });
  }
  return counts;
};

const toAgent = (row: Row, nowMs: number, coverage = noCoverage): AgentView => {
  const [events = 0, sessions = 0, prompts = 0, modelRequests = 0, toolCalls = 0, processes = 0, files = 0, ...rest] =
    row.counts.map(Number);
  const [connections = 0, stated = 0, likely = 0, unexplained = 0, lostEvents = 0, lostBytes = 0, truncated = 0] = rest;
  return {
    id: row.agent_key,
    name: row.name,
    title: findAgentByName(row.name)?.title ?? row.name,
    host: toNullIfEmpty(row.agent_host),
    projectId: row.project,
    firstSeenAt: formatTime(BigInt(row.first)),
    lastSeenAt: formatTime(BigInt(row.last)),
    isActive: nowMs - Number(BigInt(row.last) / 1_000_000n) < idleMs,
    events,
    sessions,
    prompts,
    modelRequests,
    toolCalls,
    models: [...row.model_names],
    processes,
    files,
    connections,
    effects: { stated, likely, unexplained },
    losses: { events: lostEvents, bytes: lostBytes, truncated, warnings: [...row.warnings] },
    coverage,
  };
};
