/** What a service level objective says, as one declared type: the API, imports and exports read and write it. */
import { z } from 'zod';
import { Query } from '../../queries/query.ts';
import { wallTimeOf } from '../../runtime/wall-clock.ts';
import { TimeZone } from '../../schemas/resources/preferences.ts';
import { budgetings, calendarPeriods } from '../../schemas/slo-slices.ts';
import { duration } from '../alerts/durations.ts';

export const sloTypes = ['availability', 'latency', 'ratio', 'threshold'] as const;
/** How a value is held against a threshold, in the words of OpenSLO. */
export const sloOperators = ['lt', 'lte', 'gt', 'gte'] as const;

const ratioParts = ['good', 'bad', 'total'] as const;
const thresholdParts = ['value', 'operator', 'threshold'] as const;

/** Good or bad of a total; or a value that is good on one side of a threshold, where each slice with a value counts once. */
const Sli = z
  .strictObject({
    good: Query.optional().describe('Counts what was good in a slice'),
    bad: Query.optional().describe('Counts what was bad, where that is easier to ask'),
    total: Query.optional().describe('Counts all: of good and bad'),
    value: Query.optional().describe('One figure of a slice, in place of good, bad and total'),
    operator: z.enum(sloOperators).optional().describe('gte: good is a value greater than or equal to the threshold'),
    threshold: z.number().optional(),
  })
  .superRefine((sli, context) => {
    const has = (part: keyof typeof sli): boolean => sli[part] !== undefined;
    const isThreshold = thresholdParts.some(has);
    const checks: readonly (readonly [path: string, isWrong: boolean, message: string])[] = [
      ...thresholdParts.map((part) => [part, isThreshold && !has(part), 'is required of a threshold'] as const),
      ...ratioParts.map((part) => [part, isThreshold && has(part), 'must be left out beside a threshold'] as const),
      ['total', !isThreshold && !has('total'), 'is required'],
      ['good', !(isThreshold || has('good') || has('bad')), 'is required, or bad'],
      ['bad', !isThreshold && has('good') && has('bad'), 'must be left out beside good'],
    ];
    for (const [path, isWrong, message] of checks)
      if (isWrong) context.addIssue({ code: 'custom', path: [path], message });
  });
export type Sli = z.output<typeof Sli>;

const Calendar = z.strictObject({
  period: z.enum(calendarPeriods),
  timeZone: TimeZone,
  startsAt: z
    .string()
    .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d$/, 'must be a date and time on the wall clock, such as 2026-01-01T00:00')
    .refine((text) => wallTimeOf(text) !== undefined, 'must be a date that there is'),
});

const labels = (maxLength: number) =>
  z.record(z.string().regex(/^[A-Za-z_][\w./-]{0,255}$/), z.string().max(maxLength));

const Alerting = z.strictObject({
  enabled: z.boolean().default(true),
  rules: z
    .array(
      z.strictObject({
        severity: z.enum(['page', 'ticket']),
        rate: z.number().positive().max(1_000_000).describe('How many times faster than it may the budget is spent'),
        long: duration('2m', '30d'),
        short: duration('1m', '30d'),
      }),
    )
    .max(16)
    .optional()
    .describe('Without it, those of the SRE workbook, scaled to the window'),
  labels: labels(2048).default({}).describe('Of its alerts, for routing'),
  severityLabels: z
    .strictObject({ page: labels(2048).optional(), ticket: labels(2048).optional() })
    .optional()
    .describe('Of its alerts on burn rates of one severity, over `labels`'),
  annotations: labels(8192).default({}),
});

/** What an objective says beyond the short form. */
export const SloQuery = z.strictObject({
  sli: Sli.optional().describe('Without it, requests of `service` by `type`'),
  budgeting: z.enum(budgetings).default('occurrences'),
  slice: duration('1m', '1d').default('1m').describe('Whole minutes, which divide the window'),
  sliceTarget: z
    .number()
    .gt(0)
    .max(1)
    .optional()
    .describe('Required for timeslices: from which share of good on a slice is good'),
  calendar: Calendar.optional().describe('In place of windowDays'),
  minimumEvents: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .optional()
    .describe('Fewer events in the long window say nothing; without it, more than one bad event is wanted'),
  excludeMaintenance: z.boolean().default(false),
  alerting: Alerting.prefault({}),
});
export type SloQuery = z.output<typeof SloQuery>;

/** `query` as text is JSON of the same. */
const QueryField = z
  .preprocess((value, context) => {
    if (typeof value !== 'string') return value;
    try {
      return JSON.parse(value) as unknown;
    } catch (error) {
      context.addIssue({ code: 'custom', message: `must be JSON: ${(error as Error).message}` });
      return z.NEVER;
    }
  }, SloQuery)
  .prefault({});

/** What callers write of an objective. */
export const SloFields = z.strictObject({
  name: z.string().min(1).max(256),
  description: z.string().max(4096).default(''),
  targetPct: z.number().gt(0).lt(100).default(99.9),
  signal: z.enum(['traces', 'logs', 'metrics']).default('traces'),
  query: QueryField,
  windowDays: z.int().min(1).max(366).default(30),
  type: z.enum(sloTypes).default('availability'),
  service: z.string().max(256).default(''),
  latencyThresholdMs: z.number().positive().max(86_400_000).nullable().default(null),
  enabled: z.boolean().default(true),
});
export type SloFields = z.output<typeof SloFields>;

/** An objective with its id. */
export interface KnownSlo {
  readonly id: string;
  readonly slo: SloFields;
}
