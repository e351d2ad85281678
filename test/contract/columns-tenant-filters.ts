/** Isolation of tenants in reads. */
import { randomUUID } from 'node:crypto';
import { PermanentError } from '../../schemas/errors.ts';
import { explainPrefix } from '../../schemas/ports/columns.ts';
import { tenantTables } from '../../schemas/tables/index.ts';
import { test } from '../limit-concurrency.ts';
import { blockOf, type ColumnsContract, failureOf, quoted, someTenant, tableNamed } from './columns-harness.ts';

const refused: readonly (readonly [string, string])[] = [
  ['without the tenant', 'SELECT count() FROM logs'],
  ['without the tenant, explained', `${explainPrefix}SELECT count() FROM logs`],
  ['that changes a table, explained', `${explainPrefix}ALTER TABLE logs DELETE WHERE tenant_id = {tenant:String}`],
  ['with the tenant only in a comment', 'SELECT count() FROM logs -- {tenant:String}'],
  ['with the tenant only in a literal', "SELECT '{tenant:String}' FROM logs"],
  ['with the tenant as another type', 'SELECT {tenant:Identifier} FROM logs'],
  ['with settings of its own', "SELECT {tenant:String} FROM logs SETTINGS additional_table_filters = {'logs': '1'}"],
  ['with settings in a subquery', 'SELECT {tenant:String} FROM (SELECT * FROM logs settings/**/max_threads = 1)'],
  ['of several statements', 'SELECT {tenant:String}; SELECT 1'],
  ['that writes', 'INSERT INTO logs SELECT * FROM logs WHERE tenant_id = {tenant:String}'],
  ['that changes a table', 'ALTER TABLE logs DELETE WHERE tenant_id = {tenant:String}'],
  ['past the filters by merge()', "SELECT {tenant:String}, * FROM merge(currentDatabase(), 'logs')"],
  ['past the filters by a quoted name', "SELECT {tenant:String}, * FROM `merge`(currentDatabase(), 'logs')"],
  ['of the index', "SELECT {tenant:String}, * FROM mergeTreeIndex(currentDatabase(), 'logs')"],
  ['of a file', "SELECT {tenant:String}, * FROM file('/etc/hostname', LineAsString)"],
  ['of a file by a function', "SELECT {tenant:String}, file('/etc/hostname')"],
  ['of another server', "SELECT {tenant:String}, * FROM url('http://127.0.0.1:9/', LineAsString)"],
  ['of the system tables', 'SELECT {tenant:String}, * FROM system.processes'],
  ['of the system tables in quotes', 'SELECT {tenant:String}, * FROM "system".processes'],
  ['into a file', "SELECT {tenant:String} INTO OUTFILE '/tmp/x'"],
  ['in a format of its own', 'SELECT {tenant:String} FORMAT CSV'],
  ['with typographic quotes', 'SELECT {tenant:String}, ‘x’ FROM logs'],
  ['with an unfinished literal', "SELECT {tenant:String}, 'x FROM logs"],
];

/** Reads of whole tables without a filter; only the engine filters. */
const unfiltered = [
  "SELECT count() AS rows FROM logs WHERE {tenant:String} != ''",
  "SELECT count() AS rows FROM logs AS l WHERE {tenant:String} != ''",
  "SELECT count() AS rows FROM (SELECT * FROM logs) WHERE {tenant:String} != ''",
  "WITH all AS (SELECT * FROM logs) SELECT count() AS rows FROM all WHERE {tenant:String} != ''",
  "SELECT count() AS rows FROM (SELECT body FROM logs UNION ALL SELECT body FROM logs WHERE 0) WHERE {tenant:String} != ''",
  "SELECT count() AS rows FROM `logs` WHERE {tenant:String} != ''",
  "SELECT count() AS rows FROM `lo\\x67s` WHERE {tenant:String} != ''",
  'SELECT count() AS rows FROM "\\x6cogs" AS l WHERE {tenant:String} != \'\'',
  "SELECT (SELECT count() FROM logs) AS rows WHERE {tenant:String} != ''",
  "SELECT count() AS rows FROM logs WHERE body IN (SELECT body FROM logs) AND {tenant:String} != ''",
];

