/** One tenant's collection in SQLite: reads, writes and lists on the tables. */
import type { Clock } from '../../schemas/ports/clock.ts';
import {
  type Collection,
  type CollectionDefinition,
  ConflictError,
  type FindOptions,
  type Page,
  type Stored,
} from '../../schemas/ports/documents.ts';
import { changed, documentOf, type Fields, formOf, idOf } from '../document-encoding.ts';
import {
  comparePlaces,
  countedFields,
  cursorOf,
  defaultLimit,
  type Order,
  orderOf,
  placeOfCursor,
  positionOf,
  type Scalar,
} from '../documents-query.ts';
import { countsOf } from './counts.ts';
import { matcherOf, rangeOf } from './matches.ts';
import type { DocumentTables, Row } from './tables.ts';

type Definition = CollectionDefinition<object>;

/** The effect of a write; followers of the collection receive it after the commit. */
export interface Written {
  readonly collection: string;
  readonly tenantId: string;
  readonly id: string;
  /** Text of the stored fields, so that each follower gets its own objects. */
  readonly document: { readonly row: Row; readonly text: string } | undefined;
}

/** How the operations of a collection run: directly, or in a transaction. */
export interface Access {
  read<Result>(operation: (tables: DocumentTables) => Result): Promise<Result>;
  write<Result>(operation: (tables: DocumentTables, written: Written[]) => Result): Promise<Result>;
}

interface Found {
  readonly document: Fields & Stored;
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
const matchesByIndex = (
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
): readonly Found[] | undefined => {
  const matches = matcherOf(filter);
  const maxPlaces = maxScansPerMatch * (limit + 1);
  const places = tables.firstInOrder(definition, tenant, filter, { order, start, maxPlaces });
  const found: Found[] = [];
  let seen = 0;
  for (const row of places ?? []) {
    seen += 1;
    if (row === undefined || !matches(row)) continue;
    const document = documentOf(row);
    found.push({ document, place: positionOf(document, order) });
    if (found.length > limit) return found;
  }
  return places !== undefined && seen < maxPlaces ? found : undefined;
};

/** A tenant's sorted matches after a position; more than `limit` of them if more exist. */
const matchesAfter = (
  tables: DocumentTables,
  definition: Definition,
  tenant: string,
  { filter = {}, sort, after, limit = defaultLimit }: FindOptions,
): readonly Found[] => {
  const order = orderOf(sort);
  const start = after === undefined ? undefined : placeOfCursor(after, order);
  const ofIndex = matchesByIndex(tables, definition, tenant, { filter, order, start, limit });
  if (ofIndex !== undefined) return ofIndex;
  const matches = matcherOf(filter);
  const found: Found[] = [];
  const byId = order.length === 1;
  const inOrder = byId
    ? tables.candidates(definition, tenant, filter, rangeOf(filter, order[0]?.[1], start))
    : tables.inOrder(definition, tenant, filter, { bounds: rangeOf(filter), order, start });
  const isPast = !byId && inOrder !== undefined;
  for (const row of inOrder ?? tables.candidates(definition, tenant, filter, rangeOf(filter))) {
    if (!matches(row)) continue;
    const document = documentOf(row);
    const place = positionOf(document, order);
    if (isPast || start === undefined || comparePlaces(place, start, order) > 0) found.push({ document, place });
    // Sorted rows are read up to the page size plus one, which shows whether more exist.
    if (inOrder !== undefined && found.length > limit) return found;
  }
  return inOrder === undefined ? found.sort((left, right) => comparePlaces(left.place, right.place, order)) : found;
};

const pageOf = (
  tables: DocumentTables,
  definition: Definition,
  tenant: string,
  options: FindOptions,
): Page<Fields & Stored> => {
  const { limit = defaultLimit } = options;
  const found = matchesAfter(tables, definition, tenant, options);
  const last = found.length > limit ? found[limit - 1] : undefined;
  return {
    items: found.slice(0, limit).map(({ document }) => document),
    nextCursor: last === undefined ? null : cursorOf(last.place, orderOf(options.sort)),
  };
};

const inserted = (
  tables: DocumentTables,
  definition: Definition,
  tenantId: string,
  given: object,
  now: string,
): { readonly row: Row; readonly text: string } => {
  const id = idOf((given as { id?: string }).id);
  const { fields, text } = formOf(given);
  if (tables.find(definition.name, tenantId, id) !== undefined)
    throw new ConflictError('duplicate', `another document has the id ${id}`, { fields: ['id'] });
  const row: Row = { tenantId, id, version: 1, createdAt: now, updatedAt: now, fields };
  tables.put(definition, row, text, undefined);
  return { row, text };
};

const current = (
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
export const collectionOf = (
  access: Access,
  definition: Definition,
  tenantId: string,
  clock: Clock,
): Collection<object> => {
  const { name } = definition;
  const now = (): string => new Date(clock.now()).toISOString();
  const recordWrite = (written: Written[], document: { readonly row: Row; readonly text: string }): Fields & Stored => {
    written.push({ collection: name, tenantId, id: document.row.id, document });
    return documentOf(document.row);
  };
  const rewrite = (
    id: string,
    version: number | undefined,
    next: (before: Fields) => object,
  ): Promise<Fields & Stored> =>
    access.write((tables, written) => {
      const before = current(tables, definition, tenantId, id, version);
      const { fields, text } = formOf(next(before.fields));
      const row: Row = { ...before, version: before.version + 1, updatedAt: now(), fields };
      tables.put(definition, row, text, before);
      return recordWrite(written, { row, text });
    });
  return {
    insert: (given) =>
      access.write((tables, written) => recordWrite(written, inserted(tables, definition, tenantId, given, now()))),
    find: (id) =>
      access.read((tables) => {
        const row = tables.find(name, tenantId, id);
        return row === undefined ? undefined : documentOf(row);
      }),
    list: (options = {}) => access.read((tables) => pageOf(tables, definition, tenantId, options)),
    count: (filter = {}) =>
      access.read((tables) => {
        const matches = matcherOf(filter);
        if (Object.keys(filter).length === 0) return tables.count(name, tenantId);
        let count = 0;
        for (const row of tables.candidates(definition, tenantId, filter, rangeOf(filter)))
          if (matches(row)) count += 1;
        return count;
      }),
    counts: (fields, options = {}) =>
      access.read((tables) => countsOf(tables, definition, tenantId, countedFields(fields, options), options)),
    replace: (id, fields, version) => rewrite(id, version, () => fields),
    update: (id, changes, version) => rewrite(id, version, (before) => changed(before, changes)),
    delete: (id, version) =>
      access.write((tables, written) => {
        const row =
          version === undefined ? tables.find(name, tenantId, id) : current(tables, definition, tenantId, id, version);
        if (row === undefined) return false;
        tables.remove(definition, row);
        written.push({ collection: name, tenantId, id, document: undefined });
        return true;
      }),
  };
};
