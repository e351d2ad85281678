/** Kinds of transformations in the editor, as data: what each does, its options, and a valid first form */

import type { Choices } from '../calculations.ts';
import type { Panel } from '../calls.ts';

export type Transformation = Panel['transformations'][number];
export type TransformationKind = Transformation['kind'];

interface CommonOption {
  readonly name: string;
  readonly label: string;
}

/** Options with one field each; forms of the other options are in `transformation-fields.tsx` */
export type TransformationOption =
  | (CommonOption & { readonly type: 'choice'; readonly choices: Choices })
  | (CommonOption & { readonly type: 'switch' })
  | (CommonOption & { readonly type: 'number' })
  /** Text; an optional one may be empty */
  | (CommonOption & { readonly type: 'text'; readonly placeholder?: string; readonly isOptional?: boolean })
  | (CommonOption & { readonly type: 'column'; readonly placeholder?: string; readonly isOptional?: boolean })
  | (CommonOption & { readonly type: 'columns' })
  | (CommonOption & { readonly type: 'reducers' })
  | (CommonOption & { readonly type: 'queries' });

interface KindSettings {
  readonly title: string;
  readonly description: string;
  readonly options: readonly TransformationOption[];
  /** Returns the fields of a new transformation; `columns` are the names of the columns that it gets */
  readonly create: (columns: readonly string[]) => object;
}

const firstColumn = ([first = 'Value']: readonly string[]): string => first;
const valueColumn = (columns: readonly string[]): string =>
  columns.find((name) => !/^time(?:stamp)?$/i.test(name)) ?? 'Value';

const textOption = (name: string, label: string, placeholder: string, isOptional = false): TransformationOption => ({
  type: 'text',
  name,
  label,
  placeholder,
  isOptional,
});
const isOptional = true;

