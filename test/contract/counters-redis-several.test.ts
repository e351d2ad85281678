/** Counters on several real Redis servers: a cluster, and servers managed by Sentinel. One of them dies. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { Redis } from 'ioredis';
import { createRedisCounters } from '../../adapters/counters-redis.ts';
import type { Counters } from '../../schemas/ports/counters.ts';
import { freePorts } from '../services/ports.ts';
import { type Instance, startService, unavailable } from '../services/services.ts';
import { eventually } from '../waiting.ts';
import { freshKey } from './counters.ts';

const serial = unavailable('redis') === undefined ? test.serial : test.serial.skip;
const password = 'se/cr@t:1';
const login = encodeURIComponent(password);
const bucket = { rate: 0.01, burst: 10 };

const startIn = async (
  t: ExecutionContext,
  parts: readonly { readonly port: number; readonly file: string; readonly text: string }[],
): Promise<readonly Instance[]> => {
  const directory = await mkdtemp(join(tmpdir(), 'oiq-redis-several-'));
  const started: Instance[] = [];
  t.teardown(async () => {
    await Promise.all(started.map((each) => each.kill()));
    await rm(directory, { recursive: true, force: true });
  });
  for (const { port, file, text } of parts) {
    const place = join(directory, String(port));
    await mkdir(place);
    await writeFile(join(place, file), text);
    started.push(await startService('redis', { port, directory: place }));
  }
  return started;
};

const command = async (port: number, ...words: readonly (string | number)[]): Promise<unknown> => {
  const client = new Redis({ port, host: '127.0.0.1', password });
  try {
    const [name = '', ...rest] = words;
    return await client.call(String(name), ...rest);
  } finally {
    client.disconnect();
  }
};

const open = (t: ExecutionContext, url: string, logLines: string[] = []): Counters => {
  const log = (fields: object, message: string) => void logLines.push(`${message} ${JSON.stringify(fields)}`);
  const counters = createRedisCounters({ url, prefix: 'test:', log: { info: log, warn: log, error: log } });
  t.teardown(() => counters.close());
  return counters;
};

const shared = (instances: readonly Counters[]): Promise<void> =>
  eventually('Redis answers', () => instances.every((each) => !each.isDegraded()));

/** Instances take 30 from a bucket of 10, again until none was local meanwhile: they got 10 in total. */
const takeAcrossInstances = async (t: ExecutionContext, instances: readonly Counters[]): Promise<void> => {
  let granted = 0;
  await eventually('some are taken across instances', async () => {
    await shared(instances);
    const key = freshKey();
    const grants = await Promise.all(Array.from({ length: 30 }, (_, n) => instances[n % 2]?.consume(key, bucket, 1)));
    granted = grants.reduce((sum, response) => sum + (response?.granted ?? 0), 0);
    return instances.every((each) => !each.isDegraded());
  });
  t.is(granted, 10);
};

/** Slots of a cluster of three; the last slots are on another server than the first. */
const ranges = [
  [0, 5460],
  [5461, 10_922],
  [10_923, 16_383],
] as const;

