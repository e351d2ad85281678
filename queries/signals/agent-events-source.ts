/** Events of agents as a data source. */
import type { agentEventsTable } from '../../schemas/tables/agents.ts';
import { type ColumnFieldDefinition, defineColumnFields, selectComputed } from './source-fields.ts';

type Column = keyof (typeof agentEventsTable)['columns'];

/** Columns in addition to the table's own. Only those named in a statement are read. */
const derivedColumns = {
  partition: 'toUInt16(0)',
  offset: 'cityHash64(id)',
  ordinal: 'toUInt32(0)',
  body: "concat(toString(kind), ' ', command, ' ', path, ' ', toString(host_name), ' ', toString(tool_name), ' ', text)",
  attributes: 'facts',
  attribute_types: "repeat('s', length(facts))",
  scope_attributes: "''",
  resource_id: 'toUInt64(0)',
} as const;

const rangeSql =
  "timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND timestamp <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')";

/** FROM clause: the tenant's events between `{from:Int64}` and `{to:Int64}`, in nanoseconds, each in its last version. */
export const agentEventsSource = `(SELECT *, ${selectComputed(derivedColumns)} FROM agent_events FINAL WHERE tenant_id = {tenant:String} AND ${rangeSql}) AS agent_events`;

const fieldDefinitions: Readonly<Record<string, ColumnFieldDefinition<Column>>> = {
  timestamp: ['time', 'timestamp', 'Time of the event', { expression: 'toUnixTimestamp64Nano(timestamp)' }],
  id: ['text', 'id', 'ID of the event'],
  kind: ['text', 'kind', 'Kind, such as tool_call, process_start, file or connection'],
  agentId: ['text', 'agent_id', 'Agent'],
  agent: ['text', 'agent', 'Name of the agent, such as claude-code'],
  sessionId: ['text', 'session_id', 'Session', { aliases: ['session', 'session.id'] }],
  conversationId: ['text', 'conversation_id', 'Conversation', { aliases: ['gen_ai.conversation.id'] }],
  turn: ['number', 'turn', 'Turn of the session, from 1'],
  link: ['text', 'link', 'stated, likely or unexplained'],
  reason: ['text', 'reason', 'Why the effect has this link'],
  callId: ['text', 'call_id', 'Tool call'],
  host: ['text', 'host', 'Host', { aliases: ['host.name'] }],
  service: ['text', 'service', 'Service of the record', { aliases: ['service.name'] }],
  source: ['text', 'source', 'agentsight, falco, tetragon or spans'],
  pid: ['number', 'pid', 'PID of the process', { aliases: ['process.pid'] }],
  processId: ['text', 'process_id', 'Process by host, boot, PID and start time'],
  program: ['text', 'program', 'Program of the process', { aliases: ['process.executable.path'] }],
  command: ['text', 'command', 'Command line', { aliases: ['process.command_line'] }],
  user: ['text', 'user_name', 'User of the process', { aliases: ['user.name'] }],
  path: ['text', 'path', 'Path of the file', { aliases: ['file.path'] }],
  operation: ['text', 'operation', 'read, write, create, delete, rename or truncate'],
  destination: ['text', 'host_name', 'Host of the connection or request', { aliases: ['server.address'] }],
  address: ['text', 'address', 'Address of the connection', { aliases: ['network.peer.address'] }],
  port: ['number', 'port', 'Port of the connection', { aliases: ['server.port'] }],
  model: ['text', 'model', 'Model of the request or response', { aliases: ['gen_ai.request.model'] }],
  responseId: ['text', 'response_id', 'ID of the response', { aliases: ['gen_ai.response.id'] }],
  toolName: ['text', 'tool_name', 'Tool', { aliases: ['tool', 'gen_ai.tool.name'] }],
  text: ['text', 'text', 'Prompt, response, input or answer of a tool'],
  status: ['number', 'status', 'HTTP status; 0 if unknown'],
  bytes: ['number', 'bytes', 'Bytes of the traffic'],
  count: ['number', 'count', 'Number of equal events that the source summed up'],
  truncated: [
    'text',
    'is_truncated',
    'Whether the tracer truncated the event',
    { expression: "if(is_truncated = 1, 'true', 'false')" },
  ],
  lostBytes: ['number', 'lost_bytes', 'Bytes that the tracer lost'],
  lostEvents: ['number', 'lost_events', 'Events that the tracer lost'],
  warning: ['text', 'warning', 'Warning of the tracer'],
  traceId: ['text', 'trace_id', 'Trace', { aliases: ['trace_id'] }],
  projectId: ['text', 'project_id', 'Project', { aliases: ['project'] }],
};

/** Fields of events of agents. */
export const agentEventFields = defineColumnFields(fieldDefinitions);
