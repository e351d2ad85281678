import { z } from 'zod';
import { formatTime } from '../../../queries/time.ts';
import { createLlmScope, llmPricesParameter, llmScopeParameters, parseLlmRange } from '../../../subjects/llm/scope.ts';
import { LlmTotals, readLlmTotals } from '../../../subjects/llm/totals.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';
import { readStoredPrices } from './stored-prices.ts';

export const getLlmOverview = defineOperation({
  method: 'GET',
  path: '/api/llm/overview',
  operationId: 'getLlmOverview',
  summary: 'Get totals of model requests in a time range: tokens, costs, latency and errors, with the previous range',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({ ...llmScopeParameters, ...llmPricesParameter }),
  response: z.strictObject({
    from: z.string(),
    to: z.string(),
    current: LlmTotals,
    previous: LlmTotals.nullable().describe('The range of the same length before; `null` beyond the retention'),
  }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const range = parseLlmRange(query, reader);
    const storedPrices = await readStoredPrices(ports.documents, caller.tenantId);
    const options = { prices: query.prices, storedPrices };
    const previousRange = { from: range.from - (range.to - range.from) - 1n, to: range.from - 1n };
    const hasPrevious =
      previousRange.from >=
      BigInt(Math.trunc(reader.nowMs)) * 1_000_000n - BigInt(caller.plan.retentionDays.traces) * dayNs;
    const [current, previous] = await Promise.all([
      readLlmTotals(reader, createLlmScope(query, range), options),
      hasPrevious ? readLlmTotals(reader, createLlmScope(query, previousRange), options) : null,
    ]);
    return { from: formatTime(range.from), to: formatTime(range.to), current, previous };
  },
});

const dayNs = 86_400_000_000_000n;
