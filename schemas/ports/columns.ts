/** The columns port: ClickHouse, in process (chDB) or over HTTP. SQL is the same on both. */

/** Rows in ClickHouse's Native format: one block, as bytes that may come in pieces. */
export interface NativeBlock {
  readonly table: string;
  /** Columns present in the block, in its order, with the types in which the block carries them (convertible to the table's). */
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: number;
  readonly chunks: readonly Uint8Array[];
}

/** What one statement took in the engine. */
export interface StatementCost {
  readonly rowsRead: number;
  readonly bytesRead: number;
  readonly elapsedMs: number;
}

export interface QueryLimits {
  /** Seconds. Default 30. */
  readonly maxExecutionSeconds?: number;
  /** Bytes of memory. Default 2 GiB; in process never more than half of what the engine may use. */
  readonly maxMemoryBytes?: number;
  /** Rows of result; more is an error. Default 100,000. */
  readonly maxResultRows?: number;
  /** Rows of tables that it may read; more is an error. Without limit by default. */
  readonly maxRowsRead?: number;
  readonly signal?: AbortSignal;
  /** Of the platform's own reads: all rows that are asked for came in blocks of this place (`Columns.insert`). */
  readonly place?: number;
  /**
   * Of a tenant's small reads: where several servers have rows, each may be asked for its own, and their answers come one after the other, for
   * the reader to put together. Servers that do it themselves plan the statement several times over, which costs more than such a read.
   */
  readonly ofEachServer?: boolean;
  /** It looks at the indexes of a short time alone, for which threads cost more than they save. */
  readonly isShort?: boolean;
  /** Called with what a statement took, once it has answered. */
  readonly onCost?: (cost: StatementCost) => void;
}

export type QueryParameters = Readonly<
  Record<string, string | number | bigint | boolean | readonly string[] | readonly number[]>
>;

/** Before a tenant's SELECT: then it is not run, and the answer is its plan, as JSON in rows of `explain`. */
export const explained = 'EXPLAIN json = 1, indexes = 1 ';

/**
 * Reading one tenant's rows. Two fences: the SQL must name the parameter `{tenant:String}` (the handle binds it, and a
 * query without it is refused), and the engine filters every tenant table by `additional_table_filters` besides.
 */
export interface TenantColumns {
  readonly tenantId: string;
  /**
   * One object for all handles of the same columns, by which readers may keep what never changes. A handle that wraps another passes it
   * on, unless it wants every statement to be asked.
   */
  readonly source?: WeakKey;
  /**
   * Rows as objects; 64-bit integers are strings, and NaN and the infinities are `nan`, `inf`, `-inf`. Parameters are written
   * `{name:Type}`. One SELECT, without SETTINGS or FORMAT; `explained` may stand before it.
   */
  query<Row>(sql: string, parameters?: QueryParameters, limits?: QueryLimits): Promise<Row[]>;
  /**
   * The same as bytes in the Native format, for reads of millions of numbers: blocks one after the other, each with its columns. Nothing
   * is quoted, and NaN keeps its bits. At most 256 MiB, in memory of its own, which may be handed to another thread.
   */
  native(sql: string, parameters?: QueryParameters, limits?: QueryLimits): Promise<Uint8Array>;
  /**
   * Up to when records of the table have been received that are stored, milliseconds since the epoch, as `recordWatermark` told it: never newer
   * than what a query that follows can read, and a second or two older at times. Undefined where nothing was told, as after a start.
   */
  landedUpTo(table: string): Promise<number | undefined>;
  /**
   * How often rows were written to a table since the columns were opened, counted once they can be read: as long as it is the same, the
   * table has what it had. Undefined where other processes write as well.
   */
  readonly changesOf?: (table: string) => number;
}

/** What is done on one server of those that hold the tables. */
export interface ServerColumns {
  query<Row>(sql: string, parameters?: QueryParameters, limits?: QueryLimits): Promise<Row[]>;
  execute(sql: string): Promise<void>;
}

export interface Columns extends ServerColumns {
  /**
   * Lands one block. Resolves when it is stored. The same table and token again is a no-op within the table's
   * deduplication window. Data that the engine will never take rejects with `PermanentError`. What has the same place, a whole number, lies
   * together where the tables are on several shards; 0 by default. `tenants` are all whose rows may be in it: where a tenant's lie together
   * (`Table.liesBy`), readers are told first of what lies elsewhere; without them, that anybody's may.
   */
  insert(block: NativeBlock, token: string, place?: number, tenants?: readonly string[]): Promise<void>;
  /**
   * Tells that records of tenants that were received at these times (milliseconds since the epoch) are stored in a table, after they are,
   * in blocks of a place. Where it cannot be kept, what is told next tells it: landing does not wait for it.
   */
  recordWatermark(table: string, newest: ReadonlyMap<string, number>, place?: number): void;
  of(tenantId: string): TenantColumns;
  /** The platform's own reads (migrations, landed offsets, retention): no fence, so never with a tenant's input. */
  query<Row>(sql: string, parameters?: QueryParameters, limits?: QueryLimits): Promise<Row[]>;
  /** DDL and maintenance, on every server. */
  execute(sql: string): Promise<void>;
  /** The servers that hold the tables, each by itself: for what must be so on all of them, and what they say of themselves (`system`). */
  each(): readonly { readonly name: string; readonly columns: ServerColumns }[];
  /** Makes what reads of several servers need, once their tables have been made or changed. Repeatable. */
  tablesChanged(): Promise<void>;
  check(): Promise<void>;
  close(): Promise<void>;
}
