/** A table's DDL where its rows are on several servers: replicated, or shared by the service itself. */

/** Deduplication across replicas lasts at least as long as a message can be delivered again. */
const deduplicationSeconds = 7 * 24 * 3600;
/** What a server was brought to is its own: its replica may not be there yet. What it was told of shards is, too: it must know it at once. */
const ofEachServer = /^CREATE TABLE (?:IF NOT EXISTS )?(?:schema_migrations|placements)\b/;

/**
 * The DDL as a service takes it that makes MergeTree tables shared by itself (ClickHouse Cloud): engines are as they are, and deduplication
 * is set as for replicas.
 */
export const sharedForm = (sql: string): string =>
  /^\s*CREATE TABLE\b/.test(sql)
    ? sql.replace(
        /\bnon_replicated_deduplication_window = (\d+)/,
        `replicated_deduplication_window = $1, replicated_deduplication_window_seconds = ${deduplicationSeconds}`,
      )
    : sql;

/**
 * The DDL with a replicated engine where it makes a MergeTree table, else as it is. Replicas of a shard find each other by the macro
 * `{shard}` and are told apart by `{replica}`, as in ClickHouse's documentation of `ReplicatedMergeTree`.
 */
export const replicatedForm = (sql: string): string =>
  !/^\s*CREATE TABLE\b/.test(sql) || ofEachServer.test(sql.trim())
    ? sql
    : sharedForm(sql).replace(
        /\bENGINE = (\w*MergeTree)(?:\(([^)]*)\))?/,
        (_, engine: string, parameters: string | undefined) =>
          `ENGINE = Replicated${engine}('/clickhouse/tables/{shard}/{database}/{table}', '{replica}'${parameters ? `, ${parameters}` : ''})`,
      );
