import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { createRedisCounters } from '../../adapters/counters-redis.ts';
import type { Counters } from '../../schemas/ports/counters.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { freePorts } from '../services/ports.ts';
import { startService, startServices, unavailable } from '../services/services.ts';
import { eventually } from '../waiting.ts';
import { countersContract, freshKey, whileShared } from './counters.ts';

const reason = unavailable('redis');
if (reason !== undefined) test.skip(`redis: ${reason}`, () => undefined);
else suites();

function suites(): void {
  const prefix = `oiq-test-${process.pid}-${Date.now()}:`;
  const pass = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  const urls = startServices(['redis']).then((services) => services.url('redis'));
  const open = async (skewMs = 0) => {
    let isAlone = false;
    const log = {
      ...silentLog,
      warn: () => {
        isAlone = true;
      },
    };
    const counters = createRedisCounters({ url: await urls, prefix, clock: { now: () => Date.now() + skewMs }, log });
    await eventually('redis answers', () => !counters.isDegraded());
    return { counters, pass, wasAlone: () => isAlone };
  };

  countersContract('redis', () => open());

  /** Guarantees of instances that share their state. */
  const share = async (t: ExecutionContext, instances: readonly Counters[]): Promise<void> => {
    const key = freshKey();
    const grants = await Promise.all(
      Array.from({ length: 90 }, (_, n) => instances[n % 3]?.consume(key, { rate: 0.01, burst: 20 }, 1)),
    );
    t.is(
      grants.reduce((sum, response) => sum + (response?.granted ?? 0), 0),
      20,
    );
    const spent = await Promise.all(
      Array.from({ length: 90 }, (_, n) => instances[n % 3]?.spend(key, 30, 86_400_000, 1)),
    );
    t.is(
      spent.reduce((sum, response) => sum + (response?.granted ?? 0), 0),
      30,
    );
    await instances[0]?.setCached(key, 'v', 5000);
    t.is(await instances[2]?.getCached(key), 'v');
  };

  test('redis: instances share one bucket, one window and one cache, regardless of their clocks', async (t) => {
    let wasAlone = false;
    const attempt = async (tried: ExecutionContext): Promise<void> => {
      const opened = await Promise.all([0, 3_600_000, -3_600_000].map(open));
      const instances = opened.map(({ counters }) => counters);
      try {
        await share(tried, instances);
      } finally {
        wasAlone = opened.some((each) => each.wasAlone());
        await Promise.all(instances.map((counters) => counters.close()));
      }
    };
    await whileShared(t, attempt, () => wasAlone);
  });

  test('redis: without a server, limits apply per instance from the first call', async (t) => {
    const logLines: string[] = [];
    const levels: number[] = [];
    const log = {
      ...silentLog,
      warn: (fields: object, message: string) => void logLines.push(`${message} ${JSON.stringify(fields)}`),
    };
    const metrics = { set: (_: unknown, value: number) => void levels.push(value) };
    const [port] = await freePorts(1);
    const counters = createRedisCounters({ url: `redis://127.0.0.1:${port}`, prefix, log, metrics });
    t.true(counters.isDegraded());
    t.deepEqual(levels, [1]);
    await eventually('it is told', () => logLines.length > 0);
    t.regex(logLines.join(), /^redis does not answer: limits count per instance .*ECONNREFUSED/);
    const grants = await Promise.all(
      Array.from({ length: 50 }, () => counters.consume('k', { rate: 0.01, burst: 10 }, 1)),
    );
    t.is(
      grants.reduce((sum, { granted }) => sum + granted, 0),
      10,
    );
    t.is((await counters.spend('k', 3, 86_400_000, 5)).granted, 3);
    await counters.setCached('k', 'v', 5000);
    t.is(await counters.getCached('k'), 'v');
    t.is(logLines.length, 1);
    await counters.close();
  });

  test('redis: while the server is killed or hangs, calls are counted locally without delay; afterwards across instances again, without a restart', async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'oiq-redis-'));
    const [port = 0] = await freePorts(1);
    const server = await startService('redis', { port, directory });
    const logLines: string[] = [];
    const log = {
      info: (_: unknown, message: string) => void logLines.push(message),
      warn: (_: unknown, message: string) => void logLines.push(message),
      error: (_: unknown, message: string) => void logLines.push(message),
    };
    let level = Number.NaN;
    const metrics = {
      set: (_: unknown, value: number): void => {
        level = value;
      },
    };
    const counters = createRedisCounters({ url: server.url, prefix, log, metrics });
    try {
      await eventually('redis answers', () => !counters.isDegraded());
      const outages = [
        { off: () => server.kill(), on: () => server.start() },
        { off: () => server.hang(), on: async () => server.resume() },
      ];
      for (const { off, on } of outages) {
        let key = '';
        const bucket = { rate: 0.01, burst: 10 };
        await eventually('some are taken across instances', async () => {
          key = freshKey();
          t.is((await counters.consume(key, bucket, 4)).granted, 4);
          return !counters.isDegraded();
        });
        await off();
        // Calls that may still reach Redis, in several iterations of the event loop.
        const first = await Promise.all(Array.from({ length: 5 }, () => counters.consume(key, bucket, 1)));
        t.true(counters.isDegraded());
        t.is(level, 1);
        const grants = await Promise.all(Array.from({ length: 1000 }, () => counters.consume(key, bucket, 1)));
        t.is(
          [...first, ...grants].reduce((sum, { granted }) => sum + granted, 0),
          10,
        );
        await on();
        await eventually('counts are shared again', () => !counters.isDegraded());
        t.is(level, 0);
        const after = freshKey();
        t.is((await counters.consume(after, bucket, 20)).granted, 10);
      }
      // Each change is logged once; a busy machine may cause more changes.
      t.true(logLines.length >= 5, logLines.join('; '));
      t.deepEqual(
        logLines,
        logLines.map((_, index) => logLines[index % 2]),
      );
      t.not(logLines[0], logLines[1]);
    } finally {
      await counters.close();
      await server.kill();
      rmSync(directory, { recursive: true, force: true });
    }
  });
}
