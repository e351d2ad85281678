/** Activity of coding agents and other agents on hosts: what they sent to models, and what their processes did. */
import { z } from 'zod';

export const agentSources = ['agentsight', 'falco', 'tetragon', 'spans'] as const;
export type AgentSource = (typeof agentSources)[number];

export const agentEventKinds = [
  'process_start',
  'process_exit',
  'file',
  'connection',
  'command',
  'model_request',
  'model_response',
  'tool_call',
  'tool_result',
  'http_request',
  'http_response',
  'tls',
  'stdio',
  'system',
  'other',
] as const;
export type AgentEventKind = (typeof agentEventKinds)[number];

/** Kinds of events that a tool call of a model may explain. */
export const effectKinds = ['process_start', 'file', 'connection', 'command', 'http_request'] as const;

export const fileOperations = ['read', 'write', 'create', 'delete', 'rename', 'truncate'] as const;
export type FileOperation = (typeof fileOperations)[number];

/**
 * How an effect relates to what the model requested. `stated`: a tool call names it. `likely`: a process that the tool
 * started, or the agent itself as usual, caused it. `unexplained`: neither.
 */
export const effectLinks = ['stated', 'likely', 'unexplained'] as const;
export type EffectLink = (typeof effectLinks)[number];

/** Maximum characters of texts. Longer ones are truncated. */
export const agentLimits = { id: 128, name: 256, path: 4_096, command: 8_192, text: 16_384, calls: 64 } as const;

const Id = z.string().max(agentLimits.id);
const Name = z.string().max(agentLimits.name);
const Path = z.string().max(agentLimits.path);
const Command = z.string().max(agentLimits.command);
const Text = z.string().max(agentLimits.text);
const Count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

/** A call of a tool that a model requested. */
export const AgentToolCall = z.strictObject({ callId: Id, name: Name, input: Command });
export type AgentToolCall = z.output<typeof AgentToolCall>;

/** The answer of a tool, as the agent returns it to the model. */
export const AgentToolResult = z.strictObject({ callId: Id, name: Name, text: Text });
export type AgentToolResult = z.output<typeof AgentToolResult>;

/** A request to a model, or a response of one. */
export const ModelMessage = z.strictObject({
  direction: z.enum(['request', 'response']),
  model: Name,
  responseId: Id,
  conversationId: Id,
  /** Text of the user at the end of a request; empty if it ends with answers of tools. */
  prompt: Text,
  /** Text of a response. */
  text: Text,
  /** Whether the request offers tools. */
  hasTools: z.boolean(),
  workFolder: Path,
  /** Tool calls of a response. */
  toolCalls: z.array(AgentToolCall).max(agentLimits.calls),
  /** Answers of tools at the end of a request. */
  toolResults: z.array(AgentToolResult).max(agentLimits.calls),
});
export type ModelMessage = z.output<typeof ModelMessage>;

/** What one record reports, before its process, session and turn are known. */
export const AgentReport = z.strictObject({
  tenantId: z.string(),
  projectId: z.string(),
  service: z.string(),
  /** Derived from the record, so that repetitions are equal. */
  id: Id,
  recordId: Id.describe('ID of the log record; empty for a span'),
  traceId: z.string().max(32),
  spanId: z.string().max(16),
  source: z.enum(agentSources),
  kind: z.enum(agentEventKinds),
  recordMs: z.number(),
  /** Time that the source reports, in epoch milliseconds; null if it reports none that is plausible. */
  reportedMs: z.number().nullable(),
  /** Nanoseconds since the boot of the host. */
  bootNs: z.number().nullable(),
  host: Name,
  pid: Count,
  parentPid: Count,
  /** Start of the process as the source identifies it; empty if unknown. */
  processStart: Id,
  threadName: Name,
  program: Path,
  command: Command,
  folder: Path,
  user: Name,
  exitCode: z.int().nullable(),
  path: Path,
  pathAfter: Path,
  operation: z.enum(['', ...fileOperations]),
  hostName: Name.describe('Host of a connection or request'),
  address: Name,
  port: z.int().min(0).max(65_535),
  method: Name,
  url: Path,
  status: z.int().min(0).max(65_535),
  userAgent: Name,
  direction: z.enum(['', 'in', 'out']),
  text: Text,
  bytes: Count,
  count: Count.describe('Number of equal events that the source summed up'),
  isTruncated: z.boolean(),
  lostBytes: Count,
  lostEvents: Count,
  warning: Name,
  message: ModelMessage.nullable(),
});
export type AgentReport = z.output<typeof AgentReport>;

/** An event of an agent, with its process, session and turn. A higher version replaces a lower one. */
export const AgentEvent = z.strictObject({
  tenantId: z.string(),
  projectId: z.string(),
  service: z.string(),
  id: Id,
  version: z.int().min(0).max(1_000),
  recordId: Id,
  traceId: z.string().max(32),
  spanId: z.string().max(16),
  source: z.enum(agentSources),
  kind: z.enum(agentEventKinds),
  time: z.string().describe('ISO 8601 with 9 fractional digits'),
  timeMs: z.number(),
  host: Name,
  pid: Count,
  parentPid: Count,
  processId: Id.describe('Identity by host, boot, PID and start time'),
  parentProcessId: Id,
  startMs: z.number(),
  threadName: Name,
  program: Path,
  command: Command,
  folder: Path,
  user: Name,
  exitCode: z.int().nullable(),
  agentId: Id.describe('Empty for a process outside of agents'),
  agent: Name,
  sessionId: Id,
  conversationId: Id,
  turn: z.int().min(0).max(1_000_000),
  link: z.enum(['', ...effectLinks]),
  reason: Name,
  callId: Id.describe('Tool call of the event, or the one that explains it'),
  path: Path,
  pathAfter: Path,
  operation: z.enum(['', ...fileOperations]),
  hostName: Name,
  address: Name,
  port: z.int().min(0).max(65_535),
  method: Name,
  url: Path,
  status: z.int().min(0).max(65_535),
  direction: z.enum(['', 'in', 'out']),
  model: Name,
  responseId: Id,
  toolName: Name,
  text: Text.describe('Prompt, response, input of a tool, answer of a tool, or text of another event'),
  bytes: Count,
  count: Count,
  isTruncated: z.boolean(),
  lostBytes: Count,
  lostEvents: Count,
  warning: Name,
  /** Facts by which detection rules decide, by the name of their Sigma field. */
  facts: z.record(z.string().max(64), z.string().max(1_024)),
});
export type AgentEvent = z.output<typeof AgentEvent>;
