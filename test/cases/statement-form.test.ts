/** Which statements have the same form, compared with the digest of the engine. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { buildStatementDigestSql, buildStatementFormSql } from '../../subjects/databases/statement-form.ts';
import { buildSystemExpression } from '../../subjects/databases/systems.ts';

let columns: Columns;
const directory = mkdtempSync(join(tmpdir(), 'oiq-statements-'));
test.before(async () => {
  columns = await openChdbColumns({ directory });
});
test.after.always(async () => {
  await columns?.close();
  rmSync(directory, { recursive: true, force: true });
});

const formsOf = (system: string, texts: readonly string[]): Promise<{ form: string; digest: string }[]> =>
  columns.query(
    `SELECT ${buildStatementFormSql('text', 'product')} AS form, ${buildStatementDigestSql('form', 'product')} AS digest
    FROM (SELECT arrayJoin({texts:Array(String)}) AS text, ${buildSystemExpression('{system:String}')} AS product)`,
    { texts, system },
  );

const one: readonly (readonly [form: string, system: string, ...texts: string[]])[] = [
  [
    'select * from users where id=?',
    'postgresql',
    'SELECT * FROM users WHERE id = 1',
    'select  *\nfrom users where id = $1;',
    'SELECT * FROM "users" WHERE "id" = -17.5e3 -- from checkout',
    "/* trace 4bf9 */ SELECT * FROM users WHERE id = 'it''s'",
    'SELECT * FROM users WHERE id = :id',
    'SELECT * FROM users WHERE id = %(id)s',
    "SELECT * FROM users WHERE id = E'a\\'b'",
    'SELECT * FROM users WHERE id = $tag$a text$tag$',
    'SELECT * FROM users WHERE id = NULL',
  ],
  [
    'select a from t where id in(?)',
    'mysql',
    'SELECT a FROM `t` WHERE id IN (1)',
    'SELECT a FROM t WHERE id IN (1, 2,3)',
    'SELECT a FROM t WHERE id IN (?, ?)',
    'SELECT a FROM t WHERE id IN ("x", "y")',
    '# a comment\nSELECT a FROM t WHERE id IN (TRUE, NULL)',
  ],
  [
    'insert into t(a,b)values(?)',
    'mariadb',
    "INSERT INTO t (a, b) VALUES (1, 'x')",
    "INSERT INTO t (a, b) VALUES (1, 'x'), (2, 'y')",
    'INSERT INTO t (a,b) VALUES (?, ?), (?, ?), (?, ?)',
  ],
  [
    'select * from t where a=?::int',
    'postgresql',
    'SELECT * FROM t WHERE a = $1::int',
    "SELECT * FROM t WHERE a = '5'::int",
  ],
  ['exec dbo.sp @a=?,@b=?', 'mssql', "EXEC dbo.sp @a = 5, @b = N'secret'", 'EXEC dbo.sp @a=@p0, @b=@p1'],
  ['select a from t where b=?', 'mssql', 'SELECT [a] FROM t WHERE b = 1', 'SELECT a FROM t WHERE b = +2'],
  ['select * from t where(a,b)in((?))', 'postgresql', 'SELECT * FROM t WHERE (a, b) IN ((1,2),(3,4))'],
  [
    'select a from t where b between ? and ? limit ? offset ?',
    'sqlite',
    'SELECT a FROM t WHERE b BETWEEN 1 AND 5 LIMIT 10 OFFSET 20',
  ],
  ['get ?', 'redis', 'GET user:123', 'GET ?', 'get session:9f'],
  ['set ?', 'redis', 'SET user:123 "a text with spaces"', 'SET k v EX 10'],
  ['ping', 'redis', 'PING'],
  [
    'users {find: ?,filter: {_id: ?,name: ?}}',
    'mongodb',
    'users {"find": "users", "filter": {"_id": 5, "name": "ann"}}',
  ],
];

test('statements that differ in values, spaces, case, comments and list lengths have one form and digest', async (t) => {
  for (const [form, system, ...texts] of one) {
    const forms = await formsOf(system, texts);
    for (const [at, found] of forms.entries()) {
      t.is(found.form, form, `${system}: ${texts[at]}`);
      t.is(found.digest, forms[0]?.digest ?? '');
    }
  }
});

/** Each statement in a line differs from the others in that line. */
const different: readonly (readonly [system: string, one: string, other: string])[] = [
  ['postgresql', 'SELECT a FROM t', 'SELECT a FROM u'],
  ['postgresql', 'SELECT a FROM t WHERE b = 1', 'SELECT a FROM t WHERE c = 1'],
  ['postgresql', 'SELECT "Name" FROM t WHERE a = 1', 'SELECT "Other" FROM t WHERE a = 1'],
  ['postgresql', 'SELECT a FROM t WHERE b = 1', 'SELECT a FROM t WHERE b = 1 AND c = 2'],
  ['postgresql', 'SELECT a FROM t ORDER BY a', 'SELECT a FROM t ORDER BY a DESC'],
  ['postgresql', 'SELECT a FROM t WHERE b IS NULL', 'SELECT a FROM t WHERE b IS NOT NULL'],
  ['redis', 'GET a', 'SET a 1'],
  ['mysql', "SELECT a FROM t WHERE b = 'x'", "SELECT a FROM t WHERE b = 'x"],
];

test('statements with different operations have different digests', async (t) => {
  for (const [system, ...texts] of different) {
    const [first, second] = await formsOf(system, texts);
    t.not(first?.digest, second?.digest, texts.join(' | '));
  }
});

test('a truncated statement is marked, and shows no part of the literal at the cut', async (t) => {
  const [cut, marked] = await formsOf('postgresql', [
    "SELECT a FROM t WHERE name = 'Ann Sec",
    'SELECT a FROM t WHERE id IN (1, 2...',
  ]);
  t.is(cut?.form, 'select a from t where name= …');
  t.regex(marked?.form ?? '', / …$/);
});

test('products have one name, regardless of the convention version of a sender', async (t) => {
  const [former] = await formsOf('mssql', ['SELECT 1']);
  const [present] = await formsOf('microsoft.sql_server', ['SELECT 2']);
  t.is(former?.digest, present?.digest);
  const [other] = await formsOf('postgresql', ['SELECT 2']);
  t.not(other?.digest, present?.digest);
});

test('no literal of a statement stays in its form', async (t) => {
  const secret = 'hunter2';
  const texts = [
    `SELECT * FROM t WHERE p = '${secret}'`,
    `SELECT * FROM t WHERE p = '${secret}`,
    `SELECT $$${secret}$$`,
    `SELECT 1 -- ${secret}`,
    `SELECT /* ${secret} */ 1`,
    `INSERT INTO t VALUES (1, E'\\'${secret}')`,
    `UPDATE t SET a = N'${secret}', b = x'00'`,
  ];
  for (const system of ['postgresql', 'mysql', 'mssql', 'other_sql'])
    for (const { form } of await formsOf(system, texts)) t.false(form.includes(secret), `${system}: ${form}`);
  for (const system of ['mysql', 'mariadb'])
    for (const { form } of await formsOf(system, [`SELECT * FROM t WHERE p = "${secret}"`, `SELECT 1 # ${secret}`]))
      t.false(form.includes(secret), `${system}: ${form}`);
  for (const { form } of await formsOf('mongodb', [`{"find": "t", "filter": {"p": "${secret}", "q": ["${secret}"]}}`]))
    t.false(form.includes(secret), form);
  for (const { form } of await formsOf('redis', [`AUTH ${secret}`, `SET k "${secret}\nmore"`]))
    t.false(form.includes(secret), form);
});
