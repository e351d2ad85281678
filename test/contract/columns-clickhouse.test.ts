/** The columns contract on a ClickHouse server, and behavior specific to a server. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { openClickhouseColumns } from '../../adapters/columns-clickhouse/columns-clickhouse.ts';
import { maxConnections } from '../../adapters/columns-clickhouse/server.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { test } from '../limit-concurrency.ts';
import { freePorts } from '../services/ports.ts';
import { startService, startServices } from '../services/services.ts';
import { eventually } from '../waiting.ts';
import { columnsContract } from './columns.ts';
import { blockOf, countOf, quoted, someTenant, tableNamed } from './columns-harness.ts';
import { landEmittedContract } from './land-emitted.ts';
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

test.before(async () => {
  server = (await startServices(['clickhouse'])).url('clickhouse');
  columns = await openClickhouseColumns({ urls: [`${server}/${database}`] });
  await migrate(columns, silentLog);
});

test.after.always(async () => {
  await columns.execute(`DROP DATABASE IF EXISTS ${database}`);
  await columns.close();
});

columnsContract({ name: 'ClickHouse', under: () => ({ columns, native }) });
landValuesContract({ name: 'ClickHouse', under: () => ({ columns }) });
landEmittedContract({ name: 'ClickHouse', under: () => ({ columns }) });

/**
 * A load balancer. `breakConnections` makes each open connection respond with 500 from then on, and `cut` closes the
 * clients' side alone: the server goes on with what it began. New ones reach the server. Requests wait for `passes`.
 */
