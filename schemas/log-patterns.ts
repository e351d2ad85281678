/** What the processor `log-patterns` emits. */
import { z } from 'zod';

/** Coarse severities: OpenTelemetry's ranges, and what names none. */
export const severityLevels = ['unspecified', 'trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
export type SeverityLevel = (typeof severityLevels)[number];

/** What values a variable of a pattern took, of the bodies that were looked at. */
export const ParameterValues = z.strictObject({
  name: z.string().describe('Number of the place among the words and variables, or the key of JSON and logfmt'),
  seen: z.int().describe('Values that were looked at'),
  top: z.array(z.tuple([z.string(), z.int()])).describe('Frequent values with how often each came at least'),
  distinct: z
    .string()
    .nullable()
    .default(null)
    .describe(
      'Sketch of how many different values there were (HyperLogLog); null where `top` has them all. Messages of earlier versions have none',
    ),
  numbers: z.int().describe('How many of the values were numbers'),
  min: z.number().nullable(),
  max: z.number().nullable(),
});
export type ParameterValues = z.output<typeof ParameterValues>;

/** A pattern when it is found, when others are merged into it, when its bodies have doubled, and once a day. */
export const FoundPattern = z.strictObject({
  tenantId: z.string(),
  service: z.string(),
  patternId: z.string(),
  template: z.string(),
  structure: z.int().describe('Hash of the punctuation: patterns of different structure have no body in common'),
  places: z
    .array(z.int())
    .describe('Of each word and variable: hash of the word, 0 for a variable, 1 for whatever stands there'),
  shard: z.int().describe('Partition whose records it was seen in'),
  firstSeen: z.iso.datetime().describe('The time of the record, or of its reception where that is earlier'),
  seenAt: z.iso.datetime().describe('When the record was received for which this was emitted'),
  count: z.int().describe('Bodies in this shard so far'),
  sample: z.string().describe('The body, cut'),
  merged: z.array(z.string()).describe('Ids that became aliases of this one'),
  parameters: z.array(ParameterValues),
});
export type FoundPattern = z.output<typeof FoundPattern>;

/** Records of a minute. Several values may be about the same: they add up. */
export const PatternCount = z.strictObject({
  tenantId: z.string(),
  projectId: z.string(),
  service: z.string(),
  severity: z.enum(severityLevels),
  patternId: z.string(),
  minute: z.iso.datetime().describe("Of the records' time"),
  count: z.int(),
});
export type PatternCount = z.output<typeof PatternCount>;
