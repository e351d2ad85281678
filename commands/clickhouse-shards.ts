/** Reports the state of each ClickHouse server, and whether it receives new rows. */
import type { Columns, ServerColumns } from '../schemas/ports/columns.ts';
import { findBrokenParts } from '../schemas/tables/broken-parts.ts';
import { allTables, allViews } from '../schemas/tables/index.ts';
import { noShardIndex } from '../schemas/tables/placements.ts';

/** A server in the settings. */
export interface ShardReport {
  readonly server: string;
  /** From 1 on, as in `system.clusters`; undefined without a cluster, and for a server outside the cluster */
  readonly shard: number | undefined;
  readonly rows: number;
  readonly bytes: number;
  readonly receivesNewRows: boolean;
  readonly isReachable: boolean;
  /** Number of shards of the cluster that it knows; 1 without a cluster */
  readonly knownShards: number;
  /** Problems as readable text: missing tables, lagging replicas, damage */
  readonly problems: readonly string[];
}

export interface ClusterReport {
  readonly shards: readonly ShardReport[];
  /** Problems of the cluster: servers that are missing in the settings */
  readonly problems: readonly string[];
}

interface ClusterRow {
  readonly shard: number;
  readonly weight: number;
  readonly address: string;
  readonly isLocal: number;
}

const tableNames = [...allTables, ...allViews].map(({ name }) => name);
const declaredColumns = new Map(allTables.map(({ name, columns }) => [name, Object.keys(columns)]));

const readClusterRows = (columns: ServerColumns, cluster: string): Promise<ClusterRow[]> =>
  columns.query<ClusterRow>(
    `SELECT toUInt32(shard_num) AS shard, toUInt32(shard_weight) AS weight, concat(host_name, ':', toString(port)) AS address, is_local AS isLocal
FROM system.clusters WHERE cluster = {cluster:String} ORDER BY shard_num, replica_num`,
    { cluster },
  );

const findReplicaProblems = async (columns: ServerColumns): Promise<string[]> => {
  const rows = await columns.query<{ table: string; readonly: number; delay: string; queue: string }>(
    `SELECT table, is_readonly AS readonly, toString(absolute_delay) AS delay, toString(queue_size) AS queue FROM system.replicas
WHERE database = currentDatabase() AND (is_readonly OR absolute_delay > 60 OR queue_size > 1000) ORDER BY table`,
  );
  return rows.map(({ table, readonly, delay, queue }) =>
    readonly === 1
      ? `its replica of ${table} is read-only`
      : `its replica of ${table} lags by ${delay} seconds, with ${queue} queued operations`,
  );
};

const summarizeNames = (names: readonly string[]): string =>
  names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ');

/** Checks tables and views, and the columns of existing tables. */
const findTableProblems = async (columns: ServerColumns): Promise<string[]> => {
  const tables = await columns.query<{ table: string; has: readonly string[] }>(
    'SELECT table, groupArray(name) AS has FROM system.columns WHERE database = currentDatabase() AND has({names:Array(String)}, table) GROUP BY table',
    { names: tableNames },
  );
  const columnsByTable = new Map(tables.map(({ table, has: own }) => [table, new Set(own)]));
  const missingNames = tableNames.flatMap((name) => {
    const existingColumns = columnsByTable.get(name);
    if (existingColumns === undefined) return [name];
    return (declaredColumns.get(name) ?? [])
      .filter((column) => !existingColumns.has(column))
      .map((column) => `${name}.${column}`);
  });
  return missingNames.length === 0 ? [] : [`it has no ${summarizeNames(missingNames)}: run oiq migrate`];
};

const findDamageProblems = async (columns: ServerColumns): Promise<string[]> => {
  const parts = await findBrokenParts(columns);
  return parts.length === 0
    ? []
    : [
        `parts of its tables are damaged and were detached, so that their rows are missing (${summarizeNames(parts)}): restore it from a backup, or remove them (ALTER TABLE … DROP DETACHED PART)`,
      ];
};