const awkward = [
  "o'brien",
  'back\\slash',
  "\\'",
  "' OR 1 = 1 --",
  'größe 漢字 🙂',
  '{tenant:String}',
  "'}, 'x': '",
  'a\nb\tc',
  'nul\0byte',
  '%_*?',
  '',
];

export const columnsTenantFilter = ({ name, under }: ColumnsContract): void => {
  for (const [what, sql] of refused) {
    test(`${name}: a tenant’s query ${what} is refused`, async (t) => {
      await failureOf(t, under().columns.forTenant(someTenant()).query(sql), PermanentError);
      await failureOf(t, under().columns.forTenant(someTenant()).queryNative(sql), PermanentError);
    });
  }

  test(`${name}: the engine filters what a tenant’s query does not filter`, async (t) => {
    const [mine, other] = [someTenant(), someTenant()];
    const tenants = `if(number % 4 = 0, ${quoted(mine)}, ${quoted(other)})`;
    await under().columns.insert(await blockOf(under(), tableNamed('logs'), { tenant_id: tenants }), randomUUID());
    for (const sql of unfiltered) {
      t.deepEqual(await under().columns.forTenant(mine).query(sql), [{ rows: '25' }], sql);
      const bytes = Buffer.from(await under().columns.forTenant(mine).queryNative(sql));
      t.is(bytes.readBigUInt64LE(bytes.length - 8), 25n, sql);
    }
  });

  for (const table of tenantTables) {
    test(`${name}: the engine filters ${table.name}`, async (t) => {
      const [mine, other] = [someTenant(), someTenant()];
      for (const tenant of [mine, other])
        await under().columns.insert(await blockOf(under(), table, { tenant_id: quoted(tenant) }, 3), randomUUID());
      const rows = await under()
        .columns.forTenant(mine)
        .query(`SELECT DISTINCT tenant_id FROM ${table.name} WHERE {tenant:String} != ''`);
      t.deepEqual(rows, [{ tenant_id: mine }]);
    });
  }

  test(`${name}: a tenant’s ID may contain any character`, async (t) => {
    const mark = randomUUID();
    const tenants = awkward.map((text) => `${mark}${text}`);
    const expression = `[${tenants.map(quoted).join(', ')}][number + 1]`;
    await under().columns.insert(
      await blockOf(under(), tableNamed('logs'), { tenant_id: expression }, tenants.length),
      mark,
    );
    for (const tenant of tenants) {
      const rows = await under()
        .columns.forTenant(tenant)
        .query<{ tenant_id: string }>(
          "SELECT tenant_id, {tenant:String} AS bound FROM logs WHERE {tenant:String} != ''",
        );
      t.deepEqual(rows, [{ tenant_id: tenant, bound: tenant }] as never);
    }
  });

  test(`${name}: a caller’s parameter cannot replace the tenant`, async (t) => {
    const rows = await under().columns.forTenant('mine').query('SELECT {tenant:String} AS bound', { tenant: 'other' });
    t.deepEqual(rows, [{ bound: 'mine' }]);
  });

  test(`${name}: a query that fails leaves no state to the next query`, async (t) => {
    const failing = 'SELECT number, throwIf(number = 90000) AS thrown, {tenant:String} AS tenant FROM numbers(100000)';
    const { columns } = under();
    for (let round = 0; round < 2; round++) {
      const failures = Array.from({ length: 6 }, () => columns.forTenant('secret').query(failing));
      for (const failure of await Promise.allSettled(failures)) t.is(failure.status, 'rejected');
      const reads = Array.from({ length: 6 }, () =>
        columns.forTenant('other').query('SELECT {tenant:String} AS tenant'),
      );
      for (const rows of await Promise.all(reads)) t.deepEqual(rows, [{ tenant: 'other' }]);
    }
  });
};
