import { z } from 'zod';
import { formatTime } from '../../../queries/time.ts';
import { priceTableName } from '../../../subjects/llm/built-in-prices.ts';
import { LlmModelView, readLlmModels } from '../../../subjects/llm/models.ts';
import { createLlmScope, llmScopeParameters, parseLlmRange } from '../../../subjects/llm/scope.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { PriceView, toPriceView } from './prices.ts';
import { readStoredPrices } from './stored-prices.ts';

/** Not cached: people read the list just after they set a price. */
export const listLlmModels = defineOperation({
  method: 'GET',
  path: '/api/llm/models',
  operationId: 'listLlmModels',
  summary: 'List the models of a time range with their prices, and the prices that the organization set',
  role: 'viewer',
  query: z.strictObject(llmScopeParameters),
  response: z.strictObject({
    from: z.string(),
    to: z.string(),
    priceTable: z.string().describe('Built-in price table, with its release'),
    items: z.array(LlmModelView),
    prices: z.array(PriceView).describe('Prices of the organization'),
  }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const range = parseLlmRange(query, reader);
    const storedPrices = await readStoredPrices(ports.documents, caller.tenantId);
    return {
      from: formatTime(range.from),
      to: formatTime(range.to),
      priceTable: priceTableName,
      items: await readLlmModels(reader, createLlmScope(query, range), storedPrices),
      prices: storedPrices.map(toPriceView),
    };
  },
});
