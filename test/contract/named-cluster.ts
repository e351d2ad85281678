/**
 * The columns contract on a named, real cluster, and behavior that only working replicas show. The test servers have no
 * interserver listener, so no ordinary run covers this. Run it with:
 *
 *     OIQ_TEST_CLICKHOUSE_CLUSTER=NAME OIQ_TEST_CLICKHOUSE_URL=http://USER:PASSWORD@HOST:8123/DATABASE,… npm test -- columns-cluster
 *
 * Name every replica of every shard, and a database that nothing else uses.
 */
import test, { type ExecutionContext } from 'ava';
import { openClickhouseColumns } from '../../adapters/columns-clickhouse/columns-clickhouse.ts';
import type { Columns, ServerColumns } from '../../schemas/ports/columns.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { eventually } from '../waiting.ts';
import { columnsContract } from './columns.ts';
import { blockOf, countOf, quoted, someTenant, tableNamed } from './columns-harness.ts';
import { landEmittedContract } from './land-emitted.ts';
import { landValuesContract } from './land-values.ts';

/** Servers by shard, in the configured order. */
const replicasOf = async (
  columns: Columns,
  cluster: string,
): Promise<ReadonlyMap<number, readonly ServerColumns[]>> => {
  const servers = columns.listServers().map(({ columns: server }) => server);
  const shards = await Promise.all(
    servers.map(async (server) => {
      const [own] = await server.query<{ shard: number }>(
        'SELECT toUInt32(shard_num) AS shard FROM system.clusters WHERE cluster = {cluster:String} AND is_local',
        { cluster },
      );
      return own?.shard ?? 0;
    }),
  );
  return Map.groupBy(servers, (server) => shards[servers.indexOf(server)] ?? 0);
};

/** Log records of a tenant on a single server, and their count in a view that is updated at insert. */
const rowsOn = async (
  server: ServerColumns,
  tenant: string,
): Promise<{ readonly logs: number; readonly counted: number }> => {
  const [row] = await server.query<{ logs: number; counted: number }>(
    `SELECT toUInt32((SELECT count() FROM logs WHERE tenant_id = ${quoted(tenant)})) AS logs,
      toUInt32((SELECT sum(logs) FROM resource_activity WHERE tenant_id = ${quoted(tenant)})) AS counted`,
  );
  return row ?? { logs: 0, counted: 0 };
};

const haveAll = (replicas: readonly ServerColumns[], tenant: string, records: number): Promise<void> =>
  eventually(`each replica has ${records} records`, async () => {
    const found = await Promise.all(replicas.map((server) => rowsOn(server, tenant)));
    return found.every(({ logs, counted }) => logs === records && counted === records);
  });

export const namedCluster = (cluster: string, urls: readonly string[]): void => {
  const native = async (select: string): Promise<Uint8Array> => {
    const { origin, username, password } = new URL(urls[0] ?? '');
    const response = await fetch(origin, {
      method: 'POST',
      headers: { 'x-clickhouse-user': username || 'default', 'x-clickhouse-key': decodeURIComponent(password) },
      body: `${select} FORMAT Native`,
    });
    if (!response.ok) throw new Error(await response.text());
    return new Uint8Array(await response.arrayBuffer());
  };
  let columns: Columns;
  test.before(async () => {
    columns = await openClickhouseColumns({ urls: [...urls], cluster });
    await migrate(columns, silentLog);
  });
  test.after.always(() => columns?.close());

  const contract = { name: `cluster ${cluster}`, under: () => ({ columns, native }) };
  columnsContract(contract);
  landValuesContract(contract);
  landEmittedContract(contract);

  /** A batch of 100 records that landed, and the configured replicas of its shard. */
  const landed = async (t: ExecutionContext) => {
    const tenant = someTenant();
    const block = await blockOf({ columns, native }, tableNamed('logs'), { tenant_id: quoted(tenant) });
    await columns.insert(block, tenant, 0, [tenant]);
    const shards = [...(await replicasOf(columns, cluster)).values()];
    const have = await Promise.all(
      shards.map(async (servers) => Promise.all(servers.map((server) => rowsOn(server, tenant)))),
    );
    const replicas = shards[have.findIndex((servers) => servers.some(({ logs }) => logs > 0))] ?? [];
    t.true(replicas.length > 1, 'OIQ_TEST_CLICKHOUSE_URL names two replicas of the shard');
    return { tenant, block, replicas };
  };

  test('replicas: a batch is on all replicas of its shard, and counts once when it is repeated on another replica', async (t) => {
    const { tenant, block, replicas } = await landed(t);
    await haveAll(replicas, tenant, 100);
    const reversed = await openClickhouseColumns({ urls: urls.toReversed(), cluster });
    t.teardown(() => reversed.close());
    await reversed.insert(block, tenant, 0, [tenant]);
    await reversed.insert(block, `${tenant}:second`, 0, [tenant]);
    await haveAll(replicas, tenant, 200);
  });

  test('replicas: a lagging replica is not queried while the first replica responds', async (t) => {
    const { tenant, block, replicas } = await landed(t);
    await haveAll(replicas, tenant, 100);
    const last = replicas.at(-1) as ServerColumns;
    await last.execute('SYSTEM STOP FETCHES logs');
    try {
      await columns.insert(block, `${tenant}:second`, 0, [tenant]);
      t.is(await countOf({ columns, native }, 'logs', tenant), 200);
      t.is((await rowsOn(last, tenant)).logs, 100);
    } finally {
      await last.execute('SYSTEM START FETCHES logs');
    }
    await haveAll(replicas, tenant, 200);
  });
};
