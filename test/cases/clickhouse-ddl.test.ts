/**
 * The DDL of every table, as files to compare with the ClickHouse documentation: on one server, replicated, and for a
 * service that shares tables itself. After a table change, `OIQ_GOLDEN=write ava test/cases/clickhouse-ddl.test.ts`
 * rewrites the files.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { toReplicatedDdl, toSharedDdl } from '../../adapters/columns-clickhouse/replicated.ts';
import { toColdRule } from '../../adapters/columns-clickhouse/storage.ts';
import { allTables } from '../../schemas/tables/index.ts';
import { buildCreateTable } from '../../schemas/tables/table.ts';

const directory = join(import.meta.dirname, 'clickhouse-ddl');

const tables = allTables.toSorted((left, right) => (left.name < right.name ? -1 : 1));
const ddl = tables.map((table) => buildCreateTable(table).trim());
/** Returns the DDL from the engine on: the columns are the same in every form. */
const withoutColumns = (sql: string): string =>
  `${/^CREATE TABLE(?: IF NOT EXISTS)? \S+/.exec(sql)?.[0]} (…)\n${sql.slice(sql.indexOf('\nENGINE = ') + 1)}`;

const files: Readonly<Record<string, readonly string[]>> = {
  'one-server.sql': ddl,
  'replicated.sql': ddl.map((sql) => withoutColumns(toReplicatedDdl(sql))),
  'shared-by-the-service.sql': ddl.map((sql) => withoutColumns(toSharedDdl(sql))),
  'cold-disks.sql': tables
    .filter(({ retention }) => retention !== 'never')
    .map(
      (table) => `ALTER TABLE ${table.name} MODIFY TTL ${toColdRule(table, { policy: 'tiered', coldAfterDays: 7 })}`,
    ),
};

for (const [name, statements] of Object.entries(files))
  test(`${name} has the DDL of every table`, (t) => {
    const path = join(directory, name);
    const text = `${statements.join(';\n\n')};\n`;
    if (process.env['OIQ_GOLDEN'] === 'write') writeFileSync(path, text);
    t.is(text, readFileSync(path, 'utf8'), `${path} is not what tables declare (see the head of this test)`);
  });

test('each form names the engine of every table, and contains nothing of another form', (t) => {
  for (const name of ['replicated.sql', 'shared-by-the-service.sql'])
    for (const sql of files[name] ?? []) {
      t.regex(sql, /\nENGINE = \w*MergeTree/, name);
      const isOfEach = /CREATE TABLE IF NOT EXISTS (?:schema_migrations|placements) /.test(sql);
      t.is(sql.includes("'/clickhouse/tables/{shard}/"), name === 'replicated.sql' && !isOfEach, sql);
      if (!isOfEach) t.false(sql.includes('non_replicated_'), sql);
    }
});
