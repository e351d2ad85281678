/** Output of the detection processors. */
import { z } from 'zod';

export const signalSeverities = ['informational', 'low', 'medium', 'high', 'critical'] as const;
export type SignalSeverity = (typeof signalSeverities)[number];

/** A matched field, and the condition that it matched. */
export const SignalField = z.strictObject({
  field: z.string().describe('Field name in the rule; empty for keywords'),
  path: z.string().describe('Path of the field in the record'),
  value: z.string().describe('Value of the field, possibly truncated'),
  selection: z.string().describe('Selection of the rule that matched'),
  because: z.string().describe('Condition, as the rule writes it'),
});

/** A record that a rule matched. */
export const SignalEvent = z.strictObject({
  recordId: z.string().describe('ID of the record for `GET /api/logs/{id}`'),
  timeMs: z.number(),
  service: z.string(),
  ruleId: z.string().describe('ID of the matched rule; for a correlation, one of its referenced rules'),
  fields: z.array(SignalField),
});
export type SignalEvent = z.output<typeof SignalEvent>;

/** A security signal of a detection rule. Signals with the same ID are duplicates. */
export const DetectionSignal = z.strictObject({
  tenantId: z.string(),
  projectId: z.string(),
  id: z.string().describe('ID derived from the rule and the match'),
  kind: z.enum(['rule', 'correlation']),
  ruleId: z.string(),
  ruleVersion: z.int(),
  ruleTitle: z.string(),
  severity: z.enum(signalSeverities),
  riskScore: z.number().describe('Risk score, between 0 and 100'),
  timeMs: z.number().describe('Time of the record, or of the last record of a correlation'),
  events: z.array(SignalEvent).describe('Matching records; only the last ones if there are many'),
  eventCount: z
    .int()
    .describe('Number of known records, including those of suppressed signals; a lower bound if there are many'),
  entities: z.array(z.strictObject({ type: z.enum(['user', 'host', 'process', 'address']), value: z.string() })),
  tactics: z.array(z.string()).describe('ATT&CK tactics, such as `privilege-escalation`'),
  techniques: z.array(z.string()).describe('ATT&CK techniques, such as `T1059.001`'),
  group: z.record(z.string(), z.string()).describe('Grouping fields with their values'),
  suppressedBy: z.string().describe('ID of the exception that covers the signal; empty for none'),
});
export type DetectionSignal = z.output<typeof DetectionSignal>;

/** A record that matched a rule, for a correlation or a suppression that processes all records of a key. */
export const DetectionMatch = z.strictObject({
  tenantId: z.string(),
  /** ID of the correlation, or of the rule with suppression. */
  forRule: z.string(),
  /** Values by which records are grouped, in field order. */
  key: z.array(z.string()),
  /** Names by which a correlation may reference the matched rule. */
  names: z.array(z.string()),
  /** Counted or measured values, one per field; null if the record has no such field. */
  values: z.array(z.string().nullable()),
  /** Signal of the match. Its `group` contains the aliases and fields by which a chained correlation groups. */
  signal: DetectionSignal,
});
export type DetectionMatch = z.output<typeof DetectionMatch>;

/**
 * Telemetry of a log source that a partition received for the first time on a day. Shows which telemetry an
 * organization sends.
 */
export const SeenTelemetry = z.strictObject({
  tenantId: z.string(),
  day: z.iso.datetime().describe('Start of the day on which the records were received'),
  products: z.array(z.string()).describe('Products of log sources, as rules name them; empty if unknown'),
  services: z.array(z.string()),
  categories: z.array(z.string()),
  knowsCategories: z.boolean().describe('Whether categories are known; if `false`, the records may be of any category'),
  fields: z.array(z.string()).describe('Field names in normalized form: in lower case, without spaces'),
});
export type SeenTelemetry = z.output<typeof SeenTelemetry>;
