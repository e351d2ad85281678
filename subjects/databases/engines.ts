/**
 * Database engines with their metrics from collector receivers and Prometheus exporters, as measures that are the same
 * for both. Names are those of the receivers of opentelemetry-collector-contrib and of postgres_exporter,
 * mysqld_exporter, redis_exporter and mongodb_exporter.
 */
import type { QueryRequest } from '../../queries/query.ts';

/** A measure of an engine. The queries use the metric names of different senders; the first one with data is used. */
export interface EngineMeasure {
  readonly name: string;
  readonly unit: string;
  readonly summary: string;
  readonly queries: readonly QueryRequest[];
}

export interface Engine {
  /** Product, by its current name in the semantic conventions. */
  readonly name: string;
  /** Prefixes of its metric names. */
  readonly prefixes: readonly string[];
  /** Senders of the metrics. */
  readonly senders: readonly string[];
  readonly measures: readonly EngineMeasure[];
}

type Metric = Extract<QueryRequest, { kind: 'metric' }>;

const queryCurrentTotal = (metric: string, search?: string): Metric => ({
  kind: 'metric',
  metric,
  overTime: 'last',
  across: 'sum',
  ...(search === undefined ? {} : { search }),
});
const queryMaximum = (metric: string, search?: string): Metric => ({
  ...queryCurrentTotal(metric, search),
  across: 'max',
});
const queryRate = (metric: string, search?: string): Metric => ({
  ...queryCurrentTotal(metric, search),
  overTime: 'rate',
});
const createRatio = (part: Metric, other: Metric): QueryRequest => ({
  kind: 'formula',
  expression: 'part / (part + other)',
  queries: { part, other },
});
const createLimitRatio = (part: Metric, max: Metric): QueryRequest => ({
  kind: 'formula',
  expression: 'part / most',
  queries: { part, most: max },
});

const createMeasure = (
  name: string,
  unit: string,
  summary: string,
  ...queries: readonly QueryRequest[]
): EngineMeasure => ({
  name,
  unit,
  summary,
  queries,
});
const connections = (...queries: readonly QueryRequest[]): EngineMeasure =>
  createMeasure('connections', '{connection}', 'Connections now', ...queries);
const connectionShare = (...queries: readonly QueryRequest[]): EngineMeasure =>
  createMeasure('connectionsOfLimit', '1', 'Connections as a share of the server limit', ...queries);
const cacheHits = (...queries: readonly QueryRequest[]): EngineMeasure =>
  createMeasure('cacheHitRatio', '1', 'Share of reads served from memory', ...queries);
const size = (...queries: readonly QueryRequest[]): EngineMeasure =>
  createMeasure('size', 'By', 'Size of the data', ...queries);
const replicationLag = (...queries: readonly QueryRequest[]): EngineMeasure =>
  createMeasure('replicationLag', 's', 'Lag of the slowest replica', ...queries);
const operationRate = (...queries: readonly QueryRequest[]): EngineMeasure =>
  createMeasure(
    'operationRate',
    '1/s',
    'Operations as counted by the server: commits, queries or commands',
    ...queries,
  );
const deadlocks = (...queries: readonly QueryRequest[]): EngineMeasure =>
  createMeasure('deadlockRate', '1/s', 'Deadlocks', ...queries);

