/**
 * Agents that collect telemetry or instrument services without changes of their code: known from their telemetry, from
 * OpAMP, or from both
 */
import { z } from 'zod';
import type { ProjectScope } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import { getEarliestRowMs } from '../../queries/series-first-seen.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { computeHashId } from '../../runtime/hash-id.ts';
import { ConfigurationFile } from '../../schemas/fleet-agents.ts';
import { toTextOrEmpty } from '../../schemas/text.ts';
import { type Distribution, distributions } from './distributions.ts';
import { readLastPointTimes } from './last-points.ts';
import {
  type AgentState,
  type AgentType,
  agentKinds,
  agentStates,
  determineOpampState,
  goneAfterMs,
  identifyAgent,
  type OpampAgent,
  readOpampAgents,
  readOpampParts,
} from './opamp-agents.ts';
import { readSenders, type Sender } from './senders.ts';

const Component = z.strictObject({
  path: z.array(z.string()).describe('Names of the component and of those around it, the outermost first'),
  isHealthy: z.boolean(),
  status: z.string(),
  error: z.string(),
});

export const Agent = z.strictObject({
  id: z.string().describe('Stable while distribution, host and, for agents in a process, service are the same'),
  distribution: z.string().describe('Such as `obi`, `java-agent` or `otelcol-contrib`'),
  title: z.string(),
  kind: z
    .enum(agentKinds)
    .describe('`ebpf`: one agent per host; `zero-code`: an agent in each process; `agent`: another one over OpAMP'),
  sources: z.array(z.enum(['telemetry', 'opamp'])).describe('What the agent is known from'),
  version: z.string().describe('Empty if the agent does not state one'),
  host: z.string().describe('Name of the host; empty if the agent does not state one'),
  state: z
    .enum(agentStates)
    .describe(
      '`silent`: no message for three intervals, or no telemetry for 5 minutes; `gone`: disconnected, or silent for an hour',
    ),
  reason: z.string().describe('Why the agent has this state'),
  lastSeenAt: z.iso.datetime(),
  services: z.array(z.string()).describe('Instrumented services, at most 200'),
  spans: z.int().describe('Spans in the range'),
  instanceUid: z.string().nullable().describe('UUID of the agent in OpAMP'),
  health: z
    .strictObject({
      isHealthy: z.boolean(),
      status: z.string(),
      error: z.string(),
      startedAt: z.iso.datetime().nullable(),
      failingComponent: Component.nullable(),
    })
    .nullable()
    .describe('null if the agent does not report its health'),
});
export type Agent = z.output<typeof Agent>;

export const AgentDetails = Agent.extend({
  attributes: z.record(z.string(), z.string()).describe('Description that the agent reports over OpAMP'),
  components: z.array(Component).describe('Health of the components, at most 200'),
  configuration: z
    .array(ConfigurationFile)
    .nullable()
    .describe('Effective configuration with secrets masked; null if the agent does not report it'),
});
export type AgentDetails = z.output<typeof AgentDetails>;

const silentAfterMs = 300_000;
const maxServices = 200;
/** Agents that became silent within this period before the end of the range are listed. Nanoseconds. */
const lookbackNs = 86_400_000_000_000n;

const determineState = (lastMs: number, atMs: number): AgentState => {
  const minutes = Math.floor(Math.max(0, atMs - lastMs) / 60_000);
  if (atMs - lastMs >= goneAfterMs) return { state: 'gone', reason: `No telemetry for ${minutes} minutes.` };
  if (atMs - lastMs >= silentAfterMs)
    return {
      state: 'silent',
      reason: `No telemetry for ${minutes} minutes: the agent stopped, its export fails, or its services have no requests.`,
    };
  return { state: 'healthy', reason: 'Sends telemetry. The agent does not report its own health.' };
};

/**
 * An eBPF agent is one process per host; other agents are part of the process that they instrument. Without a host, the
 * service identifies either.
 */
const getIdentity = (distribution: Distribution, { host, service }: Sender): readonly string[] =>
  distribution.kind === 'ebpf' && host !== '' ? [distribution.name, host] : [distribution.name, host, service];

