import { defineGroup } from '../define-group.ts';

export const llmGroup = defineGroup({
  name: 'llm',
  summary: 'Requests to language models: cost, tokens and latency.',
  entitlement: 'llm',
  planned: [
    ['GET /api/llm/overview', 'viewer', 'requests, tokens, cost, latency, errors'],
    ['GET /api/llm/requests', 'viewer', 'model requests'],
    ['GET /api/llm/requests/{id}', 'viewer', 'one request, with messages where recorded, tool calls and its trace'],
    ['GET /api/llm/cost', 'viewer', 'cost by model, service, user, over time'],
    ['GET /api/llm/latency', 'viewer', 'latency, time to first token, tokens per second'],
    ['GET /api/llm/models', 'viewer', 'models in use, with prices'],
    ['PUT /api/llm/prices/{model}', 'editor', 'set a price'],
  ],
});
