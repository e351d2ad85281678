/** Sessions of agents: in each turn, the prompt and tool calls, and their effects. */
import { z } from 'zod';
import { agentEventsSource } from '../../queries/signals/agent-events-source.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';
import { toNullIfEmpty } from '../../schemas/text.ts';
import { idleMs } from './activity.ts';
import { EffectCounts } from './agent-list.ts';
import { type AgentEventRow, AgentEventView, agentEventSelection, toAgentEventView } from './event-views.ts';
import type { AgentScope } from './scope.ts';

const TurnCall = z.strictObject({
  callId: z.string(),
  name: z.string(),
  input: z.string(),
  timestamp: z.string(),
  result: z.string().nullable().describe('Answer of the tool; `null` if none was captured'),
  hasInstructions: z.boolean().describe('Whether the answer addresses the model'),
});

export const Turn = z.strictObject({
  turn: z.int().describe('From 1; 0 for what happened before the first prompt'),
  startedAt: z.string(),
  endedAt: z.string(),
  prompt: z.string().nullable(),
  response: z.string().nullable().describe('Last text of the model'),
  models: z.array(z.string()),
  requests: z.int(),
  calls: z.array(TurnCall).describe('Tool calls of the model'),
  effects: z.array(AgentEventView).describe('What happened then, equal effects of a process as one'),
  omittedEffects: z.int().describe('Effects beyond the limit, of which none is unexplained as long as there is room'),
  counts: EffectCounts,
});
export type Turn = z.output<typeof Turn>;

export const AgentSession = z.strictObject({
  id: z.string(),
  agentId: z.string(),
  agent: z.string(),
  host: z.string().nullable(),
  projectId: z.string(),
  conversationId: z.string().nullable(),
  startedAt: z.string(),
  lastSeenAt: z.string(),
  durationMs: z.number(),
  isActive: z.boolean().describe('Whether events arrived within 30 minutes'),
  events: z.int(),
  turnCount: z.int(),
  toolCalls: z.int(),
  firstPrompt: z.string().nullable(),
  models: z.array(z.string()),
  effects: EffectCounts,
  hasInstructions: z.boolean().describe('Whether a tool result addresses the model'),
  turns: z.array(Turn),
});
export type AgentSession = z.output<typeof AgentSession>;

interface Row {
  readonly session: string;
  readonly agent_key: string;
  readonly name: string;
  readonly session_host: string;
  readonly project: string;
  readonly conversation: string;
  readonly first: string;
  readonly last: string;
  readonly counts: readonly string[];
  readonly prompt: string;
  readonly model_names: readonly string[];
}

export interface SessionPosition {
  readonly time: string;
  readonly id: string;
}

/** Reads a page of sessions, the latest first; one more than the limit shows that there is another page. */
export const readSessions = async (
  { columns, nowMs }: TenantReader,
  { condition, parameters }: AgentScope,
  { limit, after }: { readonly limit: number; readonly after: SessionPosition | undefined },
): Promise<AgentSession[]> => {
  const having =
    after === undefined
      ? ''
      : 'HAVING (toUnixTimestamp64Nano(min(timestamp)), session) < ({afterTime:Int64}, {afterId:String})';
  const rows = await columns.query<Row>(
    `SELECT session_id AS session, toString(any(agent_id)) AS agent_key, toString(any(agent)) AS name, toString(any(host)) AS session_host,
      toString(any(project_id)) AS project, max(conversation_id) AS conversation,
      toString(toUnixTimestamp64Nano(min(timestamp))) AS first, toString(toUnixTimestamp64Nano(max(timestamp))) AS last,
      [toString(count()), toString(max(turn)), toString(countIf(kind = 'tool_call')), toString(countIf(link = 'stated')),
        toString(countIf(link = 'likely')), toString(countIf(link = 'unexplained')), toString(countIf(facts['HasInstructions'] = 'true'))] AS counts,
      argMinIf(text, timestamp, kind = 'model_request' AND turn > 0 AND text != '') AS prompt,
      arraySort(groupUniqArrayIf(20)(toString(model), model != '')) AS model_names
    FROM ${agentEventsSource} WHERE ${condition} AND session_id != '' GROUP BY session ${having}
    ORDER BY min(timestamp) DESC, session DESC LIMIT ${limit}`,
    { ...parameters, ...(after !== undefined && { afterTime: after.time, afterId: after.id }) },
  );
  return rows.map((row) => toSession(row, nowMs));
};

const toSession = (row: Row, nowMs: number): AgentSession => {
  const [events = 0, turnCount = 0, toolCalls = 0, stated = 0, likely = 0, unexplained = 0, instructed = 0] =
    row.counts.map(Number);
  const [first, last] = [BigInt(row.first), BigInt(row.last)];
  return {
    id: row.session,
    agentId: row.agent_key,
    agent: row.name,
    host: toNullIfEmpty(row.session_host),
    projectId: row.project,
    conversationId: toNullIfEmpty(row.conversation),
    startedAt: formatTime(first),
    lastSeenAt: formatTime(last),
    durationMs: Number(last - first) / 1e6,
    isActive: nowMs - Number(last / 1_000_000n) < idleMs,
    events,
    turnCount,
    toolCalls,
    firstPrompt: toNullIfEmpty(row.prompt),
    models: [...row.model_names],
    effects: { stated, likely, unexplained },
    hasInstructions: instructed > 0,
    turns: [],
  };
};

