/** The replicated form of a table's DDL. */

/** Deduplication across replicas lasts at least as long as a message can be delivered again. */
const deduplicationSeconds = 7 * 24 * 3600;
/** What a server was brought to is its own: its replica may not be there yet. What it was told of shards is, too: it must know it at once. */
const ofEachServer = /^CREATE TABLE (?:IF NOT EXISTS )?(?:schema_migrations|placements)\b/;

/**
 * The DDL with a replicated engine where it makes a MergeTree table, else as it is. Replicas of a shard find each other by the macro
 * `{shard}` and are told apart by `{replica}`, as in ClickHouse's documentation of `ReplicatedMergeTree`.
 */
export const replicatedForm = (sql: string): string =>
  !/^\s*CREATE TABLE\b/.test(sql) || ofEachServer.test(sql.trim())
    ? sql
    : sql
        .replace(
          /\bENGINE = (\w*MergeTree)(?:\(([^)]*)\))?/,
          (_, engine: string, parameters: string | undefined) =>
            `ENGINE = Replicated${engine}('/clickhouse/tables/{shard}/{database}/{table}', '{replica}'${parameters ? `, ${parameters}` : ''})`,
        )
        .replace(
          /\bnon_replicated_deduplication_window = (\d+)/,
          `replicated_deduplication_window = $1, replicated_deduplication_window_seconds = ${deduplicationSeconds}`,
        );
