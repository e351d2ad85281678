/** A cluster whose servers stop and return, and whose members join and leave, while a generator sends. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { killRounds, outageMs } from '../budget.ts';
import { eventually } from '../waiting.ts';
import { type Cluster, clusterMissing, startCluster, startRole } from './cluster.ts';
import { deadLetterCommand } from './dead-letter-command.ts';
import type { OiqProcess } from './oiq-process.ts';
import { Oracle } from './oracle.ts';
import { assertPoisonReadBack, handlePoison, publishPoison } from './poison.ts';
import { readBackClickhouse } from './read-back.ts';
import { assertReadBack, between, fetchStoredRows, lagOf, pace, roundHangMs, waitUntilStored } from './reliability.ts';

const serial = clusterMissing === undefined ? test.serial : test.serial.skip;

let cluster: Cluster;
let directory: string;
/** These processes run through all outages: nothing may require their restart. */
let receivers: OiqProcess;
let sinks: OiqProcess;

test.before(async () => {
  if (clusterMissing !== undefined) return;
  directory = await mkdtemp(join(tmpdir(), 'oiq-outages-'));
  cluster = await startCluster(directory, { shards: 8 });
  [receivers, sinks] = await Promise.all([startRole(cluster, 'receivers'), startRole(cluster, 'sinks')]);
});
test.after.always(async () => {
  await Promise.all([receivers, sinks].map((role) => role?.kill()));
  await cluster?.close();
  if (directory === undefined) return;
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

const startLoad = (t: ExecutionContext): Oracle => {
  const { licenseKey } = cluster;
  const oracle = new Oracle({ otlp: () => receivers.otlp, licenseKey, ...pace });
  t.teardown(() => oracle.close());
  oracle.start();
  return oracle;
};

/** Stops the load, waits until all of it is stored, and compares. */
const settle = async (t: ExecutionContext, oracle: Oracle): Promise<void> => {
  await oracle.stop();
  await waitUntilStored(cluster.bus);
  assertReadBack(t, oracle, await readBackClickhouse(cluster.columnsUrl, oracle.service));
};

const readiness = async ({ http }: OiqProcess): Promise<number> => (await fetch(`${http}/readyz`)).status;

for (const how of ['stop', 'kill'] as const)
  serial(
    `the broker goes down (${how}) and comes back: 503 with Retry-After meanwhile, and recovery without a restart`,
    async (t) => {
      const oracle = startLoad(t);
      await eventually('acknowledgements before the outage', () => (oracle.responses().get('200') ?? 0) > 20);
      await cluster.kafka[how]();
      // Before the outage all requests were acknowledged. Only later responses count.
      oracle.responses({ reset: true });
      await eventually('responses during the outage', () => (oracle.responses().get('503 retry-after') ?? 0) > 20);
      await delay(5000);
      const meanwhile = oracle.responses({ reset: true });
      const acceptable = new Set(['200', '503 retry-after']);
      t.deepEqual(
        [...meanwhile.keys()].filter((response) => !acceptable.has(response)),
        [],
        JSON.stringify([...meanwhile]),
      );
      await cluster.kafka.start();
      await eventually('acknowledgements after the outage', () => (oracle.responses().get('200') ?? 0) > 100);
      await settle(t, oracle);
    },
  );

serial('after a long ClickHouse outage the lag drains, and nothing is lost or duplicated', async (t) => {
  const before = await fetchStoredRows(sinks.http);
  const oracle = startLoad(t);
  await eventually('a sink that stores rows', async () => (await fetchStoredRows(sinks.http)) > before);
  await cluster.clickhouse.kill();
  await delay(outageMs);
  t.true((await lagOf(cluster.bus, 'sinks.logs')) > 0);
  await eventually('sinks that are not ready', async () => (await readiness(sinks)) === 503);
  await eventually('receivers that are ready', async () => (await readiness(receivers)) === 200);
  await cluster.clickhouse.start();
  await settle(t, oracle);
  t.deepEqual([...oracle.responses().keys()], ['200'], 'receivers do not depend on ClickHouse');
});

serial('cluster: 999 of 1,000 messages land and the poison message is one dead letter', async (t) => {
  await publishPoison(cluster.bus);
  await waitUntilStored(cluster.bus);
  await handlePoison(t, deadLetterCommand(t, cluster.environment));
  await waitUntilStored(cluster.bus);
  assertPoisonReadBack(t, await readBackClickhouse(cluster.columnsUrl, 'poison'));
});

serial('two sink members join and leave under load, even by kill -9: nothing is lost or duplicated', async (t) => {
  const times = Math.max(3, Math.ceil(killRounds / 3));
  t.timeout(times * roundHangMs);
  const members = [sinks, await startRole(cluster, 'sinks')];
  t.teardown(() => Promise.all(members.map((member) => member.kill())));
  const oracle = startLoad(t);
  for (let round = 0; round < times; round++) {
    await delay(between(1000, 5000));
    const leaving = members.shift();
    if (round % 3 === 2) await leaving?.kill();
    else t.is(await leaving?.stop(), 0, leaving?.output());
    await delay(between(0, 2000));
    members.push(await startRole(cluster, 'sinks'));
  }
  await settle(t, oracle);
  for (const role of [receivers, ...members]) t.is(await role.stop(), 0, role.output());
});
