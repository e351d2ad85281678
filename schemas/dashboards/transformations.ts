/** What is done with the tables of a panel before it is drawn. `queries/transformations/` has a function for each kind. */
import { z } from 'zod';

const field = z.string().min(1).max(1024).describe('A column by its name');
const fields = z.array(field).max(1_000);
const pattern = z.string().min(1).max(1024).describe('RE2, which matches anywhere in a name');

/** One value of the many of a column. Those of nothing are null, and a count of nothing is 0. */
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
  .describe('A figure over the values of a column; p95 is a percentile');

const shared = {
  off: z.boolean().default(false).describe('Whether it is left out'),
  queries: z
    .array(z.string().min(1).max(64))
    .min(1)
    .max(26)
    .optional()
    .describe('Only tables of these queries; others go past it'),
};

const Operand = z.union([z.strictObject({ field }), z.strictObject({ value: z.number() })]);

/** A condition on one value of a row. */
const Condition = z.discriminatedUnion('is', [
  z.strictObject({ field, is: z.enum(['null', 'not-null']) }),
  z.strictObject({
    field,
    is: z.enum(['equal', 'not-equal', 'contains', 'not-contains']),
    value: z.union([z.string().max(4096), z.number(), z.boolean()]),
  }),
  z.strictObject({ field, is: z.literal('matches'), pattern }),
  z.strictObject({ field, is: z.enum(['above', 'at-least', 'below', 'at-most']), value: z.number() }),
  z.strictObject({ field, is: z.literal('between'), from: z.number(), to: z.number() }),
]);

