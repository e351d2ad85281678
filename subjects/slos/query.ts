/** Schema of queries for figures of a service level objective. */
import { z } from 'zod';
import { parseDuration } from '../../queries/time.ts';

const sloFigures = ['sli', 'burn-rate', 'budget-left', 'budget-spent', 'coverage'] as const;
const day = parseDuration('1d') as bigint;
const window = z
  .string()
  .max(32)
  .refine((text) => {
    const ns = parseDuration(text);
    return ns !== undefined && ns >= day / 1440n && ns <= 366n * day;
  }, 'must be a duration from 1m to 366d, such as 5m, 1h or 30d');

/** Status of a service level objective, from its stored measurements. */
export const SloQuery = z
  .strictObject({
    kind: z.literal('slo'),
    sloId: z.string().min(1).max(128),
    figure: z
      .enum(sloFigures)
      .describe(
        'sli, budget-left, budget-spent and coverage are shares; burn-rate is the rate of budget consumption relative to the allowed rate',
      ),
    windows: z
      .array(window)
      .min(1)
      .max(2)
      .optional()
      .describe(
        'For burn-rate one or two windows, of which the lower rate is returned; for others one. By default the window of the objective',
      ),
  })
  .superRefine(({ figure, windows = [] }, context) => {
    const maxWindows = figure === 'burn-rate' ? 2 : figure === 'budget-left' ? 0 : 1;
    if (figure === 'burn-rate' && windows.length === 0)
      context.addIssue({ code: 'custom', path: ['windows'], message: 'is required for burn-rate' });
    if (windows.length > maxWindows)
      context.addIssue({
        code: 'custom',
        path: ['windows'],
        message: maxWindows === 0 ? `must not be set for ${figure}` : `must be one for ${figure}`,
      });
  });
export type SloQuery = z.output<typeof SloQuery>;

declare module '../../queries/query.ts' {
  interface PartQuerySchemas {
    slo: typeof SloQuery;
  }
}