const balancer = async (
  t: ExecutionContext,
  passes: Promise<void> = Promise.resolve(),
): Promise<{ url: string; breakConnections(): void; cut(): void; made(): number; open(): number }> => {
  const target = new URL(server);
  const open = new Set<Socket>();
  const broken = new Set<Socket>();
  const upstreams = new Set<Socket>();
  let created = 0;
  const refusal = 'Code: 999. DB::Exception: the balancer says so.\n';
  const proxy = createServer((socket) => {
    const upstream = connect(Number(target.port), target.hostname);
    upstreams.add(upstream);
    upstream.on('error', () => undefined).on('close', () => socket.destroy());
    upstream.on('data', (part) => broken.has(socket) || socket.write(part));
    socket
      .on('error', () => undefined)
      .on('close', () => {
        open.delete(socket);
        if (!broken.has(socket)) upstream.destroy();
      });
    // A request of the test fits into one chunk. Probes use separate connections, which are not counted.
    let isFirst = true;
    socket.on('data', async (part) => {
      if (isFirst && !part.toString('latin1').startsWith('GET /ping')) {
        created++;
        open.add(socket);
      }
      isFirst = false;
      await passes;
      if (!broken.has(socket)) upstream.write(part);
      else socket.write(`HTTP/1.1 500 Internal Server Error\r\nContent-Length: ${refusal.length}\r\n\r\n${refusal}`);
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.teardown(() => {
    for (const socket of [...open, ...upstreams]) socket.destroy();
    proxy.close();
  });
  const breakConnections = (): void => {
    for (const socket of open) broken.add(socket);
  };
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/${database}`,
    breakConnections,
    cut: () => {
      breakConnections();
      for (const socket of open) socket.destroy();
    },
    made: () => created,
    open: () => open.size,
  };
};

test('ClickHouse: a connection that keeps returning 500 is dropped after a few failures', async (t) => {
  const { url, breakConnections, made } = await balancer(t);
  const own = await openClickhouseColumns({ urls: [url] });
  t.teardown(() => own.close());
  // The check for damaged parts opens a few connections besides the first.
  for (let count = 0; count < 10; count++) await own.check();
  t.true(made() < 5, 'a connection is kept while it is well');
  breakConnections();
  // There is no pause, so the connection is never idle.
  let refused = 0;
  while (
    refused < 20 &&
    (await own.check().then(
      () => false,
      () => true,
    ))
  )
    refused++;
  t.true(refused > 0);
  t.true(refused <= 3, `${refused} requests were refused`);
});

/** A table of one row whose reads the server ends only when `answer` is called. `begun` counts those that it has begun. */
const heldTable = async (t: ExecutionContext): Promise<{ table: string; begun(): number; answer(): void }> => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  let begun = 0;
  const source = createHttpServer(async ({ method }, response) => {
    if (method === 'GET') {
      begun++;
      await answered;
    }
    response.end('1\n');
  });
  source.listen(0, '127.0.0.1');
  await once(source, 'listening');
  t.teardown(() => {
    answer();
    source.close();
  });
  const table = `held_${randomUUID().slice(0, 8)}`;
  const url = `http://127.0.0.1:${(source.address() as AddressInfo).port}/`;
  await columns.execute(`CREATE TABLE ${table} (value UInt8) ENGINE = URL('${url}', 'TSV')`);
  return { table, begun: () => begun, answer };
};

test('ClickHouse: a read whose connection broke is retried while the server still runs the first attempt', async (t) => {
  const { url, cut } = await balancer(t);
  const { table, begun, answer } = await heldTable(t);
  const own = await openClickhouseColumns({ urls: [url] });
  t.teardown(() => own.close());
  const sql = `SELECT value FROM ${table} WHERE {tenant:String} != ''`;
  const reads = [
    own.forTenant(someTenant()).queryNative(sql),
    own.forTenant(someTenant()).query(sql),
    own.query(sql, { tenant: 'any' }),
  ];
  const all = Promise.all(reads);
  await eventually('all of them run', () => begun() === reads.length);
  cut();
  await Promise.race([all, eventually('all of them run twice', () => begun() === 2 * reads.length)]);
  answer();
  await t.notThrowsAsync(all);
});

test('ClickHouse: connections close when they are idle, and no earlier after the abort of a read that waited for a connection', async (t) => {
  const { promise: passes, resolve: pass } = Promise.withResolvers<void>();
  const { url, made, open } = await balancer(t, passes);
  const own = await openClickhouseColumns({ urls: [url] });
  t.teardown(() => own.close());
  const readAll = (seconds: number): Promise<unknown>[] =>
    Array.from({ length: maxConnections }, () => own.query(`SELECT sleep(${seconds})`));
  const first = readAll(1);
  const stop = new AbortController();
  const waiting = own.query('SELECT 1', {}, { signal: stop.signal });
  // Longer than the idle timeout of a connection.
  const second = readAll(3);
  await eventually('every connection is open', () => made() === maxConnections);
  stop.abort(new Error('enough'));
  await t.throwsAsync(waiting, { message: 'enough' });
  pass();
  await Promise.all([...first, ...second]);
  t.is(made(), maxConnections);
  await eventually('those that are idle end', () => open() === 0);
});

test('ClickHouse: while the server is down everything is unavailable, and the same insert lands once when it is back', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-clickhouse-'));
  const [port = 0] = await freePorts(1);
  const instance = await startService('clickhouse', { port, directory });
  const own = await openClickhouseColumns({ urls: [`${instance.url}/default`] });
  t.teardown(async () => {
    await own.close();
    await instance.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  await migrate(own, silentLog);
  const tenant = someTenant();
  const under = { columns: own, native: (select: string) => nativeFrom(instance.url, select) };
  const block = await blockOf(under, tableNamed('logs'), { tenant_id: quoted(tenant) });
  await own.insert(block, tenant);
  await instance.kill();
  await t.throwsAsync(own.insert(block, tenant), { instanceOf: UnavailableError });
  await t.throwsAsync(own.query('SELECT 1'), { instanceOf: UnavailableError });
  await t.throwsAsync(own.check(), { instanceOf: UnavailableError });
  await instance.start();
  // The server is available again with the next probe.
  await eventually('the insert succeeds', () =>
    own.insert(block, tenant).then(
      () => true,
      () => false,
    ),
  );
  t.is(await countOf(under, 'logs', tenant), 100);
});
