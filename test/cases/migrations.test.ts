/** Migrations: of empty databases, of older schemas with rows, and not of newer ones. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { allTables, allViews } from '../../schemas/tables/index.ts';
import { buildAttributeEqualsSql, buildBodyHasAllWords } from '../../schemas/tables/search.ts';
import { sloSlicesTable } from '../../schemas/tables/slos.ts';
import { buildCreateTable, buildCreateView, defineTable, type Table } from '../../schemas/tables/table.ts';
import { reduceInsertCost } from '../../sinks/migrations/008-cheaper-inserts.ts';
import { changeSchema } from '../../sinks/migrations/declared-tables.ts';
import { migrate, migrations } from '../../sinks/migrations/index.ts';
import type { Migration } from '../../sinks/migrations/migration.ts';

const directory = mkdtempSync(join(tmpdir(), 'oiq-migrations-'));
let columns: Columns;

test.before(async () => {
  columns = await openChdbColumns({ directory });
});

test.after.always(async () => {
  await columns.close();
  rmSync(directory, { recursive: true, force: true });
});

const reset = async (): Promise<void> => {
  const found = await columns.query<{ name: string }>(
    'SELECT name FROM system.tables WHERE database = currentDatabase()',
  );
  for (const { name } of found) await columns.execute(`DROP TABLE IF EXISTS ${name} SYNC`);
};

/**
 * The definitions of all tables and views, including indexes and settings; settings are in the order of their changes.
 */
const described = async (): Promise<unknown[]> => {
  const rows = await columns.query<{ name: string; sql: string }>(
    'SELECT name, create_table_query AS sql FROM system.tables WHERE database = currentDatabase() ORDER BY name',
  );
  return rows.map(({ name, sql }) => {
    const [definition, settings = ''] = sql.replace(/ COMMENT 'declared: .*'$/, '').split(' SETTINGS ');
    return { name, definition, settings: settings.split(', ').toSorted() };
  });
};

test.serial('the migrated tables equal the declared tables', async (t) => {
  await reset();
  for (const table of allTables) await columns.execute(buildCreateTable(table));
  for (const view of allViews) await columns.execute(buildCreateView(view));
  const declared = await described();
  await reset();
  t.is(await migrate(columns, silentLog), migrations.length);
  t.deepEqual(await described(), declared);
  t.is(declared.length, allTables.length + allViews.length);
});

test.serial('a second run does nothing, and concurrent runs do no harm', async (t) => {
  await reset();
  await Promise.all([migrate(columns, silentLog), migrate(columns, silentLog), migrate(columns, silentLog)]);
  const once = await described();
  t.is(await migrate(columns, silentLog), 0);
  t.deepEqual(await described(), once);
});

test.serial('rows of the first schema are preserved, searchable and in the inventory', async (t) => {
  await reset();
  await migrate(columns, silentLog, migrations.slice(0, 1), []);
  await columns.execute(
    "INSERT INTO logs (tenant_id, received_at, timestamp, body, attributes) VALUES ('a', now64(3), now64(9), 'Payment FAILED', map('user', '7')), ('a', now64(3), now64(9), '\\x1b[32mDEBUG\\x1b[0m 数据库连接失败', map())",
  );
  await columns.execute(
    "INSERT INTO resources (tenant_id, resource_id, attributes, first_seen, last_seen) VALUES ('a', 1, map('service.name', 'shop', 'host.name', 'h1'), '2026-01-01', '2026-01-02')",
  );
  await columns.execute(
    "INSERT INTO series (tenant_id, metric, series_id, kind, description, source, last_seen) VALUES ('a', 'warm', 1, 'gauge', 'how warm', 'otlp', '2026-01-02'), ('a', 'bare', 2, 'unknown', '', 'prometheus', '2026-01-02')",
  );
  t.is(await migrate(columns, silentLog), migrations.length - 1);
  const tenant = columns.forTenant('a');
  t.deepEqual(
    await tenant.query('SELECT metric, kind, description FROM metric_metadata WHERE tenant_id = {tenant:String}'),
    [{ metric: 'warm', kind: 'gauge', description: 'how warm' }],
  );
  const rows = await tenant.query(
    `SELECT body FROM logs WHERE tenant_id = {tenant:String} AND ${buildBodyHasAllWords('failed payment')} AND ${buildAttributeEqualsSql('{key:String}', '{value:String}')}`,
    { key: 'user', value: '7' },
  );
  t.deepEqual(rows, [{ body: 'Payment FAILED' }]);
  const unusual = await tenant.query(
    `SELECT timestamp FROM logs WHERE tenant_id = {tenant:String} AND ${buildBodyHasAllWords('debug')} AND ${buildBodyHasAllWords('数据库')}`,
  );
  t.is(unusual.length, 1);
  const entities = await tenant.query(
    'SELECT kind, id, toString(first_seen) AS first FROM entities WHERE tenant_id = {tenant:String} ORDER BY kind',
  );
  t.deepEqual(entities, [
    { kind: 'host', id: 'h1', first: '2026-01-01 00:00:00.000' },
    { kind: 'service', id: 'shop', first: '2026-01-01 00:00:00.000' },
  ]);
});

