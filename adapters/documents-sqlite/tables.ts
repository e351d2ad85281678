/**
 * The tables of the SQLite store. One table contains the documents of all collections, keyed by collection, tenant and
 * id. Two more contain the values of indexed fields and of unique sets, written with each document, so a new collection
 * or index changes no schema. Orders of long lists have SQLite indexes (`order-indexes.ts`).
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import {
  type CollectionDefinition,
  ConflictError,
  type Filter,
  type ValueCount,
} from '../../schemas/ports/documents.ts';
import type { Entry, Fields } from '../document-encoding.ts';
import { getExactPinnedValues, type IdBounds, type Order, requiredValues, type Scalar } from '../documents-query.ts';
import {
  type Condition,
  combineAll,
  type IndexedValues,
  isField,
  isUnplaced,
  mayMatch,
  placeAt,
  rankBeforeAll,
  surelyMatches,
  toOrderColumns,
} from './conditions.ts';
import {
  createFingerprint,
  difference,
  getIndexedPaths,
  getIndexLines,
  getUniqueLines,
  noLines,
} from './listed-values.ts';
import { getOrderIndex, getOrderIndexes, type OrderIndex, orderPrefix } from './order-indexes.ts';

type Definition = CollectionDefinition<object>;

/** A document with its tenant. */
export interface Row extends Entry {
  readonly tenantId: string;
}

/** Range of ids to read, and the direction. */
export interface IdRange extends IdBounds {
  readonly backwards: boolean;
}

export const schema = `
  CREATE TABLE IF NOT EXISTS collections (name TEXT PRIMARY KEY, indexed TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS documents (
    collection TEXT, tenant TEXT, id TEXT,
    version INTEGER NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, fields TEXT NOT NULL,
    PRIMARY KEY (collection, tenant, id)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS indexed_values (
    collection TEXT, path TEXT, value TEXT, tenant TEXT, id TEXT,
    PRIMARY KEY (collection, path, value, tenant, id)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS unique_values (
    collection TEXT, tenant TEXT, fields TEXT, value TEXT,
    PRIMARY KEY (collection, tenant, fields, value)
  ) WITHOUT ROWID;
`;

const columns = 'tenant, id, version, created_at, updated_at, fields';
const listedIdsSql =
  'SELECT tenant, id FROM indexed_values WHERE collection = ? AND path = ? AND value IN (SELECT value FROM json_each(?))';
const tenantDocumentsSql = 'FROM documents WHERE collection = ? AND tenant = ? AND id >= ? AND id <= ?';
const valueCountsSql =
  'SELECT value, count(*) AS n FROM indexed_values WHERE collection = ? AND path = ? AND tenant = ?';
const isListedOfTenant = `id IN (SELECT id FROM (${listedIdsSql}) WHERE tenant = ?)`;

const statements = {
  find: `SELECT ${columns} FROM documents WHERE collection = ? AND tenant = ? AND id = ?`,
  count: 'SELECT count(*) AS n FROM documents WHERE collection = ? AND tenant = ?',
  pageOfAll: `SELECT ${columns} FROM documents WHERE collection = ? AND (tenant, id) > (?, ?) ORDER BY tenant, id LIMIT ?`,
  pageOfAllListed: `SELECT ${columns} FROM documents WHERE collection = ?
    AND (tenant, id) IN (${listedIdsSql}) AND (tenant, id) > (?, ?) ORDER BY tenant, id LIMIT ?`,
  put: `INSERT INTO documents (collection, tenant, id, version, created_at, updated_at, fields) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET version = excluded.version, updated_at = excluded.updated_at, fields = excluded.fields`,
  remove: 'DELETE FROM documents WHERE collection = ? AND tenant = ? AND id = ?',
  addIndexed: 'INSERT INTO indexed_values (collection, path, value, tenant, id) VALUES (?, ?, ?, ?, ?)',
  removeIndexed: 'DELETE FROM indexed_values WHERE collection = ? AND path = ? AND value = ? AND tenant = ? AND id = ?',
  addUnique: 'INSERT INTO unique_values (collection, tenant, fields, value) VALUES (?, ?, ?, ?)',
  removeUnique: 'DELETE FROM unique_values WHERE collection = ? AND tenant = ? AND fields = ? AND value = ?',
  indexedBy: 'SELECT indexed FROM collections WHERE name = ?',
  setIndexedBy: 'INSERT OR REPLACE INTO collections (name, indexed) VALUES (?, ?)',
  forgetIndexed: 'DELETE FROM indexed_values WHERE collection = ?',
  forgetUnique: 'DELETE FROM unique_values WHERE collection = ?',
} as const;

