/** What an alert rule says, as one declared type: both versions of the API, rule files, evaluation and backtests read it. */
import { z } from 'zod';
import { defaultName } from '../../queries/aggregate/measures.ts';
import { type Measure, Query, readSaved } from '../../queries/query.ts';
import { type AlertSeverity, alertSeverities } from '../../schemas/alerts.ts';
import { duration, minManagedInterval, msOf } from './durations.ts';
import { maxLabelLength } from './plain.ts';
import { isUnit } from './units.ts';

/** How a value is held against a threshold. `any`: every group that the query answers, as in Prometheus' rules. */
export const operators = ['above', 'at-least', 'below', 'equal', 'not-equal', 'outside', 'any'] as const;

/** Which of the values of a window decide. */
export const matches = ['at-least-once', 'all-the-time', 'on-average', 'in-total', 'last'] as const;

const severity = z.enum(alertSeverities);

export const Threshold = z.strictObject({
  severity,
  operator: z
    .enum(operators)
    .describe('at-least: above or equal to `value`; outside: below `value` or above `upper`; any: whatever the value'),
  value: z.number().optional().describe('Required but for any'),
  upper: z.number().optional().describe('Required for outside'),
  recovery: z
    .number()
    .optional()
    .describe(
      'Of above, at-least and below: an alert ends only where its value is not on the wrong side of this one either',
    ),
  unit: z
    .string()
    .max(32)
    .refine(isUnit, 'must be a unit in UCUM, such as ms, s, By, MiBy, 1 or %')
    .optional()
    .describe("Unit of these values; without it, the query's"),
});
export type Threshold = z.output<typeof Threshold>;

const window = duration('1s', '30d').default('5m').describe('How much time a query reads, up to the evaluation');

const ThresholdCondition = z.strictObject({
  kind: z.literal('threshold'),
  query: Query,
  measure: z.string().max(64).optional().describe('Which measure of an aggregate; without it the first'),
  window,
  step: duration('1s', '1d')
    .optional()
    .describe(
      'With a step, the query gives a value for each step of the window, which must be a multiple of it; without one, a single value',
    ),
  match: z.enum(matches).default('last').describe('Which values of the window decide, where there is a step'),
  queryUnit: z
    .string()
    .max(32)
    .refine(isUnit, 'must be a unit in UCUM')
    .optional()
    .describe("Unit of the query's values, where they have none"),
  thresholds: z
    .array(Threshold)
    .min(1)
    .max(8)
    .describe('The alert has the highest severity whose threshold is crossed'),
});

const AbsenceCondition = z.strictObject({
  kind: z.literal('absence'),
  query: Query.describe('Fires where this has no data, or counts 0: for a known group, or at all'),
  window,
  severity: severity.default('warning'),
});

const CompositeCondition = z.strictObject({
  kind: z.literal('composite'),
  expression: z
    .string()
    .min(1)
    .max(1024)
    .describe('Over names of rules, each true where the rule fires: `a && (b || !c)`'),
  rules: z
    .record(z.string().regex(/^[A-Za-z_]\w{0,63}$/), z.string().min(1).max(128))
    .describe('Name → id of the rule'),
  groupBy: z
    .array(z.string().min(1).max(256))
    .max(8)
    .default([])
    .describe('Labels that alerts of the rules have in common: one alert for each of their values'),
  severity: severity.default('warning'),
});

export const AlertCondition = z.discriminatedUnion('kind', [ThresholdCondition, AbsenceCondition, CompositeCondition]);
export type AlertCondition = z.output<typeof AlertCondition>;

const labelName = z
  .string()
  .regex(/^[A-Za-z_][\w.]{0,255}$/, 'must be letters, digits, _ and ., and begin with none of the digits');
/** Which rule of which file of Prometheus: a name may be there several times, the group's and the file's tell them apart. */
export const RuleOrigin = z.strictObject({
  file: z.string().max(256).describe('The name that the file was imported with; empty without one'),
  group: z.string().max(256),
  alert: z.string().max(256).describe('What the file calls it'),
  nth: z.int().min(1).describe('1 for the first of this name in the group'),
  place: z.int().min(0).optional().describe('Its place in the group, from 0 on'),
});
export type RuleOrigin = z.output<typeof RuleOrigin>;

const waiting = duration('0s', '30d').default('0s');

