/** Output of the processor `log-patterns`. */
import { z } from 'zod';

/** Coarse severities: OpenTelemetry's ranges, and `unspecified` for all others. */
export const severityLevels = ['unspecified', 'trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
export type SeverityLevel = (typeof severityLevels)[number];

/** Values of a pattern variable in the sampled bodies. */
export const ParameterValues = z.strictObject({
  name: z.string().describe('Index among the words and variables, or the key in JSON and logfmt'),
  seen: z.int().describe('Number of sampled values'),
  top: z.array(z.tuple([z.string(), z.int()])).describe('Frequent values with the minimum count of each'),
  distinct: z
    .string()
    .nullable()
    .default(null)
    .describe(
      'Sketch of the number of distinct values (HyperLogLog); `null` if `top` contains all. Absent in messages of earlier versions',
    ),
  numbers: z.int().describe('Number of numeric values'),
  min: z.number().nullable(),
  max: z.number().nullable(),
});
export type ParameterValues = z.output<typeof ParameterValues>;

/**
 * A pattern. It is emitted when it is discovered, when other patterns are merged into it, when its count doubles, and
 * once a day.
 */
export const LogPattern = z.strictObject({
  tenantId: z.string(),
  service: z.string(),
  patternId: z.string(),
  template: z.string(),
  structure: z.int().describe('Hash of the punctuation: patterns with different structures never match the same body'),
  places: z
    .array(z.int())
    .describe('For each word and variable: the hash of the word, 0 for a variable, 1 for a wildcard'),
  shard: z.int().describe('Partition of the records'),
  firstSeen: z.iso.datetime().describe('Time of the record, or of its reception if that is earlier'),
  seenAt: z.iso.datetime().describe('Reception time of the record that triggered this message'),
  count: z.int().describe('Number of bodies in this shard so far'),
  sample: z.string().describe('Truncated example body'),
  merged: z.array(z.string()).describe('IDs that became aliases of this pattern'),
  parameters: z.array(ParameterValues),
});
export type LogPattern = z.output<typeof LogPattern>;

/** Number of records per minute. Several messages for the same minute add up. */
export const PatternCount = z.strictObject({
  tenantId: z.string(),
  projectId: z.string(),
  service: z.string(),
  severity: z.enum(severityLevels),
  patternId: z.string(),
  minute: z.iso.datetime().describe("Minute of the records' time"),
  count: z.int(),
});
export type PatternCount = z.output<typeof PatternCount>;
