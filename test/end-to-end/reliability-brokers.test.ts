/**
 * The cluster form on three brokers. One after the other is killed or hangs while a generator sends. A round affects
 * the leader of most partitions that receive data, or the coordinator of the sinks' group.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import test from 'ava';
import { topics as declared } from '../../schemas/topics.ts';
import { leadersAt } from '../services/kafka-cluster.ts';
import { eventually } from '../waiting.ts';
import { type Cluster, clusterMissing, startCluster, startRole } from './cluster.ts';
import { Oracle } from './oracle.ts';
import { readBackClickhouse } from './read-back.ts';
import { assertReadBack, fetchStoredRows, pace, roundHangMs, waitUntilStored } from './reliability.ts';

const serial = clusterMissing === undefined ? test.serial : test.serial.skip;

const logs = declared.logs.name;

/** Two rounds cover both ways once; `TEST_BROKER_ROUNDS=12` for a long run. */
const rounds = Number(process.env['TEST_BROKER_ROUNDS'] ?? 2);

let cluster: Cluster;
let directory: string;

test.before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'oiq-brokers-'));
  cluster = await startCluster(directory, { shards: 6, brokers: 3 });
});
test.after.always(async () => {
  await cluster?.close();
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

serial('when brokers of three are killed or hang, one after the other, nothing is lost or duplicated', async (t) => {
  t.timeout(rounds * roundHangMs);
  const [receivers, sinks] = await Promise.all([startRole(cluster, 'receivers'), startRole(cluster, 'sinks')]);
  t.teardown(() => Promise.all([receivers, sinks].map((role) => role.kill())));
  const { licenseKey } = cluster;
  const oracle = new Oracle({ otlp: () => receivers.otlp, licenseKey, ...pace });
  t.teardown(() => oracle.close());
  oracle.start();
  await eventually('a sink that stores rows', async () => (await fetchStoredRows(sinks.http)) > 0);

  const acknowledgedAgain = (): Promise<void> => {
    oracle.responses({ reset: true });
    return eventually('acknowledgements', () => (oracle.responses().get('200') ?? 0) > 50);
  };

  for (let round = 0; round < rounds; round++) {
    const [contactBroker] = cluster.brokers;
    if (contactBroker === undefined) throw new Error('a cluster has a broker');
    const struck = (await leadersAt(contactBroker, logs))[round % 6] ?? 1;
    const broker = cluster.brokers[struck - 1];
    const other = cluster.brokers[struck % cluster.brokers.length];
    if (broker === undefined || other === undefined) throw new Error(`there is no broker ${struck}`);
    const began = performance.now();
    if (round % 2 === 0) await broker.kill();
    else await broker.hang();
    try {
      await eventually('other leaders', async () =>
        (await leadersAt(other, logs).catch(() => [struck])).every((leader) => leader !== struck),
      );
      await acknowledgedAgain();
      t.log(
        `round ${round}: acknowledgements ${((performance.now() - began) / 1000).toFixed(1)} s after broker ${struck}`,
      );
      const landed = await fetchStoredRows(sinks.http);
      await eventually('further rows are stored', async () => (await fetchStoredRows(sinks.http)) > landed);
    } finally {
      if (round % 2 === 0) await broker.start();
      else broker.resume();
    }
    await acknowledgedAgain();
    await delay(1000);
  }
  await oracle.stop();
  await waitUntilStored(cluster.bus);
  for (const role of [receivers, sinks]) t.is(await role.stop(), 0, role.output());
  assertReadBack(t, oracle, await readBackClickhouse(cluster.columnsUrl, oracle.service));
});
