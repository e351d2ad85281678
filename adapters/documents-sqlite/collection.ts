/** One tenant's collection in SQLite: reads, writes and lists on the tables. */
import type { Clock } from '../../schemas/ports/clock.ts';
import {
  type Collection,
  type CollectionDefinition,
  ConflictError,
  type FindOptions,
  type Page,
  type StoredMetadata,
} from '../../schemas/ports/documents.ts';
import { applyChanges, encodeFields, type Fields, toDocument, validateOrCreateId } from '../document-encoding.ts';
import {
  comparePositions,
  defaultLimit,
  encodeCursor,
  getPosition,
  type Order,
  parseCursor,
  requireCountableFields,
  type Scalar,
  toOrder,
} from '../documents-query.ts';
import { countValues } from './counts.ts';
import { createMatcher, getIdRange } from './matches.ts';
import type { DocumentTables, Row } from './tables.ts';

type Definition = CollectionDefinition<object>;

/** The effect of a write; followers of the collection receive it after the commit. */
export interface DocumentWrite {
  readonly collection: string;
  readonly tenantId: string;
  readonly id: string;
  /** Text of the stored fields, so that each follower gets its own objects. */
  readonly document: { readonly row: Row; readonly text: string } | undefined;
}

/** How the operations of a collection run: directly, or in a transaction. */
export interface Access {
  read<Result>(operation: (tables: DocumentTables) => Result): Promise<Result>;
  write<Result>(operation: (tables: DocumentTables, writes: DocumentWrite[]) => Result): Promise<Result>;
}

interface PositionedDocument {
  readonly document: Fields & StoredMetadata;
  readonly position: readonly Scalar[];
}

/**
 * Maximum ratio of scanned to returned rows for a list in index order; rarer matches are found faster in another way.
 */
const maxScansPerMatch = 4;

/**
 * Returns a tenant's matches after a position, in the order of an index. Undefined if there is no index, or if matches
 * are too rare.
 */
const findByIndex = (
  tables: DocumentTables,
  definition: Definition,
  tenant: string,
  {
    filter,
    order,
    start,
    limit,
  }: Required<Pick<FindOptions, 'filter' | 'limit'>> & {
    readonly order: Order;
    readonly start: readonly Scalar[] | undefined;
  },
): readonly PositionedDocument[] | undefined => {
  const matches = createMatcher(filter);
  const maxScannedRows = maxScansPerMatch * (limit + 1);
  const scannedRows = tables.readFirstInOrder(definition, tenant, filter, { order, start, maxRows: maxScannedRows });
  const matchingDocuments: PositionedDocument[] = [];
  let scannedCount = 0;
  for (const row of scannedRows ?? []) {
    scannedCount += 1;
    if (row === undefined || !matches(row)) continue;
    const document = toDocument(row);
    matchingDocuments.push({ document, position: getPosition(document, order) });
    if (matchingDocuments.length > limit) return matchingDocuments;
  }
  return scannedRows !== undefined && scannedCount < maxScannedRows ? matchingDocuments : undefined;
};

/** A tenant's sorted matches after a position; more than `limit` of them if more exist. */
const findAfter = (
  tables: DocumentTables,
  definition: Definition,
  tenant: string,
  { filter = {}, sort, after, limit = defaultLimit }: FindOptions,
): readonly PositionedDocument[] => {
  const order = toOrder(sort);
  const start = after === undefined ? undefined : parseCursor(after, order);
  const indexMatches = findByIndex(tables, definition, tenant, { filter, order, start, limit });
  if (indexMatches !== undefined) return indexMatches;
  const matches = createMatcher(filter);
  const matchingDocuments: PositionedDocument[] = [];
  const isSortedById = order.length === 1;
  const sortedRows = isSortedById
    ? tables.candidates(definition, tenant, filter, getIdRange(filter, order[0]?.[1], start))
    : tables.readInOrder(definition, tenant, filter, { bounds: getIdRange(filter), order, start });
  const startsAfterPosition = !isSortedById && sortedRows !== undefined;
  for (const row of sortedRows ?? tables.candidates(definition, tenant, filter, getIdRange(filter))) {
    if (!matches(row)) continue;
    const document = toDocument(row);
    const position = getPosition(document, order);
    if (startsAfterPosition || start === undefined || comparePositions(position, start, order) > 0)
      matchingDocuments.push({ document, position });
    // Sorted rows are read up to the page size plus one, which shows whether more exist.
    if (sortedRows !== undefined && matchingDocuments.length > limit) return matchingDocuments;
  }
  return sortedRows === undefined
    ? matchingDocuments.sort((left, right) => comparePositions(left.position, right.position, order))
    : matchingDocuments;
};

