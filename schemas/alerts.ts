/** Messages about alerts from evaluation, for notifications, history and the event feed. */
import { z } from 'zod';

/**
 * States of one alert. `pending`: the condition holds, and the alert waits for the rule's `for`. `firing`: the condition holds. `recovering`: the
 * condition no longer holds, and the alert waits for `keepFiringFor`. `unknown`: the rule's query failed or had no data, and the rule reports that.
 * `inactive`: none of these.
 */
export const alertStates = ['inactive', 'pending', 'firing', 'recovering', 'unknown'] as const;
export type AlertState = (typeof alertStates)[number];

export const alertSeverities = ['info', 'warning', 'error', 'critical'] as const;
export type AlertSeverity = (typeof alertSeverities)[number];

const texts = z.record(z.string().max(256), z.string().max(16_384));

/** The value for which a condition held, and the threshold that it crossed. */
export const AlertHeld = z.strictObject({
  value: z.number().nullable(),
  text: z.string().max(256).describe('Value with its unit; empty without a value'),
  threshold: z.string().max(256).describe('Threshold such as `above 1 s`; empty if the condition has none'),
  measure: z.string().max(64).optional().describe('Name of the measure, such as `p95`; absent if the rule names it'),
});
export type AlertHeld = z.output<typeof AlertHeld>;

/** A state change of one alert. IDs are deterministic: a repeated evaluation emits the same transition again. */
export const AlertTransition = z.strictObject({
  tenantId: z.string(),
  projectId: z.string().optional(),
  id: z.string().describe('ID of the transition; the same if it is emitted again'),
  alertId: z.string().describe('ID of the alert: one per rule and group of labels'),
  ruleId: z.string(),
  ruleVersion: z.int(),
  ruleName: z.string(),
  labels: texts.describe('Labels of the alert: those of the group and the rule, `alertname` and `severity`'),
  annotations: texts,
  severity: z.enum(alertSeverities),
  from: z.enum(alertStates),
  to: z.enum(alertStates),
  atMs: z.int().describe('Time of the evaluation that changed the state'),
  startedAtMs: z.int().optional().describe('When the alert started firing; absent if it never fired'),
  endedAtMs: z.int().optional().describe('When the alert stopped firing; absent if it never fired or still fires'),
  value: z.number().nullable().describe('Compared value; `null` if there was none'),
  held: AlertHeld.optional().describe(
    'Value and threshold when the condition last held, for the templates of labels and annotations',
  ),
  reason: z.string().max(4096).describe('Reason for the transition, as a sentence for people'),
  isTest: z.boolean().optional().describe('Whether this is a test alert, which is always marked as a test'),
});
export type AlertTransition = z.output<typeof AlertTransition>;

/** Result of one evaluation of a rule. Evaluations with many groups are split into several parts. */
export const AlertEvaluation = z.strictObject({
  tenantId: z.string(),
  projectId: z.string().describe('Project ID; empty for the entire organization'),
  ruleId: z.string(),
  ruleVersion: z.int(),
  atMs: z.int().describe('Evaluation time'),
  durationMs: z.number(),
  lateMs: z.int().describe('Milliseconds from `atMs` to the end of the evaluation'),
  state: z.enum(alertStates).describe('Worst state of the alerts of the rule'),
  error: z.string().max(4096).describe('Reason why the evaluation failed; empty if it succeeded'),
  groupCount: z.int(),
  firingCount: z.int(),
  value: z.number().nullable().describe('Value of the group with the worst state'),
  part: z.int().describe('Index of the part, starting at 0'),
  groups: z.array(
    z.strictObject({
      alertId: z.string(),
      labels: texts.describe('Labels of the group'),
      state: z.enum(alertStates),
      severity: z.enum(alertSeverities).nullable().describe('Severity; `null` if the alert is inactive'),
      value: z.number().nullable(),
      reason: z.string().max(4096),
      sinceMs: z.int().nullable().describe('Time since which the condition holds'),
      startedAtMs: z.int().nullable().describe('Time since which the alert fires'),
    }),
  ),
});
export type AlertEvaluation = z.output<typeof AlertEvaluation>;