/** An agent by its telemetry; the senders with the latest telemetry first */
interface TelemetryAgent {
  readonly id: string;
  readonly distribution: Distribution;
  readonly senders: readonly Sender[];
}

const groupSenders = (senders: readonly Sender[]): TelemetryAgent[] => {
  const groups = new Map<string, TelemetryAgent & { readonly senders: Sender[] }>();
  for (const sender of senders) {
    const distribution = distributions.find(({ name }) => name === sender.instrumentation?.name);
    if (distribution === undefined) continue;
    const id = computeHashId(...getIdentity(distribution, sender));
    const group = groups.get(id);
    if (group === undefined) groups.set(id, { id, distribution, senders: [sender] });
    else group.senders.push(sender);
  }
  return [...groups.values()];
};

const toAgentOfTelemetry = ({ id, distribution, senders }: TelemetryAgent, atMs: number): Agent => {
  const [newest] = senders;
  const lastMs = newest?.lastMs ?? 0;
  return {
    id,
    distribution: distribution.name,
    title: distribution.title,
    kind: distribution.kind,
    sources: ['telemetry'],
    version: newest?.instrumentation?.version ?? '',
    host: newest?.hostName ?? '',
    ...determineState(lastMs, atMs),
    lastSeenAt: new Date(lastMs).toISOString(),
    services: [...new Set(senders.map(({ service }) => service).filter((service) => service !== ''))]
      .toSorted()
      .slice(0, maxServices),
    spans: senders.reduce((sum, { spans }) => sum + spans, 0),
    instanceUid: null,
    health: null,
  };
};

const getHosts = (attributes: OpampAgent['attributes']): readonly string[] =>
  ['host.name', 'k8s.node.name', 'host.id'].map((name) => attributes[name] ?? '').filter((host) => host !== '');

const toAgentOfOpamp = (agent: OpampAgent, { name, title, kind }: AgentType, atMs: number): Agent => {
  const { id, instanceUid, attributes, heartbeat, health } = agent;
  return {
    id,
    distribution: name,
    title,
    kind,
    sources: ['opamp'],
    version: attributes['service.version'] ?? '',
    host: getHosts(attributes)[0] ?? '',
    ...determineOpampState(agent, atMs),
    lastSeenAt: new Date(heartbeat.lastSeenMs).toISOString(),
    services: [],
    spans: 0,
    instanceUid,
    health:
      health === undefined
        ? null
        : {
            isHealthy: health.isHealthy,
            status: health.status,
            error: health.error,
            startedAt: health.startedMs === 0 ? null : new Date(health.startedMs).toISOString(),
            failingComponent: health.failingComponent,
          },
  };
};

const toKey = (...parts: readonly string[]): string => JSON.stringify(parts);

/** Keys by which telemetry and OpAMP are about one agent: the same instance, or the same distribution on a host. */
const getTelemetryKeys = ({ distribution: { name, kind }, senders }: TelemetryAgent): string[] =>
  senders.flatMap(({ attributes, host, hostName, service }) => [
    ...toInstanceKeys(toTextOrEmpty(attributes['service.instance.id'])),
    ...[host, hostName].filter((text) => text !== '').map((text) => toKey(name, text, kind === 'ebpf' ? '' : service)),
  ]);

const getOpampKeys = ({ attributes }: OpampAgent, { name, kind }: AgentType): string[] => [
  ...toInstanceKeys(attributes['service.instance.id'] ?? ''),
  ...getHosts(attributes).map((host) => toKey(name, host, kind === 'ebpf' ? '' : (attributes['service.name'] ?? ''))),
];

const toInstanceKeys = (instanceId: string): string[] => (instanceId === '' ? [] : [toKey(instanceId)]);

/** An agent that is silent over OpAMP, but sends telemetry, has a problem with OpAMP only. */
const mergeStates = (opamp: AgentState, telemetry: AgentState): AgentState => {
  const { state, reason } = opamp;
  if (state === 'healthy' || state === 'degraded' || telemetry.state !== 'healthy') return { state, reason };
  return state === 'silent'
    ? { state: 'degraded', reason: `Sends telemetry, but no OpAMP messages: ${reason}` }
    : { state: 'healthy', reason: 'Sends telemetry. The agent disconnected from OpAMP.' };
};

