/** Rules of the SIEM as they are deployed, and what they are read with. */
import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';
import { signalSeverities } from '../signals.ts';

/** Values that a selection takes, as Sigma writes them. */
export const SelectionValues = z.record(
  z.string().min(1).max(256),
  z.union([
    z.string(),
    z.number(),
    z.boolean(),
    z.null(),
    z.array(z.union([z.string(), z.number(), z.null()])).max(1_000),
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
});
export type DetectionRule = z.output<typeof DetectionRule>;

export const detectionRules = defineCollection<DetectionRule>({ name: 'detection-rules' });

/** A table of field names of an organization's own; `queries/sigma/fields/table.ts` says what its parts mean. */
export const DetectionFields = z.strictObject({
  table: z.strictObject({
    name: z.string().min(1).max(128),
    summary: z.string().max(1_024),
    rules: z.array(
      z.strictObject({
        product: z.string().optional(),
        category: z.string().optional(),
        service: z.string().optional(),
      }),
    ),
    fields: z.record(z.string(), z.array(z.string())),
    roots: z.array(z.string()).optional(),
  }),
});
export type DetectionFields = z.output<typeof DetectionFields>;
export const detectionFields = defineCollection<DetectionFields>({ name: 'detection-fields' });

/** What a placeholder of rules stands for; the id is its name without the percent signs. */
export const DetectionPlaceholder = z.strictObject({ values: z.array(z.string().max(1_024)).max(10_000) });
export type DetectionPlaceholder = z.output<typeof DetectionPlaceholder>;
export const detectionPlaceholders = defineCollection<DetectionPlaceholder>({ name: 'detection-placeholders' });
