/** A host, a disk, a process, a cluster and a pod of an organization, each with a unique name. */
import type { Harness } from '../end-to-end/api-harness.ts';
import { agentOf, flat, growing, type Metric } from '../end-to-end/infrastructure-senders.ts';

export const hostIdOf = (tenant: string): string => `host-of-${tenant}`;
export const podUidOf = (tenant: string): string => `pod-of-${tenant}`;

export const seedHosts = async (harness: Harness, tenant: string, canary: string): Promise<void> => {
  const agent = agentOf(harness.columns, tenant, { projectId: 'default' });
  const nowMs = Date.now();
  const times = [nowMs - 60_000, nowMs - 30_000, nowMs - 1000];
  const gauge = (name: string, value: number, labels = {}): Metric => ({
    name,
    kind: 'gauge',
    points: [{ labels, values: flat(times, value) }],
  });
  await agent.metrics({ 'host.id': hostIdOf(tenant), 'host.name': canary }, [
    {
      name: 'system.cpu.time',
      unit: 's',
      kind: 'counter',
      points: ['user', 'idle'].map((state) => ({ labels: { cpu: '0', state }, values: growing(times, 0.5) })),
    },
    ...['used', 'free'].map((state) => gauge('system.memory.usage', 1000, { state })),
    ...['used', 'free'].map((state) =>
      gauge('system.filesystem.usage', 1000, { state, device: `/dev/${canary}`, mountpoint: '/', type: 'ext4' }),
    ),
  ]);
  await agent.metrics({ 'host.name': canary, 'process.pid': '1', 'process.executable.name': canary }, [
    gauge('process.memory.usage', 1000),
  ]);
  const cluster = { 'k8s.cluster.name': canary };
  const pod = { ...cluster, 'k8s.namespace.name': canary, 'k8s.pod.name': canary, 'k8s.pod.uid': podUidOf(tenant) };
  await agent.metrics({ ...cluster, 'k8s.node.name': canary }, [gauge('k8s.node.condition_ready', 1)]);
  await agent.metrics(pod, [gauge('k8s.pod.phase', 2)]);
  await agent.metrics({ ...pod, 'k8s.container.name': canary }, [gauge('k8s.container.restarts', 0)]);
  await agent.metrics({ ...cluster, 'k8s.namespace.name': canary, 'k8s.deployment.name': canary }, [
    gauge('k8s.deployment.desired', 1),
  ]);
  await agent.logs({ ...cluster, 'k8s.object.kind': 'Pod', 'k8s.object.uid': podUidOf(tenant) }, [
    {
      atMs: nowMs - 1000,
      body: { stringValue: `${canary} started` },
      severityText: 'Normal',
      attributes: { 'k8s.event.reason': 'Started', 'k8s.event.uid': `event-of-${tenant}` },
    },
  ]);
};
