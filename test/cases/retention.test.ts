/** Retention of rows of several tenants over several days. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { applyRetention, type RetentionPolicy } from '../../sinks/engine/retention.ts';
import { migrate, migrations } from '../../sinks/migrations/index.ts';
import { errorCountsTable } from '../contract/made-up-sink.ts';
import { copyColumns } from '../services/columns-template.ts';

const directory = mkdtempSync(join(tmpdir(), 'oiq-retention-'));
const now = Date.parse('2026-03-20T15:30:00Z');
const clock = { now: () => now };
let columns: Columns;

const policiesOf = async function* (...policies: readonly RetentionPolicy[]): AsyncGenerator<RetentionPolicy> {
  yield* policies;
};
const days = (logs: number, metrics = logs, traces = logs) => ({ logs, metrics, traces });

test.before(async () => {
  copyColumns(directory);
  columns = await openChdbColumns({ directory });
  await migrate(columns, silentLog);
});

test.after.always(async () => {
  await columns.close();
  rmSync(directory, { recursive: true, force: true });
});

/** One row per tenant and day, from today back to 7 days ago. */
const fill = async (tenants: readonly string[]): Promise<void> => {
  for (const table of [
    'logs',
    'spans',
    'samples',
    'series',
    'resources',
    'entities',
    'span_metrics',
    'resource_activity',
    'dead_letters',
    'dead_letter_marks',
  ])
    await columns.execute(`TRUNCATE TABLE ${table}`);
  const list = `[${tenants.map((tenant) => `'${tenant.replaceAll("'", "\\'")}'`).join(', ')}]`;
  const from = `FROM (SELECT arrayJoin(${list}) AS tenant, number, toDateTime64('2026-03-20 12:00:00', 3, 'UTC') - toIntervalDay(number) AS at FROM numbers(8))`;
  await columns.execute(`INSERT INTO logs (tenant_id, received_at, timestamp) SELECT tenant, at, at ${from}`);
  await columns.execute(`INSERT INTO spans (tenant_id, received_at, timestamp, kind) SELECT tenant, at, at, 2 ${from}`);
  await columns.execute(
    `INSERT INTO dead_letters (tenant_id, id, received_at) SELECT tenant, toString(number), at ${from}`,
  );
  await columns.execute(
    `INSERT INTO dead_letter_marks (tenant_id, id, marked_at) SELECT tenant, toString(number), at + 3600 ${from}`,
  );
  await columns.execute(`INSERT INTO samples (tenant_id, received_at, timestamp) SELECT tenant, at, at ${from}`);
  await columns.execute(
    `INSERT INTO series (tenant_id, metric, series_id, first_seen, last_seen) SELECT tenant, 'm', number, at, at ${from}`,
  );
  await columns.execute(
    `INSERT INTO resources (tenant_id, resource_id, attributes, first_seen, last_seen) SELECT tenant, number, map('service.name', toString(number)), at, at ${from}`,
  );
};

const rowsOf = async (table: string): Promise<Record<string, number>> => {
  const rows = await columns.query<{ tenant_id: string; rows: string }>(
    `SELECT tenant_id, count() AS rows FROM ${table} GROUP BY tenant_id ORDER BY tenant_id`,
  );
  return Object.fromEntries(rows.map(({ tenant_id, rows }) => [tenant_id, Number(rows)]));
};

test.serial('each tenant has its own retention days plus today, for each signal', async (t) => {
  await fill(['long', 'short', "o'brien", 'unknown']);
  const policies = [
    { tenantId: 'long', days: days(4, 6, 2) },
    { tenantId: 'short', days: days(2, 1, 1) },
    { tenantId: "o'brien", days: days(0) },
  ];
  const result = await applyRetention(columns, policiesOf(...policies), clock);
  t.deepEqual(await rowsOf('logs'), { long: 5, "o'brien": 1, short: 3, unknown: 5 });
  t.deepEqual(await rowsOf('samples'), { long: 7, "o'brien": 1, short: 2, unknown: 7 });
  t.deepEqual(await rowsOf('spans'), { long: 3, "o'brien": 1, short: 2, unknown: 3 });
  t.deepEqual(await rowsOf('span_metrics'), await rowsOf('spans'));
  t.deepEqual(await rowsOf('(SELECT DISTINCT tenant_id, day FROM resource_activity)'), await rowsOf('dead_letters'));
  t.deepEqual(await rowsOf('series'), { long: 7, "o'brien": 1, short: 2, unknown: 8 });
  t.deepEqual(await rowsOf('resources'), { long: 7, "o'brien": 1, short: 3, unknown: 8 });
  t.deepEqual(await rowsOf('entities'), await rowsOf('resources'));
  t.deepEqual(await rowsOf('dead_letters'), { long: 7, "o'brien": 1, short: 3, unknown: 7 });
  t.deepEqual(await rowsOf('dead_letter_marks'), { long: 7, "o'brien": 1, short: 3, unknown: 8 });
  t.is(result.partitionsDropped, 3 + 1 + 5 + 5 + 1 + 1);
  t.deepEqual(await applyRetention(columns, policiesOf(...policies), clock), { partitionsDropped: 0, deletes: 0 });
});

test.serial('a changed policy takes effect at once', async (t) => {
  await fill(['one', 'two']);
  const other = { tenantId: 'two', days: days(30) };
  await applyRetention(columns, policiesOf({ tenantId: 'one', days: days(4) }, other), clock);
  t.deepEqual(await rowsOf('logs'), { one: 5, two: 8 });
  await applyRetention(columns, policiesOf({ tenantId: 'one', days: days(2) }, other), clock);
  t.deepEqual(await rowsOf('logs'), { one: 3, two: 8 });
});

test.serial('a series seen again preserves its first-seen time', async (t) => {
  await fill(['one']);
  await columns.execute(
    "INSERT INTO series (tenant_id, metric, series_id, first_seen, last_seen) VALUES ('one', 'm', 7, '2026-03-20', '2026-03-20')",
  );
  await applyRetention(columns, policiesOf({ tenantId: 'one', days: days(3) }), clock);
  const rows = await columns.query('SELECT toString(min(first_seen)) AS first FROM series WHERE series_id = 7');
  t.deepEqual(rows, [{ first: '2026-03-13 12:00:00.000' }]);
  t.deepEqual(await rowsOf('series'), { one: 6 });
});

test.serial('without a policy nothing is deleted', async (t) => {
  await fill(['one']);
  t.deepEqual(await applyRetention(columns, policiesOf(), clock), { partitionsDropped: 0, deletes: 0 });
  t.deepEqual(await rowsOf('logs'), { one: 8 });
});

test.serial('the retention of a table follows from its declaration alone', async (t) => {
  await migrate(columns, silentLog, migrations, [errorCountsTable]);
  await columns.execute(
    "INSERT INTO made_up_counts (tenant_id, received_at) SELECT 'a', toDateTime64('2026-03-20 12:00:00', 3, 'UTC') - toIntervalDay(number) FROM numbers(8)",
  );
  const policies = () => policiesOf({ tenantId: 'a', days: days(2, 7, 7) });
  t.deepEqual(await applyRetention(columns, policies(), clock, [{ ...errorCountsTable, retention: 'never' }]), {
    partitionsDropped: 0,
    deletes: 0,
  });
  t.deepEqual(await applyRetention(columns, policies(), clock, [errorCountsTable]), {
    partitionsDropped: 5,
    deletes: 0,
  });
  t.deepEqual(await rowsOf('made_up_counts'), { a: 3 });
});
