/** Agents that report over OpAMP, as they are stored, and their states at a time */
import { z } from 'zod';
import {
  buildProjectScopeCondition,
  type ProjectScope,
  toProjectScopeParameters,
} from '../../queries/project-scope.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import {
  AgentConfiguration,
  AgentDescription,
  AgentHealth,
  AgentHeartbeat,
  silentAfterIntervals,
} from '../../schemas/fleet-agents.ts';
import { AgentHealthSummary } from './agent-health.ts';
import { distributions, identifyInstrumentation } from './distributions.ts';

export interface OpampAgent {
  readonly id: string;
  readonly instanceUid: string;
  readonly heartbeat: AgentHeartbeat;
  readonly attributes: Readonly<Record<string, string>>;
  readonly health: AgentHealthSummary | undefined;
}

const maxAgents = 10_000;

interface Row {
  readonly id: string;
  readonly uid: string;
  readonly kinds: readonly string[];
  readonly texts: readonly string[];
}

const Summaries = z.strictObject({
  heartbeat: AgentHeartbeat,
  description: AgentDescription.optional(),
  health: AgentHealthSummary.optional(),
});

/** Reads the agents with a message since a time, those with the latest one first. */
export const readOpampAgents = async (
  { columns }: Pick<TenantReader, 'columns'>,
  sinceMs: number,
  scope: ProjectScope,
): Promise<{ readonly agents: readonly OpampAgent[]; readonly isTruncated: boolean }> => {
  const rows = await columns.query<Row>(
    `SELECT agent_id AS id, any(instance_uid) AS uid, groupArray(part) AS kinds, groupArray(summary) AS texts
    FROM fleet_agents FINAL WHERE tenant_id = {tenant:String} AND part != 'configuration'${buildProjectScopeCondition(scope)}
    GROUP BY agent_id HAVING maxIf(last_seen, part = 'heartbeat') >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
    ORDER BY maxIf(last_seen, part = 'heartbeat') DESC, agent_id LIMIT ${maxAgents + 1}`,
    { since: String(Math.floor(sinceMs)), ...toProjectScopeParameters(scope) },
  );
  const agents = rows.slice(0, maxAgents).map(({ id, uid, kinds, texts }): OpampAgent => {
    const entries = kinds.map((kind, index) => [kind, JSON.parse(texts[index] ?? '')] as const);
    const { heartbeat, description, health } = Summaries.parse(Object.fromEntries(entries));
    return { id, instanceUid: uid, heartbeat, attributes: description?.attributes ?? {}, health };
  });
  return { agents, isTruncated: rows.length > maxAgents };
};

/** Reads health with all components, and the configuration of an agent. */
export const readOpampParts = async (
  { columns }: Pick<TenantReader, 'columns'>,
  agentId: string,
): Promise<{ readonly health?: AgentHealth | undefined; readonly configuration?: AgentConfiguration | undefined }> => {
  const rows = await columns.query<{ kind: string; content: string }>(
    `SELECT part AS kind, content FROM fleet_agents FINAL
    WHERE tenant_id = {tenant:String} AND agent_id = {agent:String} AND part IN ('health', 'configuration') ORDER BY part`,
    { agent: agentId },
  );
  const find = (name: string): unknown => {
    const row = rows.find(({ kind }) => kind === name);
    return row === undefined ? undefined : JSON.parse(row.content);
  };
  return {
    health: AgentHealth.optional().parse(find('health')),
    configuration: AgentConfiguration.optional().parse(find('configuration')),
  };
};

export const agentKinds = ['ebpf', 'zero-code', 'collector', 'agent'] as const;

/** What an agent is, by its description */
export interface AgentType {
  readonly name: string;
  readonly title: string;
  readonly kind: (typeof agentKinds)[number];
}

export const identifyAgent = (attributes: OpampAgent['attributes']): AgentType => {
  const instrumentation = identifyInstrumentation(attributes);
  const service = attributes['service.name'] ?? '';
  const distribution = distributions.find(
    ({ name, distros }) => name === instrumentation?.name || distros.includes(service) || name === service,
  );
  if (distribution !== undefined) return distribution;
  if (/^otelcol|collector/i.test(service)) {
    const title = service === 'otelcol-contrib' ? 'OpenTelemetry Collector Contrib' : 'OpenTelemetry Collector';
    return { name: service, title, kind: 'collector' };
  }
  return service === ''
    ? { name: 'unknown', title: 'Agent without a description', kind: 'agent' }
    : { name: service, title: service, kind: 'agent' };
};

export const agentStates = ['healthy', 'degraded', 'silent', 'gone'] as const;

export interface AgentState {
  readonly state: (typeof agentStates)[number];
  /** Why the agent has this state, in a sentence */
  readonly reason: string;
}

export const goneAfterMs = 3_600_000;

const formatDuration = (ms: number): string => {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds === 1) return '1 second';
  return seconds < 120 ? `${seconds} seconds` : `${Math.floor(seconds / 60)} minutes`;
};

const describeSilence = ({ connection, intervalMs }: AgentHeartbeat, silentMs: number): string => {
  const duration = formatDuration(silentMs);
  if (connection === 'closed') return `The connection ended without a disconnect message, ${duration} ago.`;
  const expected = `It is expected every ${formatDuration(intervalMs)}.`;
  return connection === 'open'
    ? `No message for ${duration} on an open connection. ${expected}`
    : `The agent has not polled for ${duration}. ${expected}`;
};

const describeFailure = ({ error, status, failingComponent, failingComponents }: AgentHealthSummary): string => {
  if (failingComponent === null) return `The agent reports that it is not healthy: ${error || status || 'no reason'}`;
  const cause = failingComponent.error || failingComponent.status || error || 'no reason';
  const others = failingComponents > 1 ? ` (${failingComponents - 1} more)` : '';
  return `${failingComponent.path.join(' / ')} fails: ${cause}${others}`;
};

/** Returns the state of an agent at a time. */
export const determineOpampState = ({ heartbeat, health }: OpampAgent, atMs: number): AgentState => {
  const { lastSeenMs, intervalMs, connection, isSilent, nextReportByMs } = heartbeat;
  const silentMs = atMs - lastSeenMs;
  if (connection === 'disconnected' && silentMs >= 0)
    return { state: 'gone', reason: `The agent disconnected ${formatDuration(silentMs)} ago.` };
  // The receiver stores heartbeats once a minute, but reports silence at once.
  if (silentMs >= silentAfterIntervals * intervalMs && (isSilent || atMs >= nextReportByMs))
    return { state: silentMs >= goneAfterMs ? 'gone' : 'silent', reason: describeSilence(heartbeat, silentMs) };
  if (health === undefined)
    return { state: 'healthy', reason: 'Sends messages. The agent does not report its health.' };
  if (!health.isHealthy || health.failingComponent !== null)
    return { state: 'degraded', reason: describeFailure(health) };
  return { state: 'healthy', reason: 'The agent reports that it is healthy.' };
};
