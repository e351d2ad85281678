/** Pods: phase, restarts, terminations of containers, node and owner */
import { z } from 'zod';
import type { ProjectScope } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';
import { NumberOrReason, toKnownNumber, toUnknownNumber } from '../../queries/unknown-numbers.ts';
import {
  explainMissing,
  KnownText,
  listSourceMetrics,
  sumValues,
  toKnown,
  toKnownText,
} from '../infrastructure/item-values.ts';
import { containerMetrics } from './containers.ts';
import { containerSources, phases, podSources } from './names.ts';
import { findActiveLabel, findAttribute, groupByPod, type PodParts, readPositionedCells } from './objects.ts';

const LastTermination = z.strictObject({ container: z.string(), reason: z.string() });

export const Pod = z.strictObject({
  id: z.string().describe('UID, otherwise cluster, namespace and name'),
  name: KnownText,
  uid: KnownText,
  cluster: KnownText,
  namespace: KnownText,
  node: KnownText,
  owner: z.strictObject({
    kind: KnownText,
    name: KnownText,
    isDerived: z.boolean().describe('Whether the Deployment was derived from the name of its ReplicaSet'),
  }),
  phase: KnownText.describe('`Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`'),
  reason: KnownText.describe('Reason for the phase, such as `Evicted`'),
  ready: z
    .strictObject({ ready: NumberOrReason, containers: z.int() })
    .describe('Number of ready containers and of all reported containers'),
  restarts: NumberOrReason.describe('Restarts of all containers of the pod'),
  lastTerminations: z.array(LastTermination).describe('Reasons of terminated containers'),
  cpu: NumberOrReason.describe('Used processor cores'),
  memory: NumberOrReason.describe('Used bytes: the working set'),
  lastSeen: z.string(),
});
export type Pod = z.output<typeof Pod>;

export const podMetrics = [...new Set([...listSourceMetrics(podSources), ...containerMetrics])];

/** Returns pods at the end of a range. */
export const readPods = async (
  reader: TenantReader,
  range: Range,
  scope: ProjectScope,
): Promise<{ readonly items: Pod[]; readonly isTruncated: boolean }> => {
  const { cells, isTruncated } = await readPositionedCells(reader, range, scope, podMetrics);
  return { isTruncated, items: [...groupByPod(cells).values()].map(toPod) };
};

/** Returns the phase that any sender reports. */
export const findPhase = ({ cells }: PodParts): string | undefined => {
  const reportedPhase = findActiveLabel(cells, podSources.phase, ['k8s.pod.status.phase', 'phase']);
  if (reportedPhase !== undefined) return reportedPhase;
  const phaseNumber = sumValues(cells, podSources.phaseNumber);
  return phaseNumber === undefined ? undefined : phases[phaseNumber];
};

const ownerAttributes = [
  ['Deployment', 'k8s.deployment.name'],
  ['StatefulSet', 'k8s.statefulset.name'],
  ['DaemonSet', 'k8s.daemonset.name'],
  ['CronJob', 'k8s.cronjob.name'],
  ['Job', 'k8s.job.name'],
  ['ReplicaSet', 'k8s.replicaset.name'],
] as const;

/** Suffixes of ReplicaSet names of a Deployment, from letters and digits that form no words */
const replicaSetPattern = /^(.+)-[bcdfghjklmnpqrstvwxz2456789]{5,10}$/;

