import { z } from 'zod';

/** Measurements of an SLO in a window */
export const sloMetricFields = {
  sli: z.number().nullable().describe('A share, 0 to 1; null if unknown'),
  good: z.number().describe('Events, or slices for time-slice budgets'),
  total: z.number(),
  budget: z.strictObject({
    total: z.number().describe('Number of events or slices that may be bad'),
    remaining: z.number().describe('Below 0 if overspent'),
    remainingPct: z.number().nullable().describe('null while the budget is 0'),
  }),
  coverage: z.number().describe('Share of the ended slices that is known, 0 to 1'),
};

/** Progress of the measurement */
export const measurementFields = {
  measuredUpTo: z.iso.datetime().nullable().describe('null if nothing was measured yet'),
  settledUpTo: z.iso.datetime().nullable().describe('Before this time, late records no longer change any values'),
  error: z.string().nullable().describe('Why the last evaluation failed; null if it succeeded'),
};

/** Whether an SLO never has data */
export const HasNoData = z
  .boolean()
  .describe('Whether an SLO that is an hour old or older has no data in its window: its alerts cannot fire');

export const SloWarnings = z
  .array(z.string())
  .describe(
    'What delays its alerts or leaves slices without data, such as points that come less often than slices end',
  );
