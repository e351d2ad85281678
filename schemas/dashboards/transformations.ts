/**
 * Transformations of a panel's tables before they are drawn. `queries/transformations/` has a function for each kind.
 */
import { z } from 'zod';
import { comparisonOperators } from '../comparisons.ts';

const fieldName = z.string().min(1).max(1024).describe('Name of a column');
const fieldNames = z.array(fieldName).max(1_000);
const pattern = z.string().min(1).max(1024).describe('RE2 regular expression that matches anywhere in a name');

/** Functions that reduce the values of a column to one. The result for no values is null, and a count is 0. */
export const reducers = [
  'last',
  'last-not-null',
  'first',
  'first-not-null',
  'min',
  'max',
  'mean',
  'median',
  'sum',
  'count',
  'range',
  'difference',
  'difference-percent',
  'delta',
  'step',
  'variance',
  'deviation',
  'distinct-count',
  'change-count',
  'all-nulls',
  'all-zeros',
  'all-values',
  'unique-values',
] as const;
export const Reducer = z
  .union([z.enum(reducers), z.string().regex(/^p(?:100|\d{1,2})$/)])
  .describe('Reducer of the values of a column; p95 is a percentile');

const commonFields = {
  off: z.boolean().default(false).describe('Whether the transformation is disabled'),
  queries: z
    .array(z.string().min(1).max(64))
    .min(1)
    .max(26)
    .optional()
    .describe('Queries whose tables are transformed; other tables pass unchanged'),
};

const Operand = z.union([z.strictObject({ field: fieldName }), z.strictObject({ value: z.number() })]);

/** A condition on one value of a row. */
const Condition = z.discriminatedUnion('is', [
  z.strictObject({ field: fieldName, is: z.enum(['null', 'not-null']) }),
  z.strictObject({
    field: fieldName,
    is: z.enum(['equal', 'not-equal', 'contains', 'not-contains']),
    value: z.union([z.string().max(4096), z.number(), z.boolean()]),
  }),
  z.strictObject({ field: fieldName, is: z.literal('matches'), pattern }),
  z.strictObject({ field: fieldName, is: z.enum(comparisonOperators), value: z.number() }),
  z.strictObject({ field: fieldName, is: z.literal('between'), from: z.number(), to: z.number() }),
]);

