/**
 * Database engines with their metrics from collector receivers and Prometheus exporters, as measures that are the same
 * for both. Names are those of the receivers of opentelemetry-collector-contrib and of postgres_exporter,
 * mysqld_exporter, redis_exporter and mongodb_exporter.
 */
import type { QueryRequest } from '../../queries/run.ts';

/** A measure of an engine. `of` lists queries with the names of different senders; the first with a result is used. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly summary: string;
  readonly of: readonly QueryRequest[];
}

export interface Engine {
  /** Product, by its current name in the semantic conventions. */
  readonly name: string;
  /** Prefixes of its metric names. */
  readonly prefixes: readonly string[];
  /** Senders of the metrics. */
  readonly senders: readonly string[];
  readonly figures: readonly Figure[];
}

type Metric = Extract<QueryRequest, { kind: 'metric' }>;

const now = (metric: string, search?: string): Metric => ({
  kind: 'metric',
  metric,
  overTime: 'last',
  across: 'sum',
  ...(search === undefined ? {} : { search }),
});
const largest = (metric: string, search?: string): Metric => ({ ...now(metric, search), across: 'max' });
const rate = (metric: string, search?: string): Metric => ({ ...now(metric, search), overTime: 'rate' });
const share = (part: Metric, other: Metric): QueryRequest => ({
  kind: 'formula',
  expression: 'part / (part + other)',
  queries: { part, other },
});
const ofMax = (part: Metric, max: Metric): QueryRequest => ({
  kind: 'formula',
  expression: 'part / most',
  queries: { part, most: max },
});

const figure = (name: string, unit: string, summary: string, ...of: readonly QueryRequest[]): Figure => ({
  name,
  unit,
  summary,
  of,
});
const connections = (...of: readonly QueryRequest[]): Figure =>
  figure('connections', '{connection}', 'Connections now', ...of);
const connectionShare = (...of: readonly QueryRequest[]): Figure =>
  figure('connectionsOfLimit', '1', 'Connections as a share of the server limit', ...of);
const cacheHits = (...of: readonly QueryRequest[]): Figure =>
  figure('cacheHitRatio', '1', 'Share of reads served from memory', ...of);
const size = (...of: readonly QueryRequest[]): Figure => figure('size', 'By', 'Size of the data', ...of);
const replicationLag = (...of: readonly QueryRequest[]): Figure =>
  figure('replicationLag', 's', 'Lag of the slowest replica', ...of);
const work = (...of: readonly QueryRequest[]): Figure =>
  figure('operationRate', '1/s', 'Operations as counted by the server: commits, queries or commands', ...of);
const deadlocks = (...of: readonly QueryRequest[]): Figure => figure('deadlockRate', '1/s', 'Deadlocks', ...of);

