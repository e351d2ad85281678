import { z } from 'zod';
import { decodeCursor, encodeCursor, int64Pattern, nonEmptyTextPattern } from '../../../queries/cursor.ts';
import { rangeParameters } from '../../../queries/range.ts';
import { listSortValues, parseSort, sortDescription } from '../../../queries/sort.ts';
import { decodePosition, encodePosition, getSortedPage } from '../../../queries/sorted-page.ts';
import { formatTime } from '../../../queries/time.ts';
import {
  AgentConnection,
  AgentFile,
  readAgentConnections,
  readAgentFiles,
  readAgentModelCalls,
} from '../../../subjects/agents/agent-details.ts';
import { AgentView, readAgents } from '../../../subjects/agents/agent-list.ts';
import { AgentProcess, readAgentProcesses } from '../../../subjects/agents/coverage.ts';
import {
  agentFilterParameters,
  createAgentScope,
  parseAgentRange,
  requireAgentRange,
} from '../../../subjects/agents/scope.ts';
import { LlmCallView } from '../../../subjects/llm/calls.ts';
import { createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';

const sortNames = ['lastSeenAt', 'name', 'events', 'sessions', 'unexplained'] as const;

const getSortValue = (agent: AgentView, by: (typeof sortNames)[number]): string | number =>
  by === 'unexplained' ? agent.effects.unexplained : agent[by];

const cursorKind = 'agents';
const { agentId: _, sessionId: __, ...listFilters } = agentFilterParameters;

/** Not cached: people watch running agents. */
export const listAgents = defineOperation({
  method: 'GET',
  path: '/api/agentsight/agents',
  operationId: 'listAgents',
  summary: 'List agents on hosts with what they did in a time range, and whether their traffic is captured',
  role: 'viewer',
  query: z.strictObject({
    ...rangeParameters,
    ...listFilters,
    sort: z.enum(listSortValues(sortNames)).default('-lastSeenAt').describe(sortDescription),
  }),
  response: z.strictObject({
    from: z.string(),
    to: z.string(),
    items: z.array(AgentView),
    nextCursor: z.string().nullable(),
  }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const kind = `${cursorKind} ${query.sort}`;
    const [from = '', to = '', position = ''] =
      query.cursor === undefined
        ? []
        : decodeCursor(kind, query.cursor, [int64Pattern, int64Pattern, nonEmptyTextPattern]);
    const range = query.cursor === undefined ? parseAgentRange(query, reader) : { from: BigInt(from), to: BigInt(to) };
    if (query.cursor !== undefined) requireAgentRange(range, reader);
    const { by, direction } = parseSort(query.sort);
    const { pageItems, last } = getSortedPage(
      await readAgents(reader, createAgentScope(query, range)),
      { getName: ({ id }) => id, getSortValue: (agent) => getSortValue(agent, by), direction },
      { limit: query.limit, after: query.cursor === undefined ? undefined : decodePosition(position) },
    );
    return {
      from: formatTime(range.from),
      to: formatTime(range.to),
      items: [...pageItems],
      nextCursor: last === undefined ? null : encodeCursor(kind, [range.from, range.to, encodePosition(last)]),
    };
  },
});

export const showAgent = defineOperation({
  method: 'GET',
  path: '/api/agentsight/agents/{id}',
  operationId: 'getAgent',
  summary: 'Get an agent with its processes, files, connections and requests to models in a time range',
  role: 'viewer',
  params: z.strictObject({ id: z.string().min(1).max(128).describe('Agent') }),
  query: z.strictObject({
    from: rangeParameters.from,
    to: rangeParameters.to,
    projectId: agentFilterParameters.projectId,
    scope: agentFilterParameters.scope,
  }),
  response: z.strictObject({
    from: z.string(),
    to: z.string(),
    agent: AgentView,
    processes: z.array(AgentProcess).describe('At most 2,000, in the order of their start'),
    files: z.array(AgentFile).describe('At most 500, those with unexplained effects first'),
    connections: z.array(AgentConnection).describe('At most 500, those with unexplained effects first'),
    modelCalls: z
      .array(LlmCallView)
      .describe('The latest 200 requests to models; empty without access to requests to models'),
  }),
  async handler({ caller, params, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const range = parseAgentRange(query, reader);
    const scope = createAgentScope({ ...query, agentId: params.id }, range);
    const [agent] = await readAgents(reader, scope);
    if (agent === undefined) throw createNotFoundError('agent');
    const [processes, files, connections, modelCalls] = await Promise.all([
      readAgentProcesses(reader, scope),
      readAgentFiles(reader, scope),
      readAgentConnections(reader, scope),
      readAgentModelCalls(reader, scope),
    ]);
    return {
      from: formatTime(range.from),
      to: formatTime(range.to),
      agent,
      processes,
      files,
      connections,
      modelCalls,
    };
  },
});
