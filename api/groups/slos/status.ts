import { z } from 'zod';
import { statusOf } from '../../../subjects/slos/status.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { readingOf } from '../../kernel/reading.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { foundSlo } from './found.ts';

const figures = {
  sli: z.number().nullable().describe('A share, 0 to 1; null where nothing is known'),
  good: z.number().describe('Events, or slices where it is budgeted by slices'),
  total: z.number(),
  budget: z.strictObject({
    total: z.number().describe('Events or slices that may be bad'),
    left: z.number().describe('Below 0 where it is overspent'),
    leftPct: z.number().nullable().describe('Null while the budget is 0'),
  }),
  coverage: z.number().describe('Which share of the slices that ended is known, 0 to 1'),
};

const Status = z.strictObject({
  ...figures,
  burnRates: z
    .array(z.strictObject({ window: z.string(), rate: z.number().nullable(), good: z.number(), total: z.number() }))
    .describe('How many times faster than it may the budget is spent, over the windows of its rules'),
  window: z.strictObject({ from: z.iso.datetime(), to: z.iso.datetime() }),
  measuredUpTo: z.iso.datetime().nullable().describe('Null where nothing was measured yet'),
  settledUpTo: z.iso.datetime().nullable().describe('Up to here no late record changes a figure any more'),
  error: z.string().nullable().describe('Why the last look could not measure it; null where it could'),
});

export const getSloStatus = defineOperation({
  method: 'GET',
  path: '/api/slos/{id}/status',
  operationId: 'getSloStatus',
  summary: 'How an objective stands: indicator, budget left, burn rates, coverage',
  role: 'viewer',
  params: idParameter,
  response: Status,
  async handler({ caller, params }, ports) {
    const slo = await foundSlo(params.id, caller, ports);
    return statusOf(readingOf(caller, ports), slo, ports.clock.now());
  },
});
