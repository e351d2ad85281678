/** Tables of a cluster whose servers have replicas, with a real ZooKeeper. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openClickhouseColumns } from '../../adapters/columns-clickhouse/columns-clickhouse.ts';
import { toReplicatedDdl, toSharedDdl } from '../../adapters/columns-clickhouse/replicated.ts';
import { reportShards } from '../../commands/clickhouse-shards.ts';
import { allTables } from '../../schemas/tables/index.ts';
import { placementsTable } from '../../schemas/tables/placements.ts';
import { schemaMigrationsTable } from '../../schemas/tables/schema-migrations.ts';
import { buildCreateTable } from '../../schemas/tables/table.ts';
import { clusterFile } from '../services/clickhouse.ts';
import { freePorts } from '../services/ports.ts';
import { type Instance, startService, startServices, unavailable } from '../services/services.ts';
import { blockOf, quoted, someTenant, tableNamed } from './columns-harness.ts';

/** Tables that each server has separately. */
const ofEachServer: readonly string[] = [schemaMigrationsTable.name, placementsTable.name];

const path = "'/clickhouse/tables/{shard}/{database}/{table}', '{replica}'";

for (const [title, sql, expected] of [
  [
    'a MergeTree table',
    'CREATE TABLE IF NOT EXISTS logs (a UInt8)\nENGINE = MergeTree ORDER BY a SETTINGS non_replicated_deduplication_window = 10000',
    `CREATE TABLE IF NOT EXISTS logs (a UInt8)\nENGINE = ReplicatedMergeTree(${path}) ORDER BY a SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800`,
  ],
  [
    'a table that merges rows of a key',
    'CREATE TABLE IF NOT EXISTS series (a UInt8) ENGINE = AggregatingMergeTree ORDER BY a',
    `CREATE TABLE IF NOT EXISTS series (a UInt8) ENGINE = ReplicatedAggregatingMergeTree(${path}) ORDER BY a`,
  ],
  [
    'an engine with parameters',
    'CREATE TABLE marks (a UInt8, at DateTime) ENGINE = ReplacingMergeTree(at) ORDER BY a',
    `CREATE TABLE marks (a UInt8, at DateTime) ENGINE = ReplicatedReplacingMergeTree(${path}, at) ORDER BY a`,
  ],
  ['a change of a table', 'ALTER TABLE logs ADD COLUMN b UInt8', 'ALTER TABLE logs ADD COLUMN b UInt8'],
  [
    'a view',
    'CREATE MATERIALIZED VIEW v TO logs AS SELECT 1 AS a',
    'CREATE MATERIALIZED VIEW v TO logs AS SELECT 1 AS a',
  ],
  [
    'what each server was brought to, which is its own',
    buildCreateTable(schemaMigrationsTable),
    buildCreateTable(schemaMigrationsTable),
  ],
  [
    'what each server knows of shards, which is its own',
    buildCreateTable(placementsTable),
    buildCreateTable(placementsTable),
  ],
] as const)
  test(`the replicated form of ${title}`, (t) => t.is(toReplicatedDdl(sql), expected));

test('on a service that makes tables shared, a table is deduplicated like a replica', (t) =>
  t.is(
    toSharedDdl(
      'CREATE TABLE IF NOT EXISTS logs (a UInt8) ENGINE = MergeTree ORDER BY a SETTINGS non_replicated_deduplication_window = 10000',
    ),
    'CREATE TABLE IF NOT EXISTS logs (a UInt8) ENGINE = MergeTree ORDER BY a SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800',
  ));

const reason = unavailable('clickhouse') ?? unavailable('zookeeper');
const run = reason === undefined ? test : test.skip;

