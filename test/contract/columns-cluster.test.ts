/** The columns contract on shards of ClickHouse, and behavior specific to a cluster. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openClickhouseColumns } from '../../adapters/columns-clickhouse/columns-clickhouse.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { placementsTable } from '../../schemas/tables/placements.ts';
import { buildCreateTable } from '../../schemas/tables/table.ts';
import { applyRetention, type RetentionPolicy } from '../../sinks/engine/retention.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { shardCount } from '../budget.ts';
import { test } from '../limit-concurrency.ts';
import { clusterName, startShards } from '../services/clickhouse-shards.ts';
import type { Instance } from '../services/services.ts';
import { unavailable } from '../services/services.ts';
import { columnsContract } from './columns.ts';
import { blockOf, countOf, quoted, someTenant, tableNamed } from './columns-harness.ts';
import { landEmittedContract } from './land-emitted.ts';
import { landValuesContract } from './land-values.ts';
import { namedCluster } from './named-cluster.ts';
import { spread } from './spread-columns.ts';

const title = `${shardCount} shards`;
const directory = mkdtempSync(join(tmpdir(), 'oiq-shards-'));
let shards: readonly Instance[] = [];
let columns: Columns;

const urls = (database = 'oiq'): string[] => shards.map(({ url }) => `${url}/${database}`);
const open = (): Promise<Columns> => openClickhouseColumns({ urls: urls(), cluster: clusterName });
const native = async (select: string): Promise<Uint8Array> => {
  const response = await fetch(shards[0]?.url ?? '', { method: 'POST', body: `${select} FORMAT Native` });
  if (!response.ok) throw new Error(await response.text());
  return new Uint8Array(await response.arrayBuffer());
};

const reason = unavailable('clickhouse');
const named = process.env['OIQ_TEST_CLICKHOUSE_CLUSTER'];
if (named !== undefined) namedCluster(named, (process.env['OIQ_TEST_CLICKHOUSE_URL'] ?? '').split(','));
else if (reason === undefined) {
  test.before(async () => {
    shards = await startShards(shardCount, directory);
    columns = await open();
    await migrate(columns, silentLog);
  });
  test.after.always(async () => {
    await columns?.close();
    await Promise.all(shards.map((shard) => shard.stop()));
    rmSync(directory, { recursive: true, force: true });
  });

  const under = () => ({ columns: spread(columns), native });
  columnsContract({ name: title, under });
  landValuesContract({ name: title, under });
  landEmittedContract({ name: title, under });

  const rowsOn = async (shard: number, tenant: string): Promise<number> => {
    const rows = await columns
      .listServers()
      [shard]?.columns.query<{ n: string }>(`SELECT count() AS n FROM logs WHERE tenant_id = ${quoted(tenant)}`);
    return Number(rows?.[0]?.n);
  };

  test(`${title}: rows of the same place are stored together, and are read in full from either server`, async (t) => {
    const tenant = someTenant();
    const places = [0, 1, 2, 3, 5];
    for (const place of places)
      await columns.insert(
        await blockOf({ columns, native }, tableNamed('logs'), { tenant_id: quoted(tenant) }),
        `${tenant}:${place}`,
        place,
      );
    for (const [shard] of shards.entries())
      t.is(await rowsOn(shard, tenant), 100 * places.filter((place) => place % shardCount === shard).length);
    for (const url of urls()) {
      const one = await openClickhouseColumns({ urls: [url], cluster: clusterName });
      t.teardown(() => one.close());
      t.is(await countOf({ columns: one, native }, 'logs', tenant), 500);
    }
  });

  test(`${title}: a lookup in another table finds rows on the other shard`, async (t) => {
    const tenant = someTenant();
    const own = { tenant_id: quoted(tenant), resource_id: 'toUInt64(7)' };
    await columns.insert(await blockOf({ columns, native }, tableNamed('logs'), own), `${tenant}:logs`, 0);
    const resources = { ...own, service: "'checkout'" };
    await columns.insert(
      await blockOf({ columns, native }, tableNamed('resources'), resources, 1),
      `${tenant}:resources`,
      1,
    );
    const rows = await columns
      .forTenant(tenant)
      .query(
        `SELECT count() AS n FROM logs WHERE tenant_id = {tenant:String} AND resource_id IN (SELECT resource_id FROM resources WHERE tenant_id = {tenant:String} AND service = 'checkout')`,
      );
    t.deepEqual(rows, [{ n: '100' }]);
  });

  test(`${title}: a tenant cannot read another tenant’s rows by naming the servers’ own database`, async (t) => {
    const [tenant, other] = [someTenant(), someTenant()];
    const block = await blockOf({ columns, native }, tableNamed('logs'), { tenant_id: quoted(other) });
    await columns.insert(block, other, 0);
    for (const table of ['oiq.logs', 'oiq_all.logs', 'logs']) {
      const rows = await columns
        .forTenant(tenant)
        .query(`SELECT count() AS n FROM ${table} WHERE tenant_id = ${quoted(other)} OR {tenant:String} = ''`);
      t.deepEqual(rows, [{ n: '0' }], table);
    }
  });

  test(`${title}: a server that is not in the cluster is reported as such`, async (t) => {
    const strange = await openClickhouseColumns({ urls: urls(), cluster: 'nowhere' });
    t.teardown(() => strange.close());
    const block = await blockOf({ columns, native }, tableNamed('logs'), { tenant_id: quoted(someTenant()) });
    await t.throwsAsync(strange.insert(block, randomUUID()), {
      instanceOf: UnavailableError,
      message: /does not know the cluster nowhere/,
    });
  });

  test(`${title}: the check reports a shard whose servers are not named`, async (t) => {
    const half = await openClickhouseColumns({ urls: urls().slice(0, 1), cluster: clusterName });
    t.teardown(() => half.close());
    await t.throwsAsync(half.check(), {
      instanceOf: UnavailableError,
      message: new RegExp(`has shard 2 of ${shardCount} of the cluster shards: name a server of each shard`),
    });
  });

  test(`${title}: columns added to a table are read over all shards`, async (t) => {
    const name = 'grows';
    for (const { columns: server } of columns.listServers())
      await server.execute(
        `CREATE TABLE ${name} (tenant_id String, first UInt8) ENGINE = MergeTree ORDER BY tenant_id`,
      );
    await columns.handleTablesChanged();
    await columns.execute(`INSERT INTO ${name} SELECT 'a', 1`);
    t.deepEqual(
      await columns.query(`SELECT first FROM ${name}`),
      shards.map(() => ({ first: 1 })),
    );
    await columns.execute(`ALTER TABLE ${name} ADD COLUMN second UInt8 DEFAULT first + 1`);
    await columns.handleTablesChanged();
    t.deepEqual(await columns.query(`SELECT sum(second) AS sum FROM ${name}`), [{ sum: String(2 * shardCount) }]);
  });

  test(`${title}: retention drops days, and deletes rows of an organization, on every shard`, async (t) => {
    const own = await openClickhouseColumns({ urls: urls('kept'), cluster: clusterName });
    t.teardown(() => own.close());
    for (const table of [tableNamed('logs'), placementsTable]) await own.execute(buildCreateTable(table));
    await own.handleTablesChanged();
    await own.execute(
      `INSERT INTO logs (tenant_id, received_at, timestamp) SELECT arrayJoin(['long', 'short']), at, at
FROM (SELECT toDateTime64('2026-03-20 12:00:00', 3, 'UTC') - toIntervalDay(number) AS at FROM numbers(8))`,
    );
    const policies = async function* (): AsyncGenerator<RetentionPolicy> {
      for (const [tenantId, logs] of [['long', 5] as const, ['short', 1] as const])
        yield { tenantId, days: { logs, metrics: logs, traces: logs } };
    };
    const clock = { now: () => Date.parse('2026-03-20T15:30:00Z') };
    const apply = () => applyRetention(own, policies(), clock, [tableNamed('logs')]);
    t.deepEqual(await apply(), { partitionsDropped: 2 * shardCount, deletes: 1 });
    t.deepEqual(await apply(), { partitionsDropped: 0, deletes: 0 });
    for (const columns of [own, ...own.listServers().map(({ columns: server }) => server)])
      t.deepEqual(
        await columns.query(
          'SELECT tenant_id AS tenant, toUInt32(uniqExact(received_at)) AS n FROM logs GROUP BY tenant ORDER BY tenant',
        ),
        [
          { tenant: 'long', n: 6 },
          { tenant: 'short', n: 2 },
        ],
      );
  });
} else test.skip(`${title}: ${reason}`, () => undefined);
