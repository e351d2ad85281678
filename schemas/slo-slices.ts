/** Measurements of SLOs by time slice. */
import { z } from 'zod';

/** Budgeting methods: good events among all events, good slices among all slices, or the mean of the slices' ratios. */
export const budgetingMethods = ['occurrences', 'timeslices', 'ratio-timeslices'] as const;
export const calendarPeriods = ['day', 'week', 'month', 'quarter', 'year'] as const;

/** Parameters of an SLO at the time of the measurement. */
export const SloObjective = z.strictObject({
  targetPct: z.number(),
  budgeting: z.enum(budgetingMethods),
  sliceTarget: z.number().optional(),
  sliceMs: z.int(),
  windowDays: z.int(),
  calendar: z
    .strictObject({ period: z.enum(calendarPeriods), timeZone: z.string(), startsAt: z.string() })
    .optional()
    .describe('Time slices, instead of the days'),
  excluded: z
    .array(z.tuple([z.int(), z.int()]))
    .max(2000)
    .optional()
    .describe('Start and end of each excluded maintenance period, in order and without overlaps'),
});
export type SloObjective = z.output<typeof SloObjective>;

/**
 * Retention of slices in days, regardless of the plan's retention: windows are up to 366 days, and reports compare two
 * years.
 */
export const slicesRetentionDays = 800;

/** Maximum number of slices of one SLO in a message. */
export const maxSlicesPerMessage = 1500;

/** Slices of one measurement, and the measured range of the SLO. A later measurement replaces a slice. */
export const SloSlices = z.strictObject({
  tenantId: z.string(),
  sloId: z.string(),
  series: z.string().describe('ID of the measured series; changes with the indicator'),
  lookMs: z.int().describe('Time of the measurement'),
  fromMs: z.int().describe('Start of the measured range'),
  upToMs: z.int().describe('End of the measured range'),
  settledUpToMs: z.int().describe('Time up to which late records are counted'),
  error: z.string().max(4096).describe('Reason why the measurement failed; empty if it succeeded'),
  objective: SloObjective.optional().describe('Objective; absent in messages of former versions'),
  slices: z
    .array(z.tuple([z.int(), z.number().nonnegative(), z.number().nonnegative()]))
    .max(maxSlicesPerMessage)
    .describe('Start, good count and total count; counts have at most nine fraction digits'),
});
export type SloSlices = z.output<typeof SloSlices>;