const startCluster = async (t: ExecutionContext) => {
  const ports = await freePorts(6);
  const nodes = ranges.map(([from, to], index) => ({
    from,
    to,
    port: ports[2 * index] ?? 0,
    bus: ports[2 * index + 1] ?? 0,
  }));
  const servers = await startIn(
    t,
    nodes.map(({ port, bus }) => ({
      port,
      file: 'more.conf',
      // The cluster continues without one of its servers: only those slots fail.
      text: `cluster-enabled yes\ncluster-port ${bus}\ncluster-node-timeout 2000\ncluster-require-full-coverage no\nrequirepass ${password}\nmasterauth ${password}\n`,
    })),
  );
  const [first] = nodes;
  for (const { port, bus, from, to } of nodes) {
    await command(port, 'CLUSTER', 'ADDSLOTSRANGE', from, to);
    if (port !== first?.port) await command(first?.port ?? 0, 'CLUSTER', 'MEET', '127.0.0.1', port, bus);
  }
  await eventually('the cluster is one', async () => {
    const infos = await Promise.all(nodes.map(({ port }) => command(port, 'CLUSTER', 'INFO')));
    return infos.every((info) => String(info).includes('cluster_slots_ok:16384'));
  });
  const url = `redis-cluster://:${login}@${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
  return { servers, url };
};

serial('cluster: instances share buckets on all servers, whichever servers they were configured with', async (t) => {
  const { servers, url } = await startCluster(t);
  const [one, two] = [open(t, url), open(t, url.replace(/,.*/, ''))];
  for (let round = 0; round < 20; round++) await takeAcrossInstances(t, [one, two]);
  const sizes = await Promise.all(servers.map(({ url: each }) => command(Number(new URL(each).port), 'DBSIZE')));
  t.true(
    sizes.every((size) => Number(size) > 0),
    JSON.stringify(sizes),
  );
  t.deepEqual((await one.spend('w', 3, 86_400_000, 5)).granted, 3);
  await one.setCached('c', 'v', 60_000);
  t.is(await two.getCached('c'), 'v');
});

serial(
  'cluster: the failure of one server is reported once, and counts are shared again when it is back',
  async (t) => {
    const { servers, url } = await startCluster(t);
    const logLines: string[] = [];
    const counters = open(t, url, logLines);
    await shared([counters]);
    const takeMany = () => Promise.all(Array.from({ length: 50 }, () => counters.consume(freshKey(), bucket, 20)));
    // Repeated, because a client that loses its state does so only in some failures.
    for (let failure = 0; failure < 4; failure++) {
      await servers[failure % 3]?.kill();
      await eventually('a call meets the dead one', async () => {
        for (const { granted } of await takeMany()) t.is(granted, 10);
        return counters.isDegraded();
      });
      // Other servers still respond, but Redis is not reported as available before this server responds.
      const before = logLines.length;
      for (let round = 0; round < 20; round++) {
        await takeMany();
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      t.deepEqual(logLines.slice(before), []);
      await servers[failure % 3]?.start();
      await takeAcrossInstances(t, [counters, counters]);
    }
  },
);

serial(
  'sentinel: a server that dies or hangs is replaced, and counts are shared again without a restart',
  async (t) => {
    const [main = 0, replica = 0, sentinel = 0] = await freePorts(3);
    const server = `requirepass ${password}\nmasterauth ${password}\nrepl-diskless-sync-delay 0\n`;
    const [first, second] = await startIn(t, [
      { port: main, file: 'more.conf', text: server },
      { port: replica, file: 'more.conf', text: `${server}replicaof 127.0.0.1 ${main}\n` },
      {
        port: sentinel,
        file: 'sentinel.conf',
        text: `sentinel monitor limits 127.0.0.1 ${main} 1\nsentinel auth-pass limits ${password}\nsentinel down-after-milliseconds limits 1000\nsentinel failover-timeout limits 3000\nsentinel resolve-hostnames no\n`,
      },
    ]);
    const knows = (count: number) =>
      eventually('the sentinel knows the replica', async () => {
        const client = new Redis({ port: sentinel, host: '127.0.0.1' });
        const found = (await client.call('SENTINEL', 'REPLICAS', 'limits')) as unknown[];
        client.disconnect();
        return found.length === count && String(await command(replica, 'ROLE')).includes('connected');
      });
    await knows(1);
    const url = `redis-sentinel://:${login}@127.0.0.1:${sentinel}/limits`;
    const instances = [open(t, url), open(t, url)];
    await takeAcrossInstances(t, instances);
    await first?.hang();
    // Until the replica is promoted, each call is counted locally without delay.
    t.is((await instances[0]?.consume(freshKey(), bucket, 20))?.granted, 10);
    await eventually('the other is asked', async () => {
      await instances[0]?.consume('moved', bucket, 1);
      return (
        String(await command(replica, 'ROLE')).startsWith('master') && instances.every((each) => !each.isDegraded())
      );
    });
    await takeAcrossInstances(t, instances);
    first?.resume();
    await eventually('the first follows', async () => String(await command(main, 'ROLE')).includes('connected'));
    await second?.kill();
    await eventually('the first is asked again', async () => {
      await instances[0]?.consume('moved', bucket, 1);
      return String(await command(main, 'ROLE')).startsWith('master') && instances.every((each) => !each.isDegraded());
    });
    await takeAcrossInstances(t, instances);
  },
);
