/** Tables that say under which names events have Sigma's fields, and which log source an event is of. They are data. */
import type { LogSource } from '../documents.ts';

/** A condition about an event: some field of these names has one of these values; without values, it is there. */
export interface EventCondition {
  readonly names: readonly string[];
  /** In lower case. A value that ends with `*` stands for all that begin so. */
  readonly values?: readonly string[];
}

/** What an event is, where all conditions hold. */
export interface EventSource {
  readonly when: readonly EventCondition[];
  readonly is: LogSource;
  /** Categories by a field's value (Sysmon's number of the event): an event of another value is of none. */
  readonly categories?: { readonly names: readonly string[]; readonly by: Readonly<Record<string, readonly string[]>> };
}

export interface FieldTable {
  /** Unique; a tenant's own table takes the place of one of the same name. */
  readonly name: string;
  readonly summary: string;
  /** Rules that it is for, by what their log source must say: `{}` is any. */
  readonly rules: readonly LogSource[];
  /** Sigma's field → names in events, in the order in which they are looked for. The field's own name comes first, unless it is in the list. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** Paths below which events of this kind have their fields: `winlog.event_data` makes `winlog.event_data.Image` also `Image`. */
  readonly roots?: readonly string[];
  readonly sources?: readonly EventSource[];
}

/** As names are compared: in lower case, without spaces, so that `Threat Name` is `ThreatName`. */
export const foldName = (name: string): string => name.toLowerCase().replaceAll(' ', '');

const parts = ['product', 'category', 'service'] as const;

/** Whether a table is for rules of a log source. */
export const isFor = ({ rules }: FieldTable, logsource: LogSource): boolean =>
  rules.some((rule) => parts.every((part) => rule[part] === undefined || rule[part] === logsource[part]));

const fieldsByFold = new WeakMap<FieldTable, ReadonlyMap<string, readonly string[]>>();
const namesIn = (table: FieldTable, folded: string): readonly string[] => {
  let fields = fieldsByFold.get(table);
  if (fields === undefined) {
    fields = new Map(Object.entries(table.fields).map(([field, names]) => [foldName(field), names.map(foldName)]));
    fieldsByFold.set(table, fields);
  }
  return fields.get(folded) ?? [];
};

/** Folded names under which events may have a field of a rule, in order. */
export const fieldNames = (field: string, logsource: LogSource, tables: readonly FieldTable[]): string[] => {
  const own = foldName(field);
  const others = tables.filter((table) => isFor(table, logsource)).flatMap((table) => namesIn(table, own));
  return [...new Set(others.includes(own) ? others : [own, ...others])];
};
