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
import { collectRequiredValues, getExactValues, type IdBounds, type Order, type Scalar } from '../documents-query.ts';
import {
  buildCertainMatchCondition,
  buildPositionSql,
  buildPossibleMatchCondition,
  type Condition,
  combineAll,
  getLeadingRank,
  type IndexedValues,
  isField,
  isUnranked,
  toOrderColumns,
} from './conditions.ts';
import {
  createFingerprint,
  emptyEntries,
  getIndexEntries,
  getIndexedPaths,
  getUniqueEntries,
  subtractEntries,
} from './listed-values.ts';
import { getIndexNamePrefix, getOrderIndex, getOrderIndexes, type OrderIndex } from './order-indexes.ts';

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
const indexedIdsSql =
  'SELECT tenant, id FROM indexed_values WHERE collection = ? AND path = ? AND value IN (SELECT value FROM json_each(?))';
const tenantDocumentsSql = 'FROM documents WHERE collection = ? AND tenant = ? AND id >= ? AND id <= ?';
const valueCountsSql =
  'SELECT value, count(*) AS n FROM indexed_values WHERE collection = ? AND path = ? AND tenant = ?';
const isIndexedInTenant = `id IN (SELECT id FROM (${indexedIdsSql}) WHERE tenant = ?)`;

const statements = {
  find: `SELECT ${columns} FROM documents WHERE collection = ? AND tenant = ? AND id = ?`,
  count: 'SELECT count(*) AS n FROM documents WHERE collection = ? AND tenant = ?',
  pageOfAll: `SELECT ${columns} FROM documents WHERE collection = ? AND (tenant, id) > (?, ?) ORDER BY tenant, id LIMIT ?`,
  pageOfAllIndexed: `SELECT ${columns} FROM documents WHERE collection = ?
    AND (tenant, id) IN (${indexedIdsSql}) AND (tenant, id) > (?, ?) ORDER BY tenant, id LIMIT ?`,
  put: `INSERT INTO documents (collection, tenant, id, version, created_at, updated_at, fields) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET version = excluded.version, updated_at = excluded.updated_at, fields = excluded.fields`,
  remove: 'DELETE FROM documents WHERE collection = ? AND tenant = ? AND id = ?',
  addIndexed: 'INSERT INTO indexed_values (collection, path, value, tenant, id) VALUES (?, ?, ?, ?, ?)',
  removeIndexed: 'DELETE FROM indexed_values WHERE collection = ? AND path = ? AND value = ? AND tenant = ? AND id = ?',
  addUnique: 'INSERT INTO unique_values (collection, tenant, fields, value) VALUES (?, ?, ?, ?)',
  removeUnique: 'DELETE FROM unique_values WHERE collection = ? AND tenant = ? AND fields = ? AND value = ?',
  indexedBy: 'SELECT indexed FROM collections WHERE name = ?',
  setIndexedBy: 'INSERT OR REPLACE INTO collections (name, indexed) VALUES (?, ?)',
  deleteIndexed: 'DELETE FROM indexed_values WHERE collection = ?',
  deleteUnique: 'DELETE FROM unique_values WHERE collection = ?',
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

/** Encodes values in the form of the index. */
const toIndexTexts = (values: readonly Scalar[]): string =>
  JSON.stringify(values.map((value) => JSON.stringify(value)));

/** Returns a condition that selects exactly the matching ids, or undefined if the filter needs more than indexed fields. */
const toIndexCondition = (definition: Definition, tenant: string, filter: Filter): Condition | undefined => {
  const toFieldCondition = (path: string, condition: unknown): Condition | undefined => {
    if (path === '$and' || path === '$or')
      return combineAll(
        (condition as Filter[]).map((part) => toIndexCondition(definition, tenant, part)),
        path === '$and' ? 'AND' : 'OR',
      );
    const values = getIndexedPaths(definition).includes(path) ? getExactValues(condition) : undefined;
    if (values === undefined) return undefined;
    return { sql: isIndexedInTenant, parameters: [definition.name, path, toIndexTexts(values), tenant] };
  };
  return combineAll(
    Object.entries(filter).map(([path, condition]) => toFieldCondition(path, condition)),
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

  #getStatement(name: keyof typeof statements): StatementSync {
    return this.#prepare(statements[name]);
  }

  /** The cache is bounded by the number of filter forms in the program. */
  #prepare(text: string): StatementSync {
    const cached = this.#prepared.get(text);
    if (cached !== undefined) return cached;
    const statement = this.#database.prepare(text);
    this.#prepared.set(text, statement);
    return statement;
  }

  find(collection: string, tenant: string, id: string): Row | undefined {
    const row = this.#getStatement('find').get(collection, tenant, id);
    return row === undefined ? undefined : toRow(row);
  }

  count(collection: string, tenant: string): number {
    return Number(this.#getStatement('count').get(collection, tenant)?.n);
  }

  /** Source and condition of a tenant's documents that may match. */
  #buildCandidateQuery(definition: Definition, tenant: string, filter: Filter, { minId, maxId }: IdBounds): Condition {
    const index = this.#selectIndex(definition, filter);
    const condition = buildPossibleMatchCondition(filter);
    return {
      sql: `${tenantDocumentsSql} ${index === undefined ? '' : `AND ${isIndexedInTenant}`} AND ${condition.sql}`,
      parameters: [
        ...[definition.name, tenant, minId, maxId],
        ...(index === undefined ? [] : [definition.name, index.path, toIndexTexts(index.values), tenant]),
        ...condition.parameters,
      ],
    };
  }

  /** Yields a tenant's documents that may match, by id, within bounds. Must be consumed synchronously. */
  *candidates(definition: Definition, tenant: string, filter: Filter, range: IdRange): Generator<Row> {
    const where = this.#buildCandidateQuery(definition, tenant, filter, range);
    const text = `SELECT ${columns} ${where.sql} ORDER BY id ${range.backwards ? 'DESC' : 'ASC'}`;
    for (const row of this.#prepare(text).iterate(...where.parameters)) yield toRow(row);
  }

  /**
   * Like `candidates`, in the order of a field, after a position. Undefined if SQLite cannot determine the order: it
   * uses several fields, or a document has no position in it. Consume it without a pause.
   */
  readInOrder(
    definition: Definition,
    tenant: string,
    filter: Filter,
    { bounds, order, start }: { bounds: IdBounds; order: Order; start: readonly Scalar[] | undefined },
  ): Iterable<Row> | undefined {
    const orderColumns = toOrderColumns(order, start);
    const positionColumns = orderColumns && buildPositionSql(orderColumns.path, getLeadingRank(orderColumns.direction));
    if (orderColumns === undefined || positionColumns === undefined) return undefined;
    const where = this.#buildCandidateQuery(definition, tenant, filter, bounds);
    const positionsSql = `SELECT id, ${positionColumns[0]} AS rank, ${positionColumns[1]} AS value ${where.sql}`;
    const positions = this.#prepare(
      `SELECT id, rank FROM (${positionsSql}) WHERE ${orderColumns.after.sql} ${orderColumns.sql}`,
    ).iterate(...[...where.parameters, ...orderColumns.after.parameters]);
    const first = positions.next();
    if (first.done !== true && isUnranked(Number(first.value.rank))) {
      positions.return?.();
      return undefined;
    }
    return this.#findRows(definition.name, tenant, first, positions);
  }

  /**
   * A tenant's first `maxRows` documents after a position in an order with an index, with undefined for those that
   * surely do not match. Undefined without an index. Consume it without a pause.
   */
  readFirstInOrder(
    definition: Definition,
    tenant: string,
    filter: Filter,
    { order, start, maxRows }: { order: Order; start: readonly Scalar[] | undefined; maxRows: number },
  ): Iterable<Row | undefined> | undefined {
    const orderColumns = toOrderColumns(order, start);
    const isIndexed = orderColumns !== undefined && this.#ensured.has(definition);
    const index = isIndexed ? getOrderIndex(definition, orderColumns.path) : undefined;
    if (orderColumns === undefined || index === undefined || this.#hasUnrankedDocument(index, tenant)) return undefined;
    const condition = buildPossibleMatchCondition(filter);
    const selectedColumns = columns.replace('fields', `CASE WHEN ${condition.sql} THEN fields END AS fields`);
    const positionsSql = `SELECT ${columns}, ${index.rank} AS rank, ${index.value} AS value ${index.from}`;
    return this.#toRows(
      this.#prepare(
        `SELECT ${selectedColumns} FROM (${positionsSql}) WHERE ${orderColumns.after.sql} ${orderColumns.sql} LIMIT ?`,
      ).iterate(...[...condition.parameters, tenant, ...orderColumns.after.parameters, maxRows]),
    );
  }

  *#toRows(positions: Iterable<Record<string, unknown>>): Generator<Row | undefined> {
    for (const row of positions) yield row['fields'] === null ? undefined : toRow(row);
  }

  /** Whether a tenant has a document without a position in the order of an index. */
  #hasUnrankedDocument({ rank, from }: OrderIndex, tenant: string): boolean {
    return this.#prepare(`SELECT 1 ${from} AND ${rank} < 0 LIMIT 1`).get(tenant) !== undefined;
  }

  *#findRows(
    collection: string,
    tenant: string,
    first: IteratorResult<Record<string, unknown>>,
    rest: Iterator<Record<string, unknown>>,
  ): Generator<Row> {
    try {
      for (let result = first; result.done !== true; result = rest.next()) {
        const row = this.find(collection, tenant, String(result.value.id));
        if (row !== undefined) yield row;
      }
    } finally {
      rest.return?.();
    }
  }

  /** Returns the documents of all tenants that may match, after a position. */
  page(definition: Definition, filter: Filter, after: Pick<Row, 'tenantId' | 'id'>): { rows: Row[]; isLast: boolean } {
    const { name } = definition;
    const index = this.#selectIndex(definition, filter);
    const rows =
      index === undefined
        ? this.#getStatement('pageOfAll').all(name, after.tenantId, after.id, pageSize)
        : this.#getStatement('pageOfAllIndexed').all(
            ...[name, name, index.path, toIndexTexts(index.values), after.tenantId, after.id, pageSize],
          );
    return { rows: rows.map(toRow), isLast: rows.length < pageSize };
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
    return this.#prepare(`${valueCountsSql} AND ${matching.sql} GROUP BY value ORDER BY n DESC LIMIT ?`)
      .all(definition.name, field, tenant, ...matching.parameters, limit)
      .map(({ value, n }): ValueCount => ({ value: JSON.parse(String(value)), count: Number(n) }));
  }

  /**
   * Counts each JSON text of each field for a tenant's documents that certainly match. Also returns the ids of other
   * documents that may match. Undefined if no match is certain.
   */
  countFieldTexts(
    definition: Definition,
    tenant: string,
    filter: Filter,
    { bounds, fields }: { bounds: IdBounds; fields: readonly string[] },
  ): { readonly texts: readonly ReadonlyMap<string, number>[]; readonly uncertainIds: readonly string[] } | undefined {
    const sureCondition = fields.every(isField)
      ? buildCertainMatchCondition(filter, this.#selectIndex(definition, filter))
      : undefined;
    if (sureCondition === undefined) return undefined;
    const where = this.#buildCandidateQuery(definition, tenant, filter, bounds);
    const columns = fields.map(() => 'CASE WHEN json_valid(fields) THEN fields -> ? END').join(', ');
    const statement = this.#prepare(
      `SELECT CASE WHEN ${sureCondition.sql} THEN NULL ELSE id END, ${columns} ${where.sql}`,
    );
    statement.setReturnArrays(true);
    const rows: Iterable<unknown> = statement.iterate(...sureCondition.parameters, ...fields, ...where.parameters);
    const texts = fields.map(() => new Map<string, number>());
    const uncertainIds: string[] = [];
    for (const [id, ...fieldTexts] of rows as Iterable<readonly (string | null)[]>) {
      if (id !== null && id !== undefined) uncertainIds.push(id);
      else for (const [at, text] of fieldTexts.entries()) incrementCount(texts[at], text);
    }
    return { texts, uncertainIds: uncertainIds };
  }

  /** Returns the first indexed path for which the filter requires values, in the order of the definition. */
  #selectIndex(definition: Definition, filter: Filter): IndexedValues | undefined {
    if (!this.#ensured.has(definition)) return undefined;
    const required = collectRequiredValues(filter);
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
    this.#getStatement('put').run(name, tenantId, id, version, createdAt, updatedAt, text);
    this.#updateIndexValues(definition, tenantId, id, before?.fields, row.fields);
  }

  remove(definition: Definition, row: Row): void {
    this.#getStatement('remove').run(definition.name, row.tenantId, row.id);
    this.#updateIndexValues(definition, row.tenantId, row.id, row.fields, undefined);
  }

  /** Creates the indexes of its orders, and drops obsolete ones. */
  #ensureOrders(definition: Definition): void {
    const requiredIndexes = getOrderIndexes(definition);
    const names = new Set(requiredIndexes.map(({ name }) => name));
    const existingIndexes = this.#prepare("SELECT name FROM sqlite_schema WHERE type = 'index'").all();
    for (const name of existingIndexes.map((existingIndex) => String(existingIndex.name)))
      if (name.startsWith(getIndexNamePrefix(definition)) && !names.has(name))
        this.#database.exec(`DROP INDEX "${name}"`);
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
    const stored = this.#getStatement('indexedBy').get(name)?.indexed;
    if (
      stored !== undefined &&
      createFingerprint(...(JSON.parse(String(stored)) as Parameters<typeof createFingerprint>)) === requiredPaths
    )
      return;
    this.#getStatement('deleteIndexed').run(name);
    this.#getStatement('deleteUnique').run(name);
    let after = { tenantId: '', id: '' };
    for (let isLastPage = false; !isLastPage; ) {
      const page = this.page({ name }, {}, after);
      for (const row of page.rows) this.#updateIndexValues(definition, row.tenantId, row.id, undefined, row.fields);
      after = page.rows.at(-1) ?? after;
      isLastPage = page.isLast;
    }
    this.#getStatement('setIndexedBy').run(name, requiredPaths);
  }

  #updateIndexValues(
    definition: Definition,
    tenant: string,
    id: string,
    before: Fields | undefined,
    after: Fields | undefined,
  ): void {
    const { name } = definition;
    const indexLinesBefore = before === undefined ? emptyEntries : getIndexEntries(definition, before);
    const indexLinesAfter = after === undefined ? emptyEntries : getIndexEntries(definition, after);
    for (const line of subtractEntries(indexLinesBefore, indexLinesAfter))
      this.#getStatement('removeIndexed').run(name, ...(JSON.parse(line) as [string, string]), tenant, id);
    for (const line of subtractEntries(indexLinesAfter, indexLinesBefore))
      this.#getStatement('addIndexed').run(name, ...(JSON.parse(line) as [string, string]), tenant, id);
    const uniqueLinesBefore = before === undefined ? emptyEntries : getUniqueEntries(definition, tenant, before);
    const uniqueLinesAfter = after === undefined ? emptyEntries : getUniqueEntries(definition, tenant, after);
    for (const line of subtractEntries(uniqueLinesBefore, uniqueLinesAfter))
      this.#getStatement('removeUnique').run(name, ...(JSON.parse(line) as [string, string, string]));
    for (const line of subtractEntries(uniqueLinesAfter, uniqueLinesBefore))
      this.#addUniqueValue(name, JSON.parse(line));
  }

  #addUniqueValue(collection: string, [scope, set, values]: readonly [string, string, string]): void {
    try {
      this.#getStatement('addUnique').run(collection, scope, set, values);
    } catch (cause) {
      if (!isConstraint(cause)) throw cause;
      const fields = JSON.parse(set) as string[];
      throw new ConflictError('duplicate', `another document has the same ${fields.join(', ')}`, { fields, cause });
    }
  }
}
