/** A shard's only server is killed (-9) during writes and reads: no row is lost or duplicated, no count is too low. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import test from 'ava';
import { openClickhouseColumns } from '../../adapters/columns-clickhouse/columns-clickhouse.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { Batch } from '../../schemas/ports/bus.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { getTenantPartition } from '../../schemas/tables/sharding.ts';
import { ScanPool } from '../../sinks/engine/scan-pool.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { shardKills } from '../budget.ts';
import { clusterName, startShards } from '../services/clickhouse-shards.ts';
import { unavailable } from '../services/services.ts';
import { eventually } from '../waiting.ts';
import { logBatch, newLanding } from './log-batches.ts';
import { tenantOf } from './tenants-of-shards.ts';

const perBatch = 20;
const shardCount = 3;
const reason = unavailable('clickhouse');
const run = reason === undefined ? test : test.skip;

run('a shard is killed again and again while both are written and read', async (t) => {
  t.timeout(120_000 + shardKills * 60_000);
  const directory = mkdtempSync(join(tmpdir(), 'oiq-shard-kills-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const shards = await startShards(shardCount, directory, { shielded: true });
  t.teardown(() => Promise.all(shards.map((shard) => shard.stop())));
  const columns = await openClickhouseColumns({ urls: shards.map(({ url }) => `${url}/oiq`), cluster: clusterName });
  t.teardown(() => columns.close());
  const pool = new ScanPool(new URL('../../sinks/registry.ts', import.meta.url), 1);
  t.teardown(() => pool.close());
  await migrate(columns, silentLog);
  const handler = () => newLanding(t, columns, pool);

  /** Two tenants of each shard, each with a separate partition: positions of a partition land once. */
  const tenants: { readonly shard: number; readonly tenantId: string; sent: number; landed: number }[] = [];
  for (let shard = 0; shard < 2 * shardCount; shard++) {
    const isUsed = (tenantId: string): boolean =>
      tenants.some((other) => getTenantPartition(other.tenantId) === getTenantPartition(tenantId));
    let tenantId = tenantOf(shard % shardCount, shardCount);
    while (isUsed(tenantId)) tenantId = tenantOf(shard % shardCount, shardCount);
    tenants.push({ shard: shard % shardCount, tenantId, sent: 0, landed: 0 });
  }
  type Tenant = (typeof tenants)[number];
  const count = async ({ tenantId }: Tenant): Promise<number> => {
    const [row] = await columns
      .forTenant(tenantId)
      .query<{ n: string }>('SELECT count() AS n FROM logs WHERE tenant_id = {tenant:String}');
    return Number(row?.n);
  };

  let ends = false;
  /** Set when the test ends, even if it fails: otherwise deliveries to a stopped shard would retry forever. */
  let isOver = false;
  let refused = 0;
  let refusedOfAll = 0;
  /** Delivers like a bus: the same range until it is acknowledged, sometimes to a restarted process. */
  const deliver = async (batch: Batch, isOfKilled: boolean): Promise<void> => {
    let handle = handler();
    for (let tries = 1; ; tries++) {
      try {
        return await handle(batch);
      } catch (error) {
        if (!isOfKilled || isOver) throw error;
        refused++;
      }
      if (tries % 5 === 0) handle = handler();
      await delay(100);
    }
  };
  const write = async (tenant: Tenant): Promise<void> => {
    while (!ends) {
      const batch = logBatch(tenant.tenantId, getTenantPartition(tenant.tenantId), {
        first: tenant.sent,
        records: perBatch,
      });
      tenant.sent += perBatch;
      await deliver(batch, tenant.shard === 1);
      tenant.landed += perBatch;
      await delay(60);
    }
  };
  const read = async (tenant: Tenant): Promise<void> => {
    while (!ends) {
      const { landed } = tenant;
      try {
        const counted = await count(tenant);
        t.true(counted >= landed && counted <= tenant.sent, `${landed} <= ${counted} <= ${tenant.sent}`);
      } catch (error) {
        if (tenant.shard !== 1 || !(error instanceof UnavailableError)) throw error;
      }
      await delay(100);
    }
  };
  /** Counts on all shards; if one is down, this never returns a smaller number. */
  const readAll = async (): Promise<void> => {
    while (!ends) {
      const landed = tenants.reduce((sum, tenant) => sum + tenant.landed, 0);
      try {
        const [row] = await columns.query<{ n: string }>('SELECT count() AS n FROM logs');
        t.true(Number(row?.n) >= landed, `${landed} <= ${row?.n}`);
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
        refusedOfAll++;
      }
      await delay(100);
    }
  };
  const workers = [readAll(), ...tenants.flatMap((tenant) => [write(tenant), read(tenant)])];
  const atWork = Promise.all(workers);
  atWork.catch(() => {
    ends = true;
  });
  // Runs before the other teardowns: a running worker would keep the process alive.
  t.teardown(async () => {
    ends = true;
    isOver = true;
    await Promise.allSettled(workers);
  });
  const getsOn = (some: readonly Tenant[], batches: number): Promise<unknown> => {
    const upTo = some.map(({ landed }) => landed + batches * perBatch);
    return Promise.race([
      // Waiting for failed workers would never end, and would keep the process alive.
      eventually('they land', () => ends || some.every(({ landed }, at) => landed >= (upTo[at] ?? 0))),
      atWork,
    ]);
  };
  for (let round = 0; round < shardKills && !ends; round++) {
    await getsOn(tenants, 3);
    await shards[1]?.kill();
    await getsOn(
      tenants.filter(({ shard }) => shard !== 1),
      10,
    );
    await Promise.all(
      tenants
        .filter(({ shard }) => shard === 1)
        .map((tenant) => t.throwsAsync(count(tenant), { instanceOf: UnavailableError })),
    );
    await shards[1]?.start();
  }
  await getsOn(tenants, 3);
  ends = true;
  await atWork;
  t.true(refused > 0, 'batches of the killed shard were refused');
  t.true(refusedOfAll > 0, 'reads of all shards were refused');
  for (const tenant of tenants) {
    const [row] = await columns
      .forTenant(tenant.tenantId)
      .query('SELECT count() AS n, uniqExact(body) AS different FROM logs WHERE tenant_id = {tenant:String}');
    t.deepEqual(row, { n: String(tenant.landed), different: String(tenant.landed) });
  }
});
