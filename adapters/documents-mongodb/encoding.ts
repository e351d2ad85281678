/**
 * How a document lies in MongoDB: `_id` holds tenant and id, the fields lie under `fields`. What BSON or its driver cannot
 * give back as it was (operators and dots in names, broken UTF-16, depth) is kept as JSON text beside the part that can be queried.
 */
import type { IndexDescription } from 'mongodb';
import type { CollectionDefinition, Filter } from '../../schemas/ports/documents.ts';
import type { Entry, Fields, Form } from '../document-encoding.ts';
import { type Order, renamed, requiredValues } from '../documents-query.ts';

export interface DocumentKey {
  readonly tenant: string;
  readonly id: string;
}

export interface MongoRecord {
  readonly _id: DocumentKey;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly fields: Fields;
  /** The exact fields, where `fields` could not hold them. */
  readonly json?: string;
}

/** MongoDB refuses 100 levels; two are the record's own. */
const maxDepth = 90;

/** Names that MongoDB or its driver takes for something else. */
const isAwkward = (name: string): boolean =>
  name.startsWith('$') ||
  name.includes('.') ||
  name.includes('\0') ||
  name === '__proto__' ||
  name === '_bsontype' ||
  !name.isWellFormed();

/** Copies what BSON holds exactly; the copy of anything else lacks it. */
class BsonCopy {
  exact = true;

  of(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.#text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= maxDepth) {
      this.exact = false;
      return null;
    }
    if (Array.isArray(value)) return value.map((element) => this.of(element, depth + 1));
    const copy: [string, unknown][] = [];
    for (const [name, inner] of Object.entries(value)) {
      if (isAwkward(name)) this.exact = false;
      else copy.push([name, this.of(inner, depth + 1)]);
    }
    return Object.fromEntries(copy);
  }

  #text(value: string): string {
    if (value.isWellFormed()) return value;
    this.exact = false;
    return value.toWellFormed();
  }
}

export const recordOf = (tenant: string, entry: Omit<Entry, 'fields'>, { fields, text }: Form): MongoRecord => {
  const copy = new BsonCopy();
  const queryable = copy.of(fields, 0) as Fields;
  const { id, version, createdAt, updatedAt } = entry;
  const record: MongoRecord = { _id: { tenant, id }, version, createdAt, updatedAt, fields: queryable };
  return copy.exact ? record : { ...record, json: text };
};

export const entryOf = (record: MongoRecord): Entry => ({
  id: record._id.id,
  version: record.version,
  createdAt: record.createdAt,
  updatedAt: record.updatedAt,
  fields: record.json === undefined ? record.fields : (JSON.parse(record.json) as Fields),
});

const ownPaths: ReadonlySet<string> = new Set(['version', 'createdAt', 'updatedAt']);

/** A document's path within the record. */
export const pathOf = (path: string): string => {
  if (path === 'id') return '_id.id';
  return ownPaths.has(path) ? path : `fields.${path}`;
};

export const filterOf = (filter: Filter): Filter => renamed(filter, pathOf);

/** The filter within one tenant. The caller's filter cannot widen it: both must hold. */
export const filterWithin = (tenant: string, ...filters: readonly Filter[]): Filter => ({
  $and: [{ '_id.tenant': tenant }, ...filters],
});

/** Field names of a unique index that refused a write. */
export const fieldsOfKey = (key: Readonly<Record<string, unknown>> = {}): readonly string[] =>
  '_id' in key ? ['id'] : Object.keys(key).flatMap((path) => (path.startsWith('fields.') ? [path.slice(7)] : []));

const prefix = 'oiq ';
export const isOurs = (indexName: string): boolean => indexName.startsWith(prefix);

const ascending = (paths: readonly string[]): Record<string, 1> => Object.fromEntries(paths.map((path) => [path, 1]));

const index = (kind: string, paths: readonly string[], options: Partial<IndexDescription> = {}): IndexDescription => ({
  key: ascending(paths),
  name: `${prefix}${kind} ${paths.join(' ')}`,
  ...options,
});

/** A set with a missing or null field binds nothing, as in SQL. */
const bound = (paths: readonly string[]): Partial<IndexDescription> => ({
  unique: true,
  partialFilterExpression: Object.fromEntries(paths.map((path) => [path, { $type: ['number', 'string', 'bool'] }])),
});

/** The index that a list in an order is read by: those of `sorts` are read either way. */
const orderIndex = (order: Order): IndexDescription['key'] =>
  Object.fromEntries(order.map(([path, direction]) => [pathOf(path), direction]));

/**
 * Which index a search for texts is to be read by, where the filter pins no field to a value: that of the order, else that of ids. Each
 * reads every document at most. Left to itself the server tries all indexes of the collection for each text that is found more often or more
 * seldom than the one before.
 */
export const hintFor = (
  { sorts = [] }: CollectionDefinition<object>,
  filter: Filter,
  order?: Order,
): IndexDescription['key'] | undefined => {
  if (!JSON.stringify(filter).includes('"$regex"') || requiredValues(filter).size > 0) return undefined;
  const [first, second] = order ?? [];
  if (first === undefined) return { '_id.tenant': 1, '_id.id': 1 };
  const isIndexed = order?.length === 2 && sorts.includes(first[0]) && second?.[1] === 1;
  return isIndexed ? { '_id.tenant': 1, ...orderIndex(order) } : undefined;
};

/** A partial index answers no query that does not repeat its condition, so each unique set has a plain one beside it. */
export const indexesOf = ({
  indexes = [],
  sorts = [],
  unique = [],
  uniqueEverywhere = [],
}: CollectionDefinition<object>): readonly IndexDescription[] => {
  const requiredIndexes = [index('by', ['_id.tenant', '_id.id'])];
  for (const set of [...indexes, ...unique])
    requiredIndexes.push(index('by', ['_id.tenant', ...set.map(pathOf), '_id.id']));
  for (const path of sorts.map(pathOf)) {
    requiredIndexes.push(index('by', ['_id.tenant', path, '_id.id']));
    // Ids ascend in either direction, so that one index cannot be read both ways.
    requiredIndexes.push({
      key: { '_id.tenant': 1, [path]: -1, '_id.id': 1 },
      name: `${prefix}down _id.tenant ${path} _id.id`,
    });
  }
  for (const set of uniqueEverywhere) requiredIndexes.push(index('by', [...set.map(pathOf), '_id.tenant', '_id.id']));
  for (const set of unique)
    requiredIndexes.push(index('unique', ['_id.tenant', ...set.map(pathOf)], bound(set.map(pathOf))));
  for (const set of uniqueEverywhere) requiredIndexes.push(index('unique', set.map(pathOf), bound(set.map(pathOf))));
  return [...new Map(requiredIndexes.map((one) => [one.name, one])).values()];
};