run('every declared table is made as a replica of its shard, known to ZooKeeper', async (t) => {
  const zookeeper = (await startServices(['zookeeper'])).url('zookeeper');
  const directory = mkdtempSync(join(tmpdir(), 'oiq-replica-'));
  const [port = 0, tcpPort] = await freePorts(2);
  const [host, zookeeperPort] = zookeeper.split(':');
  // A separate path, because ZooKeeper is shared and persistent.
  const shard = randomUUID();
  writeFileSync(
    join(directory, clusterFile),
    `<clickhouse>
  <tcp_port>${tcpPort}</tcp_port>
  <zookeeper><node><host>${host}</host><port>${zookeeperPort}</port></node></zookeeper>
  <remote_servers><replicas><shard><internal_replication>true</internal_replication>
    <replica><host>127.0.0.1</host><port>${tcpPort}</port></replica></shard></replicas></remote_servers>
  <macros><shard>${shard}</shard><replica>first</replica></macros>
</clickhouse>\n`,
  );
  const server = await startService('clickhouse', { port, directory });
  const columns = await openClickhouseColumns({ urls: [`${server.url}/oiq`], cluster: 'replicas' });
  t.teardown(async () => {
    await columns.close();
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  for (const table of allTables) await columns.execute(buildCreateTable(table));
  const [own] = columns.listServers();
  const created = await own?.columns.query<{ name: string; engine: string }>(
    'SELECT name, engine FROM system.tables WHERE database = currentDatabase() ORDER BY name',
  );
  const expected = allTables
    .map(({ name, engine = 'MergeTree' }: { name: string; engine?: string }) => {
      const plain = engine.replace(/\(.*/, '');
      return {
        name,
        engine: ofEachServer.includes(name) ? plain : `Replicated${plain}`,
      };
    })
    .sort((left, right) => (left.name < right.name ? -1 : 1));
  t.deepEqual(created, expected);
  const replicas = await own?.columns.query<{ at: string; replica: string }>(
    "SELECT zookeeper_path AS at, replica_name AS replica FROM system.replicas WHERE table = 'logs'",
  );
  t.deepEqual(replicas, [{ at: `/clickhouse/tables/${shard}/oiq/logs`, replica: 'first' }]);
});

run('a batch that a read-only replica does not take lands on the next one', async (t) => {
  const zookeeper = (await startServices(['zookeeper'])).url('zookeeper');
  const [host, zookeeperPort] = zookeeper.split(':');
  const directory = mkdtempSync(join(tmpdir(), 'oiq-replica-'));
  const [port = 0, tcpPort = 0, nextPort = 0, nextTcpPort = 0] = await freePorts(4);
  const replicas = [tcpPort, nextTcpPort].map((own) => `<replica><host>127.0.0.1</host><port>${own}</port></replica>`);
  const start = (name: string, [http, tcp]: readonly [number, number], more: string): Promise<Instance> => {
    const own = join(directory, name);
    mkdirSync(own);
    writeFileSync(
      join(own, clusterFile),
      `<clickhouse><tcp_port>${tcp}</tcp_port>${more}
  <remote_servers><replicas><shard><internal_replication>true</internal_replication>${replicas.join('')}</shard></replicas></remote_servers></clickhouse>\n`,
    );
    return startService('clickhouse', { port: http, directory: own });
  };
  // Its tables are replicated and read-only, because this build has no interserver listener.
  const readOnly = await start(
    'first',
    [port, tcpPort],
    `<zookeeper><node><host>${host}</host><port>${zookeeperPort}</port></node></zookeeper>
  <macros><shard>${randomUUID()}</shard><replica>first</replica></macros>`,
  );
  const next = await start('next', [nextPort, nextTcpPort], '');
  const columns = await openClickhouseColumns({
    urls: [`${readOnly.url}/oiq`, `${next.url}/oiq`],
    cluster: 'replicas',
  });
  t.teardown(async () => {
    await columns.close();
    await Promise.all([readOnly.stop(), next.stop()]);
    rmSync(directory, { recursive: true, force: true });
  });
  for (const table of [tableNamed('logs'), placementsTable]) await columns.execute(buildCreateTable(table));
  const native = async (select: string): Promise<Uint8Array> => {
    const response = await fetch(next.url, { method: 'POST', body: `${select} FORMAT Native` });
    return new Uint8Array(await response.arrayBuffer());
  };
  const tenant = someTenant();
  const block = await blockOf({ columns, native }, tableNamed('logs'), { tenant_id: quoted(tenant) });
  for (const token of ['one', 'two', 'two']) await columns.insert(block, token, 0, [tenant]);
  const rows = columns
    .listServers()
    .map(({ columns: server }) => server.query<{ n: number }>('SELECT toUInt32(count()) AS n FROM logs'));
  t.deepEqual((await Promise.all(rows)).flat(), [{ n: 0 }, { n: 200 }]);
  const { shards } = await reportShards(columns, 'replicas');
  t.true(shards[0]?.problems.includes('its replica of logs is read-only'));
});
