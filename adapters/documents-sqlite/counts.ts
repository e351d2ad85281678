/** Counts of a tenant's matches by value, for some fields. */
import type { CollectionDefinition, CountOptions, Filter, ValueCount } from '../../schemas/ports/documents.ts';
import { choicesExcept, countedValues, defaultLimit } from '../documents-query.ts';
import { matcherOf, rangeOf, refuseUnshared } from './matches.ts';
import type { DocumentTables, Row } from './tables.ts';

type Definition = CollectionDefinition<object>;

class Counts {
  readonly #counts = new Map<ValueCount['value'], number>();

  add(values: Iterable<ValueCount['value']>, times = 1): void {
    for (const value of values) this.#counts.set(value, (this.#counts.get(value) ?? 0) + times);
  }

  top(limit: number): readonly ValueCount[] {
    return [...this.#counts]
      .map(([value, count]) => ({ value, count }))
      .sort((left, right) => right.count - left.count)
      .slice(0, limit);
  }
}

/** Counts the values of each field: in SQLite where a match is sure, otherwise from parsed matches. */
const readCounts = (
  tables: DocumentTables,
  definition: Definition,
  tenant: string,
  { filter, fields }: { filter: Filter; fields: readonly string[] },
): readonly Counts[] => {
  const matches = matcherOf(filter);
  const counts = fields.map((field) => ({ field, of: new Counts() }));
  const addRow = (row: Row | undefined): void => {
    if (row !== undefined && matches(row)) for (const { field, of } of counts) of.add(countedValues(row.fields, field));
  };
  const bounds = rangeOf(filter);
  const found = tables.textsOf(definition, tenant, filter, { bounds, fields });
  if (found === undefined) for (const row of tables.candidates(definition, tenant, filter, bounds)) addRow(row);
  for (const id of found?.doubtful ?? []) addRow(tables.find(definition.name, tenant, id));
  for (const [at, { field, of }] of counts.entries())
    for (const [text, times] of found?.texts[at] ?? [])
      of.add(countedValues({ [field]: JSON.parse(text) }, field), times);
  return counts.map(({ of }) => of);
};

/** Counts from indexes if possible, otherwise from documents. */
const countsAmong = (
  tables: DocumentTables,
  definition: Definition,
  tenant: string,
  { fields, filter, limit }: { readonly fields: readonly string[]; readonly filter: Filter; readonly limit: number },
): ReadonlyMap<string, readonly ValueCount[]> => {
  const known = fields.map((field) => tables.counts(definition, tenant, field, filter, limit));
  const unknown = fields.filter((_, at) => known[at] === undefined);
  const read = unknown.length === 0 ? [] : readCounts(tables, definition, tenant, { filter, fields: unknown });
  return new Map(
    fields.map((field, at) => [field, known[at] ?? read[unknown.indexOf(field)]?.top(limit) ?? []] as const),
  );
};

/** Fields with the same set of matching documents are counted in one pass. */
export const countsOf = (
  tables: DocumentTables,
  definition: Definition,
  tenant: string,
  fields: readonly string[],
  { filter = {}, limit = defaultLimit, chosen = {} }: CountOptions,
): readonly (readonly ValueCount[])[] => {
  refuseUnshared(filter);
  const counts = new Map<string, readonly ValueCount[]>();
  const groups = Map.groupBy(fields, (field) => JSON.stringify(choicesExcept(field, chosen)));
  for (const fieldGroup of groups.values()) {
    const among = { $and: [filter, choicesExcept(fieldGroup[0] ?? '', chosen)] };
    const found = countsAmong(tables, definition, tenant, { fields: fieldGroup, filter: among, limit });
    for (const [field, values] of found) counts.set(field, values);
  }
  return fields.map((field) => counts.get(field) ?? []);
};
