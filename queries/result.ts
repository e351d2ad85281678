/** The one form in which every query answers. */
import { z } from 'zod';

/** A value that is not known says why. */
export const Unknown = z.strictObject({ value: z.null(), reason: z.string() });

const unit = z
  .string()
  .describe("UCUM, as OpenTelemetry's units: ns, By, {request}, {request}/s, %; empty where none is known");

export const TableColumn = z.strictObject({
  name: z.string(),
  type: z.enum(['text', 'number', 'boolean', 'time', 'duration', 'json']),
  unit,
});

/** `NaN`, `Infinity` and `-Infinity` are strings, since JSON lacks them; so are integers beyond 2^53, with every digit. */
export const PointValue = z.union([z.number(), z.string()]);

export const Series = z.strictObject({
  /** Of the measure or metric. */
  name: z.string(),
  labels: z.record(z.string(), z.string()),
  unit,
  points: z
    .array(z.tuple([z.number(), PointValue.nullable()]))
    .describe('Start of the step in epoch milliseconds, and the value; null where there is none'),
});

/** What it took. */
export const Cost = z.strictObject({
  rowsRead: z.int(),
  bytesRead: z.int(),
  elapsedMs: z.number(),
  isCached: z
    .boolean()
    .describe('Whether a recent answer to the same question was given again; the cost is then of that one'),
});
export type Cost = z.output<typeof Cost>;

/** Why an answer says less than was asked. */
export const Incompleteness = z.strictObject({
  code: z.enum(['rows', 'groups', 'points', 'time', 'memory', 'retention', 'delay', 'dropped']),
  message: z.string(),
});
export type Incompleteness = z.output<typeof Incompleteness>;

export const Result = z.strictObject({
  form: z.enum(['series', 'table']),
  series: z.array(Series).describe('Empty in a table'),
  columns: z.array(TableColumn).describe('Empty in series'),
  rows: z.array(z.array(z.unknown())).describe('One value for each column'),
  from: z.string(),
  to: z.string(),
  stepMs: z.int().nullable(),
  partialSteps: z
    .array(z.int())
    .describe(
      'Starts of steps of which only a part lies in the range: the first and the last, unless the range is aligned',
    ),
  cost: Cost,
  freshness: z
    .union([z.strictObject({ landedUpTo: z.string() }), Unknown])
    .describe('Up to which time of reception records have landed, of those that the query reads'),
  partial: z.array(Incompleteness).describe('Empty when the answer is complete'),
  hint: z.string().optional().describe('Of an answer without values: why that may be, and what to do'),
});
export type Result = z.output<typeof Result>;
export type Series = z.output<typeof Series>;
export type TableColumn = z.output<typeof TableColumn>;
