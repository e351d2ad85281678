/** Which servers of a cluster receive a query: those that may have the rows, and no others. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openClickhouseColumns } from '../../adapters/columns-clickhouse/columns-clickhouse.ts';
import { reportShards } from '../../commands/clickhouse-shards.ts';
import { drainShard } from '../../commands/drain-shard.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { allTables } from '../../schemas/tables/index.ts';
import { getTenantPartition } from '../../schemas/tables/sharding.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { backups, emptying, firstShards, startShards, tiered } from '../services/clickhouse-shards.ts';
import { type Instance, unavailable } from '../services/services.ts';
import { eventually } from '../waiting.ts';
import { blockOf, countOf, quoted, tableNamed } from './columns-harness.ts';
import { tenantOf, tenantWith } from './tenants-of-shards.ts';

const directory = mkdtempSync(join(tmpdir(), 'oiq-placements-'));
let shards: readonly Instance[] = [];
let columns: Columns;

const urls = (database = 'oiq', count = 2): string[] => shards.slice(0, count).map(({ url }) => `${url}/${database}`);
const queryShard = async (shard: number, sql: string): Promise<Response> => {
  const response = await fetch(shards[shard]?.url ?? '', { method: 'POST', body: sql });
  if (!response.ok) throw new Error(await response.text());
  return response;
};
const native = async (select: string): Promise<Uint8Array> =>
  new Uint8Array(await (await queryShard(0, `${select} FORMAT Native`)).arrayBuffer());

/** Inserts 100 rows of tenants, as a sink does. */
const land = async (
  table: string,
  tenant: string,
  { place = getTenantPartition(tenant), to = columns, token = randomUUID() as string } = {},
): Promise<void> => {
  const block = await blockOf({ columns: to, native }, tableNamed(table), { tenant_id: quoted(tenant) });
  await to.insert(block, token, place, [tenant]);
};

/** The number of occurrences per server. */
const countedEvents = (event: string): Promise<number[]> =>
  Promise.all(
    shards.map(async (_, shard) =>
      Number(await (await queryShard(shard, `SELECT sum(value) FROM system.events WHERE event = '${event}'`)).text()),
    ),
  );

/** Servers that process queries, including forwarded ones; with `InitialQuery`, only those that OIQ queries. */
const shardsQueried = async (question: () => Promise<unknown>, event = 'SelectQuery'): Promise<number[]> => {
  const before = await countedEvents(event);
  await question();
  const after = await countedEvents(event);
  // Each server was queried once for its counter.
  return after.flatMap((count, shard) => (count - (before[shard] ?? 0) > 1 ? [shard] : []));
};

