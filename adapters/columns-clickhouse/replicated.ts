/** DDL of a table whose rows are on several servers: replicated, or shared by the service itself. */

/** Deduplication across replicas lasts at least as long as a message can be redelivered. */
const deduplicationSeconds = 7 * 24 * 3600;
/**
 * Migration state is per server, because its replica may not exist yet. Placements are per server too, because a server
 * needs them immediately.
 */
const perServerTable = /^CREATE TABLE (?:IF NOT EXISTS )?(?:schema_migrations|placements)\b/;

/**
 * The DDL for a service that shares MergeTree tables itself (ClickHouse Cloud): engines stay unchanged, and
 * deduplication is set as for replicas.
 */
export const toSharedDdl = (sql: string): string =>
  /^\s*CREATE TABLE\b/.test(sql)
    ? sql.replace(
        /\bnon_replicated_deduplication_window = (\d+)/,
        `replicated_deduplication_window = $1, replicated_deduplication_window_seconds = ${deduplicationSeconds}`,
      )
    : sql;

/**
 * The DDL with a replicated engine for MergeTree tables, otherwise unchanged. Replicas of a shard find each other by
 * the macro `{shard}` and differ in `{replica}`, as in ClickHouse's documentation of `ReplicatedMergeTree`.
 */
export const toReplicatedDdl = (sql: string): string =>
  !/^\s*CREATE TABLE\b/.test(sql) || perServerTable.test(sql.trim())
    ? sql
    : toSharedDdl(sql).replace(
        /\bENGINE = (\w*MergeTree)(?:\(([^)]*)\))?/,
        (_, engine: string, parameters: string | undefined) =>
          `ENGINE = Replicated${engine}('/clickhouse/tables/{shard}/{database}/{table}', '{replica}'${parameters ? `, ${parameters}` : ''})`,
      );
