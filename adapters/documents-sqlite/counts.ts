/** Counts of a tenant's matches by value, for some fields. */
import type { CollectionDefinition, CountOptions, Filter, ValueCount } from '../../schemas/ports/documents.ts';
import { choicesExcept, countedValues, defaultLimit } from '../documents-query.ts';
import { checkOperators, createMatcher, getIdRange } from './matches.ts';
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
  const matches = createMatcher(filter);
  const counts = fields.map((field) => ({ field, valueCounts: new Counts() }));
  const addRow = (row: Row | undefined): void => {
    if (row !== undefined && matches(row))
      for (const { field, valueCounts } of counts) valueCounts.add(countedValues(row.fields, field));
  };
  const bounds = getIdRange(filter);
  const textCounts = tables.countFieldTexts(definition, tenant, filter, { bounds, fields });
  if (textCounts === undefined) for (const row of tables.candidates(definition, tenant, filter, bounds)) addRow(row);
  for (const id of textCounts?.doubtful ?? []) addRow(tables.find(definition.name, tenant, id));
  for (const [fieldIndex, { field, valueCounts }] of counts.entries())
    for (const [text, times] of textCounts?.texts[fieldIndex] ?? [])
      valueCounts.add(countedValues({ [field]: JSON.parse(text) }, field), times);
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
  const read =
    uncountedFields.length === 0 ? [] : readCounts(tables, definition, tenant, { filter, fields: uncountedFields });
  return new Map(
    fields.map(
      (field, at) => [field, indexCounts[at] ?? read[uncountedFields.indexOf(field)]?.top(limit) ?? []] as const,
    ),
  );
};

/** Counts the values of each field. Fields with the same filter are counted in one pass. */
export const countValues = (
  tables: DocumentTables,
  definition: Definition,
  tenant: string,
  fields: readonly string[],
  { filter = {}, limit = defaultLimit, chosen = {} }: CountOptions,
): readonly (readonly ValueCount[])[] => {
  checkOperators(filter);
  const counts = new Map<string, readonly ValueCount[]>();
  const groups = Map.groupBy(fields, (field) => JSON.stringify(choicesExcept(field, chosen)));
  for (const fieldGroup of groups.values()) {
    const groupFilter = { $and: [filter, choicesExcept(fieldGroup[0] ?? '', chosen)] };
    const found = countFields(tables, definition, tenant, { fields: fieldGroup, filter: groupFilter, limit });
    for (const [field, values] of found) counts.set(field, values);
  }
  return fields.map((field) => counts.get(field) ?? []);
};
