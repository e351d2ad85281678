/** Fields and computed columns of data sources, which are selected from tables. */
import type { Field, FieldType } from '../../schemas/fields.ts';

/** A field by its SQL expression, which is also its column unless `column` names another one. */
export type FieldDefinition = readonly [
  type: FieldType,
  expression: string,
  summary: string,
  options?: Partial<Pick<Field, 'aliases' | 'column' | 'names' | 'elements' | 'areOneThing'>>,
];

/** Returns the fields of a data source whose records are read by SQL only. */
export const defineSourceFields = (definitions: Readonly<Record<string, FieldDefinition>>): readonly Field<never>[] =>
  Object.entries(definitions).map(
    ([name, [type, expression, summary, { aliases = [], column = expression, ...options } = {}]]) => ({
      name,
      aliases,
      summary,
      type,
      column,
      expression,
      ...options,
      read: () => '',
    }),
  );

/** A field by its column; `expression` is the value if it is not that of the column. */
export type ColumnFieldDefinition<Column extends string> = readonly [
  type: FieldType,
  column: Column,
  summary: string,
  options?: Partial<Pick<Field, 'aliases' | 'expression'>>,
];

/** Returns the fields of a data source that are columns of its table. Texts are selected without their encoding. */
export const defineColumnFields = <Column extends string>(
  definitions: Readonly<Record<string, ColumnFieldDefinition<Column>>>,
): readonly Field<never>[] =>
  defineSourceFields(
    Object.fromEntries(
      Object.entries<ColumnFieldDefinition<Column>>(definitions).map(
        ([name, [type, column, summary, { aliases = [], expression } = {}]]): [string, FieldDefinition] => [
          name,
          [type, expression ?? (type === 'text' ? `toString(${column})` : column), summary, { aliases, column }],
        ],
      ),
    ),
  );

/** Returns the SELECT list of computed columns: name → SQL expression. */
export const selectComputed = (columns: Readonly<Record<string, string>>): string =>
  Object.entries(columns)
    .map(([name, expression]) => `${expression} AS ${name}`)
    .join(', ');
