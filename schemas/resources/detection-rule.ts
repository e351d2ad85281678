/** Rules of the SIEM as they are deployed, and what they are read with. */
import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';
import { signalSeverities } from '../signals.ts';

/** Values that a selection takes, as Sigma writes them. */
const selectionText = z.string().max(16_384);
export const SelectionValues = z.record(
  z.string().min(1).max(256),
  z.union([
    selectionText,
    z.number(),
    z.boolean(),
    z.null(),
    z.array(z.union([selectionText, z.number(), z.null()])).max(1_000),
  ]),
);

/** Records that a rule shall not be about. Their signals are kept, and say so. */
export const RuleException = z.strictObject({
  id: z.string().min(1).max(64),
  reason: z.string().max(1_024),
  /** A map as in a selection of Sigma: `{ "User|startswith": "svc_" }`. All of it must hold. */
  when: SelectionValues,
  expiresAt: z.iso.datetime({ offset: true }).nullable(),
});
export type RuleException = z.output<typeof RuleException>;

/** The signals of a rule that have the same values in these fields are one, for a time. */
export const RuleSuppression = z.strictObject({
  by: z.array(z.string().min(1).max(256)).max(10),
  forSeconds: z
    .int()
    .min(1)
    .max(30 * 86_400),
});

/** One document of Sigma. Its version is that of the document in the store; the id is Sigma's own where it has one. */
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
});
export type DetectionRule = z.output<typeof DetectionRule>;

export const detectionRules = defineCollection<DetectionRule>({ name: 'detection-rules' });

const sourceName = z.string().min(1).max(64);
const LogSourceParts = z.strictObject({
  product: sourceName.optional(),
  category: sourceName.optional(),
  service: sourceName.optional(),
});
const fieldName = z.string().min(1).max(256);
const fieldValues = z.array(z.string().min(1).max(256)).min(1).max(200);

/** A table of field names of an organization's own; `subjects/detections/fields/table.ts` says what its parts mean. */
export const DetectionFields = z.strictObject({
  name: z.string().min(1).max(128).describe('One that a table of the platform has takes its place'),
  summary: z.string().max(1_024).default(''),
  rules: z
    .array(LogSourceParts)
    .min(1)
    .max(50)
    .describe('Log sources of the rules that it is for; one without any part is for all rules'),
  fields: z
    .record(fieldName, z.array(fieldName).min(1).max(50))
    .refine((fields) => Object.keys(fields).length <= 1_000, 'must be 1,000 fields at most')
    .default({})
    .describe('Fields of rules, each with the names under which events have it, the first that is there counts'),
  roots: z
    .array(fieldName)
    .max(50)
    .default([])
    .describe('Paths below which events have their fields, such as winlog.event_data'),
  sources: z
    .array(
      z.strictObject({
        when: z
          .array(
            z.strictObject({
              names: z.array(fieldName).min(1).max(20),
              values: fieldValues.optional().describe('In any case; a * at the end stands for all that begin so'),
            }),
          )
          .min(1)
          .max(10),
        is: LogSourceParts,
        categories: z
          .strictObject({
            names: z.array(fieldName).min(1).max(20),
            by: z.record(z.string().min(1).max(256), z.array(sourceName).min(1).max(20)),
          })
          .optional()
          .describe("Categories by a field's value"),
      }),
    )
    .max(200)
    .default([])
    .describe('Which events are of which log source'),
});
export type DetectionFields = z.output<typeof DetectionFields>;
export const detectionFields = defineCollection<DetectionFields>({ name: 'detection-fields', unique: [['name']] });

/** What a placeholder of rules stands for. */
export const DetectionPlaceholder = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, hyphens or underscores')
    .describe('As rules write it between percent signs'),
  description: z.string().max(1_024).default(''),
  values: z.array(z.string().max(1_024)).max(10_000).describe('What it stands for: any of them'),
});
export type DetectionPlaceholder = z.output<typeof DetectionPlaceholder>;
export const detectionPlaceholders = defineCollection<DetectionPlaceholder>({
  name: 'detection-placeholders',
  unique: [['name']],
});
