/** Receivers and sinks of a cluster, killed at random while a generator sends. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import test from 'ava';
import { killRounds } from '../budget.ts';
import { freePorts } from '../services/ports.ts';
import { eventually } from '../waiting.ts';
import { type Cluster, clusterMissing, startCluster } from './cluster.ts';
import { landWithCrashes } from './crash.ts';
import { type OiqProcess, type Ports, spawnOiq, startOiq } from './oiq-process.ts';
import { Oracle } from './oracle.ts';
import { readBackClickhouse } from './read-back.ts';
import { assertReadBack, between, fetchStoredRows, pace, roundHangMs, waitUntilStored } from './reliability.ts';

const serial = clusterMissing === undefined ? test.serial : test.serial.skip;

let cluster: Cluster;
let directory: string;

test.before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'oiq-cluster-kills-'));
  cluster = await startCluster(directory, { shards: 4 });
});
test.after.always(async () => {
  await cluster?.close();
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

/** Starts a role and kills it during its work, repeatedly; finally leaves it running. */
class Victim {
  readonly #role: string;
  readonly #ports: Ports;
  readonly #survives: (oiq: OiqProcess) => Promise<void>;
  #oiq: OiqProcess | undefined;

  constructor(role: string, ports: Ports, survives: (oiq: OiqProcess) => Promise<void>) {
    this.#role = role;
    this.#ports = ports;
    this.#survives = survives;
  }

  get options() {
    const { environment } = cluster;
    return { args: [this.#role], dataDirectory: join(directory, 'data'), ports: this.#ports, environment };
  }

  async killed(times: number): Promise<void> {
    for (let round = 0; round < times; round++) {
      if (round % 4 === Math.min(times, 4) - 1) {
        this.#oiq = spawnOiq(this.options);
        await delay(between(50, 1500));
      } else {
        this.#oiq = await startOiq(this.options);
        await this.#survives(this.#oiq);
      }
      await this.#oiq.kill();
    }
    this.#oiq = await startOiq(this.options);
  }

  async stop(): Promise<number | null> {
    return (await this.#oiq?.stop()) ?? null;
  }

  async kill(): Promise<void> {
    await this.#oiq?.kill();
  }
}

serial('kill -9 of receivers and sinks at any moment loses and duplicates nothing', async (t) => {
  t.timeout(killRounds * roundHangMs);
  const [a = 0, b = 0, c = 0, ...others] = await freePorts(9);
  const oracle = new Oracle({
    otlp: () => `http://127.0.0.1:${c}`,
    licenseKey: cluster.licenseKey,
    ...pace,
  });
  const receivers = new Victim('receivers', [a, b, c], () => delay(between(100, 3000)));
  // Two members share the kills: partitions of a killed member are reassigned only after its session has expired.
  const members = [others.slice(0, 3), others.slice(3)].map(
    (ports) =>
      new Victim('sinks', ports as unknown as Ports, async ({ http }) => {
        const end = performance.now() + 25_000;
        await eventually(
          'a sink that stores rows',
          async () => performance.now() > end || (await fetchStoredRows(http)) > 0,
        );
        await delay(between(0, 2000));
      }),
  );
  t.teardown(() => Promise.all([receivers, ...members].map((victim) => victim.kill())).then(() => oracle.close()));
  oracle.start();
  const half = Math.ceil(killRounds / 2);
  await Promise.all([receivers.killed(killRounds), ...members.map((member) => member.killed(half))]);
  await oracle.stop();
  await waitUntilStored(cluster.bus);
  for (const victim of [receivers, ...members]) t.is(await victim.stop(), 0);
  assertReadBack(t, oracle, await readBackClickhouse(cluster.columnsUrl, oracle.service));
});

serial('a sink that repeatedly dies between insert and commit lands each record once', async (t) => {
  const oracle = await landWithCrashes(t, cluster, 4);
  assertReadBack(t, oracle, await readBackClickhouse(cluster.columnsUrl, oracle.service));
});
