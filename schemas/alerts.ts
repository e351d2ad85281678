/** What evaluation tells of alerts, and notifications, history and the event feed read. */
import { z } from 'zod';

/**
 * States of one alert: `pending` waits for its rule's `for`; `firing`; `recovering` is no longer breached, and waits for
 * `keepFiringFor`; `unknown`: its rule's query failed or had no data, and the rule says that this is to be told; `inactive`: none of these.
 */
export const alertStates = ['inactive', 'pending', 'firing', 'recovering', 'unknown'] as const;
export type AlertState = (typeof alertStates)[number];

export const alertSeverities = ['info', 'warning', 'error', 'critical'] as const;
export type AlertSeverity = (typeof alertSeverities)[number];

const texts = z.record(z.string().max(256), z.string().max(16_384));

/** The value with which a condition held, and the threshold that it crossed. */
export const AlertHeld = z.strictObject({
  value: z.number().nullable(),
  text: z.string().max(256).describe('The value with its unit; empty where there was none'),
  threshold: z.string().max(256).describe('Such as `above 1 s`; empty where the condition has none'),
  measure: z.string().max(64).optional().describe('What the value is, such as `p95`; absent where the rule says it'),
});
export type AlertHeld = z.output<typeof AlertHeld>;

/** One alert changed its state. Ids are deterministic: an evaluation that is repeated tells the same transition again. */
export const AlertTransition = z.strictObject({
  tenantId: z.string(),
  projectId: z.string().optional(),
  id: z.string().describe('Of this transition: equal when it is told again'),
  alertId: z.string().describe('Of the alert: one for each rule and group of labels'),
  ruleId: z.string(),
  ruleVersion: z.int(),
  ruleName: z.string(),
  labels: texts.describe("The alert's labels: the group's, the rule's, `alertname` and `severity`"),
  annotations: texts,
  severity: z.enum(alertSeverities),
  from: z.enum(alertStates),
  to: z.enum(alertStates),
  atMs: z.int().describe('Time of the evaluation that changed it'),
  startedAtMs: z.int().optional().describe('Since when it fires; absent where it never fired'),
  endedAtMs: z.int().optional().describe('When it stopped firing; present where it had fired and no longer does'),
  value: z.number().nullable().describe('What was compared; null where there was none'),
  held: AlertHeld.optional().describe('As the condition held last: labels and annotations are filled in with it'),
  reason: z.string().max(4096).describe('Why, in a sentence for people'),
  isTest: z.boolean().optional().describe('A test firing: marked as such everywhere'),
});
export type AlertTransition = z.output<typeof AlertTransition>;

/** What one evaluation of a rule found. Those of many groups are told in several parts. */
export const AlertEvaluation = z.strictObject({
  tenantId: z.string(),
  projectId: z.string().describe('Empty for the whole organization'),
  ruleId: z.string(),
  ruleVersion: z.int(),
  atMs: z.int().describe('For when it was evaluated'),
  durationMs: z.number(),
  lateMs: z.int().describe('How long after that it ended'),
  state: z.enum(alertStates).describe('The worst of its alerts'),
  error: z.string().max(4096).describe('Why it could not be evaluated; empty where it could'),
  groupCount: z.int(),
  firingCount: z.int(),
  value: z.number().nullable().describe('Of the group whose state is the worst'),
  part: z.int().describe('From 0 on'),
  groups: z.array(
    z.strictObject({
      alertId: z.string(),
      labels: texts.describe("The group's"),
      state: z.enum(alertStates),
      severity: z.enum(alertSeverities).nullable().describe('null where it is inactive'),
      value: z.number().nullable(),
      reason: z.string().max(4096),
      sinceMs: z.int().nullable().describe('Since when the condition holds'),
      startedAtMs: z.int().nullable().describe('Since when it fires'),
    }),
  ),
});
export type AlertEvaluation = z.output<typeof AlertEvaluation>;