test.serial('parts with an older schema are read and merged with those of the newest', async (t) => {
  await reset();
  const older = migrations.filter(({ id }) => id < reduceInsertCost.id);
  await migrate(columns, silentLog, older, []);
  const insert = (word: string) =>
    columns.execute(
      `INSERT INTO logs (tenant_id, received_at, timestamp, body) SELECT 'a', toDateTime64('2026-03-01 10:00:00', 3), now64(9), concat('${word} ', toString(number), repeat(' x', 4000)) FROM numbers(2000)`,
    );
  await insert('older');
  t.is(await migrate(columns, silentLog), migrations.length - older.length);
  await insert('newer');
  const parts = () =>
    columns.query("SELECT part_type FROM system.parts WHERE active AND table = 'logs' ORDER BY min_block_number");
  const counts = async (): Promise<unknown[]> => {
    const found = [];
    for (const word of ['older', 'newer', 'older 1999', 'newer 2000'])
      found.push(...(await columns.query(`SELECT count() AS rows FROM logs WHERE ${buildBodyHasAllWords(word)}`)));
    return found;
  };
  const expected = [{ rows: '2000' }, { rows: '2000' }, { rows: '1' }, { rows: '0' }];
  t.deepEqual(await parts(), [{ part_type: 'Wide' }, { part_type: 'Compact' }]);
  t.deepEqual(await counts(), expected);
  await columns.execute('OPTIMIZE TABLE logs FINAL');
  t.deepEqual(await parts(), [{ part_type: 'Wide' }]);
  t.deepEqual(await counts(), expected);
});

test.serial(
  'objective slices move to a table that is read in smaller blocks and sooner, and their days are counted',
  async (t) => {
    await reset();
    const { settings: _, ...coarse } = sloSlicesTable;
    const { good_billionths: _good, total_billionths: _total, ...wholeCounts } = coarse.columns;
    const numbers = { good: 'UInt64 CODEC(ZSTD(1))', total: 'UInt64 CODEC(ZSTD(1))' };
    const former = { ...coarse, columns: { ...wholeCounts, ...numbers } };
    await migrate(columns, silentLog, migrations.slice(0, 17), [former]);
    await columns.execute(
      "INSERT INTO slo_slices SELECT 'a', 'slo', 's', toDateTime('2026-03-01 23:59:00', 'UTC') + number * 60, 1, 2, 3 FROM numbers(2)",
    );
    await migrate(columns, silentLog);
    t.deepEqual(
      await columns.query(
        'SELECT toString(begin) AS begin, toString(total) AS total FROM slo_slices FINAL ORDER BY begin',
      ),
      [
        { begin: '2026-03-01 23:59:00', total: '2' },
        { begin: '2026-03-02 00:00:00', total: '2' },
      ],
    );
    t.deepEqual(await columns.query('SELECT DISTINCT toString(day) AS day FROM slo_day_changes ORDER BY day'), [
      { day: '2026-03-01' },
      { day: '2026-03-02' },
    ]);
    const found = await described();
    await reset();
    await migrate(columns, silentLog);
    t.deepEqual(found, await described());
  },
);

test.serial('a failed migration is retried at the next run', async (t) => {
  await reset();
  const broken = { id: 1, name: 'broken', up: () => Promise.reject(new Error('not now')) };
  await t.throwsAsync(migrate(columns, silentLog, [broken]), { message: 'not now' });
  t.is(await migrate(columns, silentLog), migrations.length);
});

test.serial(
  'a migration already applied by another process is not repeated, and may find tables that a later migration replaced',
  async (t) => {
    await reset();
    const created: string[] = [];
    const named = (id: number, up: () => Promise<void>): Migration => ({ id, name: String(id), up });
    const ahead = [1, 2, 3].map((id) => named(id, async () => void created.push(`${id} ahead`)));
    const late = [
      named(1, async () => {
        created.push('1 late');
        await migrate(columns, silentLog, ahead, []);
        throw new Error('what it changes is gone');
      }),
      ...[2, 3].map((id) => named(id, async () => void created.push(`${id} late`))),
    ];
    t.is(await migrate(columns, silentLog, late, []), 0);
    t.deepEqual(created, ['1 late', '1 ahead', '2 ahead', '3 ahead']);
  },
);

