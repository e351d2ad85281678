/** Copies prices of organizations to the stored data, where queries find them. */
import { z } from 'zod';
import { llmPrices } from '../../schemas/resources/llm-price.ts';
import { topics } from '../../schemas/topics.ts';
import { toPriceRows } from '../../subjects/llm/own-prices.ts';
import { defineSchedule } from '../engine/schedule.ts';

const everyMs = 10_000;

export const llmPriceCopies = defineSchedule({
  name: 'llm-price-copies',
  summary: 'Copies prices of models to the stored data for queries.',
  collection: llmPrices,
  everyMs: () => everyMs,
  missed: 'skip',
  state: { version: 1, schema: z.strictObject({ version: z.int() }), empty: () => ({ version: 0 }) },
  emits: { prices: topics.llmPrices },
  async run(price, { tenantId, state, emit }) {
    if (price.version !== state.version)
      emit.prices({ tenantId, priceId: price.id, version: price.version, rates: toPriceRows(price.id, price) });
    return { version: price.version };
  },
});
