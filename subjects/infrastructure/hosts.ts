/** Hosts: their properties, usage, and reporting state */
import { z } from 'zod';
import type { Attributes } from '../../queries/attributes.ts';
import type { ProjectScope } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';
import { NumberOrReason, toKnownNumber, toUnknownNumber } from '../../queries/unknown-numbers.ts';
import { type Cell, readCells } from './cells.ts';
import { sumHostDisks, sumIo } from './filesystems.ts';
import { readLastRecords, readMetricActivity, readReportedHosts, type Senders } from './host-activity.ts';
import { groupByHost, type HostData } from './host-parts.ts';
import { determineHostState, type HostState, type LastReceived, minSilenceMs } from './host-state.ts';
import {
  type CellsByMetric,
  explainMissing,
  findFirstAvailable,
  KnownText,
  type Source,
  sumValues,
  toKnown,
  toKnownRatio,
  toKnownSum,
  toKnownText,
} from './item-values.ts';
import {
  filesystemMetrics,
  getCpuMode,
  hostCounters,
  hostLabels,
  hostMetrics,
  hostSources,
  idleModes,
} from './names.ts';

const State = z.enum(['active', 'silent']);
const share = NumberOrReason.describe('Share between 0 and 1');
const bytes = NumberOrReason.describe('Bytes');
const rate = NumberOrReason.describe('Bytes per second');

export const Host = z.strictObject({
  id: z.string().describe('`host.id`, otherwise the name'),
  name: KnownText,
  state: State,
  reason: z.string().describe('Times of the telemetry signals on which the state is based'),
  wasStopped: z
    .strictObject({ value: z.boolean().nullable(), reason: z.string().nullable() })
    .describe('Whether a silent host was stopped on purpose'),
  lastSeen: KnownText.describe('Time of the last metric point, log record or span'),
  os: z.strictObject({ type: KnownText, description: KnownText }),
  arch: KnownText,
  cloud: z.strictObject({
    provider: KnownText,
    region: KnownText,
    zone: KnownText,
    account: KnownText,
    instanceType: KnownText,
  }),
  kubernetesNode: KnownText,
  cpu: z.strictObject({
    utilization: share.describe(
      'Share of processor time, between 0 and 1, that was neither idle nor waiting for disks',
    ),
    cores: NumberOrReason.describe('Used processor cores'),
    logicalCpus: NumberOrReason,
  }),
  memory: z.strictObject({ used: bytes, total: bytes, utilization: share }),
  disk: z.strictObject({
    used: bytes.describe('Bytes on all disks of the host, each counted once'),
    total: bytes,
    utilization: share,
    read: rate,
    write: rate,
  }),
  network: z
    .strictObject({ receive: rate, transmit: rate })
    .describe('Network rates without loopback and virtual interfaces'),
  load: z.strictObject({ m1: NumberOrReason, m5: NumberOrReason, m15: NumberOrReason }),
  uptimeSeconds: NumberOrReason,
});
export type Host = z.output<typeof Host>;

/** Period before the end of the range from which values are computed, in nanoseconds */
export const recentNs = 600_000_000_000n;
/** Hosts that became silent within this period before the end of the range are also listed. Nanoseconds. */
const lookbackNs = 86_400_000_000_000n;

export const recentRange = ({ to }: Range): Range => ({ from: to - recentNs, to });