/** Kinds in the order of the menu: those that most dashboards use come first */
export const transformationKinds: Readonly<Record<TransformationKind, KindSettings>> = {
  organize: {
    title: 'Organize fields',
    description: 'Hides, renames and reorders columns',
    options: [],
    create: () => ({ hidden: [], order: [], names: {} }),
  },
  rename: {
    title: 'Rename fields by pattern',
    description: 'Renames series and columns by a regular expression',
    options: [
      textOption('pattern', 'Pattern', '(.*)-total'),
      textOption('replacement', 'Replacement', '$1', isOptional),
    ],
    create: () => ({ pattern: '(.*)', replacement: '$1' }),
  },
  'filter-fields': {
    title: 'Filter fields by name',
    description: 'Shows or hides series and columns',
    options: [],
    create: () => ({ keep: { pattern: '.*' } }),
  },
  'filter-rows': {
    title: 'Filter rows by value',
    description: 'Shows or hides rows that meet conditions',
    options: [
      {
        type: 'choice',
        name: 'action',
        label: 'Matching rows',
        choices: [
          ['keep', 'Show'],
          ['drop', 'Hide'],
        ],
      },
      {
        type: 'choice',
        name: 'match',
        label: 'Rows match',
        choices: [
          ['all', 'All conditions'],
          ['any', 'Any condition'],
        ],
      },
    ],
    create: (columns) => ({
      action: 'keep',
      match: 'all',
      conditions: [{ field: valueColumn(columns), is: 'not-null' }],
    }),
  },
  'filter-queries': {
    title: 'Filter by query',
    description: 'Shows the results of some queries',
    options: [{ type: 'queries', name: 'keep', label: 'Queries' }],
    create: () => ({ keep: ['A'] }),
  },
  reduce: {
    title: 'Reduce',
    description: 'Reduces each series to calculated values, such as its maximum',
    options: [
      { type: 'reducers', name: 'reducers', label: 'Calculations' },
      {
        type: 'choice',
        name: 'to',
        label: 'Result',
        choices: [
          ['rows', 'A row per series'],
          ['fields', 'A row per table'],
        ],
      },
      { type: 'switch', name: 'labelsToFields', label: 'Labels as columns' },
      { type: 'switch', name: 'includesTime', label: 'Include time' },
    ],
    create: () => ({ reducers: ['last-not-null'], to: 'rows' }),
  },
  merge: { title: 'Merge', description: 'Joins all results into one table', options: [], create: () => ({}) },
  'join-by-field': {
    title: 'Join by field',
    description: 'Joins tables by time or by another column',
    options: [
      { type: 'column', name: 'field', label: 'Field', placeholder: 'Time', isOptional },
      {
        type: 'choice',
        name: 'mode',
        label: 'Mode',
        choices: [
          ['outer', 'Outer (time series)'],
          ['outer-tabular', 'Outer (tables)'],
          ['inner', 'Inner'],
        ],
      },
    ],
    create: () => ({ mode: 'outer' }),
  },
  'join-by-labels': {
    title: 'Join by labels',
    description: 'Turns the values of a label into columns',
    options: [textOption('value', 'Label', 'status')],
    create: () => ({ value: 'service' }),
  },
  calculate: {
    title: 'Add field from calculation',
    description: 'Adds a column that is calculated from others',
    options: [
      textOption('as', 'Name of the new field', 'Automatic', isOptional),
      { type: 'switch', name: 'replaces', label: 'Replace all fields' },
    ],
    create: () => ({ calculation: { is: 'row', reducer: 'sum' } }),
  },
  'group-by': {
    title: 'Group by',
    description: 'Groups rows by a column, and calculates values of each group',
    options: [],
    create: (columns) => ({ by: [firstColumn(columns)], figures: [] }),
  },
  sort: {
    title: 'Sort by',
    description: 'Sorts rows by a column',
    options: [
      { type: 'column', name: 'by', label: 'Field' },
      {
        type: 'choice',
        name: 'direction',
        label: 'Direction',
        choices: [
          ['ascending', 'Ascending'],
          ['descending', 'Descending'],
        ],
      },
    ],
    create: (columns) => ({ by: firstColumn(columns), direction: 'ascending' }),
  },
  limit: {
    title: 'Limit',
    description: 'Shows the first rows',
    options: [{ type: 'number', name: 'rows', label: 'Rows' }],
    create: () => ({ rows: 10 }),
  },
  'labels-to-fields': {
    title: 'Labels to fields',
    description: 'Turns labels into columns or rows',
    options: [
      {
        type: 'choice',
        name: 'to',
        label: 'Labels as',
        choices: [
          ['columns', 'Columns'],
          ['rows', 'Rows'],
        ],
      },
      textOption('nameFrom', 'Value field name from label', 'None', isOptional),
    ],
    create: () => ({ to: 'columns' }),
  },
  'series-to-rows': {
    title: 'Series to rows',
    description: 'One table with time, metric and value of all series',
    options: [],
    create: () => ({}),
  },
  trend: {
    title: 'Time series to table',
    description: 'A row per series, with a sparkline and its last value',
    options: [],
    create: () => ({ figures: {} }),
  },
  extract: {
    title: 'Extract fields',
    description: 'Extracts columns from JSON, key-value pairs or text',
    options: [
      { type: 'column', name: 'field', label: 'Source' },
      {
        type: 'choice',
        name: 'format',
        label: 'Format',
        choices: [
          ['auto', 'Automatic'],
          ['json', 'JSON'],
          ['pairs', 'Key and value pairs'],
          ['pattern', 'Regular expression'],
        ],
      },
      textOption('pattern', 'Regular expression', '(?P<user>\\w+)', isOptional),
      { type: 'switch', name: 'replaces', label: 'Replace all fields' },
      { type: 'switch', name: 'keepsTime', label: 'Keep time' },
    ],
    create: (columns) => ({ field: valueColumn(columns), format: 'auto', paths: [] }),
  },
  convert: {
    title: 'Convert field type',
    description: 'Converts values to numbers, text, times or JSON',
    options: [],
    create: (columns) => ({ conversions: [{ field: valueColumn(columns), to: 'number' }] }),
  },
};

export const kindEntries = Object.entries(transformationKinds) as [TransformationKind, KindSettings][];

/** Returns a new transformation of a kind that the API accepts. */
export const createTransformation = (
  kind: TransformationKind,
  { columns, queries }: { readonly columns: readonly string[]; readonly queries: readonly string[] },
): Transformation => {
  const fields = transformationKinds[kind].create(columns);
  // The API adds the defaults of other fields.
  return {
    kind,
    off: false,
    ...fields,
    ...(kind === 'filter-queries' ? { keep: queries.slice(0, 1) } : {}),
  } as unknown as Transformation;
};

/** Columns of "Organize fields" in their order, with those that it mentions and the result lacks. */
export const orderColumns = (
  columns: readonly string[],
  { order = [], hidden = [], names = {} }: Partial<Extract<Transformation, { kind: 'organize' }>>,
): readonly string[] => [...new Set([...order, ...columns, ...hidden, ...Object.keys(names)])];

/** Returns a list with an item moved by one place. */
export const moveItem = <Item>(items: readonly Item[], index: number, offset: -1 | 1): readonly Item[] => {
  const target = index + offset;
  const [item, other] = [items[index], items[target]];
  if (item === undefined || other === undefined) return items;
  return items.with(index, other).with(target, item);
};
