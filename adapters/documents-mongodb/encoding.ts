/**
 * Encodes documents for MongoDB: `_id` contains the tenant and the id, `fields` the fields. Values that BSON or its driver
 * cannot preserve (operators and dots in names, broken UTF-16, depth) are additionally stored as JSON text.
 */
import type { IndexDescription } from 'mongodb';
import type { CollectionDefinition, Filter } from '../../schemas/ports/documents.ts';
import type { EncodedFields, Entry, Fields } from '../document-encoding.ts';
import { collectRequiredValues, type Order, renamePaths } from '../documents-query.ts';

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
  /** The exact fields, if `fields` cannot represent them */
  readonly json?: string;
}

/** MongoDB rejects 100 levels; the record itself uses two. */
const maxDepth = 90;

/** Names that MongoDB or its driver interprets in another way. */
const isUnsafeName = (name: string): boolean =>
  name.startsWith('$') ||
  name.includes('.') ||
  name.includes('\0') ||
  name === '__proto__' ||
  name === '_bsontype' ||
  !name.isWellFormed();

/** Copies the values that BSON represents exactly, and omits all others. */
class BsonCopier {
  isExact = true;

  copyValue(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.#copyText(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= maxDepth) {
      this.isExact = false;
      return null;
    }
    if (Array.isArray(value)) return value.map((element) => this.copyValue(element, depth + 1));
    const copier: [string, unknown][] = [];
    for (const [name, inner] of Object.entries(value)) {
      if (isUnsafeName(name)) this.isExact = false;
      else copier.push([name, this.copyValue(inner, depth + 1)]);
    }
    return Object.fromEntries(copier);
  }

  #copyText(value: string): string {
    if (value.isWellFormed()) return value;
    this.isExact = false;
    return value.toWellFormed();
  }
}

export const toRecord = (
  tenant: string,
  entry: Omit<Entry, 'fields'>,
  { fields, text }: EncodedFields,
): MongoRecord => {
  const copy = new BsonCopier();
  const queryableFields = copy.copyValue(fields, 0) as Fields;
  const { id, version, createdAt, updatedAt } = entry;
  const record: MongoRecord = { _id: { tenant, id }, version, createdAt, updatedAt, fields: queryableFields };
  return copy.isExact ? record : { ...record, json: text };
};

export const toEntry = (record: MongoRecord): Entry => ({
  id: record._id.id,
  version: record.version,
  createdAt: record.createdAt,
  updatedAt: record.updatedAt,
  fields: record.json === undefined ? record.fields : (JSON.parse(record.json) as Fields),
});

const ownPaths: ReadonlySet<string> = new Set(['version', 'createdAt', 'updatedAt']);

/** Path of a document field within the record. */
export const toRecordPath = (path: string): string => {
  if (path === 'id') return '_id.id';
  return ownPaths.has(path) ? path : `fields.${path}`;
};

export const toRecordFilter = (filter: Filter): Filter => renamePaths(filter, toRecordPath);

/** Returns the filter within one tenant. The caller's filter cannot widen it, since both must match. */
export const filterWithin = (tenant: string, ...filters: readonly Filter[]): Filter => ({
  $and: [{ '_id.tenant': tenant }, ...filters],
});

/** Field names of the unique index that rejected a write. */
export const getKeyFields = (key: Readonly<Record<string, unknown>> = {}): readonly string[] =>
  '_id' in key ? ['id'] : Object.keys(key).flatMap((path) => (path.startsWith('fields.') ? [path.slice(7)] : []));

const indexPrefix = 'oiq ';
export const isOwnIndex = (indexName: string): boolean => indexName.startsWith(indexPrefix);

const toAscendingKey = (paths: readonly string[]): Record<string, 1> =>
  Object.fromEntries(paths.map((path) => [path, 1]));

const buildIndex = (
  kind: string,
  paths: readonly string[],
  options: Partial<IndexDescription> = {},
): IndexDescription => ({
  key: toAscendingKey(paths),
  name: `${indexPrefix}${kind} ${paths.join(' ')}`,
  ...options,
});

/** A unique set with a missing or null field does not apply, as in SQL. */
const buildUniqueOptions = (paths: readonly string[]): Partial<IndexDescription> => ({
  unique: true,
  partialFilterExpression: Object.fromEntries(paths.map((path) => [path, { $type: ['number', 'string', 'bool'] }])),
});

/** The index for lists in an order; indexes of `sorts` are read in both directions. */
const buildOrderKey = (order: Order): IndexDescription['key'] =>
  Object.fromEntries(order.map(([path, direction]) => [toRecordPath(path), direction]));

/**
 * Returns the index hint for a text search whose filter requires no exact value: the index of the order, otherwise of
 * ids. Each of these reads every document at most once. Without a hint the server tries all indexes of the collection whenever the
 * frequency of the searched text differs from the one before.
 */
export const findHint = (
  { sorts = [] }: CollectionDefinition<object>,
  filter: Filter,
  order?: Order,
): IndexDescription['key'] | undefined => {
  if (!JSON.stringify(filter).includes('"$regex"') || collectRequiredValues(filter).size > 0) return undefined;
  const [first, second] = order ?? [];
  if (first === undefined) return { '_id.tenant': 1, '_id.id': 1 };
  const isIndexed = order?.length === 2 && sorts.includes(first[0]) && second?.[1] === 1;
  return isIndexed ? { '_id.tenant': 1, ...buildOrderKey(order) } : undefined;
};

/** A partial index only serves queries that repeat its condition, so each unique set also has a plain index. */
export const buildIndexes = ({
  indexes = [],
  sorts = [],
  unique = [],
  uniqueEverywhere = [],
}: CollectionDefinition<object>): readonly IndexDescription[] => {
  const requiredIndexes = [buildIndex('by', ['_id.tenant', '_id.id'])];
  for (const set of [...indexes, ...unique])
    requiredIndexes.push(buildIndex('by', ['_id.tenant', ...set.map(toRecordPath), '_id.id']));
  for (const path of sorts.map(toRecordPath)) {
    requiredIndexes.push(buildIndex('by', ['_id.tenant', path, '_id.id']));
    // Ids ascend in both directions, so one index cannot serve both.
    requiredIndexes.push({
      key: { '_id.tenant': 1, [path]: -1, '_id.id': 1 },
      name: `${indexPrefix}down _id.tenant ${path} _id.id`,
    });
  }
  for (const set of uniqueEverywhere)
    requiredIndexes.push(buildIndex('by', [...set.map(toRecordPath), '_id.tenant', '_id.id']));
  for (const set of unique)
    requiredIndexes.push(
      buildIndex('unique', ['_id.tenant', ...set.map(toRecordPath)], buildUniqueOptions(set.map(toRecordPath))),
    );
  for (const set of uniqueEverywhere)
    requiredIndexes.push(buildIndex('unique', set.map(toRecordPath), buildUniqueOptions(set.map(toRecordPath))));
  return [...new Map(requiredIndexes.map((requiredIndex) => [requiredIndex.name, requiredIndex])).values()];
};
