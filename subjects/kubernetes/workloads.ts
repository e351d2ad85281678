/** Deployments, stateful sets, daemon sets, jobs and cron jobs: desired and actual state */
import { z } from 'zod';
import type { ProjectScope } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';
import { NumberOrReason, toKnownNumber, toUnknownNumber } from '../../queries/unknown-numbers.ts';
import { KnownText, listSourceMetrics, type Source, toKnownSum, toKnownText } from '../infrastructure/item-values.ts';
import { type WorkloadKind, workloadKinds, workloads } from './names.ts';
import { hasNotEnded } from './nodes.ts';
import { groupByMetric, groupByPod, type PositionedCell, readPositionedCells } from './objects.ts';
import { findOwner, type Pod, podMetrics, toPod } from './pods.ts';

export const Workload = z.strictObject({
  id: z.string().describe('Cluster, namespace, kind and name'),
  kind: z.enum(workloadKinds),
  name: z.string(),
  cluster: KnownText,
  namespace: KnownText,
  desired: NumberOrReason.describe('Desired pods; for a daemon set, nodes; for a job, completions'),
  ready: NumberOrReason.describe('Ready pods; for a job, succeeded pods'),
  available: NumberOrReason,
  updated: NumberOrReason.describe('Pods of the current version'),
  active: NumberOrReason.describe('Running pods of a job; active jobs of a cron job'),
  failed: NumberOrReason.describe('Failed pods of a job'),
  state: z
    .enum(['ready', 'degraded', 'unknown'])
    .describe('`degraded` if fewer pods are ready than desired, or a job has failed pods'),
  pods: z.int().describe('Pods that are known to belong to the workload and have not ended'),
  restarts: NumberOrReason.describe("Restarts of the workload's pods"),
  cpu: NumberOrReason.describe("Processor cores used by the workload's pods"),
  memory: NumberOrReason.describe("Bytes used by the workload's pods"),
  lastSeen: z.string(),
});
export type Workload = z.output<typeof Workload>;

export const workloadMetrics = [
  ...new Set(Object.values(workloads).flatMap(({ sources }) => listSourceMetrics(sources))),
];

/** Returns workloads at the end of a range. */
export const readWorkloads = async (
  reader: TenantReader,
  range: Range,
  scope: ProjectScope,
): Promise<{ readonly items: Workload[]; readonly isTruncated: boolean }> => {
  const { cells, isTruncated } = await readPositionedCells(reader, range, scope, [
    ...new Set([...workloadMetrics, ...podMetrics]),
  ]);
  return { items: toWorkloads(cells), isTruncated };
};

const kindByMetric = new Map<string, WorkloadKind>(
  workloadKinds.flatMap((kind) => listSourceMetrics(workloads[kind].sources).map((metric) => [metric, kind] as const)),
);

interface WorkloadCell {
  readonly cell: PositionedCell;
  readonly kind: WorkloadKind;
  readonly name: string;
}

const toWorkloadId = (
  { cluster, namespace }: { readonly cluster: string; readonly namespace: string },
  kind: string,
  name: string,
) => `${cluster}/${namespace}/${kind}/${name}`;

/** Returns the workloads of these series, with the usage of their pods. */
export const toWorkloads = (cells: readonly PositionedCell[]): Workload[] => {
  const namedCells = cells.flatMap((cell): WorkloadCell[] => {
    const kind = kindByMetric.get(cell.metric);
    if (kind === undefined) return [];
    const name = cell.labels[workloads[kind].label] ?? cell.resource[workloads[kind].attribute];
    return name === undefined ? [] : [{ cell, kind, name: String(name) }];
  });
  const pods = [...groupByPod(cells.filter(({ metric }) => !kindByMetric.has(metric))).values()].filter(hasNotEnded);
  const podsByWorkload = Map.groupBy(pods, (pod) => {
    const owner = findOwner(pod);
    return owner === undefined ? '' : toWorkloadId(pod.position, owner.kind, owner.name);
  });
  return [...Map.groupBy(namedCells, ({ cell, kind, name }) => toWorkloadId(cell.position, kind, name))].map(
    ([id, workloadCells]) => toWorkload(id, workloadCells, (podsByWorkload.get(id) ?? []).map(toPod)),
  );
};

const toWorkload = (id: string, workloadCells: readonly WorkloadCell[], pods: readonly Pod[]): Workload => {
  const kind = workloadCells[0]?.kind ?? 'Deployment';
  const cells = groupByMetric(workloadCells.map(({ cell }) => cell));
  const position = workloadCells[0]?.cell.position;
  const readMeasure = (name: keyof (typeof workloads)['Deployment']['sources']): NumberOrReason => {
    const sources: readonly Source[] = workloads[kind].sources[name];
    return sources.length === 0
      ? toUnknownNumber(`a ${kind} has none, or no sender reports it`)
      : toKnownSum(
          cells,
          sources,
          `none of ${sources.map(({ metric }) => metric).join(', ')} were received in the last 10 minutes`,
        );
  };
  const [desired, ready, available, failed] = [
    readMeasure('desired'),
    readMeasure('ready'),
    readMeasure('available'),
    readMeasure('failed'),
  ];
  return {
    id,
    kind,
    name: workloadCells[0]?.name ?? '',
    cluster: toKnownText(position?.cluster, 'the sender does not set k8s.cluster.name'),
    namespace: toKnownText(position?.namespace, 'not reported by any sender'),
    desired,
    ready,
    available,
    updated: readMeasure('updated'),
    active: readMeasure('active'),
    failed,
    state: determineState(kind, { desired, ready, available, failed }),
    pods: pods.length,
    restarts: sumOverPods(pods, ({ restarts }) => restarts),
    cpu: sumOverPods(pods, ({ cpu }) => cpu),
    memory: sumOverPods(pods, ({ memory }) => memory),
    lastSeen: formatTime(BigInt(workloadCells.reduce((last, { cell }) => Math.max(last, cell.atMs), 0)) * 1_000_000n),
  };
};

const determineState = (
  kind: WorkloadKind,
  { desired, ready, available, failed }: Readonly<Record<'desired' | 'ready' | 'available' | 'failed', NumberOrReason>>,
): Workload['state'] => {
  if (kind === 'CronJob') return 'unknown';
  if (kind === 'Job') return failed.value === null ? 'unknown' : failed.value > 0 ? 'degraded' : 'ready';
  const availablePods = ready.value ?? available.value;
  if (desired.value === null || availablePods === null) return 'unknown';
  return availablePods < desired.value ? 'degraded' : 'ready';
};

/** Returns the sum of known values over pods; unknown if no value is known. */
export const sumOverPods = (pods: readonly Pod[], getValue: (pod: Pod) => NumberOrReason): NumberOrReason => {
  if (pods.length === 0)
    return toUnknownNumber(
      'no pod is known to belong to it: the k8sattributes processor or kube-state-metrics reports owners',
    );
  const values = pods.flatMap((pod) => getValue(pod).value ?? []);
  const [first] = pods;
  if (values.length === 0) return first === undefined ? toUnknownNumber('') : getValue(first);
  return toKnownNumber(values.reduce((sum, value) => sum + value, 0));
};
