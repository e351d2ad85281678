/** Platform data on shards (usage ledger, signed tree heads, cached results), and damaged parts. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { openClickhouseColumns } from '../../adapters/columns-clickhouse/columns-clickhouse.ts';
import { createHeadStore } from '../../api/groups/audit/chain/tree-head-store.ts';
import { reportShards } from '../../commands/clickhouse-shards.ts';
import { type Point, PointsCache } from '../../queries/aggregate/points-cache.ts';
import type { Range } from '../../queries/range.ts';
import { buildRangeCondition, buildRangeParameters } from '../../queries/records.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { type Log, silentLog } from '../../schemas/ports/log.ts';
import { getTenantPartition } from '../../schemas/tables/sharding.ts';
import { allTopics } from '../../schemas/topics.ts';
import { ScanPool } from '../../sinks/engine/scan-pool.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { readVolumes } from '../../subjects/usage/ledger.ts';
import { headOf, headsIn, landHeads } from '../cases/signed-heads.ts';
import { receivedAtMs } from '../cases/sink-tables.ts';
import { firstShards, startShards } from '../services/clickhouse-shards.ts';
import { type Instance, unavailable } from '../services/services.ts';
import { eventually } from '../waiting.ts';
import { blockOf, countOf, quoted, tableNamed } from './columns-harness.ts';
import { logBatch, newLanding } from './log-batches.ts';
import { tenantOf, tenantWith } from './tenants-of-shards.ts';

const directory = mkdtempSync(join(tmpdir(), 'oiq-kept-'));
const opened: Columns[] = [];
let shards: readonly Instance[] = [];

/** Opens the given number of shards, with a separate database per test. */
const open = async (database: string, count = 2, log = silentLog): Promise<Columns> => {
  const urls = shards.slice(0, count).map(({ url }) => `${url}/${database}`);
  const columns = await openClickhouseColumns({ urls, cluster: firstShards(count), log });
  opened.push(columns);
  await migrate(columns, silentLog);
  return columns;
};
const native = async (select: string): Promise<Uint8Array> => {
  const response = await fetch(shards[0]?.url ?? '', { method: 'POST', body: `${select} FORMAT Native` });
  return new Uint8Array(await response.arrayBuffer());
};
/** Stops the second of two shards meanwhile. With a third, the test's servers may end (`services/README.md`). */
const withoutOne = async (work: () => Promise<unknown>): Promise<void> => {
  await shards[1]?.kill();
  try {
    await work();
  } finally {
    await shards[1]?.start();
    await eventually('all shards are read again', async () => {
      try {
        await opened.at(-1)?.query('SELECT count() FROM logs');
        return true;
      } catch (error) {
        if (error instanceof UnavailableError) return false;
        throw error;
      }
    });
  }
};
const unavailableError = { instanceOf: UnavailableError };

