/** Containers of pods: usage relative to request and limit, termination, and out-of-memory kills */
import { z } from 'zod';
import type { ProjectScope } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';
import { NumberOrReason as KnownSchema, type NumberOrReason, toUnknownNumber } from '../../queries/unknown-numbers.ts';
import type { CellQuery } from '../infrastructure/cell-points.ts';
import {
  type CellsByMetric,
  explainMissing,
  KnownText,
  listSourceMetrics,
  sumValues,
  toKnown,
  toKnownRatio,
  toKnownSum,
  toKnownText,
} from '../infrastructure/item-values.ts';
import { countNodeMemoryEvents } from './events.ts';
import { containerSources, oomCounters } from './names.ts';
import {
  type ContainerParts,
  createPodKeys,
  findActiveLabel,
  findAttribute,
  groupByPod,
  type PodParts,
  type PositionedCell,
  readCellsOfRange,
  readPositionedCells,
} from './objects.ts';
import { judgeOom, OomVerdict } from './oom.ts';

const ResourceUsage = z.strictObject({
  used: KnownSchema,
  request: KnownSchema,
  limit: KnownSchema,
  requestUtilization: KnownSchema.describe('Use as a share of the request'),
  limitUtilization: KnownSchema.describe('Use as a share of the limit'),
});

export const Container = z.strictObject({
  id: z.string().describe('Pod and name'),
  name: z.string(),
  cluster: KnownText,
  namespace: KnownText,
  pod: KnownText,
  podUid: KnownText,
  node: KnownText,
  image: KnownText,
  state: KnownText.describe('`running`, `waiting` or `terminated`'),
  reason: KnownText.describe('Why the container waits or has ended'),
  ready: z.strictObject({ value: z.boolean().nullable(), reason: z.string().nullable() }),
  restarts: KnownSchema,
  lastTermination: z.strictObject({ reason: KnownText, exitCode: KnownSchema }),
  cpu: ResourceUsage.describe('Processor cores'),
  throttled: KnownSchema.describe('Share of its periods in which the container was throttled by its CPU limit'),
  memory: ResourceUsage.describe('Bytes; use is the working set'),
  oom: OomVerdict,
  lastSeen: z.string(),
});
export type Container = z.output<typeof Container>;

export const containerMetrics = listSourceMetrics(containerSources);

/** Events of containers in a range, by pod and name */
interface ContainerHistory {
  readonly kills: ReadonlyMap<string, number>;
  readonly peaks: ReadonlyMap<string, number>;
  /** Events by node, or `undefined` if they were not read */
  readonly nodeEvents: ReadonlyMap<string, number> | undefined;
}

export const toContainerKey = (pod: string, name: string): string => `${pod}/${name}`;

/** Returns containers at the end of a range, or those of one pod. */
export const readContainers = async (
  reader: TenantReader,
  range: Range,
  scope: ProjectScope,
): Promise<{ readonly items: Container[]; readonly isTruncated: boolean }> => {
  const { cells, isTruncated } = await readPositionedCells(reader, range, scope, containerMetrics);
  const pods = groupByPod(cells);
  const history = await readContainerHistory(reader, range, scope, createPodKeys(cells));
  const reportedMetrics = collectMetrics(cells);
  return { isTruncated, items: [...pods.values()].flatMap((pod) => toContainers(pod, history, reportedMetrics)) };
};

/**
 * Returns the history of containers in the full range, optionally for given series: kills counted by cgroups, peak
 * memory, and events of nodes.
 */
export const readContainerHistory = async (
  reader: TenantReader,
  range: Range,
  scope: ProjectScope,
  keyOf: (position: PositionedCell['position']) => string,
  series?: CellQuery['series'],
): Promise<ContainerHistory> => {
  const memory = containerSources.memory.map(({ metric }) => metric);
  const [cells, nodeEvents] = await Promise.all([
    readCellsOfRange(reader, range, scope, [...oomCounters, ...memory], series),
    reader.plan.entitlements.includes('logs') ? countNodeMemoryEvents(reader, range, scope) : undefined,
  ]);
  const kills = new Map<string, number>();
  const peaks = new Map<string, number>();
  for (const { metric, position, increase, peak } of cells) {
    if (position.container === '' || position.container === 'POD') continue;
    const key = toContainerKey(keyOf(position), position.container);
    if (oomCounters.includes(metric)) kills.set(key, (kills.get(key) ?? 0) + increase);
    // Several senders report the same memory; the first source that the values use counts.
    else if (metric === memory[0] || !peaks.has(key)) peaks.set(key, Math.max(peaks.get(key) ?? 0, peak));
  }
  return { kills, peaks, nodeEvents };
};

/**
 * Returns the metrics that any container of these series reports. A request that a container lacks among them is not
 * set.
 */
export const collectMetrics = (cells: readonly { readonly metric: string }[]): ReadonlySet<string> =>
  new Set(cells.map(({ metric }) => metric));

const notReportedReason = 'not reported by any sender';
const clusterMetricsHint = 'the k8s_cluster receiver or kube-state-metrics reports it';
const describeMissing = (measure: string, source: string): string =>
  `no ${measure} was received in the last 10 minutes: ${source}`;

