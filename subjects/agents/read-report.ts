/** Reads what records report about agents: events of AgentSight, and of Falco and Tetragon. */
import { type Fields, isFields, toFields } from '../../runtime/fields.ts';
import {
  type AgentEventKind,
  type AgentReport,
  type AgentSource,
  agentLimits,
  type FileOperation,
} from '../../schemas/agent-events.ts';
import { truncateText } from '../../schemas/text.ts';
import { isModelPath, readModelRequest, readModelResponse } from './model-messages.ts';
import { parseTimestamp } from './timestamps.ts';

/** What a record says, without its own identity. */
export type ReadReport = Omit<
  AgentReport,
  'tenantId' | 'projectId' | 'service' | 'id' | 'recordId' | 'traceId' | 'spanId' | 'recordMs'
>;

const toText = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
const toName = (value: unknown): string => truncateText(toText(value), agentLimits.name);
const toPath = (value: unknown): string => truncateText(toText(value), agentLimits.path);
const toId = (value: unknown): string => truncateText(toText(value), agentLimits.id);

/** Returns a count; 0 for a negative, fractional or textual one. */
const toCount = (value: unknown): number => {
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : 0;
};
const toPort = (value: unknown): number => {
  const port = toCount(value);
  return port <= 65_535 ? port : 0;
};
const toExitCode = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : null;

/** Returns a report of a kind in which everything else is unknown. */
export const createEmptyReport = (source: AgentSource, kind: AgentEventKind): ReadReport => ({
  source,
  kind,
  reportedMs: null,
  bootNs: null,
  host: '',
  pid: 0,
  parentPid: 0,
  processStart: '',
  threadName: '',
  program: '',
  command: '',
  folder: '',
  user: '',
  exitCode: null,
  path: '',
  pathAfter: '',
  operation: '',
  hostName: '',
  address: '',
  port: 0,
  method: '',
  url: '',
  status: 0,
  userAgent: '',
  direction: '',
  text: '',
  bytes: 0,
  count: 1,
  isTruncated: false,
  lostBytes: 0,
  lostEvents: 0,
  warning: '',
  message: null,
});

type Part = Partial<ReadReport> & { readonly kind: AgentEventKind };

/** `10.0.0.1:443`, `[::1]:443`, `10.0.0.2:55000->10.0.0.1:443` */
const endpointPattern = /(?:^|->)\[?([0-9a-fA-F.:]{2,45}?|[A-Za-z0-9._-]{1,253})\]?:(\d{1,5})$/;
const addressPattern = /^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7})$/;

export const isAddress = (text: string): boolean => addressPattern.test(text);

/** Returns the address or host and the port of an endpoint. */
const parseEndpoint = (text: string): Pick<ReadReport, 'address' | 'hostName' | 'port'> => {
  const [, host = '', port = ''] = endpointPattern.exec(text.trim()) ?? [];
  return isAddress(host)
    ? { address: host, hostName: '', port: toPort(port) }
    : { address: '', hostName: toName(host.toLowerCase()), port: toPort(port) };
};

const openFlags = { accessMode: 0b11, create: 0o100, truncate: 0o1000 } as const;

/** Returns how a file was opened, by the flags of `open` on Linux. */
const readOpenFlags = (flags: unknown): FileOperation => {
  if (typeof flags === 'string' && /[A-Z]/.test(flags)) {
    if (/F_CREATED/.test(flags)) return 'create';
    return /WRONLY|RDWR|CREAT|TRUNC|APPEND/.test(flags) ? 'write' : 'read';
  }
  const bits = toCount(flags);
  if ((bits & openFlags.accessMode) === 0 && (bits & openFlags.truncate) === 0) return 'read';
  return (bits & openFlags.create) !== 0 && (bits & openFlags.truncate) === 0 ? 'create' : 'write';
};

const summaryOperations: Readonly<Record<string, FileOperation>> = {
  FILE_DELETE: 'delete',
  FILE_RENAME: 'rename',
  DIR_CREATE: 'create',
  FILE_TRUNCATE: 'truncate',
  WRITE: 'write',
};

