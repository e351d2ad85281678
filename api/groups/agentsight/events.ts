import { z } from 'zod';
import { rangeParameters } from '../../../queries/range.ts';
import { formatTime } from '../../../queries/time.ts';
import { agentEventKinds } from '../../../schemas/agent-events.ts';
import { eventOrders, isAgentEventKind, listAgentEvents } from '../../../subjects/agents/event-list.ts';
import { AgentEventView } from '../../../subjects/agents/event-views.ts';
import { agentFilterParameters } from '../../../subjects/agents/scope.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';

export const listAgentEventsOperation = defineOperation({
  method: 'GET',
  path: '/api/agentsight/events',
  operationId: 'listAgentEvents',
  summary: 'List events of agents in the order of time: requests to models, tool calls, processes, files, connections',
  role: 'viewer',
  query: z.strictObject({
    ...rangeParameters,
    ...agentFilterParameters,
    kind: z
      .string()
      .max(512)
      .refine(
        (list) => list.split(',').every(isAgentEventKind),
        `must be a comma-separated list of ${agentEventKinds.join(', ')}`,
      )
      .optional()
      .describe('Only events of these kinds, such as `tool_call,file`'),
    order: z.enum(eventOrders).default('oldest').describe('Which events are first'),
  }),
  response: z.strictObject({
    from: z.string(),
    to: z.string(),
    items: z.array(AgentEventView),
    nextCursor: z.string().nullable(),
  }),
  async handler({ caller, query }, ports) {
    const { range, items, nextCursor } = await listAgentEvents(query, createQueryReader(caller, ports));
    return { from: formatTime(range.from), to: formatTime(range.to), items, nextCursor };
  },
});