/** Returns the hosts of a range, or those with a given id, otherwise with a given name. */
export const readHosts = async (
  reader: TenantReader,
  range: Range,
  scope: ProjectScope,
  only?: string,
): Promise<{ readonly items: Host[]; readonly isTruncated: boolean }> => {
  const from = range.from < range.to - lookbackNs ? range.from : range.to - lookbackNs;
  const lookbackRange = { from, to: range.to };
  const [{ cells, isTruncated }, reportedHosts] = await Promise.all([
    readCells(reader, {
      metrics: [...hostMetrics, ...filesystemMetrics],
      counters: hostCounters,
      labels: hostLabels,
      range: recentRange(range),
      ...scope,
    }),
    readReportedHosts(reader, lookbackRange),
  ]);
  const metricActivity = await readMetricActivity(reader, lookbackRange, scope, findActiveSenders(cells, range));
  const allHosts = [...groupByHost(cells, [...metricActivity, ...reportedHosts])];
  const foundHosts = only === undefined ? allHosts : findHosts(allHosts, only);
  const lastTimes = await readLastTimes(reader, foundHosts, lookbackRange, scope);
  const nodes = listCurrentNodes(cells);
  const items = foundHosts.flatMap(([key, host]) => {
    const metrics = getLastMetricMs(host);
    const lastReceived = { metrics, logs: lastTimes.logs(key, host), traces: lastTimes.traces(key, host) };
    // A host of another project, or one whose records are older than the searched period.
    if (Object.values(lastReceived).every((lastTime) => typeof lastTime !== 'number')) return [];
    const intervals = host.traces.flatMap(({ intervalMs }) => (intervalMs === undefined ? [] : [intervalMs]));
    const state = determineHostState({
      ...lastReceived,
      atMs: Number(range.to / 1_000_000n),
      intervalMs: intervals.length === 0 ? undefined : Math.min(...intervals),
      isStillNode: isStillNode(host, nodes),
    });
    return [toHost(key, host, state, lastReceived)];
  });
  return { items, isTruncated };
};

/** Returns senders whose last point is so recent that their silence need not be checked. */
const findActiveSenders = (cells: readonly Cell[], { to }: Range): Senders => {
  const fresh = cells.filter(({ atMs }) => Number(to / 1_000_000n) - atMs < minSilenceMs);
  return {
    resourceIds: [...new Set(fresh.map(({ resourceId }) => resourceId))].filter((id) => id !== '0'),
    instances: [...new Set(fresh.flatMap(({ labels }) => labels['instance'] ?? []))],
  };
};

const getLastMetricMs = ({ traces, cells }: HostData): number | undefined => {
  const times = [
    ...traces.flatMap(({ lastMs }) => (lastMs === undefined ? [] : [lastMs])),
    ...[...cells.values()].flat().map(({ atMs }) => atMs),
  ];
  return times.length === 0 ? undefined : times.reduce((left, right) => Math.max(left, right));
};

/** Returns clusters with current node metrics, and their nodes. */
const listCurrentNodes = (cells: readonly Cell[]): ReadonlySet<string> =>
  new Set(
    cells
      .filter(({ metric }) => metric.startsWith('k8s.node.'))
      .map(({ resource }) => String(resource['k8s.node.name'])),
  );

const isStillNode = ({ traces, cells }: HostData, nodes: ReadonlySet<string>): boolean | undefined => {
  const name = findAttribute({ traces, cells }, 'k8s.node.name');
  // Only a cluster that reports other nodes shows that this node was deleted.
  return name === undefined || nodes.size === 0 ? undefined : nodes.has(String(name));
};

type FoundHost = readonly [string, HostData];

const findHosts = (allHosts: readonly FoundHost[], idOrName: string): FoundHost[] => {
  const byId = allHosts.filter(([key]) => key === idOrName);
  return byId.length > 0 ? byId : allHosts.filter(([, { identity }]) => identity.name === idOrName);
};

/** Returns the times of the last records. */
const readLastTimes = async (
  reader: TenantReader,
  foundHosts: readonly FoundHost[],
  range: Range,
  scope: ProjectScope,
) => {
  const names = [...new Set(foundHosts.flatMap(([key, { identity }]) => [key, identity.name ?? key]))];
  const read = async (signal: 'logs' | 'traces') => {
    if (!reader.plan.entitlements.includes(signal)) {
      const reason = `the plan ${reader.plan.name} does not include ${signal}`;
      return (): LastReceived => reason;
    }
    const lastRecords = await readLastRecords(reader, signal, names, range, scope);
    return (key: string, host: HostData): LastReceived =>
      lastRecords.get(key) ?? (host.identity.name === undefined ? undefined : lastRecords.get(host.identity.name));
  };
  const [logs, traces] = await Promise.all([read('logs'), read('traces')]);
  return { logs, traces };
};

