import { z } from 'zod';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { parseRetainedRange, rangeParameters } from '../../../queries/range.ts';
import { createListSchema, listParameters, readListPage } from '../../../subjects/infrastructure/paging.ts';
import { Agent, AgentDetails, readAgent, readAgents } from '../../../subjects/instrumentation/agents.ts';
import { agentStates } from '../../../subjects/instrumentation/opamp-agents.ts';
import { createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';

export const listInstrumentationAgents = defineOperation({
  method: 'GET',
  path: '/api/instrumentation/agents',
  operationId: 'listInstrumentationAgents',
  summary: 'List agents that collect telemetry or instrument services, known from their telemetry and from OpAMP',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...listParameters(['lastSeenAt', 'host', 'title', 'spans']),
    state: z.enum(agentStates).optional(),
  }),
  response: createListSchema(Agent),
  handler: ({ caller, query }, ports) =>
    readListPage('instrumentation-agents', query, createQueryReader(caller, ports), {
      readItems: readAgents,
      filters: { state: ({ state }) => state },
      sorts: {
        lastSeenAt: ({ lastSeenAt }) => lastSeenAt,
        host: ({ host }) => host,
        title: ({ title }) => title,
        spans: ({ spans }) => spans,
      },
      id: ({ id }) => id,
      texts: ({ host, title, services }) => [host, title, ...services],
    }),
});

const { from, to } = rangeParameters;

export const getInstrumentationAgent = defineOperation({
  method: 'GET',
  path: '/api/instrumentation/agents/{id}',
  operationId: 'getInstrumentationAgent',
  summary: 'Get an agent with the health of its components and its effective configuration',
  role: 'viewer',
  cache: listCache,
  params: z.strictObject({ id: z.string().min(1).max(128) }),
  query: z.strictObject({ from, to, ...projectScopeParameters }),
  response: AgentDetails,
  async handler({ caller, params, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const range = parseRetainedRange(query, { caller: reader, signal: 'traces', nowMs: reader.nowMs });
    const agent = await readAgent(reader, range, query, params.id);
    if (agent === undefined) throw createNotFoundError('agent');
    return agent;
  },
});