const readPage = (
  tables: DocumentTables,
  definition: Definition,
  tenant: string,
  options: FindOptions,
): Page<Fields & StoredMetadata> => {
  const { limit = defaultLimit } = options;
  const page = findAfter(tables, definition, tenant, options);
  const last = page.length > limit ? page[limit - 1] : undefined;
  return {
    items: page.slice(0, limit).map(({ document }) => document),
    nextCursor: last === undefined ? null : encodeCursor(last.position, toOrder(options.sort)),
  };
};

const insertDocument = (
  tables: DocumentTables,
  definition: Definition,
  tenantId: string,
  given: object,
  now: string,
): { readonly row: Row; readonly text: string } => {
  const id = validateOrCreateId((given as { id?: string }).id);
  const { fields, text } = encodeFields(given);
  if (tables.find(definition.name, tenantId, id) !== undefined)
    throw new ConflictError('duplicate', `another document has the id ${id}`, { fields: ['id'] });
  const row: Row = { tenantId, id, version: 1, createdAt: now, updatedAt: now, fields };
  tables.put(definition, row, text, undefined);
  return { row, text };
};

const findCurrent = (
  tables: DocumentTables,
  definition: Definition,
  tenantId: string,
  id: string,
  version: number | undefined,
): Row => {
  const row = tables.find(definition.name, tenantId, id);
  if (row === undefined) throw new ConflictError('version', `document ${id} does not exist`);
  if (version !== undefined && row.version !== version)
    throw new ConflictError('version', `document ${id} is at version ${row.version}, not ${version}`);
  return row;
};

/** Returns a tenant's collection, which uses the tables of `access`. */
export const createCollection = (
  access: Access,
  definition: Definition,
  tenantId: string,
  clock: Clock,
): Collection<object> => {
  const { name } = definition;
  const getNow = (): string => new Date(clock.now()).toISOString();
  const recordWrite = (
    writes: DocumentWrite[],
    document: { readonly row: Row; readonly text: string },
  ): Fields & StoredMetadata => {
    writes.push({ collection: name, tenantId, id: document.row.id, document });
    return toDocument(document.row);
  };
  const replaceDocument = (
    id: string,
    version: number | undefined,
    next: (before: Fields) => object,
  ): Promise<Fields & StoredMetadata> =>
    access.write((tables, writes) => {
      const before = findCurrent(tables, definition, tenantId, id, version);
      const { fields, text } = encodeFields(next(before.fields));
      const row: Row = { ...before, version: before.version + 1, updatedAt: getNow(), fields };
      tables.put(definition, row, text, before);
      return recordWrite(writes, { row, text });
    });
  return {
    insert: (given) =>
      access.write((tables, writes) =>
        recordWrite(writes, insertDocument(tables, definition, tenantId, given, getNow())),
      ),
    find: (id) =>
      access.read((tables) => {
        const row = tables.find(name, tenantId, id);
        return row === undefined ? undefined : toDocument(row);
      }),
    list: (options = {}) => access.read((tables) => readPage(tables, definition, tenantId, options)),
    count: (filter = {}) =>
      access.read((tables) => {
        const matches = createMatcher(filter);
        if (Object.keys(filter).length === 0) return tables.count(name, tenantId);
        let count = 0;
        for (const row of tables.candidates(definition, tenantId, filter, getIdRange(filter)))
          if (matches(row)) count += 1;
        return count;
      }),
    countValues: (fields, options = {}) =>
      access.read((tables) =>
        countValues(tables, definition, tenantId, requireCountableFields(fields, options), options),
      ),
    replace: (id, fields, version) => replaceDocument(id, version, () => fields),
    update: (id, changes, version) => replaceDocument(id, version, (before) => applyChanges(before, changes)),
    delete: (id, version) =>
      access.write((tables, writes) => {
        const row =
          version === undefined
            ? tables.find(name, tenantId, id)
            : findCurrent(tables, definition, tenantId, id, version);
        if (row === undefined) return false;
        tables.remove(definition, row);
        writes.push({ collection: name, tenantId, id, document: undefined });
        return true;
      }),
  };
};
