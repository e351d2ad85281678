/** Events of agents as detection rules of the log source `agentsight` read them. */
import type { AgentEvent } from '../../schemas/agent-events.ts';
import { readCallTexts } from './call-texts.ts';

/** Product of the log source. */
export const agentLogSource = 'agentsight';

const maxFieldLength = 8_192;

const readCommand = (event: AgentEvent): string => {
  if (event.kind === 'process_start' || event.kind === 'command') return event.command || event.program;
  if (event.kind !== 'tool_call') return '';
  const { isCommand, text } = readCallTexts({ callId: event.callId, name: event.toolName, input: event.text });
  return isCommand ? text : '';
};

/** Fields that have the text of an event, by its kind. */
const textFields: Readonly<Partial<Record<AgentEvent['kind'], string>>> = {
  tool_call: 'ToolInput',
  tool_result: 'ToolResult',
  model_request: 'Prompt',
};

const toText = (number: number): string => (number === 0 ? '' : String(number));

/** Returns the values that are not empty. */
const selectPresent = (fields: Readonly<Record<string, string>>): Readonly<Record<string, string>> => {
  const present: Record<string, string> = {};
  for (const name in fields) {
    const value = fields[name] ?? '';
    if (value !== '') present[name] = value.length > maxFieldLength ? value.slice(0, maxFieldLength) : value;
  }
  return present;
};

/** Returns the fields of an event by their Sigma names, without empty ones. */
export const toSigmaFields = (event: AgentEvent): Readonly<Record<string, string>> =>
  selectPresent({
    // Identifies the log source.
    'agentsight.kind': event.kind,
    EventType: event.kind,
    Agent: event.agent,
    AgentId: event.agentId,
    SessionId: event.sessionId,
    Turn: String(event.turn),
    ProcessId: String(event.pid),
    ParentProcessId: toText(event.parentPid),
    Image: event.program || event.threadName,
    CommandLine: readCommand(event),
    ProcessCommandLine: event.command,
    CurrentDirectory: event.folder,
    User: event.user,
    Computer: event.host,
    TargetFilename: event.path,
    NewFilename: event.pathAfter,
    FileOperation: event.operation,
    DestinationHostname: event.hostName,
    DestinationIp: event.address,
    DestinationPort: toText(event.port),
    Url: event.url,
    Method: event.method,
    Model: event.model,
    ToolName: event.toolName,
    [textFields[event.kind] ?? 'Text']: event.text,
    Link: event.link,
    LinkReason: event.reason,
    ...event.facts,
  });
