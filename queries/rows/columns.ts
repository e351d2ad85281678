/** Selected columns of records: the SQL of each, and its value in a row. */
import {
  attributeExpressions,
  type Field,
  type Reference,
  referenceOf,
  scopeExpressions,
} from '../../schemas/fields.ts';
import { type Attributes, restoredValue } from '../attributes.ts';
import type { TableColumn } from '../result.ts';
import { type QuerySignal, signals } from '../signals/index.ts';
import { exact, formatTime } from '../time.ts';

export type ChosenRow = Readonly<Record<string, unknown>>;

export interface ChosenColumn {
  readonly column: TableColumn;
  readonly selection: readonly string[];
  readonly needsResource: boolean;
  /** Returns the value; null if the record has none. Attributes have the type in which they were received. */
  read(row: ChosenRow, resource: Attributes | undefined): unknown;
}

const ofField = (field: Field): Pick<TableColumn, 'type' | 'unit'> => {
  if (field.type === 'time') return { type: 'time', unit: '' };
  if (field.type === 'duration') return { type: 'duration', unit: 'ns' };
  return { type: field.type === 'number' && field.names === undefined ? 'number' : 'text', unit: '' };
};

const fieldValue = ({ type, names }: Field, value: unknown): unknown => {
  if (type === 'time') return formatTime(BigInt(String(value)));
  if (type === 'duration') return exact(String(value));
  if (type === 'number') return names?.[Number(value)] ?? Number(value);
  return value;
};

/** Returns the column of a name of the search language. */
export const chosenColumn = (name: string, signal: QuerySignal, index: number): ChosenColumn => {
  const reference = referenceOf(signals[signal].fields, name) as Reference;
  const at = `c${index}`;
  if (reference.kind === 'field') {
    const { field } = reference;
    return {
      column: { name, ...ofField(field) },
      selection: [`${field.expression} AS ${at}`],
      needsResource: false,
      read: (row) => fieldValue(field, row[at]),
    };
  }
  const column: TableColumn = { name, type: 'json', unit: '' };
  const { kind, key } = reference;
  const ofResource = (resource: Attributes | undefined): unknown => resource?.[key] ?? null;
  if (kind === 'resource')
    return { column, selection: [], needsResource: true, read: (_row, resource) => ofResource(resource) };
  const { exists, text, type } = kind === 'scope' ? scopeExpressions(key) : attributeExpressions(key);
  return {
    column,
    selection: [`toBool(${exists}) AS ${at}e`, `${text} AS ${at}`, `${type} AS ${at}t`],
    needsResource: kind === 'any',
    read(row, resource) {
      if (row[`${at}e`] === true) return restoredValue(String(row[at]), String(row[`${at}t`]));
      return kind === 'any' ? ofResource(resource) : null;
    },
  };
};