/** Returns the attribute of the first resource of a host that has it. */
const findAttribute = ({ traces, cells }: Pick<HostData, 'traces' | 'cells'>, key: string): unknown => {
  const resources: readonly Attributes[] = [
    ...[...cells.values()].flat().map(({ resource }) => resource),
    ...traces.map(({ resource }) => resource),
  ];
  return resources.find((resource) => resource[key] !== undefined)?.[key];
};

const notReceivedReason = (objectKind: string, by: string): string =>
  `no ${objectKind} was received in the last 10 minutes: ${by}`;
const hostReceiver = (scraper: string): string =>
  `the collector's hostmetrics receiver with the scraper ${scraper}, or node_exporter, sends it`;
const notSetReason = (key: string): string =>
  `the sender does not set ${key}; the collector's resourcedetection processor adds it`;

const toHost = (
  key: string,
  hostData: HostData,
  { state, reason, wasStopped }: HostState,
  lastReceived: Readonly<Record<string, LastReceived>>,
): Host => {
  const { cells, identity } = hostData;
  const attribute = (name: string) => toKnownText(findAttribute(hostData, name), notSetReason(name));
  const uname = cells.get('node_uname_info')?.[0]?.labels;
  const times = Object.values(lastReceived).filter((lastTime) => typeof lastTime === 'number');
  return {
    id: key,
    name: toKnownText(identity.name, notSetReason('host.name')),
    state,
    reason,
    wasStopped,
    lastSeen: toKnownText(
      times.length === 0 ? undefined : formatTime(BigInt(Math.max(...times)) * 1_000_000n),
      'no signal was received in the checked period',
    ),
    os: {
      type: toKnownText(
        findAttribute(hostData, 'os.type') ?? uname?.['sysname']?.toLowerCase(),
        notSetReason('os.type'),
      ),
      description: attribute('os.description'),
    },
    arch: toKnownText(findAttribute(hostData, 'host.arch') ?? uname?.['machine'], notSetReason('host.arch')),
    cloud: {
      provider: attribute('cloud.provider'),
      region: attribute('cloud.region'),
      zone: toKnownText(
        findAttribute(hostData, 'cloud.availability_zone') ?? findAttribute(hostData, 'cloud.zone'),
        notSetReason('cloud.availability_zone'),
      ),
      account: attribute('cloud.account.id'),
      instanceType: attribute('host.type'),
    },
    kubernetesNode: toKnownText(
      findAttribute(hostData, 'k8s.node.name'),
      'no metric contains a Kubernetes node for it',
    ),
    ...computeHostUsage(cells),
    uptimeSeconds: toKnown(computeUptime(cells), notReceivedReason('system.uptime', hostReceiver('system'))),
  };
};

/** Returns the uptime in seconds, at the time of the point that reports it. */
const computeUptime = (cells: CellsByMetric): number | undefined => {
  const [boot] = hostSources.bootTime.flatMap(({ metric }) => cells.get(metric) ?? []);
  return sumValues(cells, hostSources.uptime) ?? (boot && boot.atMs / 1000 - boot.value / boot.series);
};

/** Returns the resource usage of a host, from its cells. */
export const computeHostUsage = (cells: CellsByMetric): Pick<Host, 'cpu' | 'memory' | 'disk' | 'network' | 'load'> => {
  const disks = sumHostDisks(cells);
  const used = toKnown(disks?.used, notReceivedReason('filesystem sizes', hostReceiver('filesystem')));
  const total = toKnown(disks?.total, notReceivedReason('filesystem sizes', hostReceiver('filesystem')));
  const { utilization, cores } = computeCpu(cells);
  return {
    cpu: { utilization, cores, logicalCpus: computeLogicalCpus(cells) },
    memory: computeMemory(cells),
    disk: {
      used,
      total,
      utilization: toKnownRatio(used, total),
      read: toKnown(sumIo(cells, hostSources.diskRead), rateMissing(cells, hostSources.diskRead, 'disk')),
      write: toKnown(sumIo(cells, hostSources.diskWrite), rateMissing(cells, hostSources.diskWrite, 'disk')),
    },
    network: {
      receive: computeRate(cells, hostSources.networkReceive, 'network'),
      transmit: computeRate(cells, hostSources.networkTransmit, 'network'),
    },
    load: {
      m1: toKnownSum(cells, hostSources.load1, notReceivedReason('load average', hostReceiver('load'))),
      m5: toKnownSum(cells, hostSources.load5, notReceivedReason('load average', hostReceiver('load'))),
      m15: toKnownSum(cells, hostSources.load15, notReceivedReason('load average', hostReceiver('load'))),
    },
  };
};