/** A write to a terminal, pipe or socket changes no file. */
const isFilePath = (path: string): boolean => path.startsWith('/') || /^[A-Za-z]:\\/.test(path);

const readStart = (data: Fields): Part => ({
  kind: 'process_start',
  program: toPath(data['filename']),
  command: truncateText(
    toText(data['full_command'] ?? data['cmdline'] ?? data['command'] ?? data['args']),
    agentLimits.command,
  ),
  folder: toPath(data['cwd']),
});

/** Readers of events of the tracer of processes, by the event. */
const processReaders: Readonly<Record<string, (data: Fields) => Part>> = {
  EXEC: readStart,
  PROC_FORK: readStart,
  EXIT: (data) => ({ kind: 'process_exit', exitCode: toExitCode(data['exit_code']) }),
  FILE_OPEN: (data) => ({
    kind: 'file',
    path: toPath(data['filepath'] ?? data['path']),
    operation: readOpenFlags(data['flags']),
  }),
  BASH_READLINE: (data) => ({ kind: 'command', command: truncateText(toText(data['command']), agentLimits.command) }),
  NET_CONNECT: (data) => ({
    kind: 'connection',
    ...parseEndpoint(toText(data['detail'])),
    ...readConnection(data),
  }),
  CHDIR: (data) => ({ kind: 'other', folder: toPath(data['path'] ?? data['detail']), text: 'CHDIR' }),
  WARNING: (data) => ({
    kind: 'other',
    warning: toName(data['type'] ?? 'warning'),
    lostEvents: toCount(data['overflow_count']),
  }),
};

/** Reads an event of the tracer of processes. */
const readProcessEvent = (data: Fields): Part => {
  const event = toText(data['event']).toUpperCase();
  const type = event === 'SUMMARY' ? toText(data['type']).toUpperCase() : event;
  const reader = processReaders[type];
  if (reader !== undefined) return reader(data);
  const operation = summaryOperations[type];
  const path = toPath(data['filepath'] ?? data['path'] ?? data['detail']);
  if (operation !== undefined && isFilePath(path))
    return { kind: 'file', path, operation, pathAfter: toPath(operation === 'rename' ? data['extra'] : '') };
  return { kind: 'other', text: truncateText(`${type} ${toText(data['detail'])}`.trim(), agentLimits.text) };
};

const readConnection = (data: Fields): Partial<ReadReport> => {
  const host = toText(data['host'] ?? data['hostname'] ?? data['domain']).toLowerCase();
  const address = toText(data['ip'] ?? data['daddr'] ?? data['address'] ?? data['remote_addr']);
  const port = toPort(data['port'] ?? data['dport'] ?? data['remote_port']);
  return {
    ...(host !== '' && (isAddress(host) ? { address: toName(host) } : { hostName: toName(host) })),
    ...(address !== '' && { address: toName(address) }),
    ...(port !== 0 && { port }),
  };
};

const toLowerNames = (headers: unknown): Fields =>
  Object.fromEntries(Object.entries(toFields(headers)).map(([name, value]) => [name.toLowerCase(), value]));

const isPrintedHost = (host: string): boolean => /^[A-Za-z0-9._-]{1,253}$/.test(host);

/** Reads the host and port of a header `Host`. */
const readHost = (headers: Fields, data: Fields): Pick<ReadReport, 'hostName' | 'address' | 'port'> => {
  const text = toText(headers['host'] ?? headers[':authority'] ?? data['host']);
  const [, name = text, port = ''] = /^(.{1,253}):(\d{1,5})$/.exec(text) ?? [];
  return isAddress(name)
    ? { hostName: '', address: name, port: toPort(port) || 443 }
    : { hostName: isPrintedHost(name) ? toName(name.toLowerCase()) : '', address: '', port: toPort(port) || 443 };
};