const reason = unavailable('clickhouse');
if (reason === undefined) {
  test.before(async () => {
    shards = await startShards(3, directory);
  });
  test.after.always(async () => {
    for (const columns of opened) await columns.close();
    await Promise.all(shards.map((shard) => shard.stop()));
    rmSync(directory, { recursive: true, force: true });
  });

  test.serial(
    'usage and records of a batch are stored once, even if the batch is redelivered after a shard was added',
    async (t) => {
      const pool = new ScanPool(new URL('../../sinks/registry.ts', import.meta.url), 1);
      t.teardown(() => pool.close());
      const tenants = [tenantOf(0, 2), tenantWith(1, 2, { of: 3, on: 2 })];
      const batches = (from: number, to: number) =>
        tenants.flatMap((tenant) =>
          Array.from({ length: to - from }, (_, at) =>
            logBatch(tenant, getTenantPartition(tenant), { first: (from + at) * 10, records: 10 }),
          ),
        );
      const hours = { fromMs: receivedAtMs - 3_600_000, toMs: receivedAtMs + 3_600_000 };
      const counted = async (columns: Columns, tenant = '') => {
        const { accepted, landed } = (await readVolumes(columns.forTenant(tenant), {}, hours)).logs;
        t.is(accepted.bytes, landed.bytes);
        return [accepted.requests, accepted.records, landed.records];
      };
      const two = await open('ledger');
      for (const batch of batches(0, 3)) {
        await newLanding(t, two, pool)(batch);
        await newLanding(t, two, pool)(batch);
      }
      for (const tenant of tenants) t.deepEqual(await counted(two, tenant), [30, 30, 30]);
      await withoutOne(async () => {
        for (const tenant of tenants) await t.throwsAsync(counted(two, tenant), unavailableError);
      });
      const three = await open('ledger', 3);
      for (const batch of batches(3, 4)) await newLanding(t, three, pool)(batch);
      for (const tenant of tenants) t.deepEqual(await counted(three, tenant), [40, 40, 40]);
      // Rows from before the change, read by a process with another number of shards.
      for (const batch of batches(0, 4)) await newLanding(t, three, pool)(batch);
      for (const tenant of tenants) {
        t.is(await countOf({ columns: three, native }, 'logs', tenant), 40);
        t.deepEqual(await counted(three, tenant), [40, 40, 40]);
      }
    },
  );

  test.serial('signed heads are stored on the first shard, and stay one row each when a shard is added', async (t) => {
    const bus = await openSegmentsBus({ directory: join(directory, 'bus') });
    t.teardown(() => bus.close());
    await bus.ensureTopics(allTopics);
    const two = await open('heads');
    const early = createHeadStore(bus, two);
    t.teardown(() => early.close());
    const [three, seven, ten] = [headOf('a', 3), headOf('a', 7), headOf('a', 10)];
    await early.publish([three, seven, headOf('b', 4)]);
    await landHeads(bus, two);
    t.deepEqual(await headsIn(early, 'a'), [three, seven]);
    await withoutOne(() => t.throwsAsync(headsIn(early, 'a'), unavailableError));
    t.deepEqual(await headsIn(early, 'a'), [three, seven]);

    const grown = await open('heads', 3);
    const heads = createHeadStore(bus, grown);
    t.teardown(() => heads.close());
    const again = headOf('a', 7, '2026-03-01T11:00:00.000Z');
    await heads.publish([again, ten]);
    t.deepEqual(await headsIn(heads, 'a'), [three, seven, again, ten], 'some have landed');
    await landHeads(bus, grown);
    await grown.execute('OPTIMIZE TABLE evidence_heads FINAL');
    t.deepEqual(await headsIn(heads, 'a'), [three, again, ten]);
  });

  test.serial(
    'cached points are read again if records landed on any shard, and are not returned while a shard is down',
    async (t) => {
      const two = await open('points');
      const tenant = tenantOf(0, 2);
      const columns = two.forTenant(tenant);
      const hourNs = 3_600_000_000_000n;
      const from = ((BigInt(receivedAtMs) * 1_000_000n) / hourNs) * hourNs;
      const range = { from, to: from + 6n * hourNs - 1n };
      /** A hundred records within an hour. */
      const land = async (hour: number, place: number): Promise<void> => {
        const timestamp = `fromUnixTimestamp64Nano(toInt64(${from + BigInt(hour) * hourNs} + number))`;
        const block = await blockOf({ columns: two, native }, tableNamed('logs'), {
          tenant_id: quoted(tenant),
          timestamp,
        });
        await two.insert(block, randomUUID(), place, [tenant]);
      };
      const here = getTenantPartition(tenant);
      for (let hour = 0; hour < 6; hour++) await land(hour, hour < 3 ? here : here + 1);
      let reads: Range[] = [];
      const read = async (part: Range): Promise<Point[]> => {
        reads.push(part);
        const rows = await columns.query<{ step: string; n: string }>(
          `SELECT intDiv(toUnixTimestamp64Nano(timestamp), ${hourNs}) AS step, count() AS n FROM logs WHERE tenant_id = {tenant:String} AND ${buildRangeCondition('logs')} GROUP BY step ORDER BY step`,
          buildRangeParameters(part),
        );
        return rows.map(({ step, n }) => ({ group: '', step: BigInt(step), results: [Number(n)] }));
      };
      const memory = new PointsCache(() => 0);
      const question = { signal: 'logs', range, stepNs: hourNs, key: 'count', maxGroups: 10 } as const;
      const readPoints = async (): Promise<unknown[] | undefined> => {
        reads = [];
        const points = await memory.getPoints(columns, question, read);
        return points?.toSorted((left, right) => Number(left.step - right.step)).map(({ results }) => results[0]);
      };
      t.is(await readPoints(), undefined);
      memory.recordCost(columns, question, 1024 ** 3);
      t.deepEqual(await readPoints(), [100, 100, 100, 100, 100, 100]);
      t.deepEqual(await readPoints(), [100, 100, 100, 100, 100, 100]);
      t.is(reads.length, 0);
      await land(1, here + 1);
      t.deepEqual(await readPoints(), [100, 200, 100, 100, 100, 100]);
      t.is(reads.length, 1);
      await withoutOne(() => t.throwsAsync(readPoints(), unavailableError));
      t.deepEqual(await readPoints(), [100, 200, 100, 100, 100, 100]);
      t.is(reads.length, 0);
    },
  );

  test.serial(
    'damage on one shard is reported: at runtime each read of it fails, and after a restart its parts are named',
    async (t) => {
      const database = 'damaged';
      const columns = await open(database);
      const [here, there] = [tenantOf(0, 2), tenantOf(1, 2)];
      for (const tenant of [here, there])
        await columns.insert(
          await blockOf({ columns, native }, tableNamed('logs'), { tenant_id: quoted(tenant) }),
          ...([randomUUID(), getTenantPartition(tenant), [tenant]] as const),
        );
      const counted = (tenant: string) => countOf({ columns, native }, 'logs', tenant);
      t.deepEqual([await counted(here), await counted(there)], [100, 100]);
      const parts = await columns
        .listServers()[1]
        ?.columns.query<{ path: string }>(
          "SELECT path FROM system.parts WHERE database = currentDatabase() AND table = 'logs' AND active",
        );
      const path = parts?.[0]?.path ?? '';
      for (const file of (await readdir(path)).filter((name) => name.endsWith('.bin')))
        await writeFile(join(path, file), 'damaged');
      const bodies = columns
        .forTenant(there)
        .query('SELECT sum(length(body)) AS n FROM logs WHERE tenant_id = {tenant:String}');
      await t.throwsAsync(bodies, { message: /^the query failed: / });

      await withoutOne(async () => undefined);
      const errorLines: string[] = [];
      const log: Log = { ...silentLog, error: (fields, text) => errorLines.push(`${text} ${JSON.stringify(fields)}`) };
      const again = await open(database, 2, log);
      await again.check();
      await eventually('it is told', () => errorLines.length > 0);
      t.regex(errorLines[0] ?? '', /^parts of tables are damaged and were set aside: their rows are missing/);
      const server = new URL(shards[1]?.url ?? '').host;
      t.true(errorLines[0]?.includes(server), errorLines[0]);
      const report = await reportShards(again, firstShards(2));
      t.deepEqual(report.shards[0]?.problems, []);
      t.regex(
        report.shards[1]?.problems.join() ?? '',
        /^parts of its tables are damaged and were detached, so that their rows are missing \(.*broken/,
      );
      t.is(await countOf({ columns: again, native }, 'logs', here), 100);
      await again.check();
      t.is(errorLines.length, 1, 'once');
    },
  );
} else test.skip(`storage: ${reason}`, () => undefined);
