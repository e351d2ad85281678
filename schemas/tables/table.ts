/** Declarations of ClickHouse tables: the columns once, from which DDL, insert order and reads are derived. */

/**
 * Retention of a tenant's rows: that of a telemetry signal, the longest retention of all signals, a fixed number of
 * days, or forever.
 */
export type Retention = 'logs' | 'metrics' | 'traces' | 'longest' | 'never' | { readonly days: number };

export interface Table {
  readonly name: string;
  readonly summary: string;
  readonly retention: Retention;
  /** Column whose day determines the age of rows, if it is not `received_at`. */
  readonly ageColumn?: string;
  /**
   * Identifying column of a table of observed objects. The age of rows is that of `last_seen`, and a newer row with the
   * same identity preserves them.
   */
  readonly identity?: string;
  /**
   * `tenant` if rows are received telemetry: on several shards, a tenant's rows are then on one shard (`sharding.ts`),
   * and reads query only that shard. Rows of derived topics are distributed by other keys, so that rows that merge are
   * on one shard.
   */
  readonly shardedBy?: 'tenant';
  /** Column → ClickHouse type, followed by codecs and defaults. Insert blocks contain columns in this order. */
  readonly columns: Readonly<Record<string, string>>;
  /** Default `MergeTree`. */
  readonly engine?: string;
  readonly partitionBy?: string;
  readonly orderBy: readonly string[];
  /**
   * Part of `orderBy` that is the index; by default all. A key with both `f(time)` and `time` must end before `time`:
   * the engine would match a time range only with the latter, and read everything.
   */
  readonly primaryKey?: readonly string[];
  /** `name` → `expression TYPE … GRANULARITY …` */
  readonly indexes?: Readonly<Record<string, string>>;
  readonly settings?: Readonly<Record<string, string | number>>;
}

/** A view that fills `to` from each block inserted into `from`. */
export interface MaterializedView {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly select: string;
  /**
   * Columns of the select, if existing data of `from` is inserted when the view is created. Rows that are inserted
   * in the meantime may be duplicated.
   */
  readonly backfillColumns?: readonly string[];
}

/** Declares a table. Throws if the age of rows cannot be determined. */
export const defineTable = <const Definition extends Table>(table: Definition): Definition => {
  if (table.retention === 'never') return table;
  const ageColumn = getAgeColumn(table);
  for (const column of ['tenant_id', ageColumn])
    if (!(column in table.columns))
      throw new Error(
        `table ${table.name} has a retention of ${table.retention} but no column ${column} that determines the age of its rows: add the column, or set ageColumn to another one`,
      );
  return table;
};

/** Returns the column that determines the age of a row. */
export const getAgeColumn = ({ identity, ageColumn = identity === undefined ? 'received_at' : 'last_seen' }: Table) =>
  ageColumn;

/** Returns whether the partitions are days of that column. */
export const isPartitionedByDay = (table: Table): boolean => {
  const ageColumn = getAgeColumn(table);
  return table.partitionBy === ageColumn || table.partitionBy === `toYYYYMMDD(${ageColumn})`;
};

/** Returns whether rows with the same key merge into one, so that repeated inserts change nothing. */
export const isMerging = ({ engine = 'MergeTree' }: Pick<Table, 'engine'>): boolean => engine !== 'MergeTree';

/** Returns whether a row covers a range of offsets, from `offset` to `last_offset`, instead of a single one. */
export const coversOffsetRange = ({ columns }: Pick<Table, 'columns'>): boolean => 'last_offset' in columns;

/** Number of deduplication tokens for every table and every view target, shared by all partitions of the table. */
const deduplicationWindow = 10_000;

/**
 * Returns the `CREATE TABLE` statement of a declaration. `engine` replaces the declared engine, for its replicated
 * form.
 */
export const buildCreateTable = (
  table: Table,
  { ifNotExists = true, engine = table.engine ?? 'MergeTree' } = {},
): string => {
  const definitions = [
    ...Object.entries(table.columns).map(([name, type]) => `  \`${name}\` ${type}`),
    ...Object.entries(table.indexes ?? {}).map(([name, expression]) => `  INDEX ${name} ${expression}`),
  ].join(',\n');
  const settings = { non_replicated_deduplication_window: deduplicationWindow, ...table.settings };
  return [
    `CREATE TABLE ${ifNotExists ? 'IF NOT EXISTS ' : ''}${table.name}\n(\n${definitions}\n)`,
    `ENGINE = ${engine}`,
    ...(table.partitionBy === undefined ? [] : [`PARTITION BY ${table.partitionBy}`]),
    ...(table.primaryKey === undefined ? [] : [`PRIMARY KEY (${table.primaryKey.join(', ')})`]),
    `ORDER BY (${table.orderBy.join(', ')})`,
    `SETTINGS ${Object.entries(settings)
      .map(([name, value]) => `${name} = ${typeof value === 'number' ? value : `'${value}'`}`)
      .join(', ')}`,
  ].join('\n');
};

/** Returns the `CREATE MATERIALIZED VIEW` statement of a declaration. The target must exist. */
export const buildCreateView = ({ name, to, select }: MaterializedView): string =>
  `CREATE MATERIALIZED VIEW IF NOT EXISTS ${name} TO ${to} AS ${select}`;