const parseJsonBody = (data: Fields): unknown => {
  if (isFields(data['json_body'])) return data['json_body'];
  const body = toText(data['body']);
  if (!/^\s*\{/.test(body)) return undefined;
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
};

const readHttpEvent = (data: Fields): Part => {
  const headers = toLowerNames(data['headers']);
  const isRequest = (data['message_type'] ?? data['type']) === 'request' || data['method'] !== undefined;
  const path = toText(data['path'] ?? data['url']);
  const bytes = toCount(data['total_size'] ?? data['content_length']);
  if (!isRequest) {
    const message = readModelResponse(data) ?? null;
    const status = toPort(data['status_code']);
    return { kind: message === null ? 'http_response' : 'model_response', direction: 'in', status, bytes, message };
  }
  const request: Part = {
    kind: 'http_request',
    direction: 'out',
    method: toName(data['method']),
    url: toPath(path),
    userAgent: toName(headers['user-agent']),
    bytes,
    ...readHost(headers, data),
  };
  if (!isModelPath(path)) return request;
  const body = parseJsonBody(data);
  return {
    ...request,
    kind: 'model_request',
    message: readModelRequest(body, { path, headers }),
    // A body that cannot be read was truncated by the tracer.
    ...(body === undefined && { isTruncated: true }),
  };
};

const readStdioEvent = (data: Fields): Part => ({
  kind: 'stdio',
  direction: /READ|IN/i.test(toText(data['direction'])) ? 'in' : 'out',
  text: truncateText(toText(data['data']), agentLimits.text),
  bytes: toCount(data['len']),
});

/** Plaintext of TLS proves that a process is captured. It is not parsed. */
const readTlsEvent = (data: Fields): Part => ({
  kind: 'tls',
  direction: /READ|RECV/i.test(toText(data['function'] ?? data['event'])) ? 'in' : 'out',
  bytes: toCount(data['len'] ?? data['data_len']),
});

const readSystemEvent = (data: Fields): Part => ({
  kind: 'system',
  text: truncateText(JSON.stringify(data), agentLimits.text),
});

const isHandshake = (data: Fields): boolean =>
  data['is_handshake'] === true || /HANDSHAKE/i.test(toText(data['function'] ?? data['event']));

/** Readers by the source of an event. */
const readers: Readonly<Record<string, (data: Fields) => Part>> = {
  process: readProcessEvent,
  http_parser: readHttpEvent,
  http: readHttpEvent,
  sse_processor: (data) => {
    const message = readModelResponse(data) ?? null;
    return {
      kind: message === null ? 'http_response' : 'model_response',
      direction: 'in',
      message,
      bytes: toCount(data['total_size']),
    };
  },
  ssl: (data) => {
    if (data['method'] !== undefined || data['status_code'] !== undefined) return readHttpEvent(data);
    return isHandshake(data) ? { kind: 'other', text: 'TLS handshake' } : readTlsEvent(data);
  },
  stdio: readStdioEvent,
  stdiocap: readStdioEvent,
  system: readSystemEvent,
};

const readDataByShape = (data: Fields): Part => {
  if (data['status_code'] !== undefined || data['method'] !== undefined) return readHttpEvent(data);
  if (/^SSL_|READ\/RECV|WRITE\/SEND/.test(toText(data['event'] ?? data['function']))) return readTlsEvent(data);
  if (data['event'] !== undefined) return readProcessEvent(data);
  return { kind: 'other', text: truncateText(JSON.stringify(data), agentLimits.text) };
};

/** Returns whether a value is an event of AgentSight. */
const isAgentSightEvent = (body: Fields): boolean =>
  typeof body['source'] === 'string' &&
  typeof body['pid'] === 'number' &&
  typeof body['comm'] === 'string' &&
  isFields(body['data']) &&
  body['timestamp'] !== undefined;

/** Reads an event of AgentSight: `timestamp`, `source`, `pid`, `comm` and `data`. */
const readAgentSightEvent = (body: Fields, recordMs: number): ReadReport => {
  const data = toFields(body['data']);
  const part = (readers[toText(body['source']).toLowerCase()] ?? readDataByShape)(data);
  return {
    ...createEmptyReport('agentsight', part.kind),
    ...parseTimestamp(body['timestamp'], recordMs),
    pid: toCount(body['pid']),
    parentPid: toCount(data['ppid']),
    processStart: toId(data['process_start_ns']),
    threadName: toName(body['comm']),
    user: toName(data['user'] ?? data['uid']),
    count: Math.max(1, toCount(data['count'])),
    isTruncated: data['truncated'] === true,
    lostBytes: toCount(data['bytes_lost']),
    lostEvents: toCount(data['events_lost'] ?? data['dropped']),
    warning: toName(data['rate_limit_warning'] ?? (data['type'] === 'runner_parse_error' ? data['reason'] : undefined)),
    ...part,
  };
};

const processTypes = new Set(['execve', 'execveat']);
const exitTypes = new Set(['procexit', 'exit', 'exit_group']);
const connectTypes = new Set(['connect', 'sendto', 'sendmsg']);
const openTypes = new Set(['open', 'openat', 'openat2', 'creat']);
const falcoOperations: Readonly<Record<string, FileOperation>> = {
  unlink: 'delete',
  unlinkat: 'delete',
  rmdir: 'delete',
  rename: 'rename',
  renameat: 'rename',
  renameat2: 'rename',
  mkdir: 'create',
  mkdirat: 'create',
  ftruncate: 'truncate',
  truncate: 'truncate',
};

const toMs = (value: unknown): number | null => {
  const text = toText(value);
  const ms = typeof value === 'string' ? Date.parse(text) : Number.NaN;
  return Number.isFinite(ms) ? ms : null;
};

const readFalcoConnection = (fields: Fields): Part => {
  const endpoint = parseEndpoint(toText(fields['fd.name']));
  const hostName = toText(fields['fd.sip.name'] ?? fields['fd.rip.name']).toLowerCase();
  return {
    kind: 'connection',
    address: toName(fields['fd.sip'] ?? fields['fd.rip']) || endpoint.address,
    hostName: hostName === '' || hostName === '<na>' ? endpoint.hostName : toName(hostName),
    port: toPort(fields['fd.sport'] ?? fields['fd.rport']) || endpoint.port,
  };
};

const readFalcoOpen = (fields: Fields): FileOperation => {
  const isWrite = fields['evt.is_open_write'];
  if (isWrite === true || isWrite === 'true') return 'write';
  return isWrite === undefined ? readOpenFlags(fields['evt.arg.flags']) : 'read';
};

/** Reads a system call that Falco reports. */
const readFalcoCall = (type: string, fields: Fields): Part | undefined => {
  if (processTypes.has(type)) return { kind: 'process_start' };
  if (exitTypes.has(type)) return { kind: 'process_exit' };
  if (connectTypes.has(type)) return readFalcoConnection(fields);
  const path = toPath(fields['fs.path.name'] ?? fields['fs.path.target'] ?? fields['fd.name']);
  const operation = openTypes.has(type) ? readFalcoOpen(fields) : falcoOperations[type];
  return operation !== undefined && isFilePath(path) ? { kind: 'file', path, operation } : undefined;
};

/** Reads an event of Falco. It needs the PID of its process. */
const readFalcoEvent = (body: Fields, recordMs: number): ReadReport | undefined => {
  const fields = toFields(body['output_fields']);
  const pid = toCount(fields['proc.pid']);
  const part = pid === 0 ? undefined : readFalcoCall(toText(fields['evt.type']), fields);
  if (part === undefined) return undefined;
  return {
    ...createEmptyReport('falco', part.kind),
    ...parseTimestamp(fields['evt.time'] ?? toMs(body['time']), recordMs),
    host: toName(body['hostname'] ?? fields['evt.hostname']),
    pid,
    parentPid: toCount(fields['proc.ppid']),
    threadName: toName(fields['proc.name']),
    program: toPath(fields['proc.exepath']),
    command: truncateText(toText(fields['proc.cmdline']), agentLimits.command),
    folder: toPath(fields['proc.cwd']),
    user: toName(fields['user.name'] ?? fields['user.loginname']),
    ...part,
  };
};

const joinCommand = (program: string, args: string): string =>
  truncateText(args === '' ? program : `${program} ${args}`, agentLimits.command);

const tetragonEvents = ['process_exec', 'process_exit', 'process_kprobe', 'process_tracepoint'] as const;

/** Operations by a part of the name of a kernel function, the first one that fits. */
const tetragonOperations: readonly (readonly [name: RegExp, operation: FileOperation])[] = [
  [/unlink|rmdir/, 'delete'],
  [/rename/, 'rename'],
  [/truncate/, 'truncate'],
  [/write|creat/, 'write'],
];
/** Bit of a write in the mask of `security_file_permission`. */
const mayWrite = 0x2;

const readTetragonFile = (name: string, args: readonly Fields[]): Part | undefined => {
  const path = args
    .map((arg) => toText(toFields(arg['file_arg'])['path'] ?? toFields(arg['path_arg'])['path'] ?? arg['string_arg']))
    .find(isFilePath);
  if (path === undefined) return undefined;
  const mask = args.map((arg) => toCount(arg['int_arg'])).find((bits) => bits > 0) ?? 0;
  const isWrite = name.includes('permission') && (mask & mayWrite) !== 0;
  const operation = isWrite ? 'write' : tetragonOperations.find(([pattern]) => pattern.test(name))?.[1];
  return { kind: 'file', path: toPath(path), operation: operation ?? 'read' };
};

/** Reads the arguments of a kernel function. */
const readTetragonArguments = (details: Fields): Part | undefined => {
  const name = toText(details['function_name'] ?? details['event']);
  const args = Array.isArray(details['args']) ? details['args'].map(toFields) : [];
  const socket = args.map((arg) => arg['sock_arg'] ?? arg['sockaddr_arg']).find(isFields);
  if (socket === undefined) return readTetragonFile(name, args);
  if (!name.includes('connect')) return undefined;
  return {
    kind: 'connection',
    address: toName(socket['daddr'] ?? socket['addr']),
    port: toPort(socket['dport'] ?? socket['port']),
  };
};

/** Reads an event of Tetragon. */
const readTetragonEvent = (body: Fields, recordMs: number): ReadReport | undefined => {
  const type = tetragonEvents.find((name) => isFields(body[name]));
  if (type === undefined) return undefined;
  const details = toFields(body[type]);
  const process = toFields(details['process']);
  const parent = toFields(details['parent']);
  const pid = toCount(process['pid']);
  if (pid === 0) return undefined;
  const part: Part | undefined =
    type === 'process_exec'
      ? { kind: 'process_start' }
      : type === 'process_exit'
        ? { kind: 'process_exit', exitCode: toExitCode(details['status']) }
        : readTetragonArguments(details);
  if (part === undefined) return undefined;
  const program = toPath(process['binary']);
  return {
    ...createEmptyReport('tetragon', part.kind),
    ...parseTimestamp(toMs(body['time']), recordMs),
    host: toName(body['node_name']),
    pid,
    parentPid: toCount(parent['pid']),
    program,
    command: joinCommand(program, toText(process['arguments'])),
    folder: toPath(process['cwd']),
    user: toName(process['uid']),
    ...part,
  };
};

/** Attributes of which a record of an agent has at least one, if it has no body. */
export const reportAttributes: readonly string[] = [
  'comm',
  'output_fields',
  'process_exec',
  'process_exit',
  'process_kprobe',
];

/** Texts of which the body of a report contains at least one. */
export const reportTexts: readonly string[] = [
  '"comm"',
  '"proc.pid"',
  '"process_exec"',
  '"process_exit"',
  '"process_kprobe"',
  '"process_tracepoint"',
];

/** Returns the report in the body of a record; `undefined` if it has other content. */
export const readReport = (body: Fields, recordMs: number): ReadReport | undefined => {
  if (isAgentSightEvent(body)) return readAgentSightEvent(body, recordMs);
  if (isFields(body['output_fields'])) return readFalcoEvent(body, recordMs);
  return readTetragonEvent(body, recordMs);
};