export const Transformation = z.discriminatedUnion('kind', [
  z
    .strictObject({
      kind: z.literal('organize'),
      ...commonFields,
      hidden: fieldNames.default([]),
      order: fieldNames
        .default([])
        .describe('Columns from left to right; other columns follow in their original order'),
      names: z.record(z.string().max(1024), z.string().max(1024)).default({}).describe('New column names by old name'),
    })
    .describe('Hides, orders and renames columns'),
  z
    .strictObject({ kind: z.literal('merge'), ...commonFields })
    .describe('Joins all tables into one; rows with equal values in the shared columns are merged'),
  z
    .strictObject({
      kind: z.literal('join-by-field'),
      ...commonFields,
      field: fieldName.optional().describe('Column to join by; the time by default'),
      mode: z.enum(['outer', 'inner', 'outer-tabular']).default('outer'),
    })
    .describe('One table with a row for each value of a column'),
  z
    .strictObject({
      kind: z.literal('join-by-labels'),
      ...commonFields,
      value: z.string().min(1).max(1024).describe('Label whose values become columns'),
      join: z
        .array(z.string().min(1).max(1024))
        .max(100)
        .optional()
        .describe('Labels of a row; all other labels by default'),
    })
    .describe('One table with a row for each group of labels'),
  z
    .strictObject({
      kind: z.literal('group-by'),
      ...commonFields,
      by: fieldNames.min(1),
      figures: z
        .array(z.strictObject({ field: fieldName, reducers: z.array(Reducer).min(1).max(32) }))
        .max(100)
        .default([]),
    })
    .describe('A row for each group of equal values, with aggregates of the other columns'),
  z
    .strictObject({
      kind: z.literal('calculate'),
      ...commonFields,
      calculation: z.discriminatedUnion('is', [
        z.strictObject({
          is: z.literal('row'),
          reducer: Reducer,
          fields: fieldNames.optional().describe('Columns to aggregate; all numeric columns by default'),
        }),
        z.strictObject({
          is: z.literal('binary'),
          left: Operand,
          operator: z.enum(['+', '-', '*', '/', '%', '^']),
          right: Operand,
        }),
        z.strictObject({
          is: z.literal('unary'),
          field: fieldName,
          function: z.enum(['abs', 'exp', 'ln', 'floor', 'ceil', 'round', 'sign', 'negate']),
        }),
        z.strictObject({
          is: z.literal('cumulative'),
          field: fieldName.optional(),
          function: z.enum(['sum', 'mean']),
        }),
        z.strictObject({
          is: z.literal('window'),
          field: fieldName.optional(),
          function: z.enum(['mean', 'variance', 'deviation']),
          rows: z.int().min(1).max(10_000),
          place: z
            .enum(['behind', 'around'])
            .default('behind')
            .describe('Rows of the window: the preceding ones, or those on both sides'),
        }),
        z.strictObject({ is: z.literal('index'), asShare: z.boolean().default(false) }),
      ]),
      as: z.string().max(1024).optional().describe('Name of the new column'),
      replaces: z.boolean().default(false).describe('Whether only the time and the new column remain'),
    })
    .describe('A new column computed from others'),
  z
    .strictObject({
      kind: z.literal('filter-fields'),
      ...commonFields,
      keep: z.strictObject({ names: fieldNames.optional(), pattern: pattern.optional() }).optional(),
      drop: z.strictObject({ names: fieldNames.optional(), pattern: pattern.optional() }).optional(),
    })
    .describe('Includes or excludes columns by name or pattern'),
  z
    .strictObject({
      kind: z.literal('filter-rows'),
      ...commonFields,
      action: z.enum(['keep', 'drop']).default('keep'),
      match: z.enum(['all', 'any']).default('all'),
      conditions: z.array(Condition).min(1).max(100),
    })
    .describe('Includes or excludes rows by their values'),
  z
    .strictObject({
      kind: z.literal('filter-queries'),
      ...commonFields,
      keep: z.array(z.string().min(1).max(64)).min(1).max(26),
    })
    .describe('Selects the tables of some queries'),
  z
    .strictObject({
      kind: z.literal('rename'),
      ...commonFields,
      pattern,
      replacement: z
        .string()
        .max(1024)
        .default('')
        .describe('Replacement; $1 is the first group of the pattern, $& the entire match'),
    })
    .describe('Renames columns by a pattern'),
  z
    .strictObject({
      kind: z.literal('reduce'),
      ...commonFields,
      reducers: z.array(Reducer).min(1).max(32),
      to: z.enum(['rows', 'fields']).default('rows').describe('One row per column, or one row per table'),
      labelsToFields: z.boolean().default(false),
      includesTime: z.boolean().default(false),
    })
    .describe('Reduces rows to aggregates'),
  z
    .strictObject({
      kind: z.literal('sort'),
      ...commonFields,
      by: fieldName,
      direction: z.enum(['ascending', 'descending']).default('ascending'),
    })
    .describe('Sorts rows by a column'),
  z
    .strictObject({
      kind: z.literal('labels-to-fields'),
      ...commonFields,
      to: z.enum(['columns', 'rows']).default('columns'),
      keep: z
        .array(z.string().min(1).max(1024))
        .max(1_000)
        .optional()
        .describe('Labels to convert; all labels by default'),
      nameFrom: z.string().min(1).max(1024).optional().describe('Label whose value names the value column'),
    })
    .describe('Converts labels to columns or rows'),
  z
    .strictObject({ kind: z.literal('series-to-rows'), ...commonFields })
    .describe('One table with time, metric and value of every series, newest first'),
  z
    .strictObject({
      kind: z.literal('trend'),
      ...commonFields,
      figures: z
        .record(z.string().min(1).max(64), Reducer)
        .default({})
        .describe('Reducer of the values of a series, by query; the last value by default'),
    })
    .describe('A row for each series, with its labels, points and an aggregate'),
  z
    .strictObject({
      kind: z.literal('extract'),
      ...commonFields,
      field: fieldName,
      format: z.enum(['auto', 'json', 'pairs', 'pattern']).default('auto'),
      pattern: pattern.optional().describe('For the format `pattern`: the named groups become columns'),
      paths: z
        .array(z.strictObject({ path: z.string().min(1).max(1024), as: z.string().max(1024).optional() }))
        .max(100)
        .default([])
        .describe('For the format json: paths such as a.b[0]; by default its keys'),
      keepsTime: z.boolean().default(false),
      replaces: z.boolean().default(false).describe('Whether only the new columns remain'),
    })
    .describe('Extracts columns from texts'),
  z
    .strictObject({
      kind: z.literal('convert'),
      ...commonFields,
      conversions: z
        .array(
          z.strictObject({
            field: fieldName,
            to: z.enum(['number', 'text', 'boolean', 'time', 'json']),
            format: z.string().max(128).optional().describe('Format of a time, such as YYYY-MM-DD HH:mm:ss'),
            zone: z.string().max(64).optional().describe('Time zone of a time in text form; UTC by default'),
          }),
        )
        .min(1)
        .max(100),
    })
    .describe('Converts values to another type'),
  z
    .strictObject({ kind: z.literal('limit'), ...commonFields, rows: z.int().min(0).max(100_000).default(10) })
    .describe('Limits the number of rows'),
]);
export type Transformation = z.output<typeof Transformation>;
