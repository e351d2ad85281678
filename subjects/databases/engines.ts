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

const currentTotal = (metric: string, search?: string): Metric => ({
  kind: 'metric',
  metric,
  overTime: 'last',
  across: 'sum',
  ...(search === undefined ? {} : { search }),
});
const maximum = (metric: string, search?: string): Metric => ({ ...currentTotal(metric, search), across: 'max' });
const rate = (metric: string, search?: string): Metric => ({ ...currentTotal(metric, search), overTime: 'rate' });
const ratioOf = (part: Metric, other: Metric): QueryRequest => ({
  kind: 'formula',
  expression: 'part / (part + other)',
  queries: { part, other },
});
const ratioOfLimit = (part: Metric, max: Metric): QueryRequest => ({
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
const connections = (...of: readonly QueryRequest[]): EngineMeasure =>
  createMeasure('connections', '{connection}', 'Connections now', ...of);
const connectionShare = (...of: readonly QueryRequest[]): EngineMeasure =>
  createMeasure('connectionsOfLimit', '1', 'Connections as a share of the server limit', ...of);
const cacheHits = (...of: readonly QueryRequest[]): EngineMeasure =>
  createMeasure('cacheHitRatio', '1', 'Share of reads served from memory', ...of);
const size = (...of: readonly QueryRequest[]): EngineMeasure => createMeasure('size', 'By', 'Size of the data', ...of);
const replicationLag = (...of: readonly QueryRequest[]): EngineMeasure =>
  createMeasure('replicationLag', 's', 'Lag of the slowest replica', ...of);
const operationRate = (...of: readonly QueryRequest[]): EngineMeasure =>
  createMeasure('operationRate', '1/s', 'Operations as counted by the server: commits, queries or commands', ...of);
const deadlocks = (...of: readonly QueryRequest[]): EngineMeasure =>
  createMeasure('deadlockRate', '1/s', 'Deadlocks', ...of);

/** Engines with metrics in addition to their calls. */
export const engines: readonly Engine[] = [
  {
    name: 'postgresql',
    prefixes: ['postgresql.', 'pg_'],
    senders: ['postgresqlreceiver', 'postgres_exporter'],
    measures: [
      connections(currentTotal('postgresql.backends'), currentTotal('pg_stat_database_numbackends')),
      connectionShare(
        ratioOfLimit(currentTotal('postgresql.backends'), maximum('postgresql.connection.max')),
        ratioOfLimit(currentTotal('pg_stat_database_numbackends'), maximum('pg_settings_max_connections')),
      ),
      operationRate(rate('postgresql.commits'), rate('pg_stat_database_xact_commit')),
      createMeasure(
        'rollbackRatio',
        '1',
        'Transactions rolled back',
        ratioOf(rate('postgresql.rollbacks'), rate('postgresql.commits')),
        ratioOf(rate('pg_stat_database_xact_rollback'), rate('pg_stat_database_xact_commit')),
      ),
      cacheHits(
        ratioOf(rate('postgresql.blks_hit'), rate('postgresql.blks_read')),
        ratioOf(rate('pg_stat_database_blks_hit'), rate('pg_stat_database_blks_read')),
      ),
      deadlocks(rate('postgresql.deadlocks'), rate('pg_stat_database_deadlocks')),
      size(currentTotal('postgresql.db_size'), currentTotal('pg_database_size_bytes')),
      replicationLag(
        maximum('postgresql.wal.delay'),
        maximum('postgresql.wal.lag'),
        maximum('pg_replication_lag_seconds'),
        maximum('pg_replication_lag'),
      ),
    ],
  },
  {
    name: 'mysql',
    prefixes: ['mysql.', 'mysql_'],
    senders: ['mysqlreceiver', 'mysqld_exporter'],
    measures: [
      connections(
        currentTotal('mysql.threads', 'kind:connected'),
        currentTotal('mysql_global_status_threads_connected'),
      ),
      connectionShare(
        ratioOfLimit(
          currentTotal('mysql_global_status_threads_connected'),
          maximum('mysql_global_variables_max_connections'),
        ),
      ),
      operationRate(rate('mysql.query.count'), rate('mysql_global_status_queries')),
      createMeasure(
        'slowQueryRate',
        '1/s',
        'Queries that the server classifies as slow',
        rate('mysql.query.slow.count'),
        rate('mysql_global_status_slow_queries'),
      ),
      createMeasure(
        'rowLockWaitRate',
        '1/s',
        'Waits for row locks',
        rate('mysql.row_locks', 'kind:waits'),
        rate('mysql_global_status_innodb_row_lock_waits'),
      ),
      replicationLag(maximum('mysql.replica.time_behind_source'), maximum('mysql_slave_status_seconds_behind_master')),
    ],
  },
  {
    name: 'redis',
    prefixes: ['redis.', 'redis_'],
    senders: ['redisreceiver', 'redis_exporter'],
    measures: [
      connections(currentTotal('redis.clients.connected'), currentTotal('redis_connected_clients')),
      connectionShare(ratioOfLimit(currentTotal('redis_connected_clients'), maximum('redis_config_maxclients'))),
      operationRate(rate('redis.commands.processed'), rate('redis_commands_processed_total')),
      cacheHits(
        ratioOf(rate('redis.keyspace.hits'), rate('redis.keyspace.misses')),
        ratioOf(rate('redis_keyspace_hits_total'), rate('redis_keyspace_misses_total')),
      ),
      size(currentTotal('redis.memory.used'), currentTotal('redis_memory_used_bytes')),
      createMeasure(
        'evictionRate',
        '1/s',
        'Evicted keys',
        rate('redis.keys.evicted'),
        rate('redis_evicted_keys_total'),
      ),
    ],
  },
  {
    name: 'mongodb',
    prefixes: ['mongodb.', 'mongodb_'],
    senders: ['mongodbreceiver', 'mongodb_exporter'],
    measures: [
      connections(
        currentTotal('mongodb.connection.count', 'type:current'),
        currentTotal('mongodb_ss_connections', 'conn_type:current'),
        currentTotal('mongodb_connections', 'state:current'),
      ),
      operationRate(rate('mongodb.operation.count'), rate('mongodb_ss_opcounters'), rate('mongodb_op_counters_total')),
      cacheHits(ratioOf(rate('mongodb.cache.operations', 'type:hit'), rate('mongodb.cache.operations', 'type:miss'))),
      size(currentTotal('mongodb.data.size'), currentTotal('mongodb_dbstats_dataSize')),
    ],
  },
  {
    name: 'microsoft.sql_server',
    prefixes: ['sqlserver.', 'mssql_'],
    senders: ['sqlserverreceiver', 'sql_exporter'],
    measures: [
      connections(currentTotal('sqlserver.user.connection.count'), currentTotal('mssql_connections')),
      operationRate(currentTotal('sqlserver.batch.request.rate')),
      deadlocks(currentTotal('sqlserver.deadlock.rate'), rate('mssql_deadlocks')),
    ],
  },
  {
    name: 'elasticsearch',
    prefixes: ['elasticsearch.', 'elasticsearch_'],
    senders: ['elasticsearchreceiver', 'elasticsearch_exporter'],
    measures: [
      operationRate(rate('elasticsearch.node.operations.completed'), rate('elasticsearch_indices_search_query_total')),
      size(
        currentTotal('elasticsearch.node.shards.size'),
        currentTotal('elasticsearch_indices_store_size_bytes_primary'),
      ),
    ],
  },
];

/** Returns the engine of a name; undefined if there are no measures for it, but only calls. */
export const findEngine = (name: string): Engine | undefined => engines.find((each) => each.name === name);