/** Returns the owner of a pod: from attributes of the k8sattributes processor, otherwise from kube-state-metrics. */
export const findOwner = (pod: PodParts): { kind: string; name: string; isDerived: boolean } | undefined => {
  const cellsByMetric = new Map([...pod.cells, ...pod.containers.flatMap(({ cells }) => [...cells])]);
  const attributeOwner = ownerAttributes.flatMap(([kind, key]) => {
    const name = findAttribute(cellsByMetric, key);
    return name === undefined ? [] : [{ kind: kind as string, name: String(name) }];
  })[0];
  const owner = (pod.cells.get('kube_pod_owner') ?? [])[0]?.labels;
  const infoLabels = (pod.cells.get('kube_pod_info') ?? [])[0]?.labels;
  const ownerReference =
    attributeOwner ??
    createOwner(owner?.['owner_kind'], owner?.['owner_name']) ??
    createOwner(infoLabels?.['created_by_kind'], infoLabels?.['created_by_name']);
  if (ownerReference === undefined) return undefined;
  const deployment =
    ownerReference.kind === 'ReplicaSet' ? replicaSetPattern.exec(ownerReference.name)?.[1] : undefined;
  return deployment === undefined
    ? { ...ownerReference, isDerived: false }
    : { kind: 'Deployment', name: deployment, isDerived: true };
};

const createOwner = (kind: string | undefined, name: string | undefined) =>
  kind === undefined || name === undefined || name === '<none>' ? undefined : { kind, name };

const notReportedReason = 'not reported by any sender';
const describeMissing = (objectKind: string): string =>
  `no ${objectKind} was received in the last 10 minutes: the k8s_cluster receiver or kube-state-metrics reports it`;

/** Returns the sum over containers if the pod itself does not report the value. */
const sumUsage = (pod: PodParts, kind: 'cpu' | 'memory'): NumberOrReason => {
  const podUsage = sumValues(pod.cells, podSources[kind]);
  if (podUsage !== undefined) return toKnownNumber(podUsage);
  const parts = pod.containers.flatMap(({ cells }) => sumValues(cells, containerSources[kind]) ?? []);
  if (parts.length > 0) return toKnownNumber(parts.reduce((sum, value) => sum + value, 0));
  const reason = `no ${kind} use was received in the last 10 minutes: the kubeletstats receiver or cAdvisor reports it`;
  return toUnknownNumber(explainMissing(pod.cells, podSources[kind], reason));
};

export const toPod = (pod: PodParts): Pod => {
  const { position, containers } = pod;
  const owner = findOwner(pod);
  const restarts = containers.flatMap(({ cells }) => sumValues(cells, containerSources.restarts) ?? []);
  const ready = containers.flatMap(({ cells }) => sumValues(cells, containerSources.ready) ?? []);
  const terminations = containers.flatMap(({ name, cells }) => {
    const reason =
      findAttribute(cells, 'k8s.container.status.last_terminated_reason') ??
      findActiveLabel(cells, containerSources.lastReason, ['reason']);
    return reason === undefined ? [] : [{ container: name, reason: String(reason) }];
  });
  const noOwner = 'not reported by any sender: the k8sattributes processor sets it, and kube-state-metrics reports it';
  return {
    id: pod.key,
    name: toKnownText(position.pod, notReportedReason),
    uid: toKnownText(position.podUid, notReportedReason),
    cluster: toKnownText(position.cluster, 'the sender does not set k8s.cluster.name'),
    namespace: toKnownText(position.namespace, notReportedReason),
    node: toKnownText(position.node, 'not reported by any sender, or not scheduled yet'),
    owner: {
      kind: toKnownText(owner?.kind, noOwner),
      name: toKnownText(owner?.name, noOwner),
      isDerived: owner?.isDerived ?? false,
    },
    phase: toKnownText(findPhase(pod), describeMissing('phase')),
    reason: toKnownText(
      findActiveLabel(pod.cells, podSources.reason, ['k8s.pod.status.reason', 'reason']),
      'not reported',
    ),
    ready: {
      ready: toKnown(
        ready.length === 0 ? undefined : ready.filter((value) => value > 0).length,
        describeMissing('readiness'),
      ),
      containers: containers.length,
    },
    restarts: toKnown(
      restarts.length === 0 ? undefined : restarts.reduce((sum, value) => sum + value, 0),
      describeMissing('restarts'),
    ),
    lastTerminations: terminations,
    cpu: sumUsage(pod, 'cpu'),
    memory: sumUsage(pod, 'memory'),
    lastSeen: formatTime(BigInt(pod.lastMs) * 1_000_000n),
  };
};
