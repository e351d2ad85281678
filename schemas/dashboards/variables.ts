/** Variables of a dashboard: names in its queries and titles that stand for values which people choose. */
import { z } from 'zod';

/** What a variable has as its value where All is chosen. */
export const allValues = '$__all';

/** How many values one variable has at most, and how many of them may be chosen. */
export const maxValues = 1_000;

const text = z.string().max(4096);

/** Names that begin with two underscores are the platform's: `$__interval`, `$__from`. */
export const VariableName = z
  .string()
  .regex(/^(?!__)\w{1,64}$/)
  .describe('Letters, digits and underscores, not two underscores at the beginning');

const shared = {
  name: VariableName,
  title: text.optional().describe('Shown instead of the name'),
  description: text.optional(),
  hide: z.enum(['nothing', 'title', 'variable']).default('nothing'),
  inAddress: z.boolean().default(true).describe("Whether the page's address holds what is chosen"),
};

const Option = z.strictObject({ value: text, title: text.optional().describe('Shown instead of the value') });

const chosen = {
  several: z.boolean().default(false).describe('Whether more than one value may be chosen'),
  all: z
    .strictObject({
      value: text.optional().describe('What All stands for, as it is; without it every value of the variable'),
    })
    .optional()
    .describe('Present where All may be chosen'),
  allowsOther: z.boolean().default(true).describe('Whether a value may be chosen that is not in the list'),
  selected: z
    .array(text)
    .max(maxValues)
    .default([])
    .describe(`What is chosen where nothing else is: values, or ${allValues}; empty for the first value`),
};

const queryFields = {
  ...chosen,
  pattern: z
    .string()
    .max(1024)
    .optional()
    .describe(
      'RE2: only what matches. Its group `value`, or else its first group, is the value, its group `text` the title',
    ),
  order: z
    .strictObject({
      by: z.enum(['text', 'caseless', 'number', 'natural']),
      direction: z.enum(['ascending', 'descending']).default('ascending'),
    })
    .optional()
    .describe('Without it as they were found'),
  refresh: z.enum(['opened', 'range']).default('range').describe('Whether a new range asks for the values again'),
  fixed: z
    .strictObject({
      options: z.array(Option).min(1).max(maxValues),
      place: z.enum(['before', 'after', 'sorted']).default('before'),
    })
    .optional()
    .describe('Values that are always there'),
};

const match = z
  .string()
  .min(1)
  .max(16_384)
  .optional()
  .describe('A selector of PromQL, such as up{job="node"}; it may use other variables');
const labelName = z.string().min(1).max(1024);

const filterOperators = ['=', '!=', '=~', '!~', '<', '>'] as const;

/** A condition on a label that goes into every query of the dashboard. With several values, `=` means one of them. */
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
  .describe('A number and ms, s, m, h, d, w, M (30 days) or y');

/** Anything that a query, a title or another variable can name. */
export const Variable = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('label-values'), ...shared, label: labelName, match, ...queryFields }),
  z.strictObject({ kind: z.literal('label-names'), ...shared, match, ...queryFields }),
  z.strictObject({
    kind: z.literal('metric-names'),
    ...shared,
    names: z.string().max(1024).optional().describe('RE2: only metrics whose name it matches anywhere'),
    match,
    ...queryFields,
  }),
  z.strictObject({
    kind: z.literal('field-values'),
    ...shared,
    signal: z.enum(['logs', 'traces']),
    field: z.string().min(1).max(512).describe('A field or attribute, named as in the search language'),
    search: z.string().max(4096).optional().describe('Only of records that match; it may use other variables'),
    ...queryFields,
  }),
  z.strictObject({
    kind: z.literal('promql'),
    ...shared,
    expression: z
      .string()
      .min(1)
      .max(16_384)
      .describe('At the end of the range. Each of its series is a text: name{label="value"} value milliseconds'),
    ...queryFields,
  }),
  z.strictObject({
    kind: z.literal('list'),
    ...shared,
    options: z.array(Option).max(maxValues),
    ...chosen,
  }),
  z.strictObject({
    kind: z.literal('interval'),
    ...shared,
    options: z.array(duration).min(1).max(100),
    auto: z
      .strictObject({
        steps: z.int().min(1).max(10_000).default(30).describe('Into how many steps it divides the range'),
        min: duration.default('10s'),
      })
      .optional()
      .describe('Present where auto may be chosen: a step that fits the range'),
    selected: text.default('').describe('One of the options, or auto; empty for the first'),
  }),
  z.strictObject({ kind: z.literal('text'), ...shared, selected: text.default('').describe('What is written there') }),
  z.strictObject({ kind: z.literal('constant'), ...shared, value: text }),
  z.strictObject({
    kind: z.literal('filters'),
    ...shared,
    filters: z.array(Filter).max(100).default([]).describe('Those that are there until others are chosen'),
    always: z.array(Filter).max(100).default([]).describe('Those that nobody can take away'),
  }),
]);
export type Variable = z.output<typeof Variable>;

/** What is chosen, by variable: a value, several, or filters such as `job=node` of a variable of filters. */
export const ChosenValues = z.record(VariableName, z.union([text, z.array(text).max(maxValues)]));
export type ChosenValues = z.output<typeof ChosenValues>;
