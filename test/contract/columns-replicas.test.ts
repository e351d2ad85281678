/**
 * Use of the replicas of a shard: when one dies, loses responses or hangs, another replaces it within seconds, repeated
 * writes count once, and it is used again when it is back. Two addresses of one server represent two replicas.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { openClickhouseColumns } from '../../adapters/columns-clickhouse/columns-clickhouse.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { clusterFile } from '../services/clickhouse.ts';
import { freePorts } from '../services/ports.ts';
import { type Instance, startService, unavailable } from '../services/services.ts';
import { eventually } from '../waiting.ts';
import { blockOf, countOf, quoted, someTenant, tableNamed } from './columns-harness.ts';

const directory = mkdtempSync(join(tmpdir(), 'oiq-replicas-'));
const cluster = 'twins';
let server: Instance;

const native = async (select: string): Promise<Uint8Array> => {
  const response = await fetch(server.url, { method: 'POST', body: `${select} FORMAT Native` });
  return new Uint8Array(await response.arrayBuffer());
};

type Behaviour = 'serves' | 'refuses' | 'loses answers' | 'hangs';

/** An address of the server with configurable behavior, which also applies to open connections. */
const replica = async (t: ExecutionContext) => {
  const target = new URL(server.url);
  const open = new Set<Socket>();
  /** Requests received while it hangs. */
  const unanswered = new Set<Socket>();
  let behaviour: Behaviour = 'serves';
  let requests = 0;
  let settings = new URLSearchParams();
  const proxy = createServer((socket) => {
    if (behaviour === 'refuses') return void socket.destroy();
    const upstream = connect(Number(target.port), target.hostname);
    for (const one of [socket, upstream]) {
      open.add(one);
      one.on('error', () => undefined).on('close', () => open.delete(one));
    }
    socket.on('close', () => {
      unanswered.delete(socket);
      upstream.destroy();
    });
    upstream.on('close', () => behaviour !== 'hangs' && socket.destroy());
    socket.on('data', (part) => {
      requests++;
      const insert = /^POST \/\?(\S*insert_deduplication_token\S*)/.exec(part.toString('latin1'))?.[1];
      if (insert !== undefined) settings = new URLSearchParams(insert);
      if (behaviour === 'hangs') unanswered.add(socket);
      else upstream.write(part);
    });
    upstream.on('data', (part) => {
      if (behaviour === 'loses answers') socket.destroy();
      else if (behaviour === 'serves') socket.write(part);
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  t.teardown(() => {
    cut();
    proxy.close();
  });
  return {
    host: `127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    requests: () => requests,
    unanswered: () => unanswered.size,
    /** Settings of the last batch. */
    settings: () => settings,
    becomes: (next: Behaviour) => {
      behaviour = next;
      if (next === 'refuses') cut();
    },
  };
};

const reason = unavailable('clickhouse');
if (reason === undefined) {
  test.before(async () => {
    const [port = 0, tcpPort] = await freePorts(2);
    const address = (host: string): string => `<replica><host>${host}</host><port>${tcpPort}</port></replica>`;
    writeFileSync(
      join(directory, clusterFile),
      `<clickhouse><tcp_port>${tcpPort}</tcp_port><remote_servers><${cluster}><shard><internal_replication>true</internal_replication>
  ${address('127.0.0.1')}${address('localhost')}</shard></${cluster}></remote_servers></clickhouse>\n`,
    );
    server = await startService('clickhouse', { port, directory });
  });
  test.after.always(async () => {
    await server?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  for (const trouble of ['refuses', 'loses answers', 'hangs'] as const)
    test.serial(
      `a replica that ${trouble} during writes and reads is bypassed: nothing is lost or duplicated, and it is used again`,
      async (t) => {
        const [first, second] = [await replica(t), await replica(t)];
        const urls = [first, second].map(({ host }) => `http://${host}/oiq`);
        const columns = await openClickhouseColumns({ urls, cluster });
        t.teardown(() => columns.close());
        await migrate(columns, silentLog);
        const tenant = someTenant();
        const block = await blockOf({ columns, native }, tableNamed('logs'), { tenant_id: quoted(tenant) });
        let [landed, ends, refused] = [0, false, 0];
        const write = async (): Promise<void> => {
          for (let batch = 0; !ends; batch++) {
            const deliver = (): Promise<void> => columns.insert(block, `${tenant}:${batch}`, 0, [tenant]);
            // Retried until it is acknowledged, as a sink does.
            for (let isLanded = false; !isLanded; ) {
              try {
                await deliver();
                isLanded = true;
              } catch (error) {
                if (!(error instanceof UnavailableError)) throw error;
                refused++;
                await delay(100);
              }
            }
            landed += 100;
            await delay(20);
          }
        };
        const read = async (): Promise<void> => {
          while (!ends) {
            const minRows = landed;
            const rows = await countOf({ columns, native }, 'logs', tenant);
            t.true(rows >= minRows && rows <= landed + 100, `${minRows} <= ${rows} <= ${landed} and a batch`);
            await delay(20);
          }
        };
        const atWork = Promise.all([write(), read()]);
        atWork.catch(() => {
          ends = true;
        });
        const lands = (batches: number): Promise<unknown> => {
          const upTo = landed + batches * 100;
          return Promise.race([eventually('batches land', () => landed >= upTo), atWork]);
        };
        await lands(3);
        first.becomes(trouble);
        await lands(5);
        if (trouble === 'hangs') t.true(first.unanswered() > 0, 'nobody waited for what it was asked');
        first.becomes('serves');
        const before = first.requests();
        await Promise.race([eventually('it is used again', () => first.requests() > before + 20), atWork]);
        await lands(3);
        ends = true;
        await atWork;
        t.is(refused, 0, 'the other replica takes what the first one does not');
        t.is(await countOf({ columns, native }, 'logs', tenant), landed);
      },
    );

  test.serial('batches request the configured quorum, by default none, and deduplication in views', async (t) => {
    for (const insertQuorum of [undefined, 2, 'auto'] as const) {
      const { host, settings } = await replica(t);
      const columns = await openClickhouseColumns({ urls: [`http://${host}/oiq`], cluster, insertQuorum });
      t.teardown(() => columns.close());
      await migrate(columns, silentLog);
      const tenant = someTenant();
      const block = await blockOf({ columns, native }, tableNamed('logs'), { tenant_id: quoted(tenant) });
      await columns.insert(block, randomUUID(), 0, [tenant]);
      t.is(settings().get('insert_quorum'), insertQuorum?.toString() ?? null);
      t.is(settings().get('deduplicate_blocks_in_dependent_materialized_views'), '1');
    }
  });

  test.serial('while no replica responds everything is unavailable', async (t) => {
    const replicas = [await replica(t), await replica(t)];
    const urls = replicas.map(({ host }) => `http://${host}/oiq`);
    const columns = await openClickhouseColumns({ urls, cluster });
    t.teardown(() => columns.close());
    await migrate(columns, silentLog);
    for (const { becomes } of replicas) becomes('refuses');
    await t.throwsAsync(columns.query('SELECT 1'), { instanceOf: UnavailableError });
    const tenant = someTenant();
    const block = await blockOf({ columns, native }, tableNamed('logs'), { tenant_id: quoted(tenant) });
    const token = randomUUID();
    await t.throwsAsync(columns.insert(block, token, 0, [tenant]), { instanceOf: UnavailableError });
    replicas[1]?.becomes('serves');
    await columns.insert(block, token, 0, [tenant]);
    t.is(await countOf({ columns, native }, 'logs', tenant), 100);
  });
} else test.skip(`replicas: ${reason}`, () => undefined);