const maxEvents = 50_000;
const shownKinds = [
  ...['model_request', 'model_response', 'tool_call', 'tool_result'],
  ...['process_start', 'file', 'connection', 'command', 'http_request'],
];
const maxTextLength = 4_000;

interface EventsOfSession extends AgentEventRow {
  readonly session: string;
}

/** Returns the turns of sessions, by session. */
export const readTurns = async (
  { columns }: TenantReader,
  { condition, parameters }: AgentScope,
  { sessionIds, maxEffects }: { readonly sessionIds: readonly string[]; readonly maxEffects: number },
): Promise<ReadonlyMap<string, Turn[]>> => {
  if (sessionIds.length === 0) return new Map();
  const rows = await columns.query<EventsOfSession>(
    `SELECT session_id AS session, ${agentEventSelection} FROM ${agentEventsSource}
    WHERE ${condition} AND session_id IN {sessions:Array(String)} AND kind IN {shown:Array(String)}
    ORDER BY agent_events.timestamp, agent_events.id LIMIT ${maxEvents}`,
    { ...parameters, sessions: [...sessionIds], shown: shownKinds },
    { maxResultRows: maxEvents },
  );
  const bySession = Map.groupBy(rows, ({ session }) => session);
  return new Map(
    [...bySession].map(([session, events]) => [session, buildTurns(events.map(toAgentEventView), maxEffects)]),
  );
};

const shorten = (text: string | null): string | null =>
  text === null || text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength).toWellFormed()}…`;

/** Key of effects that are shown as one. */
const toEffectKey = ({
  kind,
  processId,
  path,
  operation,
  destination,
  address,
  port,
  link,
  callId,
  command,
}: AgentEventView): string =>
  JSON.stringify([
    kind,
    processId,
    path,
    operation,
    destination,
    address,
    port,
    link,
    callId,
    kind === 'file' ? '' : command,
  ]);

const mergeEffects = (events: readonly AgentEventView[]): AgentEventView[] => {
  const merged = new Map<string, AgentEventView>();
  for (const event of events) {
    const key = toEffectKey(event);
    const first = merged.get(key);
    merged.set(key, first === undefined ? event : { ...first, count: first.count + event.count });
  }
  return [...merged.values()];
};

/** Selects effects up to a limit: unexplained ones first, then stated ones, each in the order of time. */
const selectEffects = (effects: readonly AgentEventView[], maxEffects: number): AgentEventView[] => {
  if (effects.length <= maxEffects) return [...effects];
  const ranks = { unexplained: 0, stated: 1, likely: 2 } as const;
  const selected = new Set(
    effects
      .toSorted((left, right) => ranks[left.link ?? 'likely'] - ranks[right.link ?? 'likely'])
      .slice(0, maxEffects)
      .map(({ id }) => id),
  );
  return effects.filter(({ id }) => selected.has(id));
};

/** Builds turns from the events of a session, in the order of time. */
export const buildTurns = (events: readonly AgentEventView[], maxEffects: number): Turn[] =>
  [...Map.groupBy(events, ({ turn }) => turn ?? 0)]
    .toSorted(([left], [right]) => left - right)
    .map(([turn, ofTurn]) => buildTurn(turn, ofTurn, events, maxEffects));

const buildTurn = (
  turn: number,
  events: readonly AgentEventView[],
  all: readonly AgentEventView[],
  maxEffects: number,
): Turn => {
  const results = new Map(all.filter(({ kind }) => kind === 'tool_result').map((event) => [event.callId, event]));
  const requests = events.filter(({ kind }) => kind === 'model_request');
  const responses = events.filter(({ kind, text }) => kind === 'model_response' && text !== null);
  const effects = mergeEffects(events.filter(({ link }) => link !== null));
  const shown = selectEffects(effects, maxEffects);
  const countOf = (link: string): number => events.filter((event) => event.link === link).length;
  return {
    turn,
    startedAt: events[0]?.timestamp ?? '',
    endedAt: events.at(-1)?.timestamp ?? '',
    prompt: shorten(requests.find(({ text }) => text !== null)?.text ?? null),
    response: shorten(responses.at(-1)?.text ?? null),
    models: [...new Set(events.flatMap(({ model }) => (model === null ? [] : [model])))],
    requests: requests.length,
    calls: events
      .filter(({ kind }) => kind === 'tool_call')
      .map(({ callId, toolName, text, timestamp }) => {
        const result = results.get(callId);
        return {
          callId: callId ?? '',
          name: toolName ?? '',
          input: shorten(text) ?? '',
          timestamp,
          result: shorten(result?.text ?? null),
          hasInstructions: result?.hasInstructions === true,
        };
      }),
    effects: shown.map((effect) => ({ ...effect, text: shorten(effect.text) })),
    omittedEffects: effects.length - shown.length,
    counts: { stated: countOf('stated'), likely: countOf('likely'), unexplained: countOf('unexplained') },
  };
};
