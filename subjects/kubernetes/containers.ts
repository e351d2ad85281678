/** Containers of pods: usage relative to request and limit, termination, and out-of-memory kills */
import { z } from 'zod';
import type { ProjectScope } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { Reading } from '../../queries/reading.ts';
import { formatTime } from '../../queries/time.ts';
import { type Known, Known as KnownSchema, unknown } from '../../queries/unknown.ts';
import type { CellQuery } from '../infrastructure/cell-points.ts';
import {
  type CellsByMetric,
  figure,
  figureOf,
  KnownText,
  metricsOf,
  missing,
  ratioOf,
  textOf,
  totalOf,
} from '../infrastructure/figures.ts';
import { countNodeMemoryEvents } from './events.ts';
import { containerSources, oomCounters } from './names.ts';
import {
  attributeOf,
  type ContainerParts,
  chosenLabel,
  type PlacedCell,
  type PodParts,
  podKeys,
  podsOf,
  readPlaced,
  readPlacedOf,
} from './objects.ts';
import { OomVerdict, oomVerdict } from './oom.ts';

const Use = z.strictObject({
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
  cpu: Use.describe('Processor cores'),
  throttled: KnownSchema.describe('Share of its periods in which the container was throttled by its CPU limit'),
  memory: Use.describe('Bytes; use is the working set'),
  oom: OomVerdict,
  lastSeen: z.string(),
});
export type Container = z.output<typeof Container>;

export const containerMetrics = metricsOf(containerSources);

/** Events of containers in a range, by pod and name */
interface Happened {
  readonly kills: ReadonlyMap<string, number>;
  readonly peaks: ReadonlyMap<string, number>;
  /** Events by node, or `undefined` if they were not read */
  readonly nodeEvents: ReadonlyMap<string, number> | undefined;
}

export const containerKey = (pod: string, name: string): string => `${pod}/${name}`;

/** Returns containers at the end of a range, or those of one pod. */
export const readContainers = async (
  reading: Reading,
  range: Range,
  scope: ProjectScope,
): Promise<{ readonly items: Container[]; readonly isCut: boolean }> => {
  const { cells, isCut } = await readPlaced(reading, range, scope, containerMetrics);
  const pods = podsOf(cells);
  const happened = await readHappened(reading, range, scope, podKeys(cells));
  const reportedMetrics = reportedMetricsOf(cells);
  return { isCut, items: [...pods.values()].flatMap((pod) => containersOf(pod, happened, reportedMetrics)) };
};

/**
 * Returns what happened in the full range, optionally for given series: kills counted by cgroups, peak memory, and
 * events of nodes.
 */