test.serial('tables of a newer version are rejected before any change', async (t) => {
  await reset();
  await migrate(columns, silentLog);
  const before = await described();
  const error = await t.throwsAsync(migrate(columns, silentLog, migrations.slice(0, 1)));
  t.true(error?.message.includes(`at version ${migrations.length} and this program knows version 1`), error?.message);
  t.deepEqual(await described(), before);
});

const madeUp = {
  name: 'made_up',
  summary: 'A table that no migration makes',
  retention: 'never',
  columns: { id: 'String', count: 'UInt32' },
  orderBy: ['id'],
} as const satisfies Table;
const withDay = defineTable({ ...madeUp, columns: { id: 'String', day: "Date COMMENT 'a quote'", count: 'UInt32' } });
const madeUpColumns = async (): Promise<string[]> => {
  const rows = await columns.query<{ name: string; type: string }>(
    "SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = 'made_up' ORDER BY position",
  );
  return rows.map(({ name, type }) => `${name} ${type}`);
};
/** Only this table is removed: recreating all others takes a second of CPU time. */
const withoutMadeUp = (): Promise<void> => columns.execute('DROP TABLE IF EXISTS made_up SYNC');
const migrateTo = (table: Table, known = migrations): Promise<number> => migrate(columns, silentLog, known, [table]);

test.serial('a declared table without a migration is created, and gets columns added to its declaration', async (t) => {
  await withoutMadeUp();
  await migrateTo(madeUp);
  t.deepEqual(await madeUpColumns(), ['id String', 'count UInt32']);
  await columns.execute("INSERT INTO made_up (id, count) SELECT 'a', 1");
  await Promise.all([migrateTo(withDay), migrateTo(withDay), migrateTo(withDay)]);
  await migrateTo(withDay);
  t.deepEqual(await madeUpColumns(), ['id String', 'day Date', 'count UInt32']);
  t.deepEqual(await columns.query('SELECT id, toString(day) AS day, count FROM made_up'), [
    { id: 'a', day: '1970-01-01', count: 1 },
  ]);
});

const changes: Readonly<Record<string, readonly [Table, string]>> = {
  'another type': [{ ...madeUp, columns: { id: 'String', count: 'UInt64' } }, 'its column count is UInt32'],
  'a column that is no longer declared': [{ ...madeUp, columns: { id: 'String' } }, 'its column count is not declared'],
  'another order': [{ ...madeUp, orderBy: ['id', 'count'] }, 'its orderBy is'],
  'another engine': [{ ...madeUp, engine: 'ReplacingMergeTree' }, 'its engine is not set'],
  partitions: [{ ...madeUp, partitionBy: 'count' }, 'its partitionBy is not set'],
  'an index': [{ ...madeUp, indexes: { words: 'id TYPE bloom_filter GRANULARITY 1' } }, 'its indexes is not set'],
};
for (const [what, [changed, message]] of Object.entries(changes)) {
  test.serial(`a declared table is rejected with instructions, and left unchanged: ${what}`, async (t) => {
    await withoutMadeUp();
    await migrateTo(madeUp);
    const before = await described();
    const error = await t.throwsAsync(migrateTo(changed));
    t.true(
      error?.message.startsWith(`table made_up cannot be changed to match its declaration: ${message}`),
      error?.message,
    );
    t.true(error?.message.includes('write a migration'));
    t.deepEqual(await described(), before);
    await migrateTo(madeUp);
  });
}

test.serial('a manual migration changes what the declaration cannot, and later columns are still added', async (t) => {
  await withoutMadeUp();
  await migrateTo(madeUp);
  const widen: Migration = {
    id: migrations.length + 1,
    name: 'widen',
    async up() {
      await columns.execute('ALTER TABLE made_up MODIFY COLUMN count UInt64');
      await changeSchema(columns, 'made_up', (shape) => ({ ...shape, columns: { ...shape.columns, count: 'UInt64' } }));
    },
  };
  const wide = defineTable({ ...madeUp, columns: { id: 'String', count: 'UInt64', last: 'String' } });
  await t.throwsAsync(migrateTo(wide));
  t.is(await migrateTo(wide, [...migrations, widen]), 1);
  t.deepEqual(await madeUpColumns(), ['id String', 'count UInt64', 'last String']);
});

test('ids count from 1 without gaps', (t) => {
  t.deepEqual(
    migrations.map(({ id }) => id),
    migrations.map((_, index) => index + 1),
  );
});
