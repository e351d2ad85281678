/** Deployments, stateful sets, daemon sets, jobs and cron jobs: desired and actual state */
import { z } from 'zod';
import type { ProjectScope } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { Reading } from '../../queries/reading.ts';
import { formatTime } from '../../queries/time.ts';
import { Known, known, unknown } from '../../queries/unknown.ts';
import { figureOf, KnownText, metricsOf, type Source, textOf } from '../infrastructure/figures.ts';
import { type WorkloadKind, workloadKinds, workloads } from './names.ts';
import { isLive } from './nodes.ts';
import { byMetric, type PlacedCell, podsOf, readPlaced } from './objects.ts';
import { ownerOf, type Pod, podMetrics, podOf } from './pods.ts';

export const Workload = z.strictObject({
  id: z.string().describe('Cluster, namespace, kind and name'),
  kind: z.enum(workloadKinds),
  name: z.string(),
  cluster: KnownText,
  namespace: KnownText,
  desired: Known.describe('Desired pods; for a daemon set, nodes; for a job, completions'),
  ready: Known.describe('Ready pods; for a job, succeeded pods'),
  available: Known,
  updated: Known.describe('Pods of the current version'),
  active: Known.describe('Running pods of a job; active jobs of a cron job'),
  failed: Known.describe('Failed pods of a job'),
  state: z
    .enum(['ready', 'degraded', 'unknown'])
    .describe('`degraded` if fewer pods are ready than desired, or a job has failed pods'),
  pods: z.int().describe('Pods that are known to belong to the workload and have not ended'),
  restarts: Known.describe("Restarts of the workload's pods"),
  cpu: Known.describe("Processor cores used by the workload's pods"),
  memory: Known.describe("Bytes used by the workload's pods"),
  lastSeen: z.string(),
});
export type Workload = z.output<typeof Workload>;

export const workloadMetrics = [...new Set(Object.values(workloads).flatMap(({ sources }) => metricsOf(sources)))];

/** Returns workloads at the end of a range. */
export const readWorkloads = async (
  reading: Reading,
  range: Range,
  scope: ProjectScope,
): Promise<{ readonly items: Workload[]; readonly isCut: boolean }> => {
  const { cells, isCut } = await readPlaced(reading, range, scope, [...new Set([...workloadMetrics, ...podMetrics])]);
  return { items: workloadsOf(cells), isCut };
};

const kindByMetric = new Map<string, WorkloadKind>(
  workloadKinds.flatMap((kind) => metricsOf(workloads[kind].sources).map((metric) => [metric, kind] as const)),
);

interface Named {
  readonly cell: PlacedCell;
  readonly kind: WorkloadKind;
  readonly name: string;
}

const idOf = (
  { cluster, namespace }: { readonly cluster: string; readonly namespace: string },
  kind: string,
  name: string,
) => `${cluster}/${namespace}/${kind}/${name}`;

/** Returns the workloads of these series, with the usage of their pods. */
export const workloadsOf = (cells: readonly PlacedCell[]): Workload[] => {
  const named = cells.flatMap((cell): Named[] => {
    const kind = kindByMetric.get(cell.metric);
    if (kind === undefined) return [];
    const name = cell.labels[workloads[kind].label] ?? cell.resource[workloads[kind].attribute];
    return name === undefined ? [] : [{ cell, kind, name: String(name) }];
  });
  const pods = [...podsOf(cells.filter(({ metric }) => !kindByMetric.has(metric))).values()].filter(isLive);
  const owned = Map.groupBy(pods, (pod) => {
    const owner = ownerOf(pod);
    return owner === undefined ? '' : idOf(pod.place, owner.kind, owner.name);
  });
  return [...Map.groupBy(named, ({ cell, kind, name }) => idOf(cell.place, kind, name))].map(([id, own]) =>
    workloadOf(id, own, (owned.get(id) ?? []).map(podOf)),
  );
};

const workloadOf = (id: string, own: readonly Named[], pods: readonly Pod[]): Workload => {
  const kind = own[0]?.kind ?? 'Deployment';
  const cells = byMetric(own.map(({ cell }) => cell));
  const place = own[0]?.cell.place;
  const readFigure = (name: keyof (typeof workloads)['Deployment']['sources']): Known => {
    const sources: readonly Source[] = workloads[kind].sources[name];
    return sources.length === 0
      ? unknown(`a ${kind} has none, or no sender reports it`)
      : figureOf(
          cells,
          sources,
          `none of ${sources.map(({ metric }) => metric).join(', ')} were received in the last 10 minutes`,
        );
  };
  const [desired, ready, available, failed] = [
    readFigure('desired'),
    readFigure('ready'),
    readFigure('available'),
    readFigure('failed'),
  ];
  return {
    id,
    kind,
    name: own[0]?.name ?? '',
    cluster: textOf(place?.cluster, 'the sender does not set k8s.cluster.name'),
    namespace: textOf(place?.namespace, 'not reported by any sender'),
    desired,
    ready,
    available,
    updated: readFigure('updated'),
    active: readFigure('active'),
    failed,
    state: stateOf(kind, { desired, ready, available, failed }),
    pods: pods.length,
    restarts: overPods(pods, ({ restarts }) => restarts),
    cpu: overPods(pods, ({ cpu }) => cpu),
    memory: overPods(pods, ({ memory }) => memory),
    lastSeen: formatTime(BigInt(own.reduce((last, { cell }) => Math.max(last, cell.atMs), 0)) * 1_000_000n),
  };
};

const stateOf = (
  kind: WorkloadKind,
  { desired, ready, available, failed }: Readonly<Record<'desired' | 'ready' | 'available' | 'failed', Known>>,
): Workload['state'] => {
  if (kind === 'CronJob') return 'unknown';
  if (kind === 'Job') return failed.value === null ? 'unknown' : failed.value > 0 ? 'degraded' : 'ready';
  const there = ready.value ?? available.value;
  if (desired.value === null || there === null) return 'unknown';
  return there < desired.value ? 'degraded' : 'ready';
};

/** Returns the sum of known values over pods; unknown if no value is known. */
export const overPods = (pods: readonly Pod[], read: (pod: Pod) => Known): Known => {
  if (pods.length === 0)
    return unknown('no pod is known to belong to it: the k8sattributes processor or kube-state-metrics reports owners');
  const values = pods.flatMap((pod) => read(pod).value ?? []);
  const [first] = pods;
  if (values.length === 0) return first === undefined ? unknown('') : read(first);
  return known(values.reduce((sum, value) => sum + value, 0));
};
