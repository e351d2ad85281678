/** Counts of a tenant's matches by value, for some fields. */
import type { CollectionDefinition, CountOptions, Filter, ValueCount } from '../../schemas/ports/documents.ts';
import { defaultLimit, filterExceptField, getCountedValues } from '../documents-query.ts';
import { checkOperators, createMatcher, getIdRange } from './matches.ts';
import type { DocumentTables, Row } from './tables.ts';

type Definition = CollectionDefinition<object>;

class Counts {
  readonly #counts = new Map<ValueCount['value'], number>();

  add(values: Iterable<ValueCount['value']>, count = 1): void {
    for (const value of values) this.#counts.set(value, (this.#counts.get(value) ?? 0) + count);
  }

  listMostFrequent(limit: number): readonly ValueCount[] {
    return [...this.#counts]
      .map(([value, count]) => ({ value, count }))
      .sort((left, right) => right.count - left.count)
      .slice(0, limit);
  }
}

/** Counts the values of each field: in SQLite where a match is certain, otherwise from parsed documents. */
const readCounts = (
  tables: DocumentTables,
  definition: Definition,
  tenant: string,
  { filter, fields }: { filter: Filter; fields: readonly string[] },
): readonly Counts[] => {
  const matches = createMatcher(filter);
  const counts = fields.map((field) => ({ field, valueCounts: new Counts() }));
  const addRow = (row: Row | undefined): void => {
    if (row !== undefined && matches(row))
      for (const { field, valueCounts } of counts) valueCounts.add(getCountedValues(row.fields, field));
  };
  const bounds = getIdRange(filter);
  const textCounts = tables.countFieldTexts(definition, tenant, filter, { bounds, fields });
  if (textCounts === undefined) for (const row of tables.candidates(definition, tenant, filter, bounds)) addRow(row);
  for (const id of textCounts?.uncertainIds ?? []) addRow(tables.find(definition.name, tenant, id));
  for (const [fieldIndex, { field, valueCounts }] of counts.entries())
    for (const [text, times] of textCounts?.texts[fieldIndex] ?? [])
      valueCounts.add(getCountedValues({ [field]: JSON.parse(text) }, field), times);
  return counts.map(({ valueCounts }) => valueCounts);
};

/** Counts from indexes if possible, otherwise from documents. */
const countFields = (
  tables: DocumentTables,
  definition: Definition,
  tenant: string,
  { fields, filter, limit }: { readonly fields: readonly string[]; readonly filter: Filter; readonly limit: number },
): ReadonlyMap<string, readonly ValueCount[]> => {
  const indexCounts = fields.map((field) => tables.counts(definition, tenant, field, filter, limit));
  const uncountedFields = fields.filter((_, at) => indexCounts[at] === undefined);
  const fieldCounts =
    uncountedFields.length === 0 ? [] : readCounts(tables, definition, tenant, { filter, fields: uncountedFields });
  return new Map(
    fields.map(
      (field, at) =>
        [field, indexCounts[at] ?? fieldCounts[uncountedFields.indexOf(field)]?.listMostFrequent(limit) ?? []] as const,
    ),
  );
};

/** Counts the values of each field. Fields with the same filter are counted in one pass. */
export const countValues = (
  tables: DocumentTables,
  definition: Definition,
  tenant: string,
  fields: readonly string[],
  { filter = {}, limit = defaultLimit, selectedValues = {} }: CountOptions,
): readonly (readonly ValueCount[])[] => {
  checkOperators(filter);
  const counts = new Map<string, readonly ValueCount[]>();
  const groups = Map.groupBy(fields, (field) => JSON.stringify(filterExceptField(field, selectedValues)));
  for (const fieldGroup of groups.values()) {
    const groupFilter = { $and: [filter, filterExceptField(fieldGroup[0] ?? '', selectedValues)] };
    const groupCounts = countFields(tables, definition, tenant, { fields: fieldGroup, filter: groupFilter, limit });
    for (const [field, values] of groupCounts) counts.set(field, values);
  }
  return fields.map((field) => counts.get(field) ?? []);
};