const rateMissing = (cells: CellsByMetric, sources: readonly Source[], scraper: string): string =>
  explainMissing(cells, sources, notReceivedReason(`${scraper} bytes`, hostReceiver(scraper)));
const computeRate = (cells: CellsByMetric, sources: readonly Source[], scraper: string): NumberOrReason =>
  toKnownSum(cells, sources, rateMissing(cells, sources, scraper));

/**
 * Returns non-idle time as a share of all time, for all names of the modes, and the equivalent number of processors.
 */
const computeCpu = (cells: CellsByMetric): { utilization: NumberOrReason; cores: NumberOrReason } => {
  const reason = explainMissing(cells, hostSources.cpu, notReceivedReason('processor time', hostReceiver('cpu')));
  const modes = findFirstAvailable(cells, hostSources.cpu);
  const cpus = computeLogicalCpus(cells);
  if (modes === undefined) {
    const cores = toKnownSum(cells, hostSources.cpuCores, reason);
    return { utilization: cores.value === null ? toUnknownNumber(reason) : toKnownRatio(cores, cpus), cores };
  }
  const sum = (chosenModes: typeof modes): number => chosenModes.reduce((total, { value }) => total + value, 0);
  const totalTime = sum(modes);
  const busy = sum(modes.filter(({ cell }) => !idleModes.includes(getCpuMode(cell.labels))));
  const utilization =
    totalTime > 0 ? toKnownNumber(busy / totalTime) : toUnknownNumber('no processor time elapsed between its points');
  return {
    utilization,
    cores:
      utilization.value === null || cpus.value === null
        ? utilization.value === null
          ? utilization
          : cpus
        : toKnownNumber(utilization.value * cpus.value),
  };
};

const computeLogicalCpus = (cells: CellsByMetric): NumberOrReason => {
  const reportedCpus = sumValues(cells, hostSources.logicalCpus);
  if (reportedCpus !== undefined) return toKnownNumber(reportedCpus);
  // There is one series per processor and mode.
  const counts = hostSources.cpu.flatMap(({ metric }) => (cells.get(metric) ?? []).map(({ series }) => series));
  return counts.length > 0
    ? toKnownNumber(Math.max(...counts))
    : toUnknownNumber(notReceivedReason('system.cpu.logical.count', hostReceiver('cpu')));
};

/** Returns used and total memory. If only states are reported, the total is the sum of the disjoint ones. */
const computeMemory = (cells: CellsByMetric): Host['memory'] => {
  const reason = notReceivedReason('memory', hostReceiver('memory'));
  const limit = sumValues(cells, hostSources.memoryLimit);
  const available = sumValues(cells, hostSources.memoryAvailable);
  const workingSet = sumValues(cells, hostSources.memoryWorkingSet);
  const reportedMemory = sumValues(cells, hostSources.memoryUsed);
  const used = reportedMemory ?? (limit !== undefined && available !== undefined ? limit - available : workingSet);
  const share = sumValues(cells, hostSources.memoryUtilization);
  const total =
    limit ??
    (reportedMemory === undefined
      ? workingSet !== undefined && available !== undefined
        ? workingSet + available
        : undefined
      : share !== undefined && share > 0
        ? reportedMemory / share
        : sumMemoryStates(cells));
  const memory = { used: toKnown(used, reason), total: toKnown(total, reason) };
  return { ...memory, utilization: toKnownRatio(memory.used, memory.total) };
};

const disjointStates: readonly string[] = ['used', 'free', 'buffered', 'buffers', 'cached', 'inactive'];

const sumMemoryStates = (cells: CellsByMetric): number | undefined => {
  const states = (cells.get('system.memory.usage') ?? []).filter(({ labels }) =>
    disjointStates.includes(labels['system.memory.state'] ?? labels['state'] ?? ''),
  );
  return states.length < 2 ? undefined : states.reduce((sum, { value: level }) => sum + level, 0);
};
