/**
 * Indexes by which long lists are read in an order (`sorts`): one of SQLite's own for each collection and field, over that collection's
 * documents alone. SQLite keeps them with each write, whichever version of the program writes.
 */
import type { CollectionDefinition } from '../../schemas/ports/documents.ts';
import { checkedName } from '../document-encoding.ts';
import { placeAt } from './conditions.ts';

type Definition = CollectionDefinition<object>;

/** What has no place lies before everything else in the index. */
const unplaced = -1;

export interface OrderIndex {
  readonly name: string;
  /** The statement that makes it. */
  readonly making: string;
  /** What it is sorted by. */
  readonly rank: string;
  readonly value: string;
  /** A tenant's documents, read by it. */
  readonly from: string;
}

/** The names of a collection's indexes begin so. */
export const orderPrefix = ({ name }: Definition): string => `order of ${checkedName(name)} by `;

/** The index of an order by a field; undefined where lists of the collection are not sorted by it. */
export const orderIndexOf = (definition: Definition, path: string): OrderIndex | undefined => {
  const place = definition.sorts?.includes(path) ? placeAt(path, unplaced) : undefined;
  if (place === undefined) return undefined;
  const [rank, value] = place;
  const name = `${orderPrefix(definition)}${path}`;
  const isOf = `collection = '${definition.name}'`;
  // Times all have one rank.
  const keys = Number.isNaN(Number(rank)) ? [rank, value] : [value];
  return {
    name,
    making: `CREATE INDEX IF NOT EXISTS "${name}" ON documents (tenant, ${keys.join()}, id) WHERE ${isOf}`,
    rank,
    value,
    from: `FROM documents INDEXED BY "${name}" WHERE ${isOf} AND tenant = ?`,
  };
};

export const orderIndexesOf = (definition: Definition): readonly OrderIndex[] =>
  (definition.sorts ?? []).flatMap((path) => orderIndexOf(definition, path) ?? []);
