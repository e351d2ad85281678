/** Deployed detection rules of the SIEM, and the configuration for evaluating them. */
import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';
import { signalSeverities } from '../signals.ts';

/** Values of a selection, in Sigma's syntax. */
const selectionTextSchema = z.string().max(16_384);
export const SelectionValues = z.record(
  z.string().min(1).max(256),
  z.union([
    selectionTextSchema,
    z.number(),
    z.boolean(),
    z.null(),
    z.array(z.union([selectionTextSchema, z.number(), z.null()])).max(1_000),
  ]),
);

/** An exception of a rule for some records. Their signals are stored, and marked as excepted. */
export const RuleException = z.strictObject({
  id: z.string().min(1).max(64),
  reason: z.string().max(1_024),
  /** A map as in a Sigma selection: `{ "User|startswith": "svc_" }`. All conditions must hold. */
  when: SelectionValues,
  expiresAt: z.iso.datetime({ offset: true }).nullable(),
});
export type RuleException = z.output<typeof RuleException>;

/** Suppression of a rule: signals with equal values in these fields count as one for some time. */
export const RuleSuppression = z.strictObject({
  by: z.array(z.string().min(1).max(256)).max(10),
  forSeconds: z
    .int()
    .min(1)
    .max(30 * 86_400),
});

/** One Sigma document. Its version is that of the document in the store; its ID is the Sigma ID if it has one. */
export const DetectionRule = z.strictObject({
  kind: z.enum(['rule', 'correlation', 'filter']),
  title: z.string(),
  /** YAML of this document alone. */
  source: z.string(),
  enabled: z.boolean(),
  severity: z.enum(signalSeverities),
  riskScore: z.number().min(0).max(100),
  suppression: RuleSuppression.nullable(),
  exceptions: z.array(RuleException).max(100),
  anySource: z.boolean(),
  isImported: z
    .boolean()
    .optional()
    .describe('Whether an import wrote it, or found it unchanged; absent if it was made by hand'),
});
export type DetectionRule = z.output<typeof DetectionRule>;

export const detectionRules = defineCollection<DetectionRule>({ name: 'detection-rules' });

const sourceNameSchema = z.string().min(1).max(64);
const LogSourceParts = z.strictObject({
  product: sourceNameSchema.optional(),
  category: sourceNameSchema.optional(),
  service: sourceNameSchema.optional(),
});
const fieldNameSchema = z.string().min(1).max(256);
const fieldValuesSchema = z.array(z.string().min(1).max(256)).min(1).max(200);

/** An organization's own table of field names. `subjects/detections/fields/table.ts` explains its parts. */
export const DetectionFields = z.strictObject({
  name: z.string().min(1).max(128).describe('Name of the table; replaces a platform table with the same name'),
  summary: z.string().max(1_024).default(''),
  rules: z
    .array(LogSourceParts)
    .min(1)
    .max(50)
    .describe('Log sources of the rules to which the table applies; an empty log source matches all rules'),
  fields: z
    .record(fieldNameSchema, z.array(fieldNameSchema).min(1).max(50))
    .refine((fields) => Object.keys(fields).length <= 1_000, 'must have at most 1,000 fields')
    .default({})
    .describe('Fields of rules, each with the corresponding names in events, of which the first one present applies'),
  roots: z
    .array(fieldNameSchema)
    .max(50)
    .default([])
    .describe('Paths of the objects that contain event fields, such as winlog.event_data'),
  sources: z
    .array(
      z.strictObject({
        when: z
          .array(
            z.strictObject({
              names: z.array(fieldNameSchema).min(1).max(20),
              values: fieldValuesSchema
                .optional()
                .describe('Values, case-insensitive; a trailing * matches any suffix'),
            }),
          )
          .min(1)
          .max(10),
        is: LogSourceParts,
        categories: z
          .strictObject({
            names: z.array(fieldNameSchema).min(1).max(20),
            by: z.record(z.string().min(1).max(256), z.array(sourceNameSchema).min(1).max(20)),
          })
          .optional()
          .describe('Categories by the value of a field'),
      }),
    )
    .max(200)
    .default([])
    .describe('Mapping of events to log sources'),
});
export type DetectionFields = z.output<typeof DetectionFields>;
export const detectionFields = defineCollection<DetectionFields>({ name: 'detection-fields', unique: [['name']] });

/** Values of a placeholder in rules. */
export const DetectionPlaceholder = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, hyphens or underscores')
    .describe('Name as rules write it between percent signs'),
  description: z.string().max(1_024).default(''),
  values: z.array(z.string().max(1_024)).max(10_000).describe('Values of the placeholder, any of which matches'),
});
export type DetectionPlaceholder = z.output<typeof DetectionPlaceholder>;
export const detectionPlaceholders = defineCollection<DetectionPlaceholder>({
  name: 'detection-placeholders',
  unique: [['name']],
});
