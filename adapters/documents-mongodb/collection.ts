/** The documents of one tenant in one collection of MongoDB */
import type { ClientSession, Document, Collection as MongoCollection, Filter as MongoFilter } from 'mongodb';
import { UnavailableError } from '../../schemas/errors.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import {
  type Collection,
  type CollectionDefinition,
  ConflictError,
  type CountOptions,
  type Filter,
  type FindOptions,
  type Page,
  type StoredMetadata,
  type ValueCount,
} from '../../schemas/ports/documents.ts';
import { applyChanges, encodeFields, type Fields, toDocument, validateOrCreateId } from '../document-encoding.ts';
import {
  buildAfterFilter,
  defaultLimit,
  encodeCursor,
  filterExceptAnyField,
  filterExceptField,
  getPosition,
  parseCursor,
  renamePaths,
  requireCountableFields,
  toOrder,
} from '../documents-query.ts';
import {
  type DocumentKey,
  filterWithin,
  findHint,
  type MongoRecord,
  toEntry,
  toRecord,
  toRecordFilter,
  toRecordPath,
} from './encoding.ts';
import { isMissingIndex } from './errors.ts';

export type Records = MongoCollection<MongoRecord>;

/** How the operations of a collection run: directly, or in the session of a transaction. */
export interface Access {
  readonly session?: ClientSession;
  /** Time limit of every operation */
  readonly limitMs: number;
  read<Result>(operation: () => Promise<Result>): Promise<Result>;
  write<Result>(operation: () => Promise<Result>): Promise<Result>;
}

/** The driver's filter type has only the declared paths of the record. */
export const toMongoFilter = (filter: Filter): MongoFilter<MongoRecord> => filter as MongoFilter<MongoRecord>;

type Definition = CollectionDefinition<object>;
type Options = { readonly session?: ClientSession; readonly hint?: Document };

/**
 * Reads with an index hint if given. Reads without it if the index is missing, and in a transaction, which an error
 * would abort.
 */