interface Columns {
  readonly tenant: string;
  readonly id: string;
  readonly version: number;
  readonly created_at: string;
  readonly updated_at: string;
  readonly fields: string;
}

const toRow = (value: unknown): Row => {
  const { tenant, id, version, created_at, updated_at, fields } = value as Columns;
  return {
    tenantId: tenant,
    id,
    version,
    createdAt: created_at,
    updatedAt: updated_at,
    fields: JSON.parse(fields) as Fields,
  };
};

/** The values in the form of the index. */
const toIndexTexts = (values: readonly Scalar[]): string =>
  JSON.stringify(values.map((value) => JSON.stringify(value)));

/** True for the ids of exactly the matches; undefined for a filter that needs more than values of indexed fields. */
const toIndexCondition = (definition: Definition, tenant: string, filter: Filter): Condition | undefined => {
  const partOf = (path: string, condition: unknown): Condition | undefined => {
    if (path === '$and' || path === '$or')
      return combineAll(
        (condition as Filter[]).map((part) => toIndexCondition(definition, tenant, part)),
        path === '$and' ? 'AND' : 'OR',
      );
    const values = getIndexedPaths(definition).includes(path) ? getExactPinnedValues(condition) : undefined;
    if (values === undefined) return undefined;
    return { sql: isListedOfTenant, parameters: [definition.name, path, toIndexTexts(values), tenant] };
  };
  return combineAll(
    Object.entries(filter).map(([path, condition]) => partOf(path, condition)),
    'AND',
  );
};

const isConstraint = (error: unknown): boolean => {
  const code = (error as { errcode?: unknown }).errcode;
  return typeof code === 'number' && (code & 0xff) === 19;
};

const incrementCount = (counts: Map<string, number> | undefined, text: string | null): void => {
  if (text !== null) counts?.set(text, (counts.get(text) ?? 0) + 1);
};

const pageSize = 500;

/**
 * Statements on one connection. Everything is synchronous; the caller manages transactions. Reads use only the indexes
 * of `ensured` definitions, because documents stored by another version of the program may be missing in the indexes of
 * this version.
 */
