/** Scalers of the chart: what they begin with, and what KEDA is told of Kafka. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { chartTools, chartToolsMissing } from '../services/chart-tools.ts';
import { find, renderSet } from './chart/chart.ts';
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

withTools('a Deployment keeps its pods when a scaler is put over it, and with each upgrade after', async (t) => {
  const there = [deployment('oiq-receivers', 6), deployment('oiq-sink-logs', 3)];
  const asked = await servedObjects(t, directory, there);
  const replicas = async (args: readonly string[], name: string): Promise<number | undefined> =>
    find((await renderSet('cluster', args)).manifests, 'Deployment', name).spec.replicas;
  const scaled = ['--set', 'receivers.autoscaling.by=hpa', '--set', 'sinks.logs.autoscaling.by=keda'];
  t.is(await replicas([...asked, ...scaled], 'oiq-receivers'), 6);
  t.is(await replicas([...asked, ...scaled], 'oiq-sink-logs'), 3);
  t.is(await replicas(asked, 'oiq-receivers'), 2, 'without a scaler the values decide');
  t.is(await replicas(scaled, 'oiq-receivers'), undefined, 'nothing is known without a cluster to ask');
});

withTools('a scaler leaves receivers and API the two pods that rolling updates need', async (t) => {
  const { manifests } = await renderSet('cluster-hpa');
  for (const name of ['oiq-receivers', 'oiq-api'])
    t.is(find(manifests, 'HorizontalPodAutoscaler', name).spec.minReplicas, 2, name);
});
