/** Scalers of the chart: their initial replicas, and the Kafka settings for KEDA. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { chartTools, chartToolsMissing } from '../services/chart-tools.ts';
import { find, type Manifest, renderSet } from './chart/chart.ts';
import { servedObjects } from './chart/kubernetes-api.ts';

const withTools = chartToolsMissing === undefined ? test : test.skip;
const directory = mkdtempSync(join(tmpdir(), 'oiq-chart-scaling-'));
test.after.always(() => rmSync(directory, { recursive: true }));
test.before(async () => {
  if (chartToolsMissing === undefined) await chartTools();
});

const deployment = (name: string, replicas: number) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'observability' },
  spec: { replicas },
});

withTools('a Deployment keeps its number of pods when a scaler is added, and with each later upgrade', async (t) => {
  const deployments = [deployment('oiq-receivers', 6), deployment('oiq-sink-logs', 3)];
  const servedList = await servedObjects(t, directory, deployments);
  const replicas = async (args: readonly string[], name: string): Promise<number | undefined> =>
    find((await renderSet('cluster', args)).manifests, 'Deployment', name).spec.replicas;
  const scaled = ['--set', 'receivers.autoscaling.by=hpa', '--set', 'sinks.logs.autoscaling.by=keda'];
  t.is(await replicas([...servedList, ...scaled], 'oiq-receivers'), 6);
  t.is(await replicas([...servedList, ...scaled], 'oiq-sink-logs'), 3);
  t.is(await replicas(servedList, 'oiq-receivers'), 2, 'without a scaler the values decide');
  t.is(await replicas(scaled, 'oiq-receivers'), undefined, 'nothing is known without a cluster to ask');
});

withTools('a scaler leaves receivers and API at least the two pods that rolling updates need', async (t) => {
  const { manifests } = await renderSet('cluster-hpa');
  for (const name of ['oiq-receivers', 'oiq-api'])
    t.is(find(manifests, 'HorizontalPodAutoscaler', name).spec.minReplicas, 2, name);
});

const triggers = async (args: readonly string[], set = 'cluster-keda-sasl'): Promise<readonly Manifest[]> => {
  const { manifests } = await renderSet(set, args);
  return manifests.filter(({ kind }) => kind === 'ScaledObject').flatMap(({ spec }) => spec.triggers);
};

withTools('KEDA starts no pod for partitions without messages', async (t) => {
  for (const { metadata } of await triggers([], 'cluster-keda')) {
    t.is(metadata.limitToPartitionsWithLag, 'true');
    t.is(metadata.allowIdleConsumers, 'false');
  }
});

withTools('KEDA connects to Kafka with the settings of the pods, wherever these are configured', async (t) => {
  const scaler = ['--set', 'sinks.others.autoscaling.by=keda'];
  for (const input of [
    ['settings.KAFKA_SSL=true', 'settings.KAFKA_SASL_MECHANISM=plain'],
    ['settings.KAFKA_SSL=yes', 'secretSettings.KAFKA_SASL_MECHANISM=plain'],
    ['secretSettings.KAFKA_SSL=On', 'defaults.settings.KAFKA_SASL_MECHANISM=plain'],
    ['sinks.others.settings.KAFKA_SSL=1', 'sinks.others.settings.KAFKA_SASL_MECHANISM=plain'],
    ['keda.tls=true', 'keda.saslMechanism=plain'],
  ]) {
    const found = await triggers([...scaler, ...input.flatMap((each) => ['--set', each])], 'cluster');
    t.true(found.length > 0);
    for (const { metadata, authenticationRef } of found) {
      t.like(metadata, { tls: 'enable', sasl: 'plaintext' }, input.join(' '));
      t.deepEqual(authenticationRef, { name: 'oiq-kafka' });
    }
  }
  for (const { metadata } of await triggers([...scaler, '--set', 'settings.KAFKA_SSL=no'], 'cluster'))
    t.is(metadata.tls, undefined);
});

withTools('KEDA uses a TriggerAuthentication of the operator instead of that of the chart', async (t) => {
  const args = [
    '--set',
    'keda.authenticationRef.name=kafka',
    '--set',
    'keda.authenticationRef.kind=ClusterTriggerAuthentication',
  ];
  for (const { authenticationRef } of await triggers(args))
    t.deepEqual(authenticationRef, { name: 'kafka', kind: 'ClusterTriggerAuthentication' });
  t.is(find((await renderSet('cluster-keda-sasl', args)).manifests, 'TriggerAuthentication', 'oiq-kafka'), undefined);
});
