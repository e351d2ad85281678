/** What the processors of detections emit. */
import { z } from 'zod';

export const signalSeverities = ['informational', 'low', 'medium', 'high', 'critical'] as const;
export type SignalSeverity = (typeof signalSeverities)[number];

/** A field that matched, and why. */
export const SignalField = z.strictObject({
  field: z.string().describe('As the rule names it; empty for keywords'),
  path: z.string().describe('Where the record has it'),
  value: z.string().describe('Cut where it is long'),
  selection: z.string().describe('The selection of the rule that asked for it'),
  because: z.string().describe('What the rule asked, as it writes it'),
});

/** A record that a rule matched. */
export const SignalEvent = z.strictObject({
  recordId: z.string().describe('As `GET /api/logs/{id}` knows it'),
  timeMs: z.number(),
  service: z.string(),
  ruleId: z.string().describe('The rule that matched it: of a correlation one of those that it names'),
  fields: z.array(SignalField),
});
export type SignalEvent = z.output<typeof SignalEvent>;

/** Something that a rule detected. One that is emitted again under its id is the same. */
export const DetectionSignal = z.strictObject({
  tenantId: z.string(),
  projectId: z.string(),
  id: z.string().describe('A function of the rule and of what it matched'),
  kind: z.enum(['rule', 'correlation']),
  ruleId: z.string(),
  ruleVersion: z.int(),
  ruleTitle: z.string(),
  severity: z.enum(signalSeverities),
  riskScore: z.number().describe('0 to 100'),
  timeMs: z.number().describe("Of the record, or of the last one of a correlation's"),
  events: z.array(SignalEvent).describe('The last ones, where there are many'),
  eventCount: z
    .int()
    .describe(
      'Records that are known, those whose signals suppression hid as well; there may be more where they are many',
    ),
  entities: z.array(z.strictObject({ type: z.enum(['user', 'host', 'process', 'address']), value: z.string() })),
  tactics: z.array(z.string()).describe('ATT&CK tactics, as in `privilege-escalation`'),
  techniques: z.array(z.string()).describe('ATT&CK techniques, as in `T1059.001`'),
  group: z.record(z.string(), z.string()).describe('Fields by which records were grouped, with their values'),
  suppressedBy: z.string().describe('Id of the exception that covers it; empty for none'),
});
export type DetectionSignal = z.output<typeof DetectionSignal>;

/** A record that matched a rule, for a correlation or a suppression that sees all records of a key. */
export const DetectionMatch = z.strictObject({
  tenantId: z.string(),
  /** The correlation, or the rule whose signals are suppressed. */
  forRule: z.string(),
  /** Values by which records are grouped, in the order of the fields. */
  key: z.array(z.string()),
  /** Names by which a correlation may know the rule that matched. */
  names: z.array(z.string()),
  /** What is counted or measured: a value for each field; null for one that the record has not. */
  values: z.array(z.string().nullable()),
  /** Aliases and fields of a chained correlation's grouping. */
  signal: DetectionSignal,
});
export type DetectionMatch = z.output<typeof DetectionMatch>;

/** What of a log source came on a day, for the first time on that day in a partition. Says which telemetry an organization sends. */
export const SeenTelemetry = z.strictObject({
  tenantId: z.string(),
  day: z.iso.datetime().describe('Begin of the day on which the records were received'),
  products: z.array(z.string()).describe('Of log sources, as rules name them; empty where none is known'),
  services: z.array(z.string()),
  categories: z.array(z.string()),
  knowsCategories: z.boolean().describe('False: nothing is known of categories, so that they may be any'),
  fields: z.array(z.string()).describe('Names as rules look for them: in lower case, without spaces'),
});
export type SeenTelemetry = z.output<typeof SeenTelemetry>;