export const Transformation = z.discriminatedUnion('kind', [
  z
    .strictObject({
      kind: z.literal('organize'),
      ...shared,
      hidden: fields.default([]),
      order: fields.default([]).describe('Columns from left to right; others stand behind them as they were'),
      names: z.record(z.string().max(1024), z.string().max(1024)).default({}).describe('New names by old ones'),
    })
    .describe('Hides, orders and names columns'),
  z
    .strictObject({ kind: z.literal('merge'), ...shared })
    .describe('One table of all; rows that have equal values in the columns that they share become one'),
  z
    .strictObject({
      kind: z.literal('join-by-field'),
      ...shared,
      field: field.optional().describe('Without it the time'),
      mode: z.enum(['outer', 'inner', 'outer-tabular']).default('outer'),
    })
    .describe('One table with a row for each value of the column'),
  z
    .strictObject({
      kind: z.literal('join-by-labels'),
      ...shared,
      value: z.string().min(1).max(1024).describe('The label whose values become columns'),
      join: z.array(z.string().min(1).max(1024)).max(100).optional().describe('Labels of a row; without it all others'),
    })
    .describe('One table with a row for each group of labels'),
  z
    .strictObject({
      kind: z.literal('group-by'),
      ...shared,
      by: fields.min(1),
      figures: z
        .array(z.strictObject({ field, reducers: z.array(Reducer).min(1).max(32) }))
        .max(100)
        .default([]),
    })
    .describe('A row for each group of equal values, with figures of the others'),
  z
    .strictObject({
      kind: z.literal('calculate'),
      ...shared,
      calculation: z.discriminatedUnion('is', [
        z.strictObject({
          is: z.literal('row'),
          reducer: Reducer,
          fields: fields.optional().describe('Without it every column of numbers'),
        }),
        z.strictObject({
          is: z.literal('binary'),
          left: Operand,
          operator: z.enum(['+', '-', '*', '/', '%', '^']),
          right: Operand,
        }),
        z.strictObject({
          is: z.literal('unary'),
          field,
          function: z.enum(['abs', 'exp', 'ln', 'floor', 'ceil', 'round', 'sign', 'negate']),
        }),
        z.strictObject({
          is: z.literal('cumulative'),
          field: field.optional(),
          function: z.enum(['sum', 'mean']),
        }),
        z.strictObject({
          is: z.literal('window'),
          field: field.optional(),
          function: z.enum(['mean', 'variance', 'deviation']),
          rows: z.int().min(1).max(10_000),
          place: z
            .enum(['behind', 'around'])
            .default('behind')
            .describe('Which rows: those before it, or on both sides'),
        }),
        z.strictObject({ is: z.literal('index'), asShare: z.boolean().default(false) }),
      ]),
      as: z.string().max(1024).optional().describe('Name of the new column'),
      replaces: z.boolean().default(false).describe('Whether only the time and the new column are left'),
    })
    .describe('A new column of others'),
  z
    .strictObject({
      kind: z.literal('filter-fields'),
      ...shared,
      keep: z.strictObject({ names: fields.optional(), pattern: pattern.optional() }).optional(),
      drop: z.strictObject({ names: fields.optional(), pattern: pattern.optional() }).optional(),
    })
    .describe('Keeps and drops columns by name or pattern'),
  z
    .strictObject({
      kind: z.literal('filter-rows'),
      ...shared,
      action: z.enum(['keep', 'drop']).default('keep'),
      match: z.enum(['all', 'any']).default('all'),
      conditions: z.array(Condition).min(1).max(100),
    })
    .describe('Keeps or drops rows by their values'),
  z
    .strictObject({
      kind: z.literal('filter-queries'),
      ...shared,
      keep: z.array(z.string().min(1).max(64)).min(1).max(26),
    })
    .describe('Keeps the tables of some queries'),
  z
    .strictObject({
      kind: z.literal('rename'),
      ...shared,
      pattern,
      replacement: z
        .string()
        .max(1024)
        .default('')
        .describe('$1 stands for the first group of the pattern, $& for all that it matched'),
    })
    .describe('Names columns by a pattern'),
  z
    .strictObject({
      kind: z.literal('reduce'),
      ...shared,
      reducers: z.array(Reducer).min(1).max(32),
      to: z.enum(['rows', 'fields']).default('rows').describe('A row for each column, or a row for each table'),
      labelsToFields: z.boolean().default(false),
      includesTime: z.boolean().default(false),
    })
    .describe('Figures instead of rows'),
  z
    .strictObject({
      kind: z.literal('sort'),
      ...shared,
      by: field,
      direction: z.enum(['ascending', 'descending']).default('ascending'),
    })
    .describe('Orders rows by a column'),
  z
    .strictObject({
      kind: z.literal('labels-to-fields'),
      ...shared,
      to: z.enum(['columns', 'rows']).default('columns'),
      keep: z.array(z.string().min(1).max(1024)).max(1_000).optional().describe('Without it every label'),
      nameFrom: z.string().min(1).max(1024).optional().describe('The label whose value names the column of values'),
    })
    .describe('Labels become columns or rows'),
  z
    .strictObject({ kind: z.literal('series-to-rows'), ...shared })
    .describe('One table with time, metric and value of every series, the newest first'),
  z
    .strictObject({
      kind: z.literal('trend'),
      ...shared,
      figures: z
        .record(z.string().min(1).max(64), Reducer)
        .default({})
        .describe('By query, what the value of a series is; without it the last'),
    })
    .describe('A row for each series, with its labels, its points and a figure of them'),
  z
    .strictObject({
      kind: z.literal('extract'),
      ...shared,
      field,
      format: z.enum(['auto', 'json', 'pairs', 'pattern']).default('auto'),
      pattern: pattern.optional().describe('Of format pattern: its named groups become columns'),
      paths: z
        .array(z.strictObject({ path: z.string().min(1).max(1024), as: z.string().max(1024).optional() }))
        .max(100)
        .default([])
        .describe('Of format json: parts of it, such as a.b[0]; without it its keys'),
      keepsTime: z.boolean().default(false),
      replaces: z.boolean().default(false).describe('Whether only the new columns are left'),
    })
    .describe('Columns out of texts'),
  z
    .strictObject({
      kind: z.literal('convert'),
      ...shared,
      conversions: z
        .array(
          z.strictObject({
            field,
            to: z.enum(['number', 'text', 'boolean', 'time', 'json']),
            format: z.string().max(128).optional().describe('Of a time: YYYY-MM-DD HH:mm:ss and the like'),
            zone: z.string().max(64).optional().describe('Of a time as text; without it UTC'),
          }),
        )
        .min(1)
        .max(100),
    })
    .describe('Values of another type'),
  z
    .strictObject({ kind: z.literal('limit'), ...shared, rows: z.int().min(0).max(100_000).default(10) })
    .describe('The first rows'),
]);
export type Transformation = z.output<typeof Transformation>;