export const readHappened = async (
  reading: Reading,
  range: Range,
  scope: ProjectScope,
  keyOf: (place: PlacedCell['place']) => string,
  series?: CellQuery['series'],
): Promise<Happened> => {
  const memory = containerSources.memory.map(({ metric }) => metric);
  const [cells, nodeEvents] = await Promise.all([
    readPlacedOf(reading, range, scope, [...oomCounters, ...memory], series),
    reading.plan.entitlements.includes('logs') ? countNodeMemoryEvents(reading, range, scope) : undefined,
  ]);
  const kills = new Map<string, number>();
  const peaks = new Map<string, number>();
  for (const { metric, place, increase, peak } of cells) {
    if (place.container === '' || place.container === 'POD') continue;
    const key = containerKey(keyOf(place), place.container);
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
export const reportedMetricsOf = (cells: readonly { readonly metric: string }[]): ReadonlySet<string> =>
  new Set(cells.map(({ metric }) => metric));

const notReportedReason = 'not reported by any sender';
const cluster = 'the k8s_cluster receiver or kube-state-metrics reports it';
const missingReason = (what: string, by: string): string => `no ${what} was received in the last 10 minutes: ${by}`;

const useOf = (
  cells: CellsByMetric,
  reportedMetrics: ReadonlySet<string>,
  kind: 'cpu' | 'memory',
): z.output<typeof Use> => {
  const bound = (name: 'Request' | 'Limit'): Known => {
    const sources = containerSources[`${kind}${name}`];
    const isReported = sources.some(({ metric }) => reportedMetrics.has(metric));
    return figureOf(
      cells,
      sources,
      isReported ? `no ${name.toLowerCase()} is set` : missingReason(`${kind} ${name.toLowerCase()}`, cluster),
    );
  };
  const sources = containerSources[kind];
  const used = figureOf(
    cells,
    sources,
    missing(cells, sources, missingReason(`${kind} use`, 'the kubeletstats receiver or cAdvisor reports it')),
  );
  const [request, limit] = [bound('Request'), bound('Limit')];
  return { used, request, limit, requestUtilization: ratioOf(used, request), limitUtilization: ratioOf(used, limit) };
};

const throttledOf = (cells: CellsByMetric): Known => {
  const periods = totalOf(cells, containerSources.periods);
  const throttled = totalOf(cells, containerSources.throttledPeriods);
  if (periods === undefined || throttled === undefined)
    return unknown(
      missingReason(
        'CPU periods',
        'cAdvisor (container_cpu_cfs_periods_total) or the docker_stats receiver reports them',
      ),
    );
  return periods > 0 ? figure(throttled / periods, '') : unknown('it has no CPU limit, or did not run');
};

/** Returns the containers of a pod. */
export const containersOf = (pod: PodParts, happened: Happened, reportedMetrics: ReadonlySet<string>): Container[] =>
  pod.containers.map((parts) => containerOf(pod, parts, happened, reportedMetrics));

const containerOf = (
  { key, place }: PodParts,
  { name, cells }: ContainerParts,
  { kills, peaks, nodeEvents }: Happened,
  reportedMetrics: ReadonlySet<string>,
): Container => {
  const id = containerKey(key, name);
  const ready = totalOf(cells, containerSources.ready);
  const restarts = figureOf(cells, containerSources.restarts, missingReason('restarts', cluster));
  const lastReason =
    attributeOf(cells, 'k8s.container.status.last_terminated_reason') ??
    chosenLabel(cells, containerSources.lastReason, ['reason']);
  const exitCode = totalOf(cells, containerSources.exitCode);
  const currentReason = chosenLabel(cells, containerSources.statusReason, ['k8s.container.status.reason', 'reason']);
  const memory = useOf(cells, reportedMetrics, 'memory');
  const peak = peaks.get(id);
  const countsKills = kills.has(id);
  const noEnd =
    restarts.value === 0
      ? 'it has not ended yet'
      : missingReason(
          'reason',
          'the resource attribute k8s.container.status.last_terminated_reason of the k8s_cluster receiver is off by default; kube-state-metrics also reports it',
        );
  return {
    id,
    name,
    cluster: textOf(place.cluster, 'the sender does not set k8s.cluster.name'),
    namespace: textOf(place.namespace, notReportedReason),
    pod: textOf(place.pod, notReportedReason),
    podUid: textOf(place.podUid, notReportedReason),
    node: textOf(place.node, notReportedReason),
    image: textOf(imageOf(cells), notReportedReason),
    state: textOf(
      chosenLabel(cells, containerSources.state, ['k8s.container.status.state']) ??
        (ready === 1 ? 'running' : undefined),
      missingReason('state', 'the metric k8s.container.status.state of the k8s_cluster receiver is off by default'),
    ),
    reason: textOf(currentReason, missingReason('reason', 'it is running, or no sender reports why it is not')),
    ready:
      ready === undefined
        ? { value: null, reason: missingReason('readiness', cluster) }
        : { value: ready > 0, reason: null },
    restarts,
    lastTermination: {
      reason: textOf(lastReason, noEnd),
      exitCode: figure(
        exitCode,
        'only kube-state-metrics reports it (kube_pod_container_status_last_terminated_exitcode)',
      ),
    },
    cpu: useOf(cells, reportedMetrics, 'cpu'),
    throttled: throttledOf(cells),
    memory,
    oom: oomVerdict({
      lastReason: lastReason === undefined ? undefined : String(lastReason),
      exitCode,
      currentReason,
      restarts: restarts.value ?? undefined,
      cgroupKills: countsKills ? kills.get(id) : undefined,
      nodeEvents: nodeEvents === undefined || place.node === '' ? undefined : (nodeEvents.get(place.node) ?? 0),
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

const imageOf = (cells: CellsByMetric): string | undefined => {
  const name = attributeOf(cells, 'container.image.name');
  const tag = attributeOf(cells, 'container.image.tag', 'container.image.tags');
  if (name === undefined) return undefined;
  const [first] = [tag].flat();
  return first === undefined ? String(name) : `${name}:${first}`;
};