const createReport = async (
  server: string,
  columns: ServerColumns,
  cluster: string | undefined,
): Promise<ShardReport> => {
  const rows = cluster === undefined ? [] : await readClusterRows(columns, cluster);
  const localRow = rows.find(({ isLocal }) => isLocal === 1);
  const [size] = await columns.query<{ rows: string; bytes: string }>(
    'SELECT toString(sum(rows)) AS rows, toString(sum(bytes_on_disk)) AS bytes FROM system.parts WHERE database = currentDatabase() AND active',
  );
  return {
    server,
    shard: localRow?.shard,
    rows: Number(size?.rows),
    bytes: Number(size?.bytes),
    receivesNewRows: cluster === undefined || (localRow?.weight ?? 0) > 0,
    isReachable: true,
    knownShards: Math.max(1, ...rows.map(({ shard }) => shard)),
    problems: [
      ...(cluster !== undefined && localRow === undefined ? [`it is in no shard of the cluster ${cluster}`] : []),
      ...(await findTableProblems(columns)),
      ...(await findReplicaProblems(columns)),
      ...(await findDamageProblems(columns)),
    ],
  };
};

/** A new server has no database yet. */
const describeFailure = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  return /Database \S+ does not exist/.test(message) ? 'it has no tables yet: run oiq migrate' : message;
};

/** Checks each configured server. An unreachable server is reported and does not stop the check of the others. */
export const reportShards = async (columns: Columns, cluster: string | undefined): Promise<ClusterReport> => {
  const shardByAddress = new Map<string, number>();
  const configuredServers = columns.listServers();
  const shards = await Promise.all(
    configuredServers.map(async ({ name, columns: server }) => {
      try {
        for (const { address, shard } of cluster === undefined ? [] : await readClusterRows(server, cluster))
          shardByAddress.set(address, shard);
        return await createReport(name, server, cluster);
      } catch (error) {
        const problems = [describeFailure(error)];
        const unknownFields = {
          shard: undefined,
          rows: Number.NaN,
          bytes: Number.NaN,
          receivesNewRows: false,
          knownShards: 0,
        };
        return { server: name, ...unknownFields, isReachable: false, problems };
      }
    }),
  );
  const reportsByShard = Map.groupBy(shards, ({ shard }) => shard);
  const servers = Map.groupBy(shardByAddress.keys(), (address) => shardByAddress.get(address));
  const problems = Array.from(servers, ([shard, addresses]) => ({
    shard,
    missing: addresses.length - (reportsByShard.get(shard)?.length ?? 0),
    addresses,
  }))
    .filter(({ missing }) => missing > 0)
    .map(
      ({ shard, missing, addresses }) =>
        `OIQ_CLICKHOUSE_URL names ${missing === addresses.length ? 'no server' : `${addresses.length - missing} of ${addresses.length} servers`} of shard ${shard} (${addresses.join(', ')}) that respond: until it contains all of them, every query is sent to all shards`,
    );
  // Servers outside any shard are last.
  return {
    shards: shards.toSorted((left, right) => (left.shard ?? noShardIndex) - (right.shard ?? noShardIndex)),
    problems,
  };
};

const formatCount = (value: number): string => (Number.isNaN(value) ? '?' : value.toLocaleString('en'));

/** Returns readable text, with a line per server. */
export const formatShards = ({ shards, problems }: ClusterReport): string => {
  const lines = shards.map(
    ({ server, shard, rows, bytes, receivesNewRows }) =>
      [
        shard === undefined ? '-' : String(shard),
        server,
        formatCount(rows),
        Number.isNaN(bytes) ? '?' : `${(bytes / 1024 ** 2).toFixed(1)} MiB`,
        receivesNewRows ? 'yes' : 'no',
      ] as const,
  );
  const table = [['shard', 'server', 'rows', 'size', 'gets new rows'], ...lines];
  const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((line) => line[column]?.length ?? 0)));
  return [
    ...table.map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    ),
    ...shards.flatMap(({ server, problems: serverProblems }) =>
      serverProblems.map((problem) => `${server}: ${problem}`),
    ),
    ...problems,
  ].join('\n');
};