const mergeAgents = (opamp: Agent, telemetry: Agent): Agent => ({
  ...telemetry,
  ...mergeStates(opamp, telemetry),
  sources: ['telemetry', 'opamp'],
  version: telemetry.version || opamp.version,
  host: telemetry.host || opamp.host,
  lastSeenAt: new Date(Math.max(Date.parse(telemetry.lastSeenAt), Date.parse(opamp.lastSeenAt))).toISOString(),
  instanceUid: opamp.instanceUid,
  health: opamp.health,
});

/**
 * Replaces hourly times of metrics by those of points, for agents that would be silent by them. The senders remain in the
 * order of their times.
 */
const refineTimes = async (reader: TenantReader, senders: readonly Sender[], atMs: number): Promise<Sender[]> => {
  const sinceMs = atMs - silentAfterMs;
  const hourMs = getEarliestRowMs(sinceMs);
  const uncertain = senders.filter(
    ({ instrumentation, lastMs }) => instrumentation !== undefined && lastMs < sinceMs && lastMs >= hourMs,
  );
  const times = await readLastPointTimes(
    reader,
    uncertain.map(({ resourceId }) => resourceId),
    { sinceMs, hourMs },
  );
  return senders
    .map((sender) => ({ ...sender, lastMs: Math.min(times.get(sender.resourceId) ?? sender.lastMs, atMs) }))
    .toSorted((a, b) => b.lastMs - a.lastMs);
};

interface ReadAgents {
  readonly items: Agent[];
  readonly isTruncated: boolean;
  /** By the id of the agent */
  readonly opampAgents: ReadonlyMap<string, OpampAgent>;
}

/** Reads agents of a range and of the day before its end. */
export const readAgents = async (reader: TenantReader, range: Range, scope: ProjectScope): Promise<ReadAgents> => {
  const from = range.from < range.to - lookbackNs ? range.from : range.to - lookbackNs;
  const atMs = Number(range.to / 1_000_000n);
  const [{ senders, isTruncated: hasMoreSenders }, { agents, isTruncated: hasMoreAgents }] = await Promise.all([
    readSenders(reader, { from, to: range.to }, scope),
    readOpampAgents(reader, Number(from / 1_000_000n), scope),
  ]);
  const telemetryAgents = new Set(groupSenders(await refineTimes(reader, senders, atMs)));
  const agentByKey = new Map(
    [...telemetryAgents].flatMap((agent) => getTelemetryKeys(agent).map((key) => [key, agent])),
  );
  const opampAgents = new Map<string, OpampAgent>();
  const items: Agent[] = [];
  // The latest agent comes first, so a former instance of it remains an item of its own.
  for (const agent of agents) {
    const type = identifyAgent(agent.attributes);
    const same = getOpampKeys(agent, type)
      .map((key) => agentByKey.get(key))
      .find((telemetryAgent) => telemetryAgent !== undefined && telemetryAgents.has(telemetryAgent));
    const opampItem = toAgentOfOpamp(agent, type, atMs);
    if (same !== undefined) telemetryAgents.delete(same);
    const item = same === undefined ? opampItem : mergeAgents(opampItem, toAgentOfTelemetry(same, atMs));
    opampAgents.set(item.id, agent);
    items.push(item);
  }
  for (const agent of telemetryAgents) items.push(toAgentOfTelemetry(agent, atMs));
  return { items, isTruncated: hasMoreSenders || hasMoreAgents, opampAgents };
};

/** Reads an agent with its components and configuration. */
export const readAgent = async (
  reader: TenantReader,
  range: Range,
  scope: ProjectScope,
  agentId: string,
): Promise<AgentDetails | undefined> => {
  const { items, opampAgents } = await readAgents(reader, range, scope);
  const item = items.find(({ id }) => id === agentId);
  if (item === undefined) return undefined;
  const opampAgent = opampAgents.get(agentId);
  const { health, configuration } = opampAgent === undefined ? {} : await readOpampParts(reader, opampAgent.id);
  return {
    ...item,
    attributes: opampAgent?.attributes ?? {},
    components: health?.components ?? [],
    configuration: configuration?.files ?? null,
  };
};