/** Engines with metrics in addition to their calls. */
export const engines: readonly Engine[] = [
  {
    name: 'postgresql',
    prefixes: ['postgresql.', 'pg_'],
    senders: ['postgresqlreceiver', 'postgres_exporter'],
    measures: [
      connections(queryCurrentTotal('postgresql.backends'), queryCurrentTotal('pg_stat_database_numbackends')),
      connectionShare(
        createLimitRatio(queryCurrentTotal('postgresql.backends'), queryMaximum('postgresql.connection.max')),
        createLimitRatio(
          queryCurrentTotal('pg_stat_database_numbackends'),
          queryMaximum('pg_settings_max_connections'),
        ),
      ),
      operationRate(queryRate('postgresql.commits'), queryRate('pg_stat_database_xact_commit')),
      createMeasure(
        'rollbackRatio',
        '1',
        'Transactions rolled back',
        createRatio(queryRate('postgresql.rollbacks'), queryRate('postgresql.commits')),
        createRatio(queryRate('pg_stat_database_xact_rollback'), queryRate('pg_stat_database_xact_commit')),
      ),
      cacheHits(
        createRatio(queryRate('postgresql.blks_hit'), queryRate('postgresql.blks_read')),
        createRatio(queryRate('pg_stat_database_blks_hit'), queryRate('pg_stat_database_blks_read')),
      ),
      deadlocks(queryRate('postgresql.deadlocks'), queryRate('pg_stat_database_deadlocks')),
      size(queryCurrentTotal('postgresql.db_size'), queryCurrentTotal('pg_database_size_bytes')),
      replicationLag(
        queryMaximum('postgresql.wal.delay'),
        queryMaximum('postgresql.wal.lag'),
        queryMaximum('pg_replication_lag_seconds'),
        queryMaximum('pg_replication_lag'),
      ),
    ],
  },
  {
    name: 'mysql',
    prefixes: ['mysql.', 'mysql_'],
    senders: ['mysqlreceiver', 'mysqld_exporter'],
    measures: [
      connections(
        queryCurrentTotal('mysql.threads', 'kind:connected'),
        queryCurrentTotal('mysql_global_status_threads_connected'),
      ),
      connectionShare(
        createLimitRatio(
          queryCurrentTotal('mysql_global_status_threads_connected'),
          queryMaximum('mysql_global_variables_max_connections'),
        ),
      ),
      operationRate(queryRate('mysql.query.count'), queryRate('mysql_global_status_queries')),
      createMeasure(
        'slowQueryRate',
        '1/s',
        'Queries that the server classifies as slow',
        queryRate('mysql.query.slow.count'),
        queryRate('mysql_global_status_slow_queries'),
      ),
      createMeasure(
        'rowLockWaitRate',
        '1/s',
        'Waits for row locks',
        queryRate('mysql.row_locks', 'kind:waits'),
        queryRate('mysql_global_status_innodb_row_lock_waits'),
      ),
      replicationLag(
        queryMaximum('mysql.replica.time_behind_source'),
        queryMaximum('mysql_slave_status_seconds_behind_master'),
      ),
    ],
  },
  {
    name: 'redis',
    prefixes: ['redis.', 'redis_'],
    senders: ['redisreceiver', 'redis_exporter'],
    measures: [
      connections(queryCurrentTotal('redis.clients.connected'), queryCurrentTotal('redis_connected_clients')),
      connectionShare(
        createLimitRatio(queryCurrentTotal('redis_connected_clients'), queryMaximum('redis_config_maxclients')),
      ),
      operationRate(queryRate('redis.commands.processed'), queryRate('redis_commands_processed_total')),
      cacheHits(
        createRatio(queryRate('redis.keyspace.hits'), queryRate('redis.keyspace.misses')),
        createRatio(queryRate('redis_keyspace_hits_total'), queryRate('redis_keyspace_misses_total')),
      ),
      size(queryCurrentTotal('redis.memory.used'), queryCurrentTotal('redis_memory_used_bytes')),
      createMeasure(
        'evictionRate',
        '1/s',
        'Evicted keys',
        queryRate('redis.keys.evicted'),
        queryRate('redis_evicted_keys_total'),
      ),
    ],
  },
  {
    name: 'mongodb',
    prefixes: ['mongodb.', 'mongodb_'],
    senders: ['mongodbreceiver', 'mongodb_exporter'],
    measures: [
      connections(
        queryCurrentTotal('mongodb.connection.count', 'type:current'),
        queryCurrentTotal('mongodb_ss_connections', 'conn_type:current'),
        queryCurrentTotal('mongodb_connections', 'state:current'),
      ),
      operationRate(
        queryRate('mongodb.operation.count'),
        queryRate('mongodb_ss_opcounters'),
        queryRate('mongodb_op_counters_total'),
      ),
      cacheHits(
        createRatio(
          queryRate('mongodb.cache.operations', 'type:hit'),
          queryRate('mongodb.cache.operations', 'type:miss'),
        ),
      ),
      size(queryCurrentTotal('mongodb.data.size'), queryCurrentTotal('mongodb_dbstats_dataSize')),
    ],
  },
  {
    name: 'microsoft.sql_server',
    prefixes: ['sqlserver.', 'mssql_'],
    senders: ['sqlserverreceiver', 'sql_exporter'],
    measures: [
      connections(queryCurrentTotal('sqlserver.user.connection.count'), queryCurrentTotal('mssql_connections')),
      operationRate(queryCurrentTotal('sqlserver.batch.request.rate')),
      deadlocks(queryCurrentTotal('sqlserver.deadlock.rate'), queryRate('mssql_deadlocks')),
    ],
  },
  {
    name: 'elasticsearch',
    prefixes: ['elasticsearch.', 'elasticsearch_'],
    senders: ['elasticsearchreceiver', 'elasticsearch_exporter'],
    measures: [
      operationRate(
        queryRate('elasticsearch.node.operations.completed'),
        queryRate('elasticsearch_indices_search_query_total'),
      ),
      size(
        queryCurrentTotal('elasticsearch.node.shards.size'),
        queryCurrentTotal('elasticsearch_indices_store_size_bytes_primary'),
      ),
    ],
  },
];

/** Returns the engine of a name; undefined if there are no measures for it, but only calls. */
export const findEngine = (name: string): Engine | undefined => engines.find((engine) => engine.name === name);
