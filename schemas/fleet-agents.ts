/** What agents report about themselves over OpAMP. */
import { z } from 'zod';

/** Milliseconds after which heartbeats of an agent are stored again. */
export const heartbeatWriteMs = 60_000;
/** An agent is silent after this number of heartbeat intervals without a message. */
export const silentAfterIntervals = 3;

export const agentConnections = ['open', 'polling', 'closed', 'disconnected'] as const;

/** When an agent was last heard. */
export const AgentHeartbeat = z.strictObject({
  kind: z.literal('heartbeat'),
  lastSeenMs: z.number(),
  intervalMs: z.number().describe('Expected time between messages'),
  connection: z
    .enum(agentConnections)
    .describe('`closed`: the connection ended without a goodbye; `disconnected`: the agent announced its end'),
  isSilent: z.boolean().describe('Whether there was no message for three intervals when this was reported'),
  nextReportByMs: z.number().describe('The receiver reports the agent again by this time, unless the receiver stops'),
});
export type AgentHeartbeat = z.output<typeof AgentHeartbeat>;

export const AgentDescription = z.strictObject({
  kind: z.literal('description'),
  attributes: z.record(z.string(), z.string()).describe('Identifying attributes take precedence over the others'),
});
export type AgentDescription = z.output<typeof AgentDescription>;

export const AgentComponent = z.strictObject({
  path: z.array(z.string()).describe('Names of the component and those around it, the outermost first'),
  isHealthy: z.boolean(),
  status: z.string(),
  error: z.string().describe('Empty without an error'),
});
export type AgentComponent = z.output<typeof AgentComponent>;

export const AgentHealth = z.strictObject({
  kind: z.literal('health'),
  isHealthy: z.boolean(),
  status: z.string(),
  error: z.string(),
  startedMs: z.number().describe('0 if the agent does not run'),
  components: z.array(AgentComponent),
  omittedComponents: z.int().describe('Healthy components that exceed the limit'),
});
export type AgentHealth = z.output<typeof AgentHealth>;

export const ConfigurationFile = z.strictObject({
  name: z.string(),
  contentType: z.string(),
  bytes: z.int().describe('Size that the agent reported'),
  text: z.string().describe('Secrets are masked; empty if the file exceeds the limit or is not text'),
});
export type ConfigurationFile = z.output<typeof ConfigurationFile>;

export const AgentConfiguration = z.strictObject({
  kind: z.literal('configuration'),
  files: z.array(ConfigurationFile),
  omittedFiles: z.int(),
});
export type AgentConfiguration = z.output<typeof AgentConfiguration>;

export const AgentPart = z.discriminatedUnion('kind', [
  AgentHeartbeat,
  AgentDescription,
  AgentHealth,
  AgentConfiguration,
]);
export type AgentPart = z.output<typeof AgentPart>;

/** What one message of an agent changed. Of the parts of an agent with the same kind, the latest counts. */
export const FleetAgentReport = z.strictObject({
  tenantId: z.string(),
  projectId: z.string(),
  agentId: z.string().describe('ID derived from project and instance UID'),
  instanceUid: z.string().describe('UUID'),
  atMs: z.number(),
  parts: z.array(AgentPart).min(1),
});
export type FleetAgentReport = z.output<typeof FleetAgentReport>;
