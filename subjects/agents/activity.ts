/**
 * Places reports in processes, agents, sessions and turns, and links effects to tool calls. Reports of a host come in
 * the order of their times. Free of I/O: what is remembered is in the stores.
 */
import { computeHashId } from '../../runtime/hash-id.ts';
import {
  type AgentEvent,
  type AgentReport,
  agentLimits,
  effectKinds,
  type ModelMessage,
} from '../../schemas/agent-events.ts';
import { truncateText } from '../../schemas/text.ts';
import { readCallTexts } from './call-texts.ts';
import { buildCallFacts, buildEffectFacts } from './facts.ts';
import { findInstructions, isInstructionFile } from './instructions.ts';
import { findAgentByName, findAgentByProcess, findAgentByUserAgent, getProgramName } from './known-agents.ts';
import { linkEffect } from './links.ts';
import type { ActivityStores, ProcessState, SessionState, TreeState } from './states.ts';
import { observeBoot, toEventMs } from './timestamps.ts';

/** A session without events for this time has ended. */
export const idleMs = 30 * 60_000;
/** Tracers report what a process did up to this time after its exit. */
const exitGraceMs = 10_000;
const maxAncestors = 64;
const maxSessionsPerTree = 20;
const maxCalls = 60;
const maxPromptsLength = 8_192;
const maxModelHosts = 20;
const maxContacts = 500;

export interface ActivityContext {
  readonly stores: ActivityStores;
  emit(event: AgentEvent): void;
}

/** Returns whether an event is an effect whose object is known: a request may lack its host, and a file its path. */
const isEffect = ({
  kind,
  hostName,
  address,
  path,
}: Pick<AgentEvent, 'kind' | 'hostName' | 'address' | 'path'>): boolean => {
  if (!(effectKinds as readonly string[]).includes(kind)) return false;
  if (kind === 'file') return path !== '';
  return (kind !== 'connection' && kind !== 'http_request') || hostName !== '' || address !== '';
};

/** Events that only show that a process runs do not prolong its session. */
const isActivity = ({ kind }: AgentReport): boolean => kind !== 'system' && kind !== 'tls' && kind !== 'other';

const toHostKey = ({ projectId, host }: Pick<AgentReport, 'projectId' | 'host'>): string => `${projectId}\n${host}`;
const toProcessKey = (report: Pick<AgentReport, 'projectId' | 'host'>, pid: number): string =>
  `${toHostKey(report)}\n${pid}`;

/** Records what a report reveals about the boot of its host, before reports are put in order. */
export const observeReport = (report: AgentReport, { boots }: ActivityStores): void => {
  if (report.bootNs === null) return;
  const key = toHostKey(report);
  boots.set(key, observeBoot(boots.get(key), report.bootNs, report.recordMs));
};

/** Returns the time of a report in epoch milliseconds. */
export const getReportMs = (report: AgentReport, { boots }: ActivityStores): number => {
  if (report.reportedMs !== null) return report.reportedMs;
  const clock = report.bootNs === null ? undefined : boots.get(toHostKey(report));
  return clock === undefined || report.bootNs === null
    ? report.recordMs
    : toEventMs(clock, report.bootNs, report.recordMs);
};

