import { z } from 'zod';

/** How an objective stands in a window. */
export const sloFigures = {
  sli: z.number().nullable().describe('A share, 0 to 1; null where nothing is known'),
  good: z.number().describe('Events, or slices where it is budgeted by slices'),
  total: z.number(),
  budget: z.strictObject({
    total: z.number().describe('Events or slices that may be bad'),
    remaining: z.number().describe('Below 0 where it is overspent'),
    remainingPct: z.number().nullable().describe('Null while the budget is 0'),
  }),
  coverage: z.number().describe('Which share of the slices that ended is known, 0 to 1'),
};

/** How far it is measured. */
export const measurementFields = {
  measuredUpTo: z.iso.datetime().nullable().describe('Null where nothing was measured yet'),
  settledUpTo: z.iso.datetime().nullable().describe('Up to here no late record changes a figure any more'),
  error: z.string().nullable().describe('Why the last look could not measure it; null where it could'),
};
