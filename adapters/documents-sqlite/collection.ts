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
  countedFields,
  defaultLimit,
  encodeCursor,
  type Order,
  parseCursor,
  positionOf,
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
  write<Result>(operation: (tables: DocumentTables, written: DocumentWrite[]) => Result): Promise<Result>;
}

interface PositionedDocument {
  readonly document: Fields & StoredMetadata;
  readonly place: readonly Scalar[];
}

/**
 * Maximum ratio of scanned to returned rows for a list in index order; rarer matches are found faster in another way.
 */
const maxScansPerMatch = 4;

/**
 * A tenant's matches after a position, in the order of its index. Undefined if there is no index, or matches are too
 * rare.
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
  const maxPlaces = maxScansPerMatch * (limit + 1);
  const places = tables.firstInOrder(definition, tenant, filter, { order, start, maxPlaces });
  const found: PositionedDocument[] = [];
  let seen = 0;
  for (const row of places ?? []) {
    seen += 1;
    if (row === undefined || !matches(row)) continue;
    const document = toDocument(row);
    found.push({ document, place: positionOf(document, order) });
    if (found.length > limit) return found;
  }
  return places !== undefined && seen < maxPlaces ? found : undefined;
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
  const found: PositionedDocument[] = [];
  const byId = order.length === 1;
  const sortedRows = byId
    ? tables.candidates(definition, tenant, filter, getIdRange(filter, order[0]?.[1], start))
    : tables.inOrder(definition, tenant, filter, { bounds: getIdRange(filter), order, start });
  const startsAfterPosition = !byId && sortedRows !== undefined;
  for (const row of sortedRows ?? tables.candidates(definition, tenant, filter, getIdRange(filter))) {
    if (!matches(row)) continue;
    const document = toDocument(row);
    const place = positionOf(document, order);
    if (startsAfterPosition || start === undefined || comparePositions(place, start, order) > 0)
      found.push({ document, place });
    // Sorted rows are read up to the page size plus one, which shows whether more exist.
    if (sortedRows !== undefined && found.length > limit) return found;
  }
  return sortedRows === undefined
    ? found.sort((left, right) => comparePositions(left.place, right.place, order))
    : found;
};

const readPage = (
  tables: DocumentTables,
  definition: Definition,
  tenant: string,
  options: FindOptions,
): Page<Fields & StoredMetadata> => {
  const { limit = defaultLimit } = options;
  const found = findAfter(tables, definition, tenant, options);
  const last = found.length > limit ? found[limit - 1] : undefined;
  return {
    items: found.slice(0, limit).map(({ document }) => document),
    nextCursor: last === undefined ? null : encodeCursor(last.place, toOrder(options.sort)),
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

/** Returns a tenant's collection on the tables of `access`. */
export const createCollection = (
  access: Access,
  definition: Definition,
  tenantId: string,
  clock: Clock,
): Collection<object> => {
  const { name } = definition;
  const now = (): string => new Date(clock.now()).toISOString();
  const recordWrite = (
    written: DocumentWrite[],
    document: { readonly row: Row; readonly text: string },
  ): Fields & StoredMetadata => {
    written.push({ collection: name, tenantId, id: document.row.id, document });
    return toDocument(document.row);
  };
  const rewrite = (
    id: string,
    version: number | undefined,
    next: (before: Fields) => object,
  ): Promise<Fields & StoredMetadata> =>
    access.write((tables, written) => {
      const before = findCurrent(tables, definition, tenantId, id, version);
      const { fields, text } = encodeFields(next(before.fields));
      const row: Row = { ...before, version: before.version + 1, updatedAt: now(), fields };
      tables.put(definition, row, text, before);
      return recordWrite(written, { row, text });
    });
  return {
    insert: (given) =>
      access.write((tables, written) =>
        recordWrite(written, insertDocument(tables, definition, tenantId, given, now())),
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
      access.read((tables) => countValues(tables, definition, tenantId, countedFields(fields, options), options)),
    replace: (id, fields, version) => rewrite(id, version, () => fields),
    update: (id, changes, version) => rewrite(id, version, (before) => applyChanges(before, changes)),
    delete: (id, version) =>
      access.write((tables, written) => {
        const row =
          version === undefined
            ? tables.find(name, tenantId, id)
            : findCurrent(tables, definition, tenantId, id, version);
        if (row === undefined) return false;
        tables.remove(definition, row);
        written.push({ collection: name, tenantId, id, document: undefined });
        return true;
      }),
  };
};
