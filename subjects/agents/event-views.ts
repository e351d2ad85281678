/** Events of agents as responses show them. */
import { z } from 'zod';
import { formatTime } from '../../queries/time.ts';
import { type AgentEventKind, agentEventKinds, type EffectLink, effectLinks } from '../../schemas/agent-events.ts';
import { toNullIfEmpty } from '../../schemas/text.ts';

export const AgentEventView = z.strictObject({
  id: z.string(),
  timestamp: z.string(),
  kind: z.enum(agentEventKinds),
  source: z.string(),
  agentId: z.string().nullable().describe('`null` for a process outside of agents'),
  agent: z.string().nullable(),
  sessionId: z.string().nullable(),
  conversationId: z.string().nullable(),
  turn: z.int().nullable(),
  host: z.string().nullable(),
  processId: z.string(),
  pid: z.int(),
  program: z.string().nullable(),
  threadName: z.string().nullable(),
  command: z.string().nullable(),
  user: z.string().nullable(),
  link: z.enum(effectLinks).nullable().describe('How the effect relates to tool calls; `null` for other events'),
  reason: z.string().nullable(),
  callId: z.string().nullable(),
  path: z.string().nullable(),
  pathAfter: z.string().nullable().describe('New path of a renamed file'),
  operation: z.string().nullable(),
  destination: z.string().nullable().describe('Host of the connection or request'),
  address: z.string().nullable(),
  port: z.int().nullable(),
  method: z.string().nullable(),
  url: z.string().nullable(),
  status: z.int().nullable(),
  direction: z.string().nullable(),
  model: z.string().nullable(),
  responseId: z.string().nullable(),
  toolName: z.string().nullable(),
  text: z.string().nullable().describe('Prompt, response, input of a tool, result of a tool, or other content'),
  exitCode: z.int().nullable(),
  bytes: z.int(),
  count: z.int().describe('Number of equal events that the source summed up'),
  isTruncated: z.boolean(),
  lostBytes: z.int(),
  lostEvents: z.int(),
  warning: z.string().nullable(),
  hasInstructions: z.boolean().describe('Whether the tool result addresses the model'),
  logId: z.string().nullable().describe('Log record, for `GET /api/logs/{id}`'),
  traceId: z.string().nullable(),
  spanId: z.string().nullable(),
});
export type AgentEventView = z.output<typeof AgentEventView>;

const textColumns = [
  ...['id', 'source', 'agent_id', 'agent', 'session_id', 'conversation_id', 'host', 'process_id', 'program'],
  ...['thread_name', 'command', 'user_name', 'link', 'reason', 'call_id', 'path', 'path_after', 'operation'],
  ...['host_name', 'address', 'method', 'url', 'direction', 'model', 'response_id', 'tool_name', 'text', 'warning'],
  ...['record_id', 'trace_id', 'span_id'],
] as const;
const numberColumns = [
  'pid',
  'turn',
  'port',
  'status',
  'bytes',
  'count',
  'lost_bytes',
  'lost_events',
  'is_truncated',
] as const;

export interface AgentEventRow {
  readonly time: string;
  readonly event_kind: AgentEventKind;
  readonly texts: readonly string[];
  readonly numbers: readonly string[];
  readonly code: string | null;
  readonly instructed: number;
}

/** Selection of a row of `toAgentEventView`. */
export const agentEventSelection = `toString(toUnixTimestamp64Nano(agent_events.timestamp)) AS time, toString(agent_events.kind) AS event_kind,
  [${textColumns.map((column) => `toString(agent_events.${column})`).join(', ')}] AS texts,
  [${numberColumns.map((column) => `toString(agent_events.${column})`).join(', ')}] AS numbers,
  toString(agent_events.exit_code) AS code, facts['HasInstructions'] = 'true' AS instructed`;

export const toAgentEventView = (row: AgentEventRow): AgentEventView => {
  const text = (column: (typeof textColumns)[number]): string => row.texts[textColumns.indexOf(column)] ?? '';
  const nullable = (column: (typeof textColumns)[number]): string | null => toNullIfEmpty(text(column));
  const number = (column: (typeof numberColumns)[number]): number =>
    Number(row.numbers[numberColumns.indexOf(column)] ?? 0);
  const positive = (column: (typeof numberColumns)[number]): number | null => number(column) || null;
  return {
    id: text('id'),
    timestamp: formatTime(BigInt(row.time)),
    kind: row.event_kind,
    source: text('source'),
    agentId: nullable('agent_id'),
    agent: nullable('agent'),
    sessionId: nullable('session_id'),
    conversationId: nullable('conversation_id'),
    turn: text('session_id') === '' ? null : number('turn'),
    host: nullable('host'),
    processId: text('process_id'),
    pid: number('pid'),
    program: nullable('program'),
    threadName: nullable('thread_name'),
    command: nullable('command'),
    user: nullable('user_name'),
    link: nullable('link') as EffectLink | null,
    reason: nullable('reason'),
    callId: nullable('call_id'),
    path: nullable('path'),
    pathAfter: nullable('path_after'),
    operation: nullable('operation'),
    destination: nullable('host_name'),
    address: nullable('address'),
    port: positive('port'),
    method: nullable('method'),
    url: nullable('url'),
    status: positive('status'),
    direction: nullable('direction'),
    model: nullable('model'),
    responseId: nullable('response_id'),
    toolName: nullable('tool_name'),
    text: nullable('text'),
    exitCode: row.code === null ? null : Number(row.code),
    bytes: number('bytes'),
    count: number('count'),
    isTruncated: number('is_truncated') === 1,
    lostBytes: number('lost_bytes'),
    lostEvents: number('lost_events'),
    warning: nullable('warning'),
    hasInstructions: row.instructed === 1,
    logId: nullable('record_id'),
    traceId: nullable('trace_id'),
    spanId: nullable('span_id'),
  };
};