export class DocumentTables {
  readonly #database: DatabaseSync;
  readonly #ensured: ReadonlySet<Definition>;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(database: DatabaseSync, ensured: ReadonlySet<Definition>) {
    this.#database = database;
    this.#ensured = ensured;
  }

  #sql(name: keyof typeof statements): StatementSync {
    return this.#statement(statements[name]);
  }

  /** The number of statement texts is the number of filter shapes in the program. */
  #statement(text: string): StatementSync {
    const known = this.#prepared.get(text);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(text);
    this.#prepared.set(text, statement);
    return statement;
  }

  find(collection: string, tenant: string, id: string): Row | undefined {
    const row = this.#sql('find').get(collection, tenant, id);
    return row === undefined ? undefined : toRow(row);
  }

  count(collection: string, tenant: string): number {
    return Number(this.#sql('count').get(collection, tenant)?.n);
  }

  /** Source and condition of a tenant's documents that may match. */
  #buildCandidateQuery(definition: Definition, tenant: string, filter: Filter, { minId, maxId }: IdBounds): Condition {
    const index = this.#indexFor(definition, filter);
    const condition = mayMatch(filter);
    return {
      sql: `${tenantDocumentsSql} ${index === undefined ? '' : `AND ${isListedOfTenant}`} AND ${condition.sql}`,
      parameters: [
        ...[definition.name, tenant, minId, maxId],
        ...(index === undefined ? [] : [definition.name, index.path, toIndexTexts(index.values), tenant]),
        ...condition.parameters,
      ],
    };
  }

  /** Yields a tenant's documents that may match, by id, within bounds. Consume it without a pause. */
  *candidates(definition: Definition, tenant: string, filter: Filter, range: IdRange): Generator<Row> {
    const where = this.#buildCandidateQuery(definition, tenant, filter, range);
    const text = `SELECT ${columns} ${where.sql} ORDER BY id ${range.backwards ? 'DESC' : 'ASC'}`;
    for (const row of this.#statement(text).iterate(...where.parameters)) yield toRow(row);
  }

  /**
   * Like `candidates`, in the order of a field, after a position. Undefined if SQLite cannot determine the order: it
   * uses several fields, or a document has no position in it. Consume it without a pause.
   */
  inOrder(
    definition: Definition,
    tenant: string,
    filter: Filter,
    { bounds, order, start }: { bounds: IdBounds; order: Order; start: readonly Scalar[] | undefined },
  ): Iterable<Row> | undefined {
    const placing = toOrderColumns(order, start);
    const place = placing && placeAt(placing.path, rankBeforeAll(placing.direction));
    if (placing === undefined || place === undefined) return undefined;
    const where = this.#buildCandidateQuery(definition, tenant, filter, bounds);
    const inner = `SELECT id, ${place[0]} AS rank, ${place[1]} AS value ${where.sql}`;
    const places = this.#statement(`SELECT id, rank FROM (${inner}) WHERE ${placing.after.sql} ${placing.sql}`).iterate(
      ...[...where.parameters, ...placing.after.parameters],
    );
    const first = places.next();
    if (first.done !== true && isUnplaced(Number(first.value.rank))) {
      places.return?.();
      return undefined;
    }
    return this.#rowsAt(definition.name, tenant, first, places);
  }

  /**
   * A tenant's first `maxPlaces` documents after a position in an order with an index, with undefined for those that
   * surely do not match. Undefined without an index. Consume it without a pause.
   */
  firstInOrder(
    definition: Definition,
    tenant: string,
    filter: Filter,
    { order, start, maxPlaces }: { order: Order; start: readonly Scalar[] | undefined; maxPlaces: number },
  ): Iterable<Row | undefined> | undefined {
    const placing = toOrderColumns(order, start);
    const isIndexed = placing !== undefined && this.#ensured.has(definition);
    const index = isIndexed ? getOrderIndex(definition, placing.path) : undefined;
    if (placing === undefined || index === undefined || this.#holdsUnplaced(index, tenant)) return undefined;
    const condition = mayMatch(filter);
    const shown = columns.replace('fields', `CASE WHEN ${condition.sql} THEN fields END AS fields`);
    const inner = `SELECT ${columns}, ${index.rank} AS rank, ${index.value} AS value ${index.from}`;
    return this.#toRows(
      this.#statement(`SELECT ${shown} FROM (${inner}) WHERE ${placing.after.sql} ${placing.sql} LIMIT ?`).iterate(
        ...[...condition.parameters, tenant, ...placing.after.parameters, maxPlaces],
      ),
    );
  }

  *#toRows(places: Iterable<Record<string, unknown>>): Generator<Row | undefined> {
    for (const place of places) yield place['fields'] === null ? undefined : toRow(place);
  }

  /** Whether a tenant has a document without a position in the order of an index. */
  #holdsUnplaced({ rank, from }: OrderIndex, tenant: string): boolean {
    return this.#statement(`SELECT 1 ${from} AND ${rank} < 0 LIMIT 1`).get(tenant) !== undefined;
  }

  *#rowsAt(
    collection: string,
    tenant: string,
    first: IteratorResult<Record<string, unknown>>,
    rest: Iterator<Record<string, unknown>>,
  ): Generator<Row> {
    try {
      for (let place = first; place.done !== true; place = rest.next()) {
        const row = this.find(collection, tenant, String(place.value.id));
        if (row !== undefined) yield row;
      }
    } finally {
      rest.return?.();
    }
  }

  /** Returns the documents of all tenants that may match, after a position. */
  page(definition: Definition, filter: Filter, after: Pick<Row, 'tenantId' | 'id'>): { rows: Row[]; last: boolean } {
    const { name } = definition;
    const index = this.#indexFor(definition, filter);
    const found =
      index === undefined
        ? this.#sql('pageOfAll').all(name, after.tenantId, after.id, pageSize)
        : this.#sql('pageOfAllListed').all(
            ...[name, name, index.path, toIndexTexts(index.values), after.tenantId, after.id, pageSize],
          );
    return { rows: found.map(toRow), last: found.length < pageSize };
  }

  /**
   * Returns the number of a tenant's matches for each value of a field, the most frequent first, from indexes alone.
   * Undefined if indexes do not suffice: the field is not indexed, or the filter needs more than values of indexed
   * fields.
   */
  counts(definition: Definition, tenant: string, field: string, filter: Filter, limit: number) {
    const isKnown = this.#ensured.has(definition) && getIndexedPaths(definition).includes(field);
    const matching = isKnown ? toIndexCondition(definition, tenant, filter) : undefined;
    if (matching === undefined) return undefined;
    return this.#statement(`${valueCountsSql} AND ${matching.sql} GROUP BY value ORDER BY n DESC LIMIT ?`)
      .all(definition.name, field, tenant, ...matching.parameters, limit)
      .map(({ value, n }): ValueCount => ({ value: JSON.parse(String(value)), count: Number(n) }));
  }

  /**
   * For a tenant's documents that SQLite is sure match: counts of each JSON text at each field. Also returns the ids of
   * the other documents that may match. Undefined if SQLite is sure of none.
   */
  countFieldTexts(
    definition: Definition,
    tenant: string,
    filter: Filter,
    { bounds, fields }: { bounds: IdBounds; fields: readonly string[] },
  ): { readonly texts: readonly ReadonlyMap<string, number>[]; readonly doubtful: readonly string[] } | undefined {
    const sureCondition = fields.every(isField) ? surelyMatches(filter, this.#indexFor(definition, filter)) : undefined;
    if (sureCondition === undefined) return undefined;
    const where = this.#buildCandidateQuery(definition, tenant, filter, bounds);
    const columns = fields.map(() => 'CASE WHEN json_valid(fields) THEN fields -> ? END').join(', ');
    const statement = this.#statement(
      `SELECT CASE WHEN ${sureCondition.sql} THEN NULL ELSE id END, ${columns} ${where.sql}`,
    );
    statement.setReturnArrays(true);
    const rows: Iterable<unknown> = statement.iterate(...sureCondition.parameters, ...fields, ...where.parameters);
    const texts = fields.map(() => new Map<string, number>());
    const uncertainIds: string[] = [];
    for (const [id, ...ofFields] of rows as Iterable<readonly (string | null)[]>) {
      if (id !== null && id !== undefined) uncertainIds.push(id);
      else for (const [at, text] of ofFields.entries()) incrementCount(texts[at], text);
    }
    return { texts, doubtful: uncertainIds };
  }

  /** The first indexed path that the filter pins to values, in the order of the definition. */
  #indexFor(definition: Definition, filter: Filter): IndexedValues | undefined {
    if (!this.#ensured.has(definition)) return undefined;
    const required = requiredValues(filter);
    for (const path of required.size === 0 ? [] : getIndexedPaths(definition)) {
      const values: readonly Scalar[] | undefined = required.get(path);
      if (values !== undefined) return { path, values };
    }
    return undefined;
  }

  /** Writes a document that replaces `before`. */
  put(definition: Definition, row: Row, text: string, before: Row | undefined): void {
    const { name } = definition;
    const { tenantId, id, version, createdAt, updatedAt } = row;
    this.#sql('put').run(name, tenantId, id, version, createdAt, updatedAt, text);
    this.#index(definition, tenantId, id, before?.fields, row.fields);
  }

  remove(definition: Definition, row: Row): void {
    this.#sql('remove').run(definition.name, row.tenantId, row.id);
    this.#index(definition, row.tenantId, row.id, row.fields, undefined);
  }

  /** Creates the indexes of its orders, and drops obsolete ones. */
  #ensureOrders(definition: Definition): void {
    const requiredIndexes = getOrderIndexes(definition);
    const names = new Set(requiredIndexes.map(({ name }) => name));
    const known = this.#statement("SELECT name FROM sqlite_schema WHERE type = 'index'").all();
    for (const name of known.map((one) => String(one.name)))
      if (name.startsWith(orderPrefix(definition)) && !names.has(name)) this.#database.exec(`DROP INDEX "${name}"`);
    for (const { createStatement } of requiredIndexes) this.#database.exec(createStatement);
  }

  /** Rebuilds the index values when the definition's indexes differ from those of the stored values. */
  ensure(definition: Definition): void {
    const { name } = definition;
    this.#ensureOrders(definition);
    const requiredPaths = createFingerprint(
      getIndexedPaths(definition),
      definition.unique ?? [],
      definition.uniqueEverywhere ?? [],
    );
    const stored = this.#sql('indexedBy').get(name)?.indexed;
    if (
      stored !== undefined &&
      createFingerprint(...(JSON.parse(String(stored)) as Parameters<typeof createFingerprint>)) === requiredPaths
    )
      return;
    this.#sql('forgetIndexed').run(name);
    this.#sql('forgetUnique').run(name);
    let after = { tenantId: '', id: '' };
    for (let last = false; !last; ) {
      const page = this.page({ name }, {}, after);
      for (const row of page.rows) this.#index(definition, row.tenantId, row.id, undefined, row.fields);
      after = page.rows.at(-1) ?? after;
      last = page.last;
    }
    this.#sql('setIndexedBy').run(name, requiredPaths);
  }

  #index(
    definition: Definition,
    tenant: string,
    id: string,
    before: Fields | undefined,
    after: Fields | undefined,
  ): void {
    const { name } = definition;
    const listedBefore = before === undefined ? noLines : getIndexLines(definition, before);
    const listedAfter = after === undefined ? noLines : getIndexLines(definition, after);
    for (const line of difference(listedBefore, listedAfter))
      this.#sql('removeIndexed').run(name, ...(JSON.parse(line) as [string, string]), tenant, id);
    for (const line of difference(listedAfter, listedBefore))
      this.#sql('addIndexed').run(name, ...(JSON.parse(line) as [string, string]), tenant, id);
    const boundBefore = before === undefined ? noLines : getUniqueLines(definition, tenant, before);
    const boundAfter = after === undefined ? noLines : getUniqueLines(definition, tenant, after);
    for (const line of difference(boundBefore, boundAfter))
      this.#sql('removeUnique').run(name, ...(JSON.parse(line) as [string, string, string]));
    for (const line of difference(boundAfter, boundBefore)) this.#claim(name, JSON.parse(line));
  }

  #claim(collection: string, [scope, set, values]: readonly [string, string, string]): void {
    try {
      this.#sql('addUnique').run(collection, scope, set, values);
    } catch (cause) {
      if (!isConstraint(cause)) throw cause;
      const fields = JSON.parse(set) as string[];
      throw new ConflictError('duplicate', `another document has the same ${fields.join(', ')}`, { fields, cause });
    }
  }
}
