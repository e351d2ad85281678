/** Variables of a dashboard: names in its queries and titles whose values users choose. */
import { z } from 'zod';

/** Value of a variable when All is selected. */
export const allValues = '$__all';

/** Maximum number of values of one variable, and of selected values. */
export const maxValues = 1_000;

const text = z.string().max(4096);

/**
 * Name of a variable. Names that begin with two underscores are reserved for the platform: `$__interval`, `$__from`.
 */
export const VariableName = z
  .string()
  .regex(/^(?!__)\w{1,64}$/)
  .describe('Letters, digits and underscores, without two leading underscores');

const commonFields = {
  name: VariableName,
  title: text.optional().describe('Label shown instead of the name'),
  description: text.optional(),
  hide: z.enum(['nothing', 'title', 'variable']).default('nothing'),
  inAddress: z.boolean().default(true).describe('Whether the page URL contains the selection'),
};

const Option = z.strictObject({ value: text, title: text.optional().describe('Label shown instead of the value') });

const selectionFields = {
  several: z.boolean().default(false).describe('Whether several values can be selected'),
  all: z
    .strictObject({
      value: text.optional().describe('Raw value of All; by default every value of the variable'),
    })
    .optional()
    .describe('Present if All can be selected'),
  allowsOther: z.boolean().default(true).describe('Whether values outside the list can be entered'),
  selected: z
    .array(text)
    .max(maxValues)
    .default([])
    .describe(`Default selection: values, or ${allValues}; empty for the first value`),
};

const queryFields = {
  ...selectionFields,
  pattern: z
    .string()
    .max(1024)
    .optional()
    .describe(
      'RE2 regular expression that filters the values. Its group `value`, or else its first group, is the value, and its group `text` is the label',
    ),
  order: z
    .strictObject({
      by: z.enum(['text', 'caseless', 'number', 'natural']),
      direction: z.enum(['ascending', 'descending']).default('ascending'),
    })
    .optional()
    .describe('Sort order; by default the order of the result'),
  refresh: z.enum(['opened', 'range']).default('range').describe('Whether a new time range reloads the values'),
  fixed: z
    .strictObject({
      options: z.array(Option).min(1).max(maxValues),
      place: z.enum(['before', 'after', 'sorted']).default('before'),
    })
    .optional()
    .describe('Values that are always available'),
};

const metricSelector = z
  .string()
  .min(1)
  .max(16_384)
  .optional()
  .describe('PromQL selector, such as up{job="node"}; may contain other variables');
const labelName = z.string().min(1).max(1024);

const filterOperators = ['=', '!=', '=~', '!~', '<', '>'] as const;

/**
 * A condition on a label that is added to every query of the dashboard. With several values, `=` matches any of them.
 */
const Filter = z.strictObject({
  label: labelName,
  operator: z.enum(filterOperators),
  values: z.array(text).min(1).max(maxValues),
});
export type Filter = z.output<typeof Filter>;

const duration = z
  .string()
  .max(32)
  .regex(/^\d+(?:ms|[smhdwMy])$/)
  .describe('A number with one of the units ms, s, m, h, d, w, M (30 days) and y');

/** A variable that queries, titles and other variables can reference. */
export const Variable = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('label-values'),
    ...commonFields,
    label: labelName,
    match: metricSelector,
    ...queryFields,
  }),
  z.strictObject({ kind: z.literal('label-names'), ...commonFields, match: metricSelector, ...queryFields }),
  z.strictObject({
    kind: z.literal('metric-names'),
    ...commonFields,
    names: z.string().max(1024).optional().describe('RE2 regular expression that matches anywhere in the metric name'),
    match: metricSelector,
    ...queryFields,
  }),
  z.strictObject({
    kind: z.literal('field-values'),
    ...commonFields,
    signal: z.enum(['logs', 'traces']),
    field: z.string().min(1).max(512).describe('Field or attribute, named as in the search language'),
    search: z.string().max(4096).optional().describe('Filter for the records; may contain other variables'),
    ...queryFields,
  }),
  z.strictObject({
    kind: z.literal('promql'),
    ...commonFields,
    expression: z
      .string()
      .min(1)
      .max(16_384)
      .describe(
        'PromQL query, evaluated at the end of the range. Each series becomes a text: name{label="value"} value milliseconds',
      ),
    ...queryFields,
  }),
  z.strictObject({
    kind: z.literal('list'),
    ...commonFields,
    options: z.array(Option).max(maxValues),
    ...selectionFields,
  }),
  z.strictObject({
    kind: z.literal('interval'),
    ...commonFields,
    options: z.array(duration).min(1).max(100),
    auto: z
      .strictObject({
        steps: z.int().min(1).max(10_000).default(30).describe('Number of steps into which auto divides the range'),
        min: duration.default('10s'),
      })
      .optional()
      .describe('Present if auto can be selected: a step that fits the range'),
    selected: text.default('').describe('One of the options, or auto; empty for the first option'),
  }),
  z.strictObject({ kind: z.literal('text'), ...commonFields, selected: text.default('').describe('Default text') }),
  z.strictObject({ kind: z.literal('constant'), ...commonFields, value: text }),
  z.strictObject({
    kind: z.literal('filters'),
    ...commonFields,
    filters: z.array(Filter).max(100).default([]).describe('Default filters'),
    always: z.array(Filter).max(100).default([]).describe('Filters that users cannot remove'),
  }),
]);
export type Variable = z.output<typeof Variable>;

/** Selected values by variable: a value, several values, or filters such as `job=node` for a filter variable. */
export const ChosenValues = z.record(VariableName, z.union([text, z.array(text).max(maxValues)]));
export type ChosenValues = z.output<typeof ChosenValues>;
