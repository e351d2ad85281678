/** Pods: phase, restarts, terminations of containers, node and owner */
import { z } from 'zod';
import type { ProjectScope } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { Reading } from '../../queries/reading.ts';
import { formatTime } from '../../queries/time.ts';
import { Known, known, unknown } from '../../queries/unknown.ts';
import { figure, KnownText, metricsOf, missing, textOf, totalOf } from '../infrastructure/figures.ts';
import { containerMetrics } from './containers.ts';
import { containerSources, phases, podSources } from './names.ts';
import { attributeOf, chosenLabel, type PodParts, podsOf, readPlaced } from './objects.ts';

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
    .strictObject({ ready: Known, containers: z.int() })
    .describe('Number of ready containers and of all reported containers'),
  restarts: Known.describe('Restarts of all containers of the pod'),
  lastTerminations: z.array(LastTermination).describe('Reasons of terminated containers'),
  cpu: Known.describe('Used processor cores'),
  memory: Known.describe('Used bytes: the working set'),
  lastSeen: z.string(),
});
export type Pod = z.output<typeof Pod>;

export const podMetrics = [...new Set([...metricsOf(podSources), ...containerMetrics])];

/** Returns pods at the end of a range. */
export const readPods = async (
  reading: Reading,
  range: Range,
  scope: ProjectScope,
): Promise<{ readonly items: Pod[]; readonly isCut: boolean }> => {
  const { cells, isCut } = await readPlaced(reading, range, scope, podMetrics);
  return { isCut, items: [...podsOf(cells).values()].map(podOf) };
};

/** Returns the phase that any sender reports. */
export const phaseOf = ({ cells }: PodParts): string | undefined => {
  const reportedPhase = chosenLabel(cells, podSources.phase, ['k8s.pod.status.phase', 'phase']);
  if (reportedPhase !== undefined) return reportedPhase;
  const number = totalOf(cells, podSources.phaseNumber);
  return number === undefined ? undefined : phases[number];
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
const hashed = /^(.+)-[bcdfghjklmnpqrstvwxz2456789]{5,10}$/;

/** Returns the owner of a pod: from attributes of the k8sattributes processor, otherwise from kube-state-metrics. */
export const ownerOf = (pod: PodParts): { kind: string; name: string; isDerived: boolean } | undefined => {
  const all = new Map([...pod.cells, ...pod.containers.flatMap(({ cells }) => [...cells])]);
  const attributeOwner = ownerAttributes.flatMap(([kind, key]) => {
    const name = attributeOf(all, key);
    return name === undefined ? [] : [{ kind: kind as string, name: String(name) }];
  })[0];
  const owner = (pod.cells.get('kube_pod_owner') ?? [])[0]?.labels;
  const about = (pod.cells.get('kube_pod_info') ?? [])[0]?.labels;
  const found =
    attributeOwner ??
    pair(owner?.['owner_kind'], owner?.['owner_name']) ??
    pair(about?.['created_by_kind'], about?.['created_by_name']);
  if (found === undefined) return undefined;
  const deployment = found.kind === 'ReplicaSet' ? hashed.exec(found.name)?.[1] : undefined;
  return deployment === undefined
    ? { ...found, isDerived: false }
    : { kind: 'Deployment', name: deployment, isDerived: true };
};

const pair = (kind: string | undefined, name: string | undefined) =>
  kind === undefined || name === undefined || name === '<none>' ? undefined : { kind, name };

const notReportedReason = 'not reported by any sender';
const missingReason = (what: string): string =>
  `no ${what} was received in the last 10 minutes: the k8s_cluster receiver or kube-state-metrics reports it`;

/** Returns the sum over containers if the pod itself does not report the value. */
const usedBy = (pod: PodParts, kind: 'cpu' | 'memory'): Known => {
  const own = totalOf(pod.cells, podSources[kind]);
  if (own !== undefined) return known(own);
  const parts = pod.containers.flatMap(({ cells }) => totalOf(cells, containerSources[kind]) ?? []);
  if (parts.length > 0) return known(parts.reduce((sum, value) => sum + value, 0));
  const reason = `no ${kind} use was received in the last 10 minutes: the kubeletstats receiver or cAdvisor reports it`;
  return unknown(missing(pod.cells, podSources[kind], reason));
};

export const podOf = (pod: PodParts): Pod => {
  const { place, containers } = pod;
  const owner = ownerOf(pod);
  const restarts = containers.flatMap(({ cells }) => totalOf(cells, containerSources.restarts) ?? []);
  const ready = containers.flatMap(({ cells }) => totalOf(cells, containerSources.ready) ?? []);
  const ended = containers.flatMap(({ name, cells }) => {
    const reason =
      attributeOf(cells, 'k8s.container.status.last_terminated_reason') ??
      chosenLabel(cells, containerSources.lastReason, ['reason']);
    return reason === undefined ? [] : [{ container: name, reason: String(reason) }];
  });
  const noOwner = 'not reported by any sender: the k8sattributes processor sets it, and kube-state-metrics reports it';
  return {
    id: pod.key,
    name: textOf(place.pod, notReportedReason),
    uid: textOf(place.podUid, notReportedReason),
    cluster: textOf(place.cluster, 'the sender does not set k8s.cluster.name'),
    namespace: textOf(place.namespace, notReportedReason),
    node: textOf(place.node, 'not reported by any sender, or not scheduled yet'),
    owner: {
      kind: textOf(owner?.kind, noOwner),
      name: textOf(owner?.name, noOwner),
      isDerived: owner?.isDerived ?? false,
    },
    phase: textOf(phaseOf(pod), missingReason('phase')),
    reason: textOf(chosenLabel(pod.cells, podSources.reason, ['k8s.pod.status.reason', 'reason']), 'not reported'),
    ready: {
      ready: figure(
        ready.length === 0 ? undefined : ready.filter((value) => value > 0).length,
        missingReason('readiness'),
      ),
      containers: containers.length,
    },
    restarts: figure(
      restarts.length === 0 ? undefined : restarts.reduce((sum, value) => sum + value, 0),
      missingReason('restarts'),
    ),
    lastTerminations: ended,
    cpu: usedBy(pod, 'cpu'),
    memory: usedBy(pod, 'memory'),
    lastSeen: formatTime(BigInt(pod.lastMs) * 1_000_000n),
  };
};