const formatEventTime = (timeMs: number, ordinal: number): string => {
  const ns = BigInt(Math.floor(timeMs)) * 1_000_000n + BigInt(Math.floor((timeMs % 1) * 1e6)) + BigInt(ordinal);
  const seconds = ns / 1_000_000_000n;
  const fraction = String(ns % 1_000_000_000n).padStart(9, '0');
  return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}.${fraction}Z`;
};

interface Sighting {
  readonly timeMs: number;
  readonly boot: string;
  /** Process that has the PID of the parent now; empty if none is known. */
  readonly parentId: string;
}

const isSameProcess = (state: ProcessState, report: AgentReport, { timeMs, boot, parentId }: Sighting): boolean => {
  if (state.boot !== boot && boot !== '' && state.boot !== '') return false;
  if (state.processStart !== '' && report.processStart !== '' && state.processStart !== report.processStart)
    return false;
  if (state.exitedMs > 0 && timeMs > state.exitedMs + exitGraceMs) return false;
  if (report.kind !== 'process_start') return true;
  // A process may replace its program. A start after its exit, or below another parent, is that of another process.
  const hasSameParent = report.parentPid === 0 || state.parentPid === 0 || report.parentPid === state.parentPid;
  return (
    state.exitedMs === 0 && hasSameParent && (state.parentId === '' || parentId === '' || state.parentId === parentId)
  );
};

const createProcess = (report: AgentReport, { timeMs, boot, parentId }: Sighting): ProcessState => ({
  id: computeHashId(report.projectId, report.host, boot, report.pid, report.processStart || Math.round(timeMs)),
  boot,
  startMs: timeMs,
  processStart: report.processStart,
  pid: report.pid,
  parentPid: report.parentPid,
  parentId,
  threadName: report.threadName,
  program: report.program,
  command: report.command,
  folder: report.folder,
  user: report.user,
  rootId: '',
  exitedMs: 0,
  callId: '',
  callName: '',
});

const updateProcess = (state: ProcessState, report: AgentReport, timeMs: number): void => {
  const { parentPid, program, command, folder, user, processStart, kind, threadName } = report;
  if (kind === 'process_start' || state.program === '') state.program = program || state.program;
  if (kind === 'process_start') state.command = command;
  else if (state.command === '' && kind !== 'command') state.command = command;
  if (kind === 'process_start') state.threadName = threadName;
  state.parentPid ||= parentPid;
  state.folder = folder || state.folder;
  state.user ||= user;
  state.processStart ||= processStart;
  if (kind === 'process_exit') state.exitedMs = timeMs;
};

/** Returns the process of a report. */
const resolveProcess = (report: AgentReport, timeMs: number, { processes, boots }: ActivityStores): ProcessState => {
  const key = toProcessKey(report, report.pid);
  const sighting: Sighting = {
    timeMs,
    boot: boots.get(toHostKey(report))?.boot ?? '',
    parentId: report.parentPid === 0 ? '' : (processes.get(toProcessKey(report, report.parentPid))?.id ?? ''),
  };
  const existing = processes.get(key);
  const process =
    existing !== undefined && isSameProcess(existing, report, sighting) ? existing : createProcess(report, sighting);
  updateProcess(process, report, timeMs);
  processes.set(key, process);
  return process;
};

const findParent = (
  process: ProcessState,
  report: AgentReport,
  { processes }: ActivityStores,
): ProcessState | undefined => {
  if (process.parentPid === 0 || process.parentPid === process.pid) return undefined;
  const parent = processes.get(toProcessKey(report, process.parentPid));
  if (parent === undefined || parent.boot !== process.boot) return undefined;
  // A PID that was reused after the start of the child is not a parent of it.
  if (parent.startMs > process.startMs + exitGraceMs && parent.rootId !== '' && parent.parentPid !== 0)
    return undefined;
  return parent.exitedMs > 0 && parent.exitedMs + exitGraceMs < process.startMs ? undefined : parent;
};

/** Returns the root of the tree of an agent that a process belongs to; an empty text if it is in none. */
const findRootId = (process: ProcessState, report: AgentReport, stores: ActivityStores): string => {
  const path: ProcessState[] = [];
  let current: ProcessState | undefined = process;
  while (current !== undefined && current.rootId === '' && path.length < maxAncestors && !path.includes(current)) {
    path.push(current);
    current = findParent(current, report, stores);
  }
  const rootId = current?.rootId ?? '';
  if (rootId === '' || stores.trees.get(rootId) === undefined) return '';
  // Descendants of a process that a tool started were started by the tool as well.
  for (const member of path.toReversed()) {
    member.rootId = rootId;
    if (member.callId === '' && current !== undefined && current.id !== rootId) {
      member.callId = current.callId;
      member.callName = current.callName;
    }
    current = member;
  }
  return rootId;
};

/** Name of an agent that is known only because it calls models. */
const nameUnknownAgent = ({ program, command, threadName }: ProcessState): string => {
  const [main = '', script = ''] = command.split(/\s+/, 2);
  const name = getProgramName(program || main || threadName) || 'agent';
  return script !== '' && !script.startsWith('-') && /^(?:node|bun|deno|python[\d.]*)$/.test(name)
    ? getProgramName(script)
    : name;
};

const createTree = (process: ProcessState, report: AgentReport, agent: string, stores: ActivityStores): string => {
  process.rootId = process.id;
  const { tenantId, projectId, host } = report;
  stores.trees.set(process.id, {
    agentId: computeHashId(tenantId, projectId, host, agent),
    agent: truncateText(agent, agentLimits.name),
    startMs: process.startMs,
    sessionIds: [],
    requestSessionId: '',
    modelHosts: [],
    workFolder: process.folder,
  });
  return process.id;
};

const isModelReport = ({ kind }: AgentReport): boolean => kind === 'model_request' || kind === 'model_response';

/** Returns the tree of a report; creates one for a process that runs an agent or calls a model. */
const resolveTree = (
  process: ProcessState,
  report: AgentReport,
  stores: ActivityStores,
): { readonly rootId: string; readonly isNew: boolean } => {
  const existing = findRootId(process, report, stores);
  if (existing !== '') return { rootId: existing, isNew: false };
  const known =
    findAgentByProcess(process.program, process.command, process.threadName) ??
    (report.kind === 'model_request' || report.kind === 'http_request'
      ? findAgentByUserAgent(report.userAgent)
      : undefined);
  if (known === undefined && !isModelReport(report)) return { rootId: '', isNew: false };
  return { rootId: createTree(process, report, known?.name ?? nameUnknownAgent(process), stores), isNew: true };
};

const createSession = (rootId: string, tree: TreeState, conversationId: string, timeMs: number): SessionState => ({
  id: computeHashId(rootId, conversationId, Math.round(timeMs)),
  conversationId,
  startMs: timeMs,
  lastMs: timeMs,
  turn: 0,
  prompt: '',
  prompts: '',
  calls: [],
  lastCall: '',
  repetitions: 0,
  instructions: '',
  workFolder: tree.workFolder,
  hasResponses: false,
  hasTools: false,
});

const listActiveSessions = (tree: TreeState, timeMs: number, { sessions }: ActivityStores): SessionState[] =>
  tree.sessionIds
    .flatMap((id) => sessions.get(id) ?? [])
    .filter(({ lastMs }) => timeMs - lastMs <= idleMs)
    .toSorted((left, right) => right.lastMs - left.lastMs);

/** Returns the session of a report: that of its conversation, or else the latest one. */
const resolveSession = (
  rootId: string,
  tree: TreeState,
  report: AgentReport,
  timeMs: number,
  stores: ActivityStores,
): SessionState => {
  const conversationId = report.message?.conversationId ?? '';
  const active = listActiveSessions(tree, timeMs, stores);
  const requested = active.find(({ id }) => id === tree.requestSessionId);
  const found =
    conversationId === ''
      ? report.kind === 'model_response'
        ? (requested ?? active[0])
        : active[0]
      : (active.find((session) => session.conversationId === conversationId) ??
        active.find((session) => session.conversationId === ''));
  const session = found ?? createSession(rootId, tree, conversationId, timeMs);
  session.conversationId ||= conversationId;
  if (found === undefined) {
    tree.sessionIds = [...tree.sessionIds, session.id].slice(-maxSessionsPerTree);
    stores.trees.set(rootId, tree);
  }
  if (isActivity(report)) session.lastMs = Math.max(session.lastMs, timeMs);
  return session;
};

/** Returns the event of a report, without what only some kinds have. */
const createEvent = (
  report: AgentReport,
  timeMs: number,
  process: ProcessState,
  parentProcessId: string,
): AgentEvent => {
  const { message, kind } = report;
  return {
    tenantId: report.tenantId,
    projectId: report.projectId,
    service: report.service,
    id: report.id,
    version: 0,
    recordId: report.recordId,
    traceId: report.traceId,
    spanId: report.spanId,
    source: report.source,
    kind,
    time: formatEventTime(timeMs, 0),
    timeMs,
    host: report.host,
    pid: report.pid,
    parentPid: process.parentPid,
    processId: process.id,
    parentProcessId,
    startMs: process.startMs,
    threadName: report.threadName,
    program: process.program,
    command: kind === 'command' ? report.command : process.command,
    folder: process.folder,
    user: process.user,
    exitCode: report.exitCode,
    agentId: '',
    agent: '',
    sessionId: '',
    conversationId: '',
    turn: 0,
    link: '',
    reason: '',
    callId: '',
    path: report.path,
    pathAfter: report.pathAfter,
    operation: report.operation,
    hostName: report.hostName,
    address: report.address,
    port: report.port,
    method: report.method,
    url: report.url,
    status: report.status,
    direction: report.direction,
    model: message?.model ?? '',
    responseId: message?.responseId ?? '',
    toolName: '',
    text: message === null ? report.text : message.direction === 'request' ? message.prompt : message.text,
    bytes: report.bytes,
    count: report.count,
    isTruncated: report.isTruncated,
    lostBytes: report.lostBytes,
    lostEvents: report.lostEvents,
    warning: report.warning,
    facts: {},
  };
};

const appendBounded = (text: string, added: string, maxLength: number): string =>
  `${text}\n${added}`.slice(-maxLength).toWellFormed();

/** Starts a turn if a request has a new prompt of the user. Requests without tools, next to others with tools, are of the agent itself. */
const startTurn = (session: SessionState, { prompt, hasTools }: ModelMessage): void => {
  if (prompt === '' || prompt === session.prompt || (session.hasTools && !hasTools)) return;
  session.turn++;
  session.prompt = prompt;
  session.prompts = appendBounded(session.prompts, prompt, maxPromptsLength);
};

type Placed = Pick<AgentEvent, 'agentId' | 'agent' | 'sessionId' | 'conversationId' | 'turn'>;

const toPlace = (tree: TreeState, session: SessionState): Placed => ({
  agentId: tree.agentId,
  agent: tree.agent,
  sessionId: session.id,
  conversationId: session.conversationId,
  turn: session.turn,
});

/** Returns an event that is part of another one, such as a tool call in a response. */
const createPart = (event: AgentEvent, ordinal: number, part: Partial<AgentEvent>): AgentEvent => ({
  ...event,
  id: computeHashId(event.id, ordinal),
  time: formatEventTime(event.timeMs, ordinal),
  text: '',
  bytes: 0,
  count: 1,
  isTruncated: false,
  lostBytes: 0,
  lostEvents: 0,
  warning: '',
  ...part,
});

/** Adds the answers of tools in a request to the session, and returns their events. */
const addResults = (event: AgentEvent, { toolResults }: ModelMessage, session: SessionState): AgentEvent[] =>
  toolResults.flatMap(({ callId, name, text }, index) => {
    const call = session.calls.find((known) => known.callId === callId && callId !== '');
    if (call?.isAnswered === true) return [];
    if (call !== undefined) call.isAnswered = true;
    const instructions = call !== undefined && isInstructionFile(call.text) ? '' : findInstructions(text);
    if (instructions !== '') session.instructions = appendBounded(session.instructions, instructions, maxPromptsLength);
    const facts = instructions === '' ? {} : { HasInstructions: 'true', Instructions: truncateText(instructions, 512) };
    return createPart(event, index + 1, {
      kind: 'tool_result',
      callId,
      toolName: name || (call?.name ?? ''),
      text,
      facts,
    });
  });

/** Adds the tool calls of a response to the session, and returns their events. */
const addCalls = (event: AgentEvent, { toolCalls }: ModelMessage, session: SessionState): AgentEvent[] =>
  toolCalls.flatMap((toolCall, index) => {
    const { callId, name, input } = toolCall;
    if (callId !== '' && session.calls.some((known) => known.callId === callId)) return [];
    const id = callId || computeHashId(event.id, 'call', index);
    const key = `${name}\n${input}`;
    session.repetitions = session.lastCall === key ? session.repetitions + 1 : 1;
    session.lastCall = key;
    const call = {
      callId: id,
      name,
      ...readCallTexts(toolCall),
      atMs: event.timeMs,
      turn: session.turn,
      isAnswered: false,
    };
    session.calls = [...session.calls, call].slice(-maxCalls);
    return createPart(event, index + 1, {
      kind: 'tool_call',
      callId: id,
      toolName: name,
      text: input,
      facts: { Repetitions: String(session.repetitions), ...buildCallFacts(call, session) },
    });
  });

const addModelHost = (tree: TreeState, { hostName, address }: AgentReport): void => {
  const host = hostName || address;
  if (host !== '' && !tree.modelHosts.includes(host))
    tree.modelHosts = [...tree.modelHosts, host].slice(-maxModelHosts);
};

/** Adds a request or response to the session, and emits it with its tool calls or answers of tools. */
const addMessage = (
  event: AgentEvent,
  report: AgentReport,
  {
    tree,
    session,
    context,
  }: { readonly tree: TreeState; readonly session: SessionState; readonly context: ActivityContext },
): void => {
  const { message } = report;
  if (message === null) {
    context.emit({ ...event, ...toPlace(tree, session) });
    return;
  }
  if (message.direction === 'request') {
    addModelHost(tree, report);
    startTurn(session, message);
    session.hasTools ||= message.hasTools;
    session.workFolder = message.workFolder || session.workFolder;
    tree.workFolder = session.workFolder || tree.workFolder;
    tree.requestSessionId = session.id;
  } else session.hasResponses = true;
  const placed = { ...event, ...toPlace(tree, session) };
  context.emit(placed);
  const parts =
    message.direction === 'request' ? addResults(placed, message, session) : addCalls(placed, message, session);
  for (const part of parts) context.emit(part);
};

/** Returns whether the agent contacts a host for the first time, and remembers it. */
const observeContact = (agentId: string, host: string, { contacts }: ActivityStores): boolean => {
  if (host === '') return false;
  const hosts = contacts.get(agentId)?.hosts ?? [];
  if (hosts.includes(host)) return false;
  contacts.set(agentId, { hosts: [...hosts, host].slice(-maxContacts) });
  return true;
};

interface Place {
  readonly process: ProcessState;
  readonly tree: TreeState;
  readonly rootId: string;
  readonly session: SessionState;
}

/** Links an effect to the tool calls of its session. */
const linkEvent = (
  event: AgentEvent,
  { process, tree, rootId, session }: Place,
  stores: ActivityStores,
): AgentEvent => {
  const isRoot = process.id === rootId;
  const placed = { ...event, ...toPlace(tree, session) };
  if (isRoot && event.kind === 'process_start') return placed;
  const link = linkEffect(event, {
    process,
    isRoot,
    rootStartMs: tree.startMs,
    session,
    agent: findAgentByName(tree.agent),
    modelHosts: tree.modelHosts,
  });
  if (event.kind === 'process_start' && process.callId === '' && link.callId !== '' && !isRoot) {
    process.callId = link.callId;
    process.callName = session.calls.find(({ callId }) => callId === link.callId)?.name ?? '';
  }
  const isNewHost = observeContact(tree.agentId, event.hostName || event.address, stores);
  return {
    ...placed,
    link: link.link,
    reason: link.reason,
    callId: link.callId,
    facts: buildEffectFacts(event, {
      session,
      agent: findAgentByName(tree.agent),
      modelHosts: tree.modelHosts,
      isNewHost,
      isAgentProcess: isRoot,
    }),
  };
};

const placeEvent = (event: AgentEvent, report: AgentReport, place: Place, context: ActivityContext): void => {
  const { tree, session, rootId } = place;
  if (isModelReport(report)) addMessage(event, report, { tree, session, context });
  else if (isEffect(report)) context.emit(linkEvent(event, place, context.stores));
  else context.emit({ ...event, ...toPlace(tree, session) });
  context.stores.sessions.set(session.id, session);
  context.stores.trees.set(rootId, tree);
};

/** Emits earlier events of processes of a tree that was not known as one of an agent. */
const placeEarlyEvents = (report: AgentReport, place: Omit<Place, 'process'>, context: ActivityContext): void => {
  const { early, processes } = context.stores;
  for (const [key, { event }] of early.entries()) {
    if (event.host !== report.host || event.projectId !== report.projectId) continue;
    const process = processes.get(toProcessKey(report, event.pid));
    if (process === undefined || process.id !== event.processId) continue;
    if (findRootId(process, report, context.stores) !== place.rootId) continue;
    early.delete(key);
    const linked = isEffect(event)
      ? linkEvent(event, { ...place, process }, context.stores)
      : { ...event, ...toPlace(place.tree, place.session) };
    context.emit({ ...linked, version: event.version + 1 });
  }
};

/** Adds a report, in the order of time, and emits its events. */
export const addReport = (report: AgentReport, timeMs: number, context: ActivityContext): void => {
  const { stores } = context;
  const process = resolveProcess(report, timeMs, stores);
  const parentProcessId = findParent(process, report, stores)?.id ?? '';
  const { rootId, isNew } = resolveTree(process, report, stores);
  const event = createEvent(report, timeMs, process, parentProcessId);
  const tree = rootId === '' ? undefined : stores.trees.get(rootId);
  if (tree === undefined) {
    // Only AgentSight traces agents alone. Events of other tools count once their process turns out to be one.
    const isStored = report.source === 'agentsight' || report.source === 'spans';
    if (isStored) context.emit(event);
    if (report.kind !== 'tls') stores.early.set(report.id, { event, isStored });
    return;
  }
  const session = resolveSession(rootId, tree, report, timeMs, stores);
  if (isNew) placeEarlyEvents(report, { tree, rootId, session }, context);
  placeEvent(event, report, { process, tree, rootId, session }, context);
};
