/** Migrations: from nothing, from an older form with rows in it, and not from a newer one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { chdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { silent } from '../../schemas/ports/log.ts';
import { allTables, allViews } from '../../schemas/tables/index.ts';
import { attributeEquals, bodyHasAllWords } from '../../schemas/tables/search.ts';
import { createTable, createView } from '../../schemas/tables/table.ts';
import { migrate, migrations } from '../../sinks/migrations/index.ts';

const directory = mkdtempSync(join(tmpdir(), 'oiq-migrations-'));
let columns: Columns;

test.before(async () => {
  columns = await chdbColumns({ directory });
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

/** What the engine says of every table and view, indexes and settings included; settings stand in the order in which they came. */
const described = async (): Promise<unknown[]> => {
  const rows = await columns.query<{ name: string; sql: string }>(
    'SELECT name, create_table_query AS sql FROM system.tables WHERE database = currentDatabase() ORDER BY name',
  );
  return rows.map(({ name, sql }) => {
    const [definition, settings = ''] = sql.split(' SETTINGS ');
    return { name, definition, settings: settings.split(', ').toSorted() };
  });
};

test.serial('the migrated tables are the declared ones', async (t) => {
  await reset();
  for (const table of allTables) await columns.execute(createTable(table));
  for (const view of allViews) await columns.execute(createView(view));
  const declared = await described();
  await reset();
  t.is(await migrate(columns, silent), migrations.length);
  t.deepEqual(await described(), declared);
  t.is(declared.length, allTables.length + allViews.length);
});

test.serial('a second run does nothing, and runs at the same time do no harm', async (t) => {
  await reset();
  await Promise.all([migrate(columns, silent), migrate(columns, silent), migrate(columns, silent)]);
  const once = await described();
  t.is(await migrate(columns, silent), 0);
  t.deepEqual(await described(), once);
});

test.serial('rows of the first form stay, can be searched and are in the inventory', async (t) => {
  await reset();
  await migrate(columns, silent, migrations.slice(0, 1));
  await columns.execute(
    "INSERT INTO logs (tenant_id, received_at, timestamp, body, attributes) VALUES ('a', now64(3), now64(9), 'Payment FAILED', map('user', '7'))",
  );
  await columns.execute(
    "INSERT INTO resources (tenant_id, resource_id, attributes, first_seen, last_seen) VALUES ('a', 1, map('service.name', 'shop', 'host.name', 'h1'), '2026-01-01', '2026-01-02')",
  );
  t.is(await migrate(columns, silent), migrations.length - 1);
  const tenant = columns.of('a');
  const rows = await tenant.query(
    `SELECT body FROM logs WHERE tenant_id = {tenant:String} AND ${bodyHasAllWords('failed payment')} AND ${attributeEquals('{key:String}', '{value:String}')}`,
    { key: 'user', value: '7' },
  );
  t.deepEqual(rows, [{ body: 'Payment FAILED' }]);
  const entities = await tenant.query(
    'SELECT kind, id, toString(first_seen) AS first FROM entities WHERE tenant_id = {tenant:String} ORDER BY kind',
  );
  t.deepEqual(entities, [
    { kind: 'host', id: 'h1', first: '2026-01-01 00:00:00.000' },
    { kind: 'service', id: 'shop', first: '2026-01-01 00:00:00.000' },
  ]);
});

test.serial('parts of an older form are read and merged with those of the newest', async (t) => {
  await reset();
  await migrate(columns, silent, migrations.slice(0, -1));
  const insert = (word: string) =>
    columns.execute(
      `INSERT INTO logs (tenant_id, received_at, timestamp, body) SELECT 'a', toDateTime64('2026-03-01 10:00:00', 3), now64(9), concat('${word} ', toString(number), repeat(' x', 4000)) FROM numbers(2000)`,
    );
  await insert('older');
  t.is(await migrate(columns, silent), 1);
  await insert('newer');
  const parts = () =>
    columns.query("SELECT part_type FROM system.parts WHERE active AND table = 'logs' ORDER BY min_block_number");
  const counts = async (): Promise<unknown[]> => {
    const found = [];
    for (const word of ['older', 'newer', 'older 1999', 'newer 2000'])
      found.push(...(await columns.query(`SELECT count() AS rows FROM logs WHERE ${bodyHasAllWords(word)}`)));
    return found;
  };
  const expected = [{ rows: '2000' }, { rows: '2000' }, { rows: '1' }, { rows: '0' }];
  t.deepEqual(await parts(), [{ part_type: 'Wide' }, { part_type: 'Compact' }]);
  t.deepEqual(await counts(), expected);
  await columns.execute('OPTIMIZE TABLE logs FINAL');
  t.deepEqual(await parts(), [{ part_type: 'Wide' }]);
  t.deepEqual(await counts(), expected);
});

test.serial('a migration that fails is tried again at the next run', async (t) => {
  await reset();
  const broken = { id: 1, name: 'broken', up: () => Promise.reject(new Error('not now')) };
  await t.throwsAsync(migrate(columns, silent, [broken]), { message: 'not now' });
  t.is(await migrate(columns, silent), migrations.length);
});

test.serial('tables of a newer program are refused before anything changes', async (t) => {
  await reset();
  await migrate(columns, silent);
  const before = await described();
  const error = await t.throwsAsync(migrate(columns, silent, migrations.slice(0, 1)));
  t.true(error?.message.includes(`at version ${migrations.length} and this program knows version 1`), error?.message);
  t.deepEqual(await described(), before);
});

test('ids count from 1 without gaps', (t) => {
  t.deepEqual(
    migrations.map(({ id }) => id),
    migrations.map((_, index) => index + 1),
  );
});