/** Engines with metrics in addition to their calls. */
export const engines: readonly Engine[] = [
  {
    name: 'postgresql',
    prefixes: ['postgresql.', 'pg_'],
    senders: ['postgresqlreceiver', 'postgres_exporter'],
    figures: [
      connections(now('postgresql.backends'), now('pg_stat_database_numbackends')),
      connectionShare(
        ofMax(now('postgresql.backends'), largest('postgresql.connection.max')),
        ofMax(now('pg_stat_database_numbackends'), largest('pg_settings_max_connections')),
      ),
      work(rate('postgresql.commits'), rate('pg_stat_database_xact_commit')),
      figure(
        'rollbackRatio',
        '1',
        'Transactions rolled back',
        share(rate('postgresql.rollbacks'), rate('postgresql.commits')),
        share(rate('pg_stat_database_xact_rollback'), rate('pg_stat_database_xact_commit')),
      ),
      cacheHits(
        share(rate('postgresql.blks_hit'), rate('postgresql.blks_read')),
        share(rate('pg_stat_database_blks_hit'), rate('pg_stat_database_blks_read')),
      ),
      deadlocks(rate('postgresql.deadlocks'), rate('pg_stat_database_deadlocks')),
      size(now('postgresql.db_size'), now('pg_database_size_bytes')),
      replicationLag(
        largest('postgresql.wal.delay'),
        largest('postgresql.wal.lag'),
        largest('pg_replication_lag_seconds'),
        largest('pg_replication_lag'),
      ),
    ],
  },
  {
    name: 'mysql',
    prefixes: ['mysql.', 'mysql_'],
    senders: ['mysqlreceiver', 'mysqld_exporter'],
    figures: [
      connections(now('mysql.threads', 'kind:connected'), now('mysql_global_status_threads_connected')),
      connectionShare(
        ofMax(now('mysql_global_status_threads_connected'), largest('mysql_global_variables_max_connections')),
      ),
      work(rate('mysql.query.count'), rate('mysql_global_status_queries')),
      figure(
        'slowQueryRate',
        '1/s',
        'Queries that the server classifies as slow',
        rate('mysql.query.slow.count'),
        rate('mysql_global_status_slow_queries'),
      ),
      figure(
        'rowLockWaitRate',
        '1/s',
        'Waits for row locks',
        rate('mysql.row_locks', 'kind:waits'),
        rate('mysql_global_status_innodb_row_lock_waits'),
      ),
      replicationLag(largest('mysql.replica.time_behind_source'), largest('mysql_slave_status_seconds_behind_master')),
    ],
  },
  {
    name: 'redis',
    prefixes: ['redis.', 'redis_'],
    senders: ['redisreceiver', 'redis_exporter'],
    figures: [
      connections(now('redis.clients.connected'), now('redis_connected_clients')),
      connectionShare(ofMax(now('redis_connected_clients'), largest('redis_config_maxclients'))),
      work(rate('redis.commands.processed'), rate('redis_commands_processed_total')),
      cacheHits(
        share(rate('redis.keyspace.hits'), rate('redis.keyspace.misses')),
        share(rate('redis_keyspace_hits_total'), rate('redis_keyspace_misses_total')),
      ),
      size(now('redis.memory.used'), now('redis_memory_used_bytes')),
      figure('evictionRate', '1/s', 'Evicted keys', rate('redis.keys.evicted'), rate('redis_evicted_keys_total')),
    ],
  },
  {
    name: 'mongodb',
    prefixes: ['mongodb.', 'mongodb_'],
    senders: ['mongodbreceiver', 'mongodb_exporter'],
    figures: [
      connections(
        now('mongodb.connection.count', 'type:current'),
        now('mongodb_ss_connections', 'conn_type:current'),
        now('mongodb_connections', 'state:current'),
      ),
      work(rate('mongodb.operation.count'), rate('mongodb_ss_opcounters'), rate('mongodb_op_counters_total')),
      cacheHits(share(rate('mongodb.cache.operations', 'type:hit'), rate('mongodb.cache.operations', 'type:miss'))),
      size(now('mongodb.data.size'), now('mongodb_dbstats_dataSize')),
    ],
  },
  {
    name: 'microsoft.sql_server',
    prefixes: ['sqlserver.', 'mssql_'],
    senders: ['sqlserverreceiver', 'sql_exporter'],
    figures: [
      connections(now('sqlserver.user.connection.count'), now('mssql_connections')),
      work(now('sqlserver.batch.request.rate')),
      deadlocks(now('sqlserver.deadlock.rate'), rate('mssql_deadlocks')),
    ],
  },
  {
    name: 'elasticsearch',
    prefixes: ['elasticsearch.', 'elasticsearch_'],
    senders: ['elasticsearchreceiver', 'elasticsearch_exporter'],
    figures: [
      work(rate('elasticsearch.node.operations.completed'), rate('elasticsearch_indices_search_query_total')),
      size(now('elasticsearch.node.shards.size'), now('elasticsearch_indices_store_size_bytes_primary')),
    ],
  },
];

/** Returns the engine of a name; undefined if only its calls are known. */
export const engineOf = (name: string): Engine | undefined => engines.find((each) => each.name === name);
