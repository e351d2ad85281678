/** The columns port: ClickHouse, in process (chDB) or over HTTP. Both use the same SQL. */

/** Rows in ClickHouse's Native format: one block, whose bytes may be split into chunks. */
export interface NativeBlock {
  readonly table: string;
  /** Columns of the block, in order, with their types in the block (convertible to those of the table). */
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: number;
  readonly chunks: readonly Uint8Array[];
}

/** Resources that one statement used in the engine. */
export interface StatementCost {
  readonly rowsRead: number;
  readonly bytesRead: number;
  readonly elapsedMs: number;
}

export interface QueryLimits {
  /** Maximum execution time in seconds. Default: 30. */
  readonly maxExecutionSeconds?: number;
  /** Maximum memory in bytes. Default: 2 GiB; in process at most half of the engine's memory. */
  readonly maxMemoryBytes?: number;
  /** Maximum rows of the result; more is an error. Default: 100,000. */
  readonly maxResultRows?: number;
  /** Maximum rows read from tables; more is an error. Unlimited by default. */
  readonly maxRowsRead?: number;
  readonly signal?: AbortSignal;
  /** For reads by the platform itself: all requested rows are in blocks with this shard key (`Columns.insert`). */
  readonly shardKey?: number;
  /**
   * For small reads of a tenant: if several servers have rows, each server may be queried for its own rows. Their
   * results follow one another, and the reader merges them. A distributed query plans the statement several times,
   * which costs more than a small read.
   */
  readonly runsOnEachServer?: boolean;
  /** Whether the query reads only the indexes of a short time range, for which threads cost more than they save. */
  readonly isShort?: boolean;
  /** Called with the cost of a statement after it has completed. */
  readonly onCost?: (cost: StatementCost) => void;
}

export type QueryParameters = Readonly<
  Record<string, string | number | bigint | boolean | readonly string[] | readonly number[]>
>;

/** Prefix of a tenant's SELECT that is planned but not run. The result is its plan, as JSON in rows of `explain`. */
export const explainPrefix = 'EXPLAIN json = 1, indexes = 1 ';

/**
 * Reads one tenant's rows, with two tenant filters. The SQL must use the parameter `{tenant:String}`: the handle
 * binds it and rejects a query without it. The engine also filters every tenant table with `additional_table_filters`.
 */
export interface TenantColumns {
  readonly tenantId: string;
  /**
   * Identity of the underlying columns, shared by all their handles, so that readers can cache immutable data. A
   * wrapping handle passes it on unless every statement must run.
   */
  readonly source?: WeakKey;
  /**
   * Returns rows as objects. 64-bit integers are strings, and NaN and the infinities are `nan`, `inf`, `-inf`.
   * Parameters are written `{name:Type}`. The SQL is one SELECT, without SETTINGS or FORMAT, optionally after
   * `explainPrefix`.
   */
  query<Row>(sql: string, parameters?: QueryParameters, limits?: QueryLimits): Promise<Row[]>;
  /**
   * Returns the same rows in the Native format, for reads of millions of numbers: a sequence of blocks, each with its
   * columns. Nothing is quoted, and NaN keeps its bits. At most 256 MiB, in a separate buffer that can be transferred
   * to another thread.
   */
  queryNative(sql: string, parameters?: QueryParameters, limits?: QueryLimits): Promise<Uint8Array>;
  /**
   * Returns the reception time up to which records of the table are stored, in epoch milliseconds, as reported by
   * `recordWatermark`. It is never newer than the data of a following query, and sometimes a second or two older.
   * `undefined` if nothing was recorded, as after a start.
   */
  getStoredUpToMs(table: string): Promise<number | undefined>;
  /**
   * Returns how often rows were written to a table since the columns were opened, counted once they can be read. While
   * the number is unchanged, so is the table. `undefined` if other processes write as well.
   */
  readonly getChangeCount?: (table: string) => number;
}

/** Operations on one of the servers that hold the tables. */
export interface ServerColumns {
  query<Row>(sql: string, parameters?: QueryParameters, limits?: QueryLimits): Promise<Row[]>;
  execute(sql: string): Promise<void>;
}

export interface Columns extends ServerColumns {
  /**
   * Inserts one block. Resolves when it is stored. A repetition with the same table and token is a no-op within the
   * table's deduplication window. Rejects with `PermanentError` for data that the engine can never accept. Blocks
   * with the same `shardKey` (an integer, default 0) are stored on the same shard. `tenants` lists all tenants whose rows the
   * block may contain. If a tenant's rows have a fixed shard (`Table.liesBy`), the insert first records that other
   * shards have rows of the tenant. Without `tenants`, the block may contain rows of any tenant.
   */
  insert(block: NativeBlock, token: string, shardKey?: number, tenants?: readonly string[]): Promise<void>;
  /**
   * Records that a table stores records of tenants received at these times (epoch milliseconds), in blocks with a shard key.
   * Call it after the insert. A failed write is repaired by the next call: inserts do not wait for it.
   */
  recordWatermark(table: string, newest: ReadonlyMap<string, number>, shardKey?: number): void;
  forTenant(tenantId: string): TenantColumns;
  /**
   * Reads by the platform itself (migrations, landed offsets, retention). Has no tenant filter, so never pass a
   * tenant's input.
   */
  query<Row>(sql: string, parameters?: QueryParameters, limits?: QueryLimits): Promise<Row[]>;
  /** Executes DDL and maintenance on every server. */
  execute(sql: string): Promise<void>;
  /**
   * Returns the individual servers that hold the tables: for operations that must apply to all of them, and for their
   * `system` tables.
   */
  listServers(): readonly { readonly name: string; readonly columns: ServerColumns }[];
  /**
   * Creates the objects that reads from several servers need, after their tables were created or changed. Idempotent.
   */
  handleTablesChanged(): Promise<void>;
  check(): Promise<void>;
  close(): Promise<void>;
}
