/** Deleted values do not remain in the documents file, and a failed removal does not prevent a start. */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { defineCollection } from '../../schemas/ports/documents.ts';
import { silentLog } from '../../schemas/ports/log.ts';

const directory = mkdtempSync(join(tmpdir(), "oiq-documents'file-"));
test.after.always(() => rmSync(directory, { recursive: true, force: true }));

const canary = 'canary-93c1';
const things = defineCollection<{ name: string }>({ name: 'things' });

/** A file of an earlier version, which did not overwrite what it deleted. */
const createEarlierFile = async (name: string, version: number): Promise<string> => {
  const path = join(directory, name);
  await (await openSqliteDocuments({ path })).close();
  const connection = new DatabaseSync(path);
  connection.exec(`
    PRAGMA secure_delete = OFF; PRAGMA user_version = ${version};
    CREATE TABLE earlier (value TEXT);
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2000)
    INSERT INTO earlier SELECT '${canary} ' || n FROM numbers;
    DELETE FROM earlier;`);
  connection.close();
  return path;
};

const open = async (path: string, freeBytes?: number) => {
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (_fields: object, message: string) => void warnings.push(message) };
  const documents = await openSqliteDocuments({
    path,
    log,
    ...(freeBytes !== undefined && { getFreeBytes: () => freeBytes }),
  });
  return { documents, warnings };
};

const hasCanary = (path: string): boolean => readFileSync(path).includes(canary);

const retriesAtNextStart = async (t: ExecutionContext, path: string): Promise<void> => {
  const { documents, warnings } = await open(path);
  await documents.close();
  t.deepEqual(warnings, []);
  t.false(hasCanary(path));
};

test.serial('a start removes what earlier versions deleted without overwriting it', async (t) => {
  const path = await createEarlierFile('earlier.sqlite', 0);
  t.true(hasCanary(path));
  await retriesAtNextStart(t, path);
});

for (const [reason, version, freeBytes, expected] of [
  ['the volume is too full', 0, 1000, /its volume is too full.*the next start tries/],
  ['an earlier attempt was interrupted', -1, undefined, /the last attempt was interrupted.*the next start tries/],
] as const)
  test.serial(`a start succeeds with a warning while ${reason}, and the next one removes them`, async (t) => {
    const path = await createEarlierFile(`${reason}.sqlite`, version);
    const { documents, warnings } = await open(path, freeBytes);
    await documents.forTenant('a').collection(things).insert({ name: 'new' });
    await documents.close();
    t.is(warnings.length, 1);
    t.regex(warnings[0] ?? '', expected);
    t.true(hasCanary(path));
    await retriesAtNextStart(t, path);
  });

test.serial('a start succeeds with a warning if the removal fails, and the next one removes them', async (t) => {
  const path = await createEarlierFile('locked.sqlite', 0);
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  const { documents, warnings } = await open(path);
  other.exec('ROLLBACK');
  other.close();
  await documents.forTenant('a').collection(things).insert({ name: 'new' });
  await documents.close();
  t.is(warnings.length, 1);
  t.regex(warnings[0] ?? '', /could not be rewritten/);
  await retriesAtNextStart(t, path);
});

test.serial('the write-ahead log is emptied again after an attempt during which another connection read', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  t.teardown(() => mock.timers.reset());
  const path = join(directory, 'log.sqlite');
  const { documents } = await open(path);
  await documents.forTenant('a').collection(things).insert({ name: canary });
  const reader = new DatabaseSync(path, { readOnly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM sqlite_schema').get();
  const runMinute = async (): Promise<void> => {
    mock.timers.tick(60_000);
    await nextTurn();
  };
  await runMinute();
  t.true(statSync(`${path}-wal`).size > 0);
  reader.exec('ROLLBACK');
  reader.close();
  await runMinute();
  t.is(statSync(`${path}-wal`).size, 0);
  await documents.close();
});
