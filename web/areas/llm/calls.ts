import type { getLlmCost } from '../../../api/groups/llm/cost.ts';
import type { getLlmLatency } from '../../../api/groups/llm/latency.ts';
import type { listLlmModels } from '../../../api/groups/llm/models.ts';
import type { getLlmOverview } from '../../../api/groups/llm/overview.ts';
import type { setLlmPrice } from '../../../api/groups/llm/prices.ts';
import type { listLlmRequests, showLlmRequest } from '../../../api/groups/llm/requests.ts';
import { declareCall, type ResponseBody } from '../../client/call.ts';

export const overviewCall = declareCall<typeof getLlmOverview>('GET', '/api/llm/overview');
export const costCall = declareCall<typeof getLlmCost>('GET', '/api/llm/cost');
export const latencyCall = declareCall<typeof getLlmLatency>('GET', '/api/llm/latency');
export const requestsCall = declareCall<typeof listLlmRequests>('GET', '/api/llm/requests');
export const requestCall = declareCall<typeof showLlmRequest>('GET', '/api/llm/requests/{id}');
export const modelsCall = declareCall<typeof listLlmModels>('GET', '/api/llm/models');
export const priceCall = declareCall<typeof setLlmPrice>('PUT', '/api/llm/prices/{model}');

export type LlmOverview = ResponseBody<typeof getLlmOverview>;
export type LlmCost = ResponseBody<typeof getLlmCost>;
export type LlmLatency = ResponseBody<typeof getLlmLatency>;
export type LlmRequestItem = ResponseBody<typeof listLlmRequests>['items'][number];
export type LlmRequestDetails = ResponseBody<typeof showLlmRequest>;
export type LlmModels = ResponseBody<typeof listLlmModels>;