const computeResourceUsage = (
  cells: CellsByMetric,
  reportedMetrics: ReadonlySet<string>,
  kind: 'cpu' | 'memory',
): z.output<typeof ResourceUsage> => {
  const readBound = (name: 'Request' | 'Limit'): NumberOrReason => {
    const sources = containerSources[`${kind}${name}`];
    const isReported = sources.some(({ metric }) => reportedMetrics.has(metric));
    return toKnownSum(
      cells,
      sources,
      isReported
        ? `no ${name.toLowerCase()} is set`
        : describeMissing(`${kind} ${name.toLowerCase()}`, clusterMetricsHint),
    );
  };
  const sources = containerSources[kind];
  const used = toKnownSum(
    cells,
    sources,
    explainMissing(cells, sources, describeMissing(`${kind} use`, 'the kubeletstats receiver or cAdvisor reports it')),
  );
  const [request, limit] = [readBound('Request'), readBound('Limit')];
  return {
    used,
    request,
    limit,
    requestUtilization: toKnownRatio(used, request),
    limitUtilization: toKnownRatio(used, limit),
  };
};

const computeThrottledShare = (cells: CellsByMetric): NumberOrReason => {
  const periods = sumValues(cells, containerSources.periods);
  const throttled = sumValues(cells, containerSources.throttledPeriods);
  if (periods === undefined || throttled === undefined)
    return toUnknownNumber(
      describeMissing(
        'CPU periods',
        'cAdvisor (container_cpu_cfs_periods_total) or the docker_stats receiver reports them',
      ),
    );
  return periods > 0 ? toKnown(throttled / periods, '') : toUnknownNumber('it has no CPU limit, or did not run');
};

/** Returns the containers of a pod. */
export const toContainers = (
  pod: PodParts,
  history: ContainerHistory,
  reportedMetrics: ReadonlySet<string>,
): Container[] => pod.containers.map((parts) => toContainer(pod, parts, history, reportedMetrics));

const toContainer = (
  { key, position }: PodParts,
  { name, cells }: ContainerParts,
  { kills, peaks, nodeEvents }: ContainerHistory,
  reportedMetrics: ReadonlySet<string>,
): Container => {
  const id = toContainerKey(key, name);
  const ready = sumValues(cells, containerSources.ready);
  const restarts = toKnownSum(cells, containerSources.restarts, describeMissing('restarts', clusterMetricsHint));
  const lastReason =
    findAttribute(cells, 'k8s.container.status.last_terminated_reason') ??
    findActiveLabel(cells, containerSources.lastReason, ['reason']);
  const exitCode = sumValues(cells, containerSources.exitCode);
  const currentReason = findActiveLabel(cells, containerSources.statusReason, [
    'k8s.container.status.reason',
    'reason',
  ]);
  const memory = computeResourceUsage(cells, reportedMetrics, 'memory');
  const peak = peaks.get(id);
  const countsKills = kills.has(id);
  const noTerminationReason =
    restarts.value === 0
      ? 'it has not ended yet'
      : describeMissing(
          'reason',
          'the resource attribute k8s.container.status.last_terminated_reason of the k8s_cluster receiver is off by default; kube-state-metrics also reports it',
        );
  return {
    id,
    name,
    cluster: toKnownText(position.cluster, 'the sender does not set k8s.cluster.name'),
    namespace: toKnownText(position.namespace, notReportedReason),
    pod: toKnownText(position.pod, notReportedReason),
    podUid: toKnownText(position.podUid, notReportedReason),
    node: toKnownText(position.node, notReportedReason),
    image: toKnownText(getImageName(cells), notReportedReason),
    state: toKnownText(
      findActiveLabel(cells, containerSources.state, ['k8s.container.status.state']) ??
        (ready === 1 ? 'running' : undefined),
      describeMissing('state', 'the metric k8s.container.status.state of the k8s_cluster receiver is off by default'),
    ),
    reason: toKnownText(currentReason, describeMissing('reason', 'it is running, or no sender reports why it is not')),
    ready:
      ready === undefined
        ? { value: null, reason: describeMissing('readiness', clusterMetricsHint) }
        : { value: ready > 0, reason: null },
    restarts,
    lastTermination: {
      reason: toKnownText(lastReason, noTerminationReason),
      exitCode: toKnown(
        exitCode,
        'only kube-state-metrics reports it (kube_pod_container_status_last_terminated_exitcode)',
      ),
    },
    cpu: computeResourceUsage(cells, reportedMetrics, 'cpu'),
    throttled: computeThrottledShare(cells),
    memory,
    oom: judgeOom({
      lastReason: lastReason === undefined ? undefined : String(lastReason),
      exitCode,
      currentReason,
      restarts: restarts.value ?? undefined,
      cgroupKills: countsKills ? kills.get(id) : undefined,
      nodeEvents: nodeEvents === undefined || position.node === '' ? undefined : (nodeEvents.get(position.node) ?? 0),
      peakShare:
        peak === undefined || memory.limit.value === null || memory.limit.value === 0
          ? undefined
          : peak / memory.limit.value,
    }),
    lastSeen: formatTime(
      BigInt([...cells.values()].flat().reduce((last, { atMs }) => Math.max(last, atMs), 0)) * 1_000_000n,
    ),
  };
};

const getImageName = (cells: CellsByMetric): string | undefined => {
  const name = findAttribute(cells, 'container.image.name');
  const tag = findAttribute(cells, 'container.image.tag', 'container.image.tags');
  if (name === undefined) return undefined;
  const [first] = [tag].flat();
  return first === undefined ? String(name) : `${name}:${first}`;
};
