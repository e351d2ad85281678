/** How a ClickHouse table is declared: columns once; DDL, insert order and reads follow. */

/**
 * How long a tenant's rows are kept: as long as it keeps a signal, as the signal that it keeps longest, so many days whatever it keeps, or
 * for ever.
 */
export type Retention = 'logs' | 'metrics' | 'traces' | 'longest' | 'never' | { readonly days: number };

export interface Table {
  readonly name: string;
  readonly summary: string;
  readonly retention: Retention;
  /** The column by whose day rows become too old, where it is not `received_at`. */
  readonly ageColumn?: string;
  /** For tables of what was seen: the column that identifies it. Rows become too old by `last_seen`, and stay when a newer one says the same. */
  readonly identity?: string;
  /**
   * `tenant` where its rows are made of telemetry as received: then a tenant's lie together on several shards (`lying.ts`), and are asked of
   * one. Rows of derived topics lie by other keys, so that what is merged by one lies together.
   */
  readonly liesBy?: 'tenant';
  /** Column → ClickHouse type, codecs and defaults included after the type. Insert blocks carry columns in this order. */
  readonly columns: Readonly<Record<string, string>>;
  /** Default `MergeTree`. */
  readonly engine?: string;
  readonly partitionBy?: string;
  readonly orderBy: readonly string[];
  /**
   * How much of `orderBy` is the index, all by default. A key with both `f(time)` and `time` must end before `time`: the
   * engine would match a time range with the later one alone, and read everything.
   */
  readonly primaryKey?: readonly string[];
  /** `name` → `expression TYPE … GRANULARITY …`. */
  readonly indexes?: Readonly<Record<string, string>>;
  readonly settings?: Readonly<Record<string, string | number>>;
}

/** A view that fills `to` from each block inserted into `from`. */
export interface MaterializedView {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly select: string;
  /** Columns of the select, where what is in `from` already is taken in when the view is made: rows that land meanwhile may be twice. */
  readonly backfillColumns?: readonly string[];
}

/** Declares a table. Throws when rows could never be found too old. */
export const defineTable = <const Definition extends Table>(table: Definition): Definition => {
  if (table.retention === 'never') return table;
  const age = ageColumnOf(table);
  for (const column of ['tenant_id', age])
    if (!(column in table.columns))
      throw new Error(
        `table ${table.name} has a retention of ${table.retention} and no column ${column} to find its old rows by: add it, or name another as ageColumn`,
      );
  return table;
};

/** The column that tells how old a row is. */
export const ageColumnOf = ({ identity, ageColumn = identity === undefined ? 'received_at' : 'last_seen' }: Table) =>
  ageColumn;

/** Whether its partitions are days of that column. */
export const isDaily = (table: Table): boolean => {
  const age = ageColumnOf(table);
  return table.partitionBy === age || table.partitionBy === `toYYYYMMDD(${age})`;
};

/** Whether rows of one key merge into one: landing them twice changes nothing. */
export const isMerging = ({ engine = 'MergeTree' }: Pick<Table, 'engine'>): boolean => engine !== 'MergeTree';

/** Whether a row tells of a range of offsets, from `offset` to `last_offset`, and not of one. */
export const isByRange = ({ columns }: Pick<Table, 'columns'>): boolean => 'last_offset' in columns;

/** How many tokens every table and every view's target remembers; shared by all partitions of the table. */
const deduplicationWindow = 10_000;

/** `CREATE TABLE` of a declaration. `engine` replaces the declared one, for a replicated form of it. */
export const createTable = (
  table: Table,
  { ifNotExists = true, engine = table.engine ?? 'MergeTree' } = {},
): string => {
  const body = [
    ...Object.entries(table.columns).map(([name, type]) => `  \`${name}\` ${type}`),
    ...Object.entries(table.indexes ?? {}).map(([name, expression]) => `  INDEX ${name} ${expression}`),
  ].join(',\n');
  const settings = { non_replicated_deduplication_window: deduplicationWindow, ...table.settings };
  return [
    `CREATE TABLE ${ifNotExists ? 'IF NOT EXISTS ' : ''}${table.name}\n(\n${body}\n)`,
    `ENGINE = ${engine}`,
    ...(table.partitionBy === undefined ? [] : [`PARTITION BY ${table.partitionBy}`]),
    ...(table.primaryKey === undefined ? [] : [`PRIMARY KEY (${table.primaryKey.join(', ')})`]),
    `ORDER BY (${table.orderBy.join(', ')})`,
    `SETTINGS ${Object.entries(settings)
      .map(([name, value]) => `${name} = ${typeof value === 'number' ? value : `'${value}'`}`)
      .join(', ')}`,
  ].join('\n');
};

/** `CREATE MATERIALIZED VIEW` of a declaration; its target must exist. */
export const createView = ({ name, to, select }: MaterializedView): string =>
  `CREATE MATERIALIZED VIEW IF NOT EXISTS ${name} TO ${to} AS ${select}`;