/** What callers write of a rule. */
export const AlertRuleFields = z.strictObject({
  name: z.string().min(1).max(256),
  alertName: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe('The label `alertname` of its alerts; without it the name. Several rules may have the same'),
  origin: RuleOrigin.optional().describe(
    'The rule of a file that it was made of: when the file is imported again, it is replaced',
  ),
  description: z.string().max(4096).default(''),
  projectId: z.string().min(1).max(128).nullable().default(null).describe('The project that its alerts belong to'),
  enabled: z.boolean().default(true),
  condition: AlertCondition,
  interval: duration(minManagedInterval, '1d').default('1m').describe('How often it is evaluated'),
  delay: duration('0s', '1h')
    .default('0s')
    .describe(
      'How far before the evaluation the window ends: for data that arrives late. A window no longer than the interval needs it: without it what lands after the evaluation is in no window',
    ),
  for: waiting.describe('How long the condition must hold before the alert fires'),
  keepFiringFor: waiting.describe('How long the alert goes on firing once the condition no longer holds'),
  limit: z
    .int()
    .min(1)
    .max(10_000)
    .optional()
    .describe('An answer of more groups than these is an evaluation that fails: `limit` of a rule file'),
  minimumEvents: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .optional()
    .describe('Fewer events (of metrics: steps with a value) in the window say nothing about a group'),
  noData: z
    .enum(['keep', 'resolve', 'alert', 'unknown'])
    .optional()
    .describe(
      'What a group without data means. keep: it stays as it is; resolve: the condition does not hold; alert: it holds; unknown: that is told. Without it a count of no records is 0, and any other group stays as it is',
    ),
  onError: z
    .enum(['keep', 'alert', 'unknown'])
    .default('unknown')
    .describe(
      'What an evaluation that fails means; alerts never end by one. alert and unknown: an alert of the rule tells of it',
    ),
  forgetAfter: duration('1m', '90d')
    .default('1d')
    .describe('A group that had no data for so long is gone: its alert ends, and says that it did not recover'),
  labels: z
    .record(labelName, z.string().max(maxLabelLength))
    .default({})
    .describe('Values are templates: {{ $labels.service }}'),
  annotations: z
    .record(labelName, z.string().max(8192))
    .default({})
    .describe('Values are templates: {{ $value | humanize }}'),
});
export type AlertRuleFields = z.output<typeof AlertRuleFields>;

/** A rule as it is evaluated. */
export interface AlertRule extends AlertRuleFields {
  readonly id: string;
  readonly version: number;
}

/** What Prometheus and Alertmanager call its alerts. */
export const alertNameOf = ({ name, alertName = name }: Pick<AlertRule, 'name' | 'alertName'>): string => alertName;

/** A rule as it was stored, in today's form; undefined where it cannot be read: it is of a later version, or was damaged. */
export const readRule = (stored: object & { readonly id: string; readonly version: number }): AlertRule | undefined => {
  const { id, version, ...fields } = stored;
  const { queryVersion = 1, condition } = fields as { queryVersion?: number; condition?: { query?: unknown } };
  if (condition?.query !== undefined && readSaved(condition.query, queryVersion) === undefined) return undefined;
  const known = Object.fromEntries(Object.entries(fields).filter(([name]) => name in AlertRuleFields.shape));
  const parsed = AlertRuleFields.safeParse(known);
  return parsed.success ? { ...parsed.data, id, version } : undefined;
};

export const severityRank = (one: AlertSeverity): number => alertSeverities.indexOf(one);

/** The highest severity that an alert of the rule may have. */
export const highestSeverity = ({ condition }: Pick<AlertRule, 'condition'>): AlertSeverity =>
  condition.kind === 'threshold'
    ? condition.thresholds.map((one) => one.severity).reduce((a, b) => (severityRank(a) >= severityRank(b) ? a : b))
    : condition.severity;

/** Whether the condition is of Prometheus' kind: a group that is not in the answer does not hold. */
export const isByPresence = ({ condition }: Pick<AlertRule, 'condition'>): boolean =>
  condition.kind === 'composite' ||
  (condition.kind === 'threshold' && condition.thresholds.some(({ operator }) => operator === 'any'));

/** The measure of an aggregate that a condition compares: the one that it names, else the first. Undefined of other queries. */
export const comparedMeasure = (condition: AlertCondition): Measure | undefined => {
  if (condition.kind === 'composite' || condition.query.kind !== 'aggregate') return undefined;
  const { measures } = condition.query;
  const named = condition.kind === 'threshold' ? condition.measure : undefined;
  return measures.find((each) => (each.as ?? defaultName(each)) === named) ?? measures[0];
};

const counting = new Set<string>(['count', 'rate', 'distinct']);

/** Whether what is compared is a count of records, so that of no records it is 0. */
export const isOfCount = ({ condition }: Pick<AlertRule, 'condition'>): boolean => {
  if (condition.kind === 'composite' || condition.query.kind !== 'aggregate') return false;
  return counting.has(comparedMeasure(condition)?.function ?? '');
};

/** Labels by which the answer of a query is grouped: undefined where only the answer tells. */
export const groupingOf = (query: Query): readonly string[] | undefined => {
  switch (query.kind) {
    case 'aggregate':
      return query.groupBy;
    case 'metric':
      return query.across === 'none' ? undefined : query.groupBy;
    case 'slo':
      return [];
    case 'formula': {
      const parts = Object.values(query.queries).map(groupingOf);
      return parts.every((labels) => labels?.length === 0) ? [] : undefined;
    }
    default:
      return undefined;
  }
};

/** How long a window is, in milliseconds; 0 for a composite, which reads no window. */
export const windowMs = ({ condition }: Pick<AlertRule, 'condition'>): number =>
  condition.kind === 'composite' ? 0 : msOf(condition.window);
