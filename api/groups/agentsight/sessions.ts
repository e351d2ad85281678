import { z } from 'zod';
import { decodeCursor, encodeCursor, int64Pattern } from '../../../queries/cursor.ts';
import { rangeParameters } from '../../../queries/range.ts';
import { formatTime, parseTime } from '../../../queries/time.ts';
import {
  agentFilterParameters,
  createAgentScope,
  parseAgentRange,
  requireAgentRange,
} from '../../../subjects/agents/scope.ts';
import { AgentSession, readSessions, readTurns, type SessionPosition } from '../../../subjects/agents/sessions.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';

const cursorKind = 'agent-sessions';
/** Effects of a turn in a list of several sessions. A list of one session has more. */
const maxEffects = { list: 50, session: 500 } as const;

const parsePosition = (cursor: string) => {
  const [from = '', to = '', time = '', id = ''] = decodeCursor(cursorKind, cursor, [
    int64Pattern,
    int64Pattern,
    int64Pattern,
    /^[0-9a-f]{32}$/,
  ]);
  const after: SessionPosition = { time, id };
  return { range: { from: BigInt(from), to: BigInt(to) }, after };
};

/** Not cached: people watch running sessions. */
export const listAgentSessions = defineOperation({
  method: 'GET',
  path: '/api/agentsight/sessions',
  operationId: 'listAgentSessions',
  summary: 'List sessions of agents with their turns: prompts, tool calls and their effects; the latest first',
  role: 'viewer',
  query: z.strictObject({
    ...rangeParameters,
    ...agentFilterParameters,
    limit: z.coerce.number().int().min(1).max(100).default(20),
    turns: z.enum(['all', 'none']).default('all').describe('`none`: sessions without their turns'),
  }),
  response: z.strictObject({
    from: z.string(),
    to: z.string(),
    items: z
      .array(AgentSession)
      .describe('Effects of a turn are limited to 50, or to 500 with the parameter `sessionId`'),
    nextCursor: z.string().nullable(),
  }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const page = query.cursor === undefined ? undefined : parsePosition(query.cursor);
    if (page !== undefined) requireAgentRange(page.range, reader);
    const range = page?.range ?? parseAgentRange(query, reader);
    const scope = createAgentScope(query, range);
    const sessions = await readSessions(reader, scope, { limit: query.limit + 1, after: page?.after });
    const shown = sessions.slice(0, query.limit);
    // A search selects sessions; their turns are complete.
    const turns =
      query.turns === 'none'
        ? undefined
        : await readTurns(reader, createAgentScope({ ...query, search: undefined }, range), {
            sessionIds: shown.map(({ id }) => id),
            maxEffects: query.sessionId === undefined ? maxEffects.list : maxEffects.session,
          });
    const last = sessions.length > query.limit ? shown.at(-1) : undefined;
    return {
      from: formatTime(range.from),
      to: formatTime(range.to),
      items: shown.map((session) => ({ ...session, turns: turns?.get(session.id) ?? [] })),
      nextCursor:
        last === undefined
          ? null
          : encodeCursor(cursorKind, [range.from, range.to, String(parseTime(last.startedAt, 0) ?? 0n), last.id]),
    };
  },
});
