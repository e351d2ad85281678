/** Schema of alert rules, shared by both versions of the API, rule files, evaluation and backtests. */
import { z } from 'zod';
import { getMeasureName } from '../../queries/aggregate/measures.ts';
import { type Measure, parseSavedQuery, Query } from '../../queries/query.ts';
import { getQueryKind, listMeasures } from '../../queries/query-kind.ts';
import { type AlertSeverity, alertSeverities } from '../../schemas/alerts.ts';
import { durationSchema, minManagedInterval, parseDurationMs } from './durations.ts';
import { maxLabelLength } from './escape-template.ts';
import { isUnit } from './units.ts';

/** Comparisons of a value with a threshold. `any`: every group of the result, as in Prometheus rules. */
export const operators = ['above', 'at-least', 'below', 'equal', 'not-equal', 'outside', 'any'] as const;

/** How the values of a window are compared with a threshold. */
export const matchModes = ['at-least-once', 'all-the-time', 'on-average', 'in-total', 'last'] as const;

const severity = z.enum(alertSeverities);

export const Threshold = z.strictObject({
  severity,
  operator: z
    .enum(operators)
    .describe(
      'Comparison; at-least: above or equal to `value`; outside: below `value` or above `upper`; any: every value',
    ),
  value: z.number().optional().describe('Threshold; required except for any'),
  upper: z.number().optional().describe('Upper threshold; required for outside'),
  recovery: z
    .number()
    .optional()
    .describe(
      'Recovery threshold, for above, at-least and below: an active alert ends only when its value also satisfies this threshold',
    ),
  unit: z
    .string()
    .max(32)
    .refine(isUnit, 'must be a UCUM unit, such as ms, s, By, MiBy, 1 or %')
    .optional()
    .describe('Unit of these values; by default that of the query'),
});
export type Threshold = z.output<typeof Threshold>;

const window = durationSchema('1s', '30d')
  .default('5m')
  .describe('Time range of the query, which ends at the evaluation');

const ThresholdCondition = z.strictObject({
  kind: z.literal('threshold'),
  query: Query,
  measure: z.string().max(64).optional().describe('Measure of an aggregate; by default the first'),
  window,
  step: durationSchema('1s', '1d')
    .optional()
    .describe(
      'Step of the query, which divides the window and gives one value per step; without a step, the query gives a single value',
    ),
  match: z.enum(matchModes).default('last').describe('Selection of the values of the window that decide, with a step'),
  queryUnit: z
    .string()
    .max(32)
    .refine(isUnit, 'must be a UCUM unit')
    .optional()
    .describe('Unit of the query values, if they have none'),
  thresholds: z
    .array(Threshold)
    .min(1)
    .max(8)
    .describe('Thresholds by severity; the alert has the highest severity whose threshold is crossed'),
});

const AbsenceCondition = z.strictObject({
  kind: z.literal('absence'),
  query: Query.describe('Query; fires if it has no data, or counts 0, for a known group or in total'),
  window,
  severity: severity.default('warning'),
});

const CompositeCondition = z.strictObject({
  kind: z.literal('composite'),
  expression: z
    .string()
    .min(1)
    .max(1024)
    .describe('Expression over rule names, each true if the rule fires: `a && (b || !c)`'),
  rules: z.record(z.string().regex(/^[A-Za-z_]\w{0,63}$/), z.string().min(1).max(128)).describe('Rule IDs by name'),
  groupBy: z
    .array(z.string().min(1).max(256))
    .max(8)
    .default([])
    .describe('Labels that the alerts of the rules have in common: one alert per combination of their values'),
  severity: severity.default('warning'),
});

export const AlertCondition = z.discriminatedUnion('kind', [ThresholdCondition, AbsenceCondition, CompositeCondition]);
export type AlertCondition = z.output<typeof AlertCondition>;

const labelName = z
  .string()
  .regex(/^[A-Za-z_][\w.]{0,255}$/, 'must consist of letters, digits, _ and ., and must not begin with a digit');
/**
 * Identifies a rule in a Prometheus file. A name may occur several times, so the names of group and file are included.
 */
export const RuleOrigin = z.strictObject({
  file: z.string().max(256).describe('File name at the import; empty without one'),
  group: z.string().max(256),
  alert: z.string().max(256).describe('Name of the alert in the file'),
  nth: z.int().min(1).describe('Number among the rules of this name in the group, starting at 1'),
  place: z.int().min(0).optional().describe('Index in the group, starting at 0'),
});
export type RuleOrigin = z.output<typeof RuleOrigin>;

const waitDuration = durationSchema('0s', '30d').default('0s');

