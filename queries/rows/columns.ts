/** Selected columns of records: the SQL of each, and its value in a row. */
import {
  buildAttributeExpressions,
  buildScopeExpressions,
  type Field,
  type Reference,
  resolveReference,
} from '../../schemas/fields.ts';
import { type Attributes, decodeValue, findAttribute, isNestedType } from '../attributes.ts';
import type { TableColumn } from '../result.ts';
import { type QuerySignal, signalDefinitions } from '../signals/index.ts';
import { formatTime, toExactNumberOrText } from '../time.ts';

export type SelectedRow = Readonly<Record<string, unknown>>;

export interface SelectedColumn {
  readonly column: TableColumn;
  readonly selection: readonly string[];
  readonly needsResource: boolean;
  /** Returns the value; null if the record has none. Attributes have the type in which they were received. */
  readValue(row: SelectedRow, resource: Attributes | undefined): unknown;
}

const getFieldFormat = (field: Field): Pick<TableColumn, 'type' | 'unit'> => {
  if (field.type === 'time') return { type: 'time', unit: '' };
  if (field.type === 'duration') return { type: 'duration', unit: 'ns' };
  return { type: field.type === 'number' && field.names === undefined ? 'number' : 'text', unit: '' };
};

const convertFieldValue = ({ type, names }: Field, value: unknown): unknown => {
  if (type === 'time') return formatTime(BigInt(String(value)));
  if (type === 'duration') return toExactNumberOrText(String(value));
  if (type === 'number') return names?.[Number(value)] ?? Number(value);
  return value;
};

/** Returns the column of a name of the search language. */
export const buildSelectedColumn = (name: string, signal: QuerySignal, index: number): SelectedColumn => {
  const reference = resolveReference(signalDefinitions[signal].fields, name) as Reference;
  const alias = `c${index}`;
  if (reference.kind === 'field') {
    const { field } = reference;
    return {
      column: { name, ...getFieldFormat(field) },
      selection: [`${field.expression} AS ${alias}`],
      needsResource: false,
      readValue: (row) => convertFieldValue(field, row[alias]),
    };
  }
  const column: TableColumn = { name, type: 'json', unit: '' };
  const { kind, key } = reference;
  const readResourceValue = (resource: Attributes | undefined): unknown =>
    resource === undefined ? null : findAttribute(resource, key);
  if (kind === 'resource')
    return { column, selection: [], needsResource: true, readValue: (_row, resource) => readResourceValue(resource) };
  const { exists, text, type, further } =
    kind === 'scope'
      ? buildScopeExpressions(key)
      : buildAttributeExpressions(key, kind === 'body' ? 'body' : 'attribute');
  return {
    column,
    selection: [
      `toBool(${exists}) AS ${alias}e`,
      `${text} AS ${alias}`,
      `${type} AS ${alias}t`,
      ...(further === undefined ? [] : [`if(${further.mayExist}, ${further.texts}, []) AS ${alias}s`]),
    ],
    needsResource: kind === 'any',
    readValue(row, resource) {
      if (row[`${alias}e`] !== true) return kind === 'any' ? readResourceValue(resource) : null;
      const firstType = String(row[`${alias}t`]);
      const texts = (row[`${alias}s`] ?? []) as readonly string[];
      // An attribute that is an array has its JSON. A path inside an array has several values.
      return isNestedType(firstType) && texts.length > 1 ? texts : decodeValue(String(row[alias]), firstType);
    },
  };
};
