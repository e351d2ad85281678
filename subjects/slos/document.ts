/** Schema of a service level objective, used by the API, imports and exports */
import { z } from 'zod';
import { Query } from '../../queries/query.ts';
import { parseWallTime } from '../../runtime/wall-clock.ts';
import { TimeZone } from '../../schemas/resources/preferences.ts';
import { budgetingMethods, calendarPeriods } from '../../schemas/slo-slices.ts';
import { durationSchema } from '../alerts/durations.ts';

export const sloTypes = ['availability', 'latency', 'ratio', 'threshold'] as const;
/** Comparison operators of a value with a threshold, named as in OpenSLO */
export const sloOperators = ['lt', 'lte', 'gt', 'gte'] as const;

const ratioParts = ['good', 'bad', 'total'] as const;
const thresholdParts = ['value', 'operator', 'threshold'] as const;

/**
 * Good or bad events of a total, or a value that is good on one side of a threshold. In the second form, each slice
 * with a value counts once
 */
const Sli = z
  .strictObject({
    good: Query.optional().describe('Query that counts good events in a slice'),
    bad: Query.optional().describe('Query that counts bad events, as an alternative to `good`'),
    total: Query.optional().describe('Query that counts all events, good and bad'),
    value: Query.optional().describe('Query of one value per slice, instead of `good`, `bad` and `total`'),
    operator: z.enum(sloOperators).optional().describe('`gte`: good is a value greater than or equal to the threshold'),
    threshold: z.number().optional(),
  })
  .superRefine((sli, context) => {
    const has = (part: keyof typeof sli): boolean => sli[part] !== undefined;
    const isThreshold = thresholdParts.some(has);
    const checks: readonly (readonly [path: string, isWrong: boolean, message: string])[] = [
      ...thresholdParts.map((part) => [part, isThreshold && !has(part), 'is required for a threshold'] as const),
      ...ratioParts.map(
        (part) => [part, isThreshold && has(part), 'must not be set together with a threshold'] as const,
      ),
      ['total', !isThreshold && !has('total'), 'is required'],
      ['good', !(isThreshold || has('good') || has('bad')), 'is required, unless bad is set'],
      ['bad', !isThreshold && has('good') && has('bad'), 'must not be set together with good'],
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
    .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d$/, 'must be a local date and time, such as 2026-01-01T00:00')
    .refine((text) => parseWallTime(text) !== undefined, 'must be an existing date'),
});

const createLabelsSchema = (maxLength: number) =>
  z.record(z.string().regex(/^[A-Za-z_][\w./-]{0,255}$/), z.string().max(maxLength));

const Alerting = z.strictObject({
  enabled: z.boolean().default(true),
  rules: z
    .array(
      z.strictObject({
        severity: z.enum(['page', 'ticket']),
        rate: z
          .number()
          .positive()
          .max(1_000_000)
          .describe('Burn rate: the factor by which the budget is consumed faster than allowed'),
        long: durationSchema('2m', '30d'),
        short: durationSchema('1m', '30d'),
      }),
    )
    .max(16)
    .optional()
    .describe('Burn rate rules; default: those of the SRE workbook, scaled to the window'),
  labels: createLabelsSchema(2048).default({}).describe('Labels of all alerts, for routing'),
  severityLabels: z
    .strictObject({ page: createLabelsSchema(2048).optional(), ticket: createLabelsSchema(2048).optional() })
    .optional()
    .describe('Labels of burn rate alerts of one severity; override `labels`'),
  annotations: createLabelsSchema(8192).default({}),
});

/** Fields of an SLO beyond the short form */
export const SloQuery = z.strictObject({
  sli: Sli.optional().describe('Indicator; default: requests of `service` by `type`'),
  budgeting: z.enum(budgetingMethods).default('occurrences'),
  slice: durationSchema('1m', '1d').default('1m').describe('Slice of full minutes, which divides the window'),
  sliceTarget: z
    .number()
    .gt(0)
    .max(1)
    .optional()
    .describe('Minimum share of good events for a good slice; required for `timeslices`'),
  calendar: Calendar.optional().describe('Calendar window instead of `windowDays`'),
  minimumEvents: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .optional()
    .describe('Minimum number of events in the long window; without it, more than one bad event is required'),
  excludeMaintenance: z.boolean().default(false),
  alerting: Alerting.prefault({}),
});
export type SloQuery = z.output<typeof SloQuery>;

/** `query` as text is JSON of the same schema. */
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

/** Writable fields of an SLO */
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

/** An SLO with its id */
export interface IdentifiedSlo {
  readonly id: string;
  readonly slo: SloFields;
}
