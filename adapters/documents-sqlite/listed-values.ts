/** Values that the store indexes in addition to a document: those of indexed fields and of unique sets. */
import type { CollectionDefinition } from '../../schemas/ports/documents.ts';
import type { Fields } from '../document-encoding.ts';
import { getValuesAt } from '../documents-query.ts';

type Definition = CollectionDefinition<object>;

/** Paths of all indexed fields */
export const getIndexedPaths = ({
  indexes = [],
  unique = [],
  uniqueEverywhere = [],
}: Definition): readonly string[] => [...new Set([...indexes, ...unique, ...uniqueEverywhere].flat())];

/** Fingerprint of the indexed values of a definition. The order of indexes only determines which index a read uses. */
export const createFingerprint = (paths: readonly string[], unique: unknown, uniqueEverywhere: unknown): string =>
  JSON.stringify([[...paths].sort(), unique, uniqueEverywhere]);

/** One line for each indexed value: `["path", value]`. */
export const getIndexEntries = (definition: Definition, fields: Fields): ReadonlySet<string> => {
  const lines = new Set<string>();
  for (const path of getIndexedPaths(definition))
    for (const value of getValuesAt(fields, path.split('.')))
      if (value !== null && typeof value !== 'object') lines.add(JSON.stringify([path, JSON.stringify(value)]));
  return lines;
};

/** One line for each unique set that applies to the document: `["tenant or empty", "[fields]", "[values]"]`. */
export const getUniqueEntries = (definition: Definition, tenant: string, fields: Fields): ReadonlySet<string> => {
  const lines = new Set<string>();
  const addSet = (scope: string, set: readonly string[]): void => {
    const values = set.map((path) => getValuesAt(fields, path.split('.'))[0] ?? null);
    if (!values.includes(null)) lines.add(JSON.stringify([scope, JSON.stringify(set), JSON.stringify(values)]));
  };
  for (const set of definition.unique ?? []) addSet(tenant, set);
  for (const set of definition.uniqueEverywhere ?? []) addSet('', set);
  return lines;
};

/** Index lines of a missing document */
export const emptyEntries: ReadonlySet<string> = new Set();

/** Lines that the others do not contain. */
export const subtractEntries = (lines: ReadonlySet<string>, others: ReadonlySet<string>): readonly string[] =>
  [...lines].filter((line) => !others.has(line));
