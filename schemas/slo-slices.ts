/** What was measured of objectives, slice by slice. */
import { z } from 'zod';

/** How good of all is counted: by events, by slices that are good enough, or as the mean of the slices' shares. */
export const budgetings = ['occurrences', 'timeslices', 'ratio-timeslices'] as const;
export const calendarPeriods = ['day', 'week', 'month', 'quarter', 'year'] as const;

/** What of an objective its figures are made by, as it was when it was measured. */
export const SloObjective = z.strictObject({
  targetPct: z.number(),
  budgeting: z.enum(budgetings),
  sliceTarget: z.number().optional(),
  sliceMs: z.int(),
  windowDays: z.int(),
  calendar: z
    .strictObject({ period: z.enum(calendarPeriods), timeZone: z.string(), startsAt: z.string() })
    .optional()
    .describe('In place of the days'),
  excluded: z
    .array(z.tuple([z.int(), z.int()]))
    .max(2000)
    .optional()
    .describe('Begins and ends of maintenance that is left out, in order and apart'),
});
export type SloObjective = z.output<typeof SloObjective>;

/** Slices are kept for so long, whatever the plan keeps: windows are up to 366 days, and reports compare two years. */
export const slicesRetentionDays = 800;

/** How many slices a message holds of one objective. */
export const maxSlicesPerMessage = 1500;

/** Slices that one look measured, and how far the objective is measured since. A later look replaces a slice. */
export const SloSlices = z.strictObject({
  tenantId: z.string(),
  sloId: z.string(),
  series: z.string().describe('Of what is measured: another indicator has another one'),
  lookMs: z.int().describe('When it was measured'),
  fromMs: z.int().describe('Slices are measured from here on'),
  upToMs: z.int().describe('And up to here'),
  settledUpToMs: z.int().describe('Late records are counted up to here'),
  error: z.string().max(4096).describe('Why it could not be measured; empty where it could'),
  objective: SloObjective.optional().describe('Absent in messages of former versions'),
  slices: z
    .array(z.tuple([z.int(), z.int().nonnegative(), z.int().nonnegative()]))
    .max(maxSlicesPerMessage)
    .describe('Begin, good and total'),
});
export type SloSlices = z.output<typeof SloSlices>;
