/** Common result format of all queries. */
import { z } from 'zod';

/** An unknown value with the reason. */
export const Unknown = z.strictObject({ value: z.null(), reason: z.string() });

const unit = z.string().describe('UCUM unit, as in OpenTelemetry: ns, By, {request}, {request}/s, %; empty if unknown');

export const TableColumn = z.strictObject({
  name: z.string(),
  type: z.enum(['text', 'number', 'boolean', 'time', 'duration', 'json']),
  unit,
});

/**
 * A number. `NaN`, `Infinity` and `-Infinity` are strings, because JSON cannot represent them; integers beyond 2^53 are
 * strings with every digit.
 */
export const PointValue = z.union([z.number(), z.string()]);

export const Series = z.strictObject({
  /** Name of the measure or metric. */
  name: z.string(),
  labels: z.record(z.string(), z.string()),
  unit,
  points: z
    .array(z.tuple([z.number(), PointValue.nullable()]))
    .describe('Start of the step in epoch milliseconds, and the value; `null` for none'),
});

/** Cost of a query. */
export const Cost = z.strictObject({
  rowsRead: z.int(),
  bytesRead: z.int(),
  elapsedMs: z.number(),
  isCached: z
    .boolean()
    .describe('Whether a recent answer to the same query was reused; the cost is then that of the original'),
});
export type Cost = z.output<typeof Cost>;

/** Reason why a result is incomplete. */
export const Incompleteness = z.strictObject({
  code: z.enum(['rows', 'groups', 'points', 'time', 'memory', 'retention', 'delay', 'dropped']),
  message: z.string(),
});
export type Incompleteness = z.output<typeof Incompleteness>;

export const Result = z.strictObject({
  form: z.enum(['series', 'table']),
  series: z.array(Series).describe('Empty for a table'),
  columns: z.array(TableColumn).describe('Empty for series'),
  rows: z.array(z.array(z.unknown())).describe('One value for each column'),
  from: z.string(),
  to: z.string(),
  stepMs: z.int().nullable(),
  partialSteps: z
    .array(z.int())
    .describe('Starts of steps that are only partly in the range: the first and the last, unless the range is aligned'),
  cost: Cost,
  freshness: z
    .union([z.strictObject({ landedUpTo: z.string() }), Unknown])
    .describe('Time of reception up to which the records of the query are stored'),
  partial: z.array(Incompleteness).describe('Empty if the answer is complete'),
  hint: z.string().optional().describe('For an answer without values: a possible reason and a suggestion'),
});
export type Result = z.output<typeof Result>;
export type Series = z.output<typeof Series>;
export type TableColumn = z.output<typeof TableColumn>;
