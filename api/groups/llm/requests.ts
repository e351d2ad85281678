import { z } from 'zod';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { rangeParameters } from '../../../queries/range.ts';
import { sortDescription } from '../../../queries/sort.ts';
import { LlmCallView } from '../../../subjects/llm/calls.ts';
import { LlmRequest, parseRequestId, readLlmRequest } from '../../../subjects/llm/request.ts';
import { listCalls, requestSorts } from '../../../subjects/llm/requests.ts';
import { llmScopeParameters, requireLlmRange } from '../../../subjects/llm/scope.ts';
import { createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';

export const listLlmRequests = defineOperation({
  method: 'GET',
  path: '/api/llm/requests',
  operationId: 'listLlmRequests',
  summary: 'List model requests with tokens, cost and duration; each request once, however many spans report it',
  role: 'viewer',
  query: z.strictObject({
    ...rangeParameters,
    ...llmScopeParameters,
    sort: z.enum(requestSorts).default('-time').describe(sortDescription),
  }),
  response: z.strictObject({ items: z.array(LlmCallView), nextCursor: z.string().nullable() }),
  handler: ({ caller, query }, ports) => listCalls(query, createQueryReader(caller, ports)),
});

export const showLlmRequest = defineOperation({
  method: 'GET',
  path: '/api/llm/requests/{id}',
  operationId: 'getLlmRequest',
  summary: 'Get a model request with its messages, tool calls and the spans that ran them, parameters and conversation',
  role: 'viewer',
  params: z.strictObject({ id: z.string().min(1).max(128) }),
  query: z.strictObject(projectScopeParameters),
  response: LlmRequest,
  async handler({ caller, params, query }, ports) {
    const id = parseRequestId(params.id);
    if (id === undefined) throw createNotFoundError('request');
    const reader = createQueryReader(caller, ports);
    requireLlmRange({ from: id.timeNs, to: id.timeNs }, reader);
    const request = await readLlmRequest(reader, id, query);
    if (request === undefined) throw createNotFoundError('request');
    return request;
  },
});
