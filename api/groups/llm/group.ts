import { llmPrices } from '../../../schemas/resources/llm-price.ts';
import { defineGroup } from '../define-group.ts';
import { getLlmCost } from './cost.ts';
import { getLlmLatency } from './latency.ts';
import { listLlmModels } from './models.ts';
import { getLlmOverview } from './overview.ts';
import { setLlmPrice } from './prices.ts';
import { listLlmRequests, showLlmRequest } from './requests.ts';

export const llmGroup = defineGroup({
  name: 'llm',
  summary: 'Requests to language models: cost, tokens and latency.',
  entitlement: 'llm',
  reads: ['traces', 'logs'],
  operations: [getLlmOverview, listLlmRequests, showLlmRequest, getLlmCost, getLlmLatency, listLlmModels, setLlmPrice],
  collections: [llmPrices],
});
