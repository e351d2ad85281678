/** Manifests of the chart as processes on real stores: install, upgrade and rollback under load lose no records. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { stringify } from 'yaml';
import { type Manifest, render } from '../cases/chart/chart.ts';
import { runSeed, selectRunPart } from '../parts.ts';
import { chartTools, chartToolsMissing } from '../services/chart-tools.ts';
import { eventually, stretched } from '../waiting.ts';
import { type Cluster, clusterMissing, startCluster } from './cluster.ts';
import { owner } from './oiq-process.ts';
import { Oracle } from './oracle.ts';
import { readBackClickhouse } from './read-back.ts';
import { assertReadBack, pace, waitUntilStored } from './reliability.ts';
import { podNamed, Release } from './rendered-pods.ts';

const missing = clusterMissing ?? chartToolsMissing;
const serial = missing === undefined ? test.serial : test.serial.skip;

let cluster: Cluster;
let directory: string;

test.before(async () => {
  if (missing !== undefined) return;
  await chartTools();
  directory = await mkdtemp(join(tmpdir(), 'oiq-chart-processes-'));
  cluster = await startCluster(directory, { shards: 4 });
});
test.after.always(async () => {
  await cluster?.close();
  if (directory !== undefined) await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

/** A layout with a Deployment for each role, and one with a further Deployment for a named processor and sink. */
const layouts = {
  common: {},
  named: { processors: { 'log-patterns': {} }, sinks: { logs: {} } },
};

/** One process per Deployment, and two for receivers, which is the limit for two cores. */
const renderManifests = async (layout: keyof typeof layouts): Promise<readonly Manifest[]> => {
  const { environment } = cluster;
  const values = {
    mode: 'cluster',
    settings: {
      KAFKA_BROKERS: environment['OIQ_KAFKA_BROKERS'],
      KEY_REQUESTS_PER_SECOND: 1_000_000_000,
      BOOTSTRAP_EMAIL: owner.email,
    },
    secretSettings: {
      CLICKHOUSE_URL: environment['OIQ_CLICKHOUSE_URL'],
      MONGODB_URL: environment['OIQ_MONGODB_URL'],
      REDIS_URL: environment['OIQ_REDIS_URL'],
      BOOTSTRAP_PASSWORD: owner.password,
      SECRET_KEY: 'a key of forty characters for this test.',
    },
    size: 'small',
    receivers: { replicas: 2 },
    upgradeOrder: { maxWaitSeconds: Math.ceil(stretched(300_000) / 1000) },
    ...layouts[layout],
  };
  const path = join(directory, 'values.yaml');
  await writeFile(path, stringify(values));
  return (await render(['-f', path])).manifests;
};

serial(
  'an upgrade or a rollback that moves consumer groups between Deployments loses, duplicates and refuses nothing',
  async (t) => {
    const { part, of } = selectRunPart(2);
    const [former, next] = part === 0 ? (['0.1.0', '0.2.0'] as const) : (['0.2.0', '0.1.0'] as const);
    // The version decides in which Deployment the consumer groups of a processor and a sink run.
    const manifestsByVersion = {
      '0.1.0': await renderManifests('named'),
      '0.2.0': await renderManifests('common'),
    };
    t.log(`from ${former} to ${next}${of === 1 ? ', and back' : ''} (TEST_SEED=${runSeed})`);
    const release = new Release(directory);
    const oracle = new Oracle({
      otlp: () => release.otlp(),
      licenseKey: cluster.licenseKey,
      ...pace,
    });
    t.teardown(async () => {
      release.kill();
      await oracle.close();
    });
    const migrate = async (version: typeof next): Promise<void> => {
      const manifests = manifestsByVersion[version];
      const job = podNamed(manifests, 'Job', 'oiq-migrate');
      const ran = await release.runToEnd(version, manifests, job.containers[0], job);
      t.is(ran.code, 0, ran.output);
    };

    await release.roll(former, manifestsByVersion[former]);
    oracle.start();
    await eventually('records are acknowledged', () => oracle.counts().acknowledged > 500);
    for (const version of of === 1 ? [next, former] : [next]) {
      const { acknowledged } = oracle.counts();
      release.events.length = 0;
      await migrate(version);
      await release.roll(version, manifestsByVersion[version]);
      t.log(`${version}: ${release.events.map(({ part, what }) => `${part} ${what}`).join(', ')}`);
      // A role starts after all previous roles run the new version. The last former process may still be storing.
      const order = ['oiq-sinks', 'oiq-processors', 'oiq-receivers', 'oiq-api'];
      const places = (part: string, what: string): number[] =>
        release.events.flatMap((each, index) => (each.part === part && each.what === what ? [index] : []));
      for (const [index, part] of order.entries()) {
        const before = order[index - 1];
        if (before !== undefined)
          t.true(Math.max(...places(before, 'ready')) < Math.min(...places(part, 'waited')), `${before}, ${part}`);
        t.is(places(part, 'ended').length, places(part, 'ready').length);
      }
      t.true(oracle.counts().acknowledged > acknowledged, 'records are acknowledged during the roll');
    }
    await oracle.stop();
    const check = podNamed(manifestsByVersion[next], 'Pod', 'oiq-test');
    const checked = await release.runToEnd(next, manifestsByVersion[next], check.containers[0], check);
    t.is(checked.code, 0, checked.output);
    await waitUntilStored(cluster.bus);
    assertReadBack(t, oracle, await readBackClickhouse(cluster.columnsUrl, oracle.service));
    const { unknown, refused } = oracle.counts();
    t.deepEqual({ unknown, refused }, { unknown: 0, refused: 0 }, 'no sender had to retry');
  },
);

serial('the migration waits for its stores, and reports what it waits for', async (t) => {
  const manifests = await renderManifests('common');
  const job = podNamed(manifests, 'Job', 'oiq-migrate');
  const release = new Release(directory);
  const [container] = job.containers;
  const brief = { ...container, args: ['migrate', '--wait', '3'] };
  await cluster.mongodb.stop();
  const failed = await release.runToEnd('0.1.0', manifests, brief, job);
  t.is(failed.code, 1);
  t.regex(failed.output, /oiq migrate: MongoDB cannot be reached/);
  const waiting = release.runToEnd('0.1.0', manifests, container, job);
  await cluster.mongodb.start();
  const { code, output } = await waiting;
  t.is(code, 0, output);
});