const reason = unavailable('clickhouse');
if (reason === undefined) {
  test.before(async () => {
    shards = await startShards(3, directory);
    columns = await openClickhouseColumns({ urls: urls(), cluster: firstShards(2) });
    await migrate(columns, silentLog);
  });
  test.after.always(async () => {
    await columns?.close();
    await Promise.all(shards.map((shard) => shard.stop()));
    rmSync(directory, { recursive: true, force: true });
  });

  const questions = {
    'a trace by its id': `SELECT trace_id, name AS events FROM spans WHERE tenant_id = {tenant:String} AND trace_id = 'x'`,
    'samples of one series':
      'SELECT value FROM samples WHERE tenant_id = {tenant:String} AND series_id IN (SELECT series_id FROM series WHERE tenant_id = {tenant:String})',
    'what a view counted': 'SELECT sum(spans) AS n FROM resource_activity WHERE tenant_id = {tenant:String}',
    'all records of the organization': 'SELECT count() AS n FROM logs WHERE tenant_id = {tenant:String}',
  };

  test.serial('a query of a tenant whose telemetry is on one shard is sent to that server alone', async (t) => {
    for (const shard of [0, 1]) {
      const tenant = tenantOf(shard, 2);
      for (const table of ['logs', 'spans', 'samples', 'series']) await land(table, tenant);
      for (const [what, sql] of Object.entries(questions))
        t.deepEqual(await shardsQueried(() => columns.forTenant(tenant).query(sql)), [shard], what);
      t.is(await countOf({ columns, native }, 'logs', tenant), 100);
      t.deepEqual(await shardsQueried(() => columns.forTenant(tenant).getStoredUpToMs('logs')), [shard]);
      const events = 'SELECT count() AS n FROM events WHERE tenant_id = {tenant:String}';
      t.deepEqual(
        await shardsQueried(() => columns.forTenant(tenant).query(events)),
        [0, 1],
        'rows of a derived topic',
      );
    }
  });

  test.serial(
    'a write to another shard is announced before it lands, and then all shards with rows of the tenant are queried',
    async (t) => {
      const tenant = tenantOf(0, 2);
      // Readers in another process have read that the telemetry is on one shard.
      const reader = await openClickhouseColumns({ urls: urls(), cluster: firstShards(2) });
      t.teardown(() => reader.close());
      await land('logs', tenant);
      await land('spans', tenant);
      const counted = () => countOf({ columns: reader, native }, 'logs', tenant);
      t.is(await counted(), 100);
      t.deepEqual(await shardsQueried(counted), [0]);
      await land('logs', tenant, { place: getTenantPartition(tenant) + 1 });
      t.is(await counted(), 200);
      t.deepEqual(
        await shardsQueried(() => reader.forTenant(tenant).query(questions['a trace by its id'])),
        [0],
        'another table',
      );
      const other = tenantOf(1, 2);
      await land('logs', other);
      const countedOfOther = () => countOf({ columns: reader, native }, 'logs', other);
      t.deepEqual(await shardsQueried(countedOfOther), [1], 'another tenant');
      await land('logs', other, { place: getTenantPartition(other) + 1 });
      t.is(await countedOfOther(), 200);
      t.deepEqual(await shardsQueried(countedOfOther), [0, 1]);
      t.deepEqual(await shardsQueried(countedOfOther, 'InitialQuery'), [1], 'its own server puts the answer together');
    },
  );

  test.serial('small reads query each server that may have rows for its own rows', async (t) => {
    const tenant = tenantOf(0, 2);
    for (const table of ['logs', 'spans']) for (const place of [0, 1]) await land(table, tenant, { place });
    const tenantsColumns = columns.forTenant(tenant);
    let rowsRead = 0;
    const queryServers = (sql: string, reader = tenantsColumns) =>
      reader.query<{ n: string }>(sql, {}, { runsOnEachServer: true, onCost: (cost) => (rowsRead = cost.rowsRead) });
    const counted = () =>
      queryServers('SELECT sum(1 + 0 * length(body)) AS n FROM logs WHERE tenant_id = {tenant:String}');
    t.deepEqual(await counted(), [{ n: '100' }, { n: '100' }]);
    t.is(rowsRead, 200);
    t.deepEqual(await shardsQueried(counted, 'InitialQuery'), [0, 1]);
    const lookedUp = () =>
      queryServers(
        'SELECT count() AS n FROM logs WHERE tenant_id = {tenant:String} AND tenant_id IN (SELECT tenant_id FROM spans WHERE tenant_id = {tenant:String})',
      );
    t.deepEqual(await lookedUp(), [{ n: '200' }], 'what one has may be looked up by another');
    t.deepEqual(await shardsQueried(lookedUp, 'InitialQuery'), [0]);
    // The shard of a series is that of its message, so no selector can determine it.
    const ofSeries = () => tenantsColumns.query(questions['samples of one series']);
    for (const table of ['samples', 'series']) await land(table, tenant);
    t.deepEqual(await shardsQueried(ofSeries), [0], 'logs and spans elsewhere do not matter to series');
    for (const table of ['samples', 'series']) await land(table, tenant, { place: 1 });
    t.deepEqual(await shardsQueried(ofSeries), [0, 1]);
    t.deepEqual(await shardsQueried(ofSeries, 'InitialQuery'), [0]);
    const ofTrace = () => queryServers(questions['a trace by its id']);
    t.deepEqual(await shardsQueried(ofTrace, 'InitialQuery'), [0, 1]);
    const unnamed = await openClickhouseColumns({ urls: urls('oiq', 1), cluster: firstShards(2) });
    t.teardown(() => unnamed.close());
    const ofAll = 'SELECT count() AS n FROM spans WHERE tenant_id = {tenant:String}';
    t.deepEqual(
      await queryServers(ofAll, unnamed.forTenant(tenant)),
      [{ n: '200' }],
      'one whose servers are not all named',
    );
  });

  test.serial('rows that existed before the cluster are found, on whichever shard they are', async (t) => {
    const database = 'grown';
    const single = await openClickhouseColumns({ urls: urls(database).slice(1, 2) });
    t.teardown(() => single.close());
    await migrate(single, silentLog);
    const [here, there] = [tenantOf(1, 2), tenantOf(0, 2)];
    for (const tenant of [here, there]) await land('logs', tenant, { to: single });
    const grown = await openClickhouseColumns({ urls: urls(database), cluster: firstShards(2) });
    t.teardown(() => grown.close());
    await migrate(grown, silentLog);
    const counted = (tenant: string) => countOf({ columns: grown, native }, 'logs', tenant);
    t.deepEqual([await counted(here), await counted(there)], [100, 100]);
    for (const tenant of [here, there]) await land('logs', tenant, { to: grown });
    // A process that still uses the configuration of the single server.
    for (const tenant of [here, there]) await land('logs', tenant, { to: single });
    t.deepEqual([await counted(here), await counted(there)], [300, 300]);
    t.deepEqual(await shardsQueried(() => counted(here)), [1]);
    t.deepEqual(await shardsQueried(() => counted(there)), [0, 1]);
  });

  test.serial('old rows move to the volume cold, and are read from there', async (t) => {
    const storage = { policy: tiered, coldAfterDays: 7 };
    const own = await openClickhouseColumns({ urls: urls('stored', 1), storage });
    t.teardown(() => own.close());
    await migrate(own, silentLog);
    await own.handleTablesChanged();
    const tenant = tenantOf(0, 2);
    await land('logs', tenant, { to: own });
    await eventually('they move', async () => {
      const parts = await own.query(
        "SELECT disk_name AS disk FROM system.parts WHERE database = 'stored' AND table = 'logs' AND active",
      );
      return JSON.stringify(parts) === '[{"disk":"cold"}]';
    });
    t.is(await countOf({ columns: own, native }, 'logs', tenant), 100);
    const tables = await own.query<{ name: string }>(
      `SELECT name FROM system.tables WHERE database = 'stored' AND storage_policy = '${tiered}' AND create_table_query LIKE '%TO VOLUME ''cold''%'`,
    );
    const aging = allTables.filter(({ retention }) => retention !== 'never');
    t.deepEqual(tables.map(({ name }) => name).toSorted(), aging.map(({ name }) => name).toSorted());
    await own.handleTablesChanged();
    const [mutations] = await own.query(
      "SELECT count() AS n FROM system.mutations WHERE database = 'stored' AND table = 'logs'",
    );
    await own.handleTablesChanged();
    t.deepEqual(
      await own.query("SELECT count() AS n FROM system.mutations WHERE database = 'stored' AND table = 'logs'"),
      [mutations],
    );
  });

  test.serial(
    'an added shard gets new rows, and can be emptied again; everything stays readable meanwhile',
    async (t) => {
      const database = 'growing';
      const opened = async (cluster: string, count: number): Promise<Columns> => {
        const own = await openClickhouseColumns({ urls: urls(database, count), cluster });
        t.teardown(() => own.close());
        await migrate(own, silentLog);
        return own;
      };
      const two = await opened(firstShards(2), 2);
      const [moves, stays] = [tenantWith(1, 2, { of: 3, on: 2 }), tenantWith(0, 2, { of: 3, on: 0 })];
      for (const tenant of [moves, stays])
        for (const table of ['logs', 'resources']) await land(table, tenant, { to: two });
      const unmigrated = await openClickhouseColumns({ urls: urls(database, 3), cluster: firstShards(3) });
      t.teardown(() => unmigrated.close());
      const early = await reportShards(unmigrated, firstShards(3));
      t.deepEqual(early.shards[2]?.problems, ['it has no tables yet: run oiq migrate']);
      const three = await opened(firstShards(3), 3);
      for (const tenant of [moves, stays]) await land('logs', tenant, { to: three });
      const counted = (tenant: string, by: Columns) => countOf({ columns: by, native }, 'logs', tenant);
      t.deepEqual([await counted(moves, three), await counted(stays, three)], [200, 200]);
      t.deepEqual(await shardsQueried(() => counted(stays, three)), [0], 'one that lies where it lay');
      t.deepEqual(await shardsQueried(() => counted(moves, three)), [0, 1, 2]);
      const small = () =>
        three
          .forTenant(moves)
          .query('SELECT count() AS n FROM logs WHERE tenant_id = {tenant:String}', {}, { runsOnEachServer: true });
      t.deepEqual(await small(), [{ n: '100' }, { n: '100' }]);
      t.deepEqual(await shardsQueried(small), [1, 2], 'small reads: no server that has nothing of it');
      const grown = await reportShards(three, firstShards(3));
      t.deepEqual(grown.problems, []);
      t.deepEqual(
        grown.shards.map(({ shard, receivesNewRows, problems }) => ({ shard, getsNewRows: receivesNewRows, problems })),
        [1, 2, 3].map((shard) => ({ shard, getsNewRows: true, problems: [] })),
      );
      const half = await reportShards(two, firstShards(3));
      t.regex(half.problems.join(), /names no server of shard 3 .* that respond/);

      await t.throwsAsync(drainShard(three, { cluster: firstShards(3), from: 3, to: 1, report() {} }), {
        message: /shard 3 gets new rows: give it <weight>0<\/weight>/,
      });
      const leaving = await opened(emptying, 3);
      await land('logs', moves, { to: leaving });
      // The process dies while both shards have logs, and runs again.
      let strikes = 1;
      const dying: Columns = Object.create(leaving, {
        listServers: {
          value: () =>
            leaving.listServers().map(({ name, columns: server }) => ({
              name,
              columns: {
                query: server.query.bind(server),
                execute: async (sql: string) => {
                  if (sql.startsWith('ALTER TABLE logs DROP') && strikes-- > 0) throw new Error('struck');
                  await server.execute(sql);
                },
              },
            })),
        },
        query: { value: leaving.query.bind(leaving) },
        execute: { value: leaving.execute.bind(leaving) },
      });
      await t.throwsAsync(drainShard(dying, { cluster: emptying, from: 3, to: 1, report() {} }), { message: 'struck' });
      const lines: string[] = [];
      await drainShard(leaving, { cluster: emptying, from: 3, to: 1, report: (line) => lines.push(line) });
      t.true(lines.includes('logs: 500 rows before, 500 after'), lines.join('\n'));
      const again = await opened(firstShards(2), 2);
      for (const reader of [leaving, again])
        t.deepEqual([await counted(moves, reader), await counted(stays, reader)], [300, 200]);
      t.is(Number(await (await queryShard(2, `SELECT count() FROM ${database}.logs`)).text()), 0);
    },
  );

  test.serial(
    'a row that replaces another by key is stored on the same shard, however many shards were added since',
    async (t) => {
      for (const first of [1, 2]) {
        const database = `keyed_${first}`;
        const tenant = `tenant-${randomUUID()}`;
        for (let count = first; count <= 3; count++) {
          const own = await openClickhouseColumns({
            urls: urls(database, count),
            cluster: count === 1 ? undefined : firstShards(count),
          });
          t.teardown(() => own.close());
          await migrate(own, silentLog);
          await land('logs', tenant, { to: own });
          const values = {
            tenant_id: quoted(tenant),
            rule_id: "'r'",
            alert_id: 'toString(number)',
            evaluated_ms: `${count}`,
          };
          const block = await blockOf({ columns: own, native }, tableNamed('alert_states'), values);
          // With two shards it is the second, with three the third.
          await own.insert(block, randomUUID(), 5, [tenant]);
          t.deepEqual(
            await own
              .forTenant(tenant)
              .query(
                'SELECT toUInt32(count()) AS n, toUInt32(min(evaluated_ms)) AS oldest FROM alert_states FINAL WHERE tenant_id = {tenant:String}',
              ),
            [{ n: 100, oldest: count }],
            `${count} shards, ${first} at first`,
          );
        }
      }
    },
  );

  test.serial(
    'a cluster restored from a backup of each shard has the rows of that time, and each tenant is queried on its server',
    async (t) => {
      const [here, there] = [tenantOf(0, 2), tenantOf(1, 2)];
      const both = tenantOf(0, 2);
      for (const tenant of [here, there]) await land('logs', tenant);
      for (const place of [0, 1]) await land('logs', both, { place });
      const each = (sql: (shard: number) => string) =>
        Promise.all([0, 1].map((shard) => queryShard(shard, sql(shard))));
      const place = (shard: number) => `Disk('${backups}', 'oiq-shard-${shard + 1}')`;
      await each((shard) => `BACKUP DATABASE oiq TO ${place(shard)}`);
      await land('logs', here);
      for (const database of ['oiq_all', 'oiq']) await each(() => `DROP DATABASE ${database} SYNC`);
      await each((shard) => `RESTORE DATABASE oiq FROM ${place(shard)}`);
      await columns.close();
      columns = await openClickhouseColumns({ urls: urls(), cluster: firstShards(2) });
      await migrate(columns, silentLog);
      const counted = (tenant: string) => countOf({ columns, native }, 'logs', tenant);
      t.deepEqual(await Promise.all([here, there, both].map(counted)), [100, 100, 200]);
      t.deepEqual(await shardsQueried(() => counted(here)), [0]);
      t.deepEqual(await shardsQueried(() => counted(both)), [0, 1], 'it knew both shards before the backup');
      await land('logs', there);
      t.is(await counted(there), 200);
    },
  );

  test.serial(
    'while a shard is down, tenants on the other shard are written and read, and a query that needs the missing shard is an error',
    async (t) => {
      const [here, there, both, born] = [tenantOf(0, 2), tenantOf(1, 2), tenantOf(0, 2), tenantOf(0, 2)];
      await land('logs', here);
      await land('logs', there, { token: there });
      for (const place of [0, 1]) await land('logs', both, { place });
      columns.recordWatermark('logs', new Map([[here, 1_000]]), getTenantPartition(here));
      await eventually(
        'the shard has a watermark',
        async () => (await columns.forTenant(here).getStoredUpToMs('logs')) !== undefined,
      );
      await shards[1]?.kill();
      for (const tenant of [here, born]) await land('logs', tenant);
      const counted = (tenant: string) => countOf({ columns, native }, 'logs', tenant);
      t.deepEqual([await counted(here), await counted(born)], [200, 100]);
      t.is(await columns.forTenant(here).getStoredUpToMs('logs'), 1_000);
      t.deepEqual(
        await columns.query('SELECT count() AS n FROM logs WHERE tenant_id = {here:String}', { here }, { shardKey: 0 }),
        [{ n: '200' }],
      );
      for (const tenant of [there, both]) await t.throwsAsync(counted(tenant), { instanceOf: UnavailableError });
      const ofBoth = 'SELECT count() AS n FROM logs WHERE tenant_id = {tenant:String}';
      await t.throwsAsync(columns.forTenant(both).query(ofBoth, {}, { runsOnEachServer: true }), {
        instanceOf: UnavailableError,
      });
      await t.throwsAsync(land('logs', there), { instanceOf: UnavailableError });
      // The available shard has no rows of this tenant, and the placement cannot be announced to all servers.
      await t.throwsAsync(land('logs', there, { place: 0 }), { instanceOf: UnavailableError });
      await shards[1]?.start();
      await eventually('the shard is read again', () =>
        counted(there).then(
          (rows) => rows === 100,
          () => false,
        ),
      );
      await land('logs', there, { token: there });
      await land('logs', there);
      t.deepEqual(await Promise.all([here, born, both, there].map(counted)), [200, 100, 200, 200]);
    },
  );
} else test.skip(`placements: ${reason}`, () => undefined);