/** Fields of a rule that callers write. */
export const AlertRuleFields = z.strictObject({
  name: z.string().min(1).max(256),
  alertName: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe('Label `alertname` of the alerts; by default the name. Several rules may have the same'),
  origin: RuleOrigin.optional().describe('Original rule in a file; importing the file again replaces this rule'),
  description: z.string().max(4096).default(''),
  projectId: z.string().min(1).max(128).nullable().default(null).describe('Project of the alerts'),
  enabled: z.boolean().default(true),
  condition: AlertCondition,
  interval: durationSchema(minManagedInterval, '1d').default('1m').describe('Evaluation interval'),
  delay: durationSchema('0s', '1h')
    .default('0s')
    .describe(
      'How far before the evaluation the window ends, for data that arrives late. Required for a window no longer than the interval: otherwise data that lands after the evaluation is in no window',
    ),
  for: waitDuration.describe('How long the condition must hold before the alert fires'),
  keepFiringFor: waitDuration.describe('How long the alert continues to fire after the condition no longer holds'),
  limit: z
    .int()
    .min(1)
    .max(10_000)
    .optional()
    .describe('Maximum number of groups; an evaluation with more fails; `limit` in a rule file'),
  minimumEvents: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .optional()
    .describe(
      'Minimum number of events (for metrics: steps with a value) in the window; a group with fewer is not evaluated',
    ),
  noData: z
    .enum(['keep', 'resolve', 'alert', 'unknown'])
    .optional()
    .describe(
      'Effect of missing data for a group. keep: the state is unchanged; resolve: the condition does not hold; alert: it holds; unknown: an alert reports it. By default a count of no records is 0, and other groups are unchanged',
    ),
  onError: z
    .enum(['keep', 'alert', 'unknown'])
    .default('unknown')
    .describe(
      'Effect of a failed evaluation, which never ends alerts. alert and unknown: an alert of the rule reports it',
    ),
  forgetAfter: durationSchema('1m', '90d')
    .default('1d')
    .describe(
      'Time without data after which a group is removed: its alert ends, with the reason that it did not recover',
    ),
  labels: z
    .record(labelName, z.string().max(maxLabelLength))
    .default({})
    .describe('Labels, whose values are templates: {{ $labels.service }}'),
  annotations: z
    .record(labelName, z.string().max(8192))
    .default({})
    .describe('Annotations, whose values are templates: {{ $value | humanize }}'),
});
export type AlertRuleFields = z.output<typeof AlertRuleFields>;

/** A rule in the form that is evaluated. */
export interface AlertRule extends AlertRuleFields {
  readonly id: string;
  readonly version: number;
}

/** Returns the name of the rule's alerts in Prometheus and Alertmanager. */
export const getAlertName = ({ name, alertName = name }: Pick<AlertRule, 'name' | 'alertName'>): string => alertName;

/**
 * Converts a stored rule to the current form; undefined if it is unreadable because it is damaged or of a later
 * version.
 */
export const parseStoredRule = (
  stored: object & { readonly id: string; readonly version: number },
): AlertRule | undefined => {
  const { id, version, ...fields } = stored;
  const { queryVersion = 1, condition } = fields as { queryVersion?: number; condition?: { query?: unknown } };
  if (condition?.query !== undefined && parseSavedQuery(condition.query, queryVersion) === undefined) return undefined;
  const knownFields = Object.fromEntries(Object.entries(fields).filter(([name]) => name in AlertRuleFields.shape));
  const parsed = AlertRuleFields.safeParse(knownFields);
  return parsed.success ? { ...parsed.data, id, version } : undefined;
};

export const getSeverityRank = (severity: AlertSeverity): number => alertSeverities.indexOf(severity);

/** Returns the highest severity that an alert of the rule may have. */
export const getHighestSeverity = ({ condition }: Pick<AlertRule, 'condition'>): AlertSeverity =>
  condition.kind === 'threshold'
    ? condition.thresholds
        .map((threshold) => threshold.severity)
        .reduce((left, right) => (getSeverityRank(left) >= getSeverityRank(right) ? left : right))
    : condition.severity;

/** Returns whether the condition follows Prometheus: it does not hold for a group that is not in the result. */
export const isPresenceBased = ({ condition }: Pick<AlertRule, 'condition'>): boolean =>
  condition.kind === 'composite' ||
  (condition.kind === 'threshold' && condition.thresholds.some(({ operator }) => operator === 'any'));

/**
 * Returns the compared measure of an aggregate: the one that the condition names, or else the first. Undefined for
 * other queries.
 */
export const findComparedMeasure = (condition: AlertCondition): Measure | undefined => {
  if (condition.kind === 'composite') return undefined;
  const measures = listMeasures(condition.query);
  const measureName = condition.kind === 'threshold' ? condition.measure : undefined;
  return measures.find((measure) => getMeasureName(measure) === measureName) ?? measures[0];
};

const countingFunctions = new Set<string>(['count', 'rate', 'distinct']);

/** Returns whether the compared value is a count of records, which is 0 without records. */
export const isCountCompared = ({ condition }: Pick<AlertRule, 'condition'>): boolean =>
  countingFunctions.has(findComparedMeasure(condition)?.function ?? '');

/** Returns the grouping labels of a query's result; undefined if only the result determines them. */
export const getGroupingLabels = (query: Query): readonly string[] | undefined => getQueryKind(query).groupBy?.(query);

/** Returns the window length in milliseconds; 0 for a composite, which has no window. */
export const getWindowMs = ({ condition }: Pick<AlertRule, 'condition'>): number =>
  condition.kind === 'composite' ? 0 : parseDurationMs(condition.window);
