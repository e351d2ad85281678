/** The columns contract on a ClickHouse server, and what only that has. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { clickhouseColumns } from '../../adapters/columns-clickhouse.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { silent } from '../../schemas/ports/log.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { freePorts } from '../services/ports.ts';
import { startService, startServices } from '../services/services.ts';
import { columnsContract } from './columns.ts';
import { blockOf, countOf, quoted, someTenant, tableNamed } from './columns-harness.ts';
import { landValuesContract } from './land-values.ts';

const database = `columns_${randomUUID().slice(0, 8)}`;
let server: string;
let columns: Columns;

const nativeFrom = async (url: string, select: string): Promise<Uint8Array> => {
  const response = await fetch(url, { method: 'POST', body: `${select} FORMAT Native` });
  if (!response.ok) throw new Error(await response.text());
  return new Uint8Array(await response.arrayBuffer());
};
const native = (select: string): Promise<Uint8Array> => nativeFrom(server, select);

test.before(async (t) => {
  t.timeout(180_000);
  server = (await startServices(['clickhouse'])).url('clickhouse');
  columns = await clickhouseColumns({ url: `${server}/${database}` });
  await migrate(columns, silent);
});

test.after.always(async () => {
  await columns.execute(`DROP DATABASE IF EXISTS ${database}`);
  await columns.close();
});

columnsContract({ name: 'ClickHouse', under: () => ({ columns, native }) });
landValuesContract({ name: 'ClickHouse', under: () => ({ columns }) });

test('ClickHouse: while the server is gone all is unavailable, and the same insert lands once when it is back', async (t) => {
  t.timeout(120_000);
  const directory = mkdtempSync(join(tmpdir(), 'oiq-clickhouse-'));
  const [port = 0] = await freePorts(1);
  const instance = await startService('clickhouse', { port, directory });
  const own = await clickhouseColumns({ url: `${instance.url}/default` });
  t.teardown(async () => {
    await own.close();
    await instance.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  await migrate(own, silent);
  const tenant = someTenant();
  const under = { columns: own, native: (select: string) => nativeFrom(instance.url, select) };
  const block = await blockOf(under, tableNamed('logs'), { tenant_id: quoted(tenant) });
  await own.insert(block, tenant);
  await instance.kill();
  await t.throwsAsync(own.insert(block, tenant), { instanceOf: UnavailableError });
  await t.throwsAsync(own.query('SELECT 1'), { instanceOf: UnavailableError });
  await t.throwsAsync(own.check(), { instanceOf: UnavailableError });
  await instance.start();
  await own.insert(block, tenant);
  t.is(await countOf(under, 'logs', tenant), 100);
});
