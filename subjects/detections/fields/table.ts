/** Field tables map Sigma fields to field names in events, and events to log sources. They are data. */
import type { LogSource } from '../documents.ts';

/** A condition on an event: a field with one of these names has one of these values; without values, the field exists. */
export interface EventCondition {
  readonly names: readonly string[];
  /** Values in lower case. A trailing `*` matches any suffix. */
  readonly values?: readonly string[];
}

/** Log source of an event for which all conditions hold. */
export interface EventSource {
  readonly when: readonly EventCondition[];
  readonly is: LogSource;
  /** Categories by the value of a field (the event number of Sysmon). An event with another value has no category. */
  readonly categories?: { readonly names: readonly string[]; readonly by: Readonly<Record<string, readonly string[]>> };
}

export interface FieldTable {
  /** Unique name; a tenant table replaces the built-in table of the same name */
  readonly name: string;
  readonly summary: string;
  /** Log sources of the rules to which the table applies; `{}` matches any */
  readonly rules: readonly LogSource[];
  /** Sigma field to names in events, in lookup order. The field's own name is tried first, unless it is in the list. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /**
   * Paths that contain the fields of these events: `winlog.event_data` makes `winlog.event_data.Image` also available
   * as `Image`
   */
  readonly roots?: readonly string[];
  readonly sources?: readonly EventSource[];
}

/** Folds a name for comparison: lower case, without spaces, so that `Threat Name` and `ThreatName` are equal. */
export const foldName = (name: string): string => name.toLowerCase().replaceAll(' ', '');

const logSourceParts = ['product', 'category', 'service'] as const;

/** Returns whether a table applies to rules of a log source. */
export const appliesTo = ({ rules }: FieldTable, logsource: LogSource): boolean =>
  rules.some((rule) => logSourceParts.every((part) => rule[part] === undefined || rule[part] === logsource[part]));

const fieldsByFold = new WeakMap<FieldTable, ReadonlyMap<string, readonly string[]>>();
const findNames = (table: FieldTable, foldedName: string): readonly string[] => {
  let fields = fieldsByFold.get(table);
  if (fields === undefined) {
    fields = new Map(Object.entries(table.fields).map(([field, names]) => [foldName(field), names.map(foldName)]));
    fieldsByFold.set(table, fields);
  }
  return fields.get(foldedName) ?? [];
};

/** Returns the folded names that events may use for a field of a rule, in lookup order. */
export const listFieldNames = (field: string, logsource: LogSource, tables: readonly FieldTable[]): string[] => {
  const foldedField = foldName(field);
  const lookupNames = tables
    .filter((table) => appliesTo(table, logsource))
    .flatMap((table) => findNames(table, foldedField));
  return [...new Set(lookupNames.includes(foldedField) ? lookupNames : [foldedField, ...lookupNames])];
};
