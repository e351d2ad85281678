/** Faults of a ClickHouse cluster are reported with a remedy, and never lead to an incomplete result. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openClickhouseColumns } from '../../adapters/columns-clickhouse/columns-clickhouse.ts';
import { forgetShard } from '../../commands/clickhouse-forgetting.ts';
import { reportShards } from '../../commands/clickhouse-shards.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { getTenantPartition } from '../../schemas/tables/sharding.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { clusterName, firstShards, startShards } from '../services/clickhouse-shards.ts';
import { type Instance, unavailable } from '../services/services.ts';
import { eventually } from '../waiting.ts';
import { blockOf, countOf, quoted, tableNamed } from './columns-harness.ts';
import { tenantOf } from './tenants-of-shards.ts';

const directory = mkdtempSync(join(tmpdir(), 'oiq-mistakes-'));
const opened: Columns[] = [];
let shards: readonly Instance[] = [];

const urls = (): string[] => shards.map(({ url }) => `${url}/oiq`);
let two: Columns;
const open = async (urls: readonly string[], cluster?: string): Promise<Columns> => {
  const columns = await openClickhouseColumns({ urls, cluster });
  opened.push(columns);
  return columns;
};
const native = async (select: string): Promise<Uint8Array> => {
  const response = await fetch(shards[0]?.url ?? '', { method: 'POST', body: `${select} FORMAT Native` });
  return new Uint8Array(await response.arrayBuffer());
};
const land = async (columns: Columns, tenant: string): Promise<void> =>
  columns.insert(
    await blockOf({ columns, native }, tableNamed('logs'), { tenant_id: quoted(tenant) }),
    ...([randomUUID(), getTenantPartition(tenant), [tenant]] as const),
  );
const counted = (columns: Columns, tenant: string): Promise<number> => countOf({ columns, native }, 'logs', tenant);
const unavailableWith = (message: RegExp) => ({ instanceOf: UnavailableError, message });

const reason = unavailable('clickhouse');
if (reason === undefined) {
  test.before(async () => {
    shards = await startShards(2, directory);
    two = await open(urls(), clusterName);
    await migrate(two, silentLog);
  });
  test.after.always(async () => {
    for (const columns of opened) await columns.close();
    await Promise.all(shards.map((shard) => shard.stop()));
    rmSync(directory, { recursive: true, force: true });
  });

  test.serial(
    'a shard that left the cluster with its rows is reported missing until it is back or its rows are given up',
    async (t) => {
      const [here, there] = [tenantOf(0, 2), tenantOf(1, 2)];
      for (const tenant of [here, there]) await land(two, tenant);
      const left = await open(urls().slice(0, 1), firstShards(1));
      const missed = unavailableWith(/knows 1 of the 2 shards .* put shard 2 back .* oiq clickhouse forget 2$/);
      await t.throwsAsync(left.check(), missed);
      await t.throwsAsync(left.query('SELECT count() FROM logs'), missed);
      await t.throwsAsync(counted(left, there), missed);
      t.is(await counted(left, here), 100, 'what lies on the other one is there');
      await t.throwsAsync(land(left, here), missed, 'else a batch whose answer was lost could land twice');
      await t.throwsAsync(migrate(left, silentLog), missed);
      const alone = await open(urls().slice(0, 1));
      const part = unavailableWith(
        /has a part of the rows, as one of 2 shards: name their cluster in OIQ_CLICKHOUSE_CLUSTER/,
      );
      await t.throwsAsync(alone.check(), part);

      const giveUp = (columns: Columns, cluster?: string) =>
        forgetShard(columns, { cluster, shard: 2, printLine: () => undefined });
      await t.throwsAsync(giveUp(two, clusterName), {
        message: /^shard 2 is in the cluster: remove it from remote_servers/,
      });
      await giveUp(left, firstShards(1));
      for (const columns of [left, alone])
        await eventually('it may be used', () =>
          columns.check().then(
            () => true,
            () => false,
          ),
        );
      await migrate(left, silentLog);
      t.is(await counted(left, there), 0);

      // The shard returns, gets rows, and leaves again.
      await migrate(two, silentLog);
      await land(two, there);
      t.is(await counted(two, there), 200);
      const again = await open(urls().slice(0, 1), firstShards(1));
      await t.throwsAsync(again.check(), missed);
    },
  );

  test.serial('a server that refuses the user is named, and the other shard is read', async (t) => {
    const [here, there] = [tenantOf(0, 2), tenantOf(1, 2)];
    for (const tenant of [here, there]) await land(two, tenant);
    const [first = '', second = ''] = urls();
    const half = await open([first, second.replace('//', '//default:wrong@')], clusterName);
    const named = unavailableWith(
      new RegExp(
        `server ${new URL(second).host} refuses the user of OIQ_CLICKHOUSE_URL \\(default: Authentication failed`,
      ),
    );
    await t.throwsAsync(half.check(), named);
    await t.throwsAsync(land(half, there), named);
    await t.throwsAsync(migrate(half, silentLog), named);
    t.is(await counted(half, here), 100);
    await land(half, here);
    t.is(await counted(two, here), 200);
  });

  test.serial(
    'a migration that did not reach one shard is an error that says so, and the report names the missing parts',
    async (t) => {
      const tenant = tenantOf(1, 2);
      await land(two, tenant);
      const [first, second] = two.listServers();
      const missingSchema = unavailableWith(/lacks a table or column .* run oiq migrate; oiq clickhouse shards shows/);
      await first?.columns.execute('ALTER TABLE logs ADD COLUMN newer UInt8 DEFAULT 1');
      await two.handleTablesChanged();
      await t.throwsAsync(two.query('SELECT sum(newer) AS n FROM logs'), missingSchema);
      await second?.columns.execute('ALTER TABLE logs DROP COLUMN event_name');
      await second?.columns.execute('DROP TABLE spans SYNC');
      await t.throwsAsync(two.query('SELECT count() AS n FROM spans'), missingSchema);
      await t.throwsAsync(two.query('SELECT max(event_name) AS n FROM logs'), missingSchema);
      const { shards: reports } = await reportShards(two, clusterName);
      t.deepEqual(
        reports.map(({ problems }) => problems.map((problem) => problem.replace(/(?:, \w+)? and \d+ more/, ''))),
        [[], ['it has no logs.event_name, spans: run oiq migrate']],
      );
    },
  );

  test.serial('unreachable servers are named, with the reason', async (t) => {
    const lost = await open([urls()[0] ?? '', 'http://nowhere.invalid:8123/oiq'], clusterName);
    await t.throwsAsync(
      land(lost, tenantOf(1, 2)),
      unavailableWith(/has shard 2 of 2 .* name a server of each shard.* \(nowhere\.invalid:8123: .*ENOTFOUND/),
    );
    const twice = await open([urls()[0] ?? '', urls()[0] ?? ''], clusterName);
    await t.throwsAsync(twice.check(), unavailableWith(/no server of OIQ_CLICKHOUSE_URL has shard 2 of 2/));
  });
} else test.skip(`mistakes: ${reason}`, () => undefined);
