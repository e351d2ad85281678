import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import type { Log } from '../../schemas/ports/log.ts';

const filesIn = async (directory: string, name: string): Promise<string[]> =>
  (await readdir(directory, { recursive: true }))
    .filter((path) => path.endsWith(`/${name}`) && !path.includes('system'))
    .map((path) => join(directory, path));

test('parts that the engine detaches as broken are reported, and so is a directory that it cannot open', async (t) => {
  const parent = await mkdtemp(join(tmpdir(), 'oiq-columns-damage-'));
  t.teardown(() => rm(parent, { recursive: true, force: true }));
  const [directory, broken, unreadable] = ['whole', 'broken', 'unreadable'].map((name) => join(parent, name)) as [
    string,
    string,
    string,
  ];
  const errors: string[] = [];
  const log: Log = { info() {}, warn() {}, error: (fields, text) => errors.push(`${text} ${JSON.stringify(fields)}`) };
  const columns = await openChdbColumns({ directory, log });
  await columns.execute('CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a');
  await columns.execute('INSERT INTO t SELECT number FROM numbers(1000)');
  await columns.close();
  t.deepEqual(errors, []);

  await cp(directory, broken, { recursive: true });
  for (const path of await filesIn(broken, 'data.bin')) await writeFile(path, 'damaged');
  const again = await openChdbColumns({ directory: broken, log });
  t.deepEqual(await again.query('SELECT count() AS n FROM t'), [{ n: '0' }]);
  await again.close();
  t.is(errors.length, 1);
  t.regex(errors[0] ?? '', /rows are missing/);
  t.true(errors[0]?.includes(`"${broken}/engine/store/`), errors[0]);

  await cp(directory, unreadable, { recursive: true });
  for (const path of await filesIn(unreadable, 't.sql')) await writeFile(path, 'damaged');
  await t.throwsAsync(openChdbColumns({ directory: unreadable, log }), {
    message: new RegExp(`^cannot open the columns in ${unreadable}/engine: `),
  });
});