const readWithHint = async <Result>(
  hint: Document | undefined,
  session: ClientSession | undefined,
  read: (options: Options) => Promise<Result>,
): Promise<Result> => {
  if (session !== undefined) return read({ session });
  try {
    return await read(hint === undefined ? {} : { hint });
  } catch (error) {
    if (hint === undefined || !isMissingIndex(error)) throw error;
    return read({});
  }
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Source and options of a read. */
interface Source {
  readonly definition: Definition;
  readonly records: Records;
  readonly tenant: string;
  readonly session: ClientSession | undefined;
}

const listPage = async (
  { definition, records, tenant, session }: Source,
  options: FindOptions,
): Promise<Page<Fields & StoredMetadata>> => {
  const { filter = {}, limit = defaultLimit } = options;
  const order = toOrder(options.sort);
  const filters = [toRecordFilter(filter)];
  if (options.after !== undefined)
    filters.push(buildAfterFilter(parseCursor(options.after, order), order, toRecordPath));
  const matchingRecords = await readWithHint(findHint(definition, filter, order), session, (readOptions) =>
    records
      .find(toMongoFilter(filterWithin(tenant, ...filters)), readOptions)
      .sort(new Map(order.map(([path, direction]) => [toRecordPath(path), direction])))
      .limit(limit + 1)
      .toArray(),
  );
  const documents = matchingRecords.map((record) => toDocument(toEntry(record)));
  const items = documents.slice(0, limit);
  // Compute the position of every item, so that a list or object in the sort field fails on every page and not only on
  // some.
  const last = items.map((item) => getPosition(item, order)).at(-1);
  return { items, nextCursor: documents.length > limit && last !== undefined ? encodeCursor(last, order) : null };
};

interface CountRequest {
  readonly fields: readonly string[];
  readonly chosen: NonNullable<CountOptions['selectedValues']>;
  readonly limit: number;
}

/** Path of a field's value in the group key. */
const toGroupKeyPath = (field: string, { fields }: CountRequest): string => `_id.of${fields.indexOf(field)}`;

/** Stages that count the values of a field, for documents grouped by their values. */
const buildValueStages = (field: string, request: CountRequest) => {
  const path = `$${toGroupKeyPath(field, request)}`;
  return [
    { $match: renamePaths(filterExceptField(field, request.chosen), (other) => toGroupKeyPath(other, request)) },
    // A set, so that a value that occurs twice in a list counts once.
    { $project: { _id: 0, count: 1, value: { $setUnion: [{ $cond: [{ $isArray: path }, path, [path]] }, []] } } },
    { $unwind: '$value' },
    { $match: { value: { $type: ['string', 'number', 'bool'] } } },
    { $group: { _id: '$value', count: { $sum: '$count' } } },
    { $sort: { count: -1 } },
    { $limit: request.limit },
  ];
};

const countValues = async (
  { definition, records, tenant, session }: Source,
  fields: readonly string[],
  { filter = {}, limit = defaultLimit, selectedValues = {} }: CountOptions,
): Promise<readonly (readonly ValueCount[])[]> => {
  type FacetResult = Readonly<Record<string, readonly { readonly _id: ValueCount['value']; readonly count: number }[]>>;
  const request: CountRequest = { fields, chosen: selectedValues, limit };
  const chosenFilter = filterExceptAnyField(fields, selectedValues);
  const countFilter = { $and: [filter, chosenFilter] };
  const stages = [
    { $match: filterWithin(tenant, toRecordFilter(countFilter)) },
    // Many documents have equal values, which are unwound once.
    {
      $group: {
        _id: Object.fromEntries(fields.map((field, index) => [`of${index}`, `$${toRecordPath(field)}`])),
        count: { $sum: 1 },
      },
    },
    { $facet: Object.fromEntries(fields.map((field, at) => [`of${at}`, buildValueStages(field, request)])) },
  ];
  // The selected values have their own indexes.
  const hint = Object.keys(chosenFilter).length === 0 ? findHint(definition, filter) : undefined;
  const [facetResult] = await readWithHint(hint, session, (readOptions) =>
    records.aggregate<FacetResult>(stages, readOptions).toArray(),
  );
  return fields.map((_, at) => (facetResult?.[`of${at}`] ?? []).map(({ _id: value, count }) => ({ value, count })));
};

/** Replaces a document whose version was just read. Returns undefined when another write happened in between. */
const replaceOnce = async (
  records: Records,
  key: DocumentKey,
  version: number | undefined,
  next: (before: Fields) => object,
  now: string,
  session: ClientSession | undefined,
): Promise<(Fields & StoredMetadata) | undefined> => {
  const options = { ...(session && { session }) };
  const current = await records.findOne({ _id: key }, options);
  if (current === null) throw new ConflictError('version', `document ${key.id} does not exist`);
  if (version !== undefined && current.version !== version)
    throw new ConflictError('version', `document ${key.id} is at version ${current.version}, not ${version}`);
  const before = toEntry(current);
  const encodedFields = encodeFields(next(before.fields));
  const entry = { ...before, version: before.version + 1, updatedAt: now };
  const { _id, ...record } = toRecord(key.tenant, entry, encodedFields);
  const { matchedCount } = await records.replaceOne({ _id: key, version: before.version }, record, options);
  return matchedCount === 1 ? toDocument({ ...entry, fields: encodedFields.fields }) : undefined;
};

const deleteOnce = async (
  records: Records,
  key: DocumentKey,
  version: number | undefined,
  session: ClientSession | undefined,
): Promise<boolean> => {
  const options = { ...(session && { session }) };
  const filter = version === undefined ? { _id: key } : { _id: key, version };
  const { deletedCount } = await records.deleteOne(filter, options);
  if (deletedCount === 0 && version !== undefined)
    throw new ConflictError('version', `document ${key.id} is not at version ${version}, or was deleted`);
  return deletedCount === 1;
};

/** Returns the documents of one tenant in one collection. */
export const createCollection = (
  access: Access,
  { definition, records, tenant }: Omit<Source, 'session'>,
  clock: Clock,
): Collection<object> => {
  const { session, limitMs } = access;
  const source: Source = { definition, records, tenant, session };
  const toKey = (id: string): DocumentKey => ({ tenant, id });
  const getNow = (): string => new Date(clock.now()).toISOString();
  const replaceWithRetry = (id: string, version: number | undefined, next: (before: Fields) => object) =>
    access.write(async () => {
      const deadline = performance.now() + limitMs;
      for (let tries = 1; performance.now() < deadline; tries += 1) {
        const document = await replaceOnce(records, toKey(id), version, next, getNow(), session);
        if (document !== undefined) return document;
        // Another write was first. Without an expected version, this write is applied on top of it.
        await pause(Math.random() * Math.min(tries * 5, 50));
      }
      throw new UnavailableError(`document ${id} has too many concurrent writes`);
    });
  return {
    insert: (document) =>
      access.write(async () => {
        const form = encodeFields(document);
        const createdAt = getNow();
        const entry = {
          id: validateOrCreateId((document as { id?: string }).id),
          version: 1,
          createdAt: createdAt,
          updatedAt: createdAt,
        };
        await records.insertOne(toRecord(tenant, entry, form), { ...(session && { session }) });
        return toDocument({ ...entry, fields: form.fields });
      }),
    find: (id) =>
      access.read(async () => {
        const record = await records.findOne({ _id: toKey(id) }, { ...(session && { session }) });
        return record === null ? undefined : toDocument(toEntry(record));
      }),
    list: (options = {}) => access.read(() => listPage(source, options)),
    count: (filter = {}) =>
      access.read(() =>
        records.countDocuments(toMongoFilter(filterWithin(tenant, toRecordFilter(filter))), {
          ...(session && { session }),
        }),
      ),
    countValues: (fields, options = {}) =>
      access.read(() => countValues(source, requireCountableFields(fields, options), options)),
    replace: (id, fields, version) => replaceWithRetry(id, version, () => fields),
    update: (id, changes, version) => replaceWithRetry(id, version, (before) => applyChanges(before, changes)),
    delete: (id, version) => access.write(() => deleteOnce(records, toKey(id), version, session)),
  };
};
