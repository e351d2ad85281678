/** The columns contract in process, and behavior specific to chDB. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Session } from 'chdb';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { test } from '../limit-concurrency.ts';
import { columnsContract } from './columns.ts';
import { blockOf, countOf, quoted, someTenant, tableNamed } from './columns-harness.ts';
import { landEmittedContract } from './land-emitted.ts';
import { landValuesContract } from './land-values.ts';

const directory = mkdtempSync(join(tmpdir(), 'oiq-columns-'));
const memory = mkdtempSync(join(tmpdir(), 'oiq-memory-'));
let columns: Columns;
let session: Session;

const native = async (select: string): Promise<Uint8Array> =>
  (await session.queryAsync(select, { format: 'Native' })).bytes();

test.before(async () => {
  columns = await openChdbColumns({ directory, temporaryDirectory: memory });
  session = new Session(join(directory, 'engine'));
  await migrate(columns, silentLog);
});

test.after.always(async () => {
  session.close();
  await columns.close();
  for (const path of [directory, memory]) rmSync(path, { recursive: true, force: true });
});

columnsContract({ name: 'chDB', under: () => ({ columns, native }) });
landValuesContract({ name: 'chDB', under: () => ({ columns }) });
landEmittedContract({ name: 'chDB', under: () => ({ columns }) });

test('chDB: a long query blocks neither inserts nor other queries', async (t) => {
  const stop = new AbortController();
  const long = columns.query('SELECT sum(sipHash64(number)) FROM numbers(1000000000000)', {}, { signal: stop.signal });
  const tenant = someTenant();
  await columns.insert(await blockOf({ columns, native }, tableNamed('logs'), { tenant_id: quoted(tenant) }), tenant);
  t.is(await countOf({ columns, native }, 'logs', tenant), 100);
  stop.abort(new Error('enough'));
  await t.throwsAsync(long, { message: 'enough' });
});

for (const { title, table, name, value } of [
  {
    title: 'buffers of columns begin small',
    table: 'merge_tree_settings',
    name: 'min_columns_to_activate_adaptive_write_buffer',
    value: '1',
  },
  {
    title: 'threads that ran at the same time once do not stay, with three open files each',
    table: 'server_settings',
    name: 'max_thread_pool_free_size',
    value: '16',
  },
  {
    title: 'memory of other processes in the same control group does not count',
    table: 'server_settings',
    name: 'memory_worker_use_cgroup',
    value: '0',
  },
])
  test(`chDB: ${title}`, async (t) => {
    t.deepEqual(await columns.query(`SELECT value FROM system.${table} WHERE name = '${name}'`), [{ value }]);
  });

test('chDB: a read uses all threads that it may use, even if the engine has little memory', async (t) => {
  const plan = await columns.query<{ explain: string }>(
    'EXPLAIN PIPELINE SELECT sum(number) FROM numbers_mt(100000000) SETTINGS max_threads = 2',
  );
  t.regex(plan.map(({ explain }) => explain).join('\n'), /AggregatingTransform × 2/);
});

/** Runs a script in a separate process with `input` on its standard input, and returns its output. */
const inProcess = (script: string, input = ''): Promise<string> =>
  new Promise((resolve, reject) => {
    const args = ['--disable-warning=ExperimentalWarning', '--input-type=module-typescript', '-e', script];
    const cwd = join(import.meta.dirname, '..', '..');
    const child = execFile(process.execPath, args, { cwd }, (error, stdout) =>
      error === null ? resolve(stdout.trim()) : reject(error),
    );
    child.stdin?.end(input);
  });

const opening = (path: string): string => `
  import { openChdbColumns } from './adapters/columns-chdb/columns-chdb.ts';
  const columns = await openChdbColumns({ directory: ${JSON.stringify(path)}, temporaryDirectory: ${JSON.stringify(join(path, 'memory'))} }).catch((error) => { console.log(error.name, error.message); process.exit(0); });`;

test('chDB: small reads keep their decompressed data until the process is idle', async (t) => {
  const path = mkdtempSync(join(tmpdir(), 'oiq-cache-'));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  const output = await inProcess(`${opening(path)}
    import { mock } from 'node:test';
    import { setTimeout as sleep } from 'node:timers/promises';
    import { collectWhenIdle } from './runtime/idle-memory.ts';
    await columns.execute('CREATE TABLE t (x UInt64) ENGINE = MergeTree ORDER BY x');
    await columns.execute('INSERT INTO t SELECT number FROM numbers(500000)');
    const kept = async () => Number((await columns.query("SELECT value FROM system.metrics WHERE metric = 'UncompressedCacheBytes'"))[0].value);
    const hits = async () => Number((await columns.query("SELECT value FROM system.events WHERE event = 'UncompressedCacheHits'"))[0]?.value ?? 0);
    await columns.query('SELECT sum(x) FROM t');
    const ofMuch = await kept();
    const small = () => columns.query('SELECT x FROM t WHERE x = 77');
    await small();
    const ofLittle = await kept();
    const before = await hits();
    await small();
    const again = await hits();
    mock.timers.enable({ apis: ['setInterval'] });
    const stop = collectWhenIdle(() => true);
    mock.timers.tick(15_000);
    while ((await kept()) > 0) await sleep(10);
    stop();
    console.log(JSON.stringify([ofMuch, ofLittle > 0, again > before]));
    await columns.close();`);
  t.is(output, '[0,true,true]');
});

test('chDB: a directory that another process uses is refused with a remedy', async (t) => {
  const output = await inProcess(opening(directory));
  t.regex(output, new RegExp(`^UnavailableError .*process ${process.pid} uses it: stop that process`));
});

test('chDB: files of a crashed process are removed, and its rows remain', async (t) => {
  const path = mkdtempSync(join(tmpdir(), 'oiq-crash-'));
  mkdirSync(join(path, 'memory'));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  await inProcess(`${opening(path)}
    await columns.execute('CREATE TABLE t (x UInt8) ENGINE = MergeTree ORDER BY x');
    await columns.execute('INSERT INTO t VALUES (7)');
    const { NativeFiles } = await import('./adapters/columns-chdb/native-files.ts');
    await new NativeFiles(${JSON.stringify(path)}, ${JSON.stringify(join(path, 'memory'))}).withFile([Buffer.from('x')], () =>
      process.kill(process.pid, 'SIGKILL'));`).catch(() => {});
  t.is(readdirSync(join(path, 'memory')).length, 1);
  const other = join(path, 'memory', 'oiq-blocks-of-another-data-directory');
  writeFileSync(other, 'x');
  const output = await inProcess(`${opening(path)}
    console.log(JSON.stringify(await columns.query('SELECT x FROM t')));
    await columns.close();`);
  t.is(output, '[{"x":7}]');
  t.deepEqual(readdirSync(join(path, 'memory')), [basename(other)]);
});

test('chDB: data on standard input does not get into the tables', async (t) => {
  const path = mkdtempSync(join(tmpdir(), 'oiq-input-'));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  const script = `${opening(path)}
    import { migrate } from './sinks/migrations/index.ts';
    import { silentLog } from './schemas/ports/log.ts';
    const applied = await migrate(columns, silentLog);
    const [{ rows }] = await columns.query('SELECT count() AS rows FROM schema_migrations');
    console.log(applied - Number(rows));
    await columns.close();`;
  t.is(await inProcess(script, "(99, 'from outside', now64(3))"), '0');
});
