/**
 * Indexes for long lists in an order (`sorts`): one SQLite index per collection and field, on the documents of that
 * collection only. SQLite updates them with each write, regardless of the program version that writes.
 */
import type { CollectionDefinition } from '../../schemas/ports/documents.ts';
import { validateCollectionName } from '../document-encoding.ts';
import { buildPositionSql } from './conditions.ts';

type Definition = CollectionDefinition<object>;

/** Values without a sort key sort before everything else in the index. */
const missingValueRank = -1;

export interface OrderIndex {
  readonly name: string;
  /** The statement that creates the index. */
  readonly createStatement: string;
  /** Sort expression for the rank */
  readonly rank: string;
  readonly value: string;
  /** Source of a tenant's documents that reads by the index */
  readonly from: string;
}

/** Prefix of the names of a collection's indexes. */
export const getIndexNamePrefix = ({ name }: Definition): string => `order of ${validateCollectionName(name)} by `;

/** The index of an order by a field; undefined if lists of the collection are not sorted by the field. */
export const getOrderIndex = (definition: Definition, path: string): OrderIndex | undefined => {
  const positionSql = definition.sorts?.includes(path) ? buildPositionSql(path, missingValueRank) : undefined;
  if (positionSql === undefined) return undefined;
  const [rank, value] = positionSql;
  const name = `${getIndexNamePrefix(definition)}${path}`;
  const collectionCondition = `collection = '${definition.name}'`;
  // All times have the same rank.
  const keys = Number.isNaN(Number(rank)) ? [rank, value] : [value];
  return {
    name,
    createStatement: `CREATE INDEX IF NOT EXISTS "${name}" ON documents (tenant, ${keys.join()}, id) WHERE ${collectionCondition}`,
    rank,
    value,
    from: `FROM documents INDEXED BY "${name}" WHERE ${collectionCondition} AND tenant = ?`,
  };
};

export const getOrderIndexes = (definition: Definition): readonly OrderIndex[] =>
  (definition.sorts ?? []).flatMap((path) => getOrderIndex(definition, path) ?? []);
