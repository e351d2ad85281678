/** Hosts: their properties, usage, and reporting state */
import { z } from 'zod';
import type { Attributes } from '../../queries/attributes.ts';
import type { ProjectScope } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { Reading } from '../../queries/reading.ts';
import { formatTime } from '../../queries/time.ts';
import { Known, known, unknown } from '../../queries/unknown.ts';
import { type Cell, readCells } from './cells.ts';
import {
  type CellsByMetric,
  figure,
  figureOf,
  firstOf,
  KnownText,
  missing,
  ratioOf,
  type Source,
  textOf,
  totalOf,
} from './figures.ts';
import { disksOfHost, ioOf } from './filesystems.ts';
import { groupedByHost, type HostData } from './host-parts.ts';
import { readLastRecords, readMetricActivity, readNamedHosts, type Senders } from './host-signs.ts';
import { type HostState, hostStateOf, type LastSeen, minSilenceMs } from './host-state.ts';
import {
  cpuModeOf,
  filesystemMetrics,
  hostCounters,
  hostLabels,
  hostMetrics,
  hostSources,
  idleModes,
} from './names.ts';

const State = z.enum(['active', 'silent']);
const share = Known.describe('Share between 0 and 1');
const bytes = Known.describe('Bytes');
const rate = Known.describe('Bytes per second');

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
    cores: Known.describe('Used processor cores'),
    logicalCpus: Known,
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
  load: z.strictObject({ m1: Known, m5: Known, m15: Known }),
  uptimeSeconds: Known,
});
export type Host = z.output<typeof Host>;

/** Period before the end of the range from which values are computed, in nanoseconds */
export const recentNs = 600_000_000_000n;
/** Hosts that became silent within this period before the end of the range are also listed. Nanoseconds. */
const lookbackNs = 86_400_000_000_000n;

export const recent = ({ to }: Range): Range => ({ from: to - recentNs, to });

/** Returns the hosts of a range, or those with a given id, otherwise with a given name. */
export const readHosts = async (
  reading: Reading,
  range: Range,
  scope: ProjectScope,
  only?: string,
): Promise<{ readonly items: Host[]; readonly isCut: boolean }> => {
  const from = range.from < range.to - lookbackNs ? range.from : range.to - lookbackNs;
  const past = { from, to: range.to };
  const [{ cells, isCut }, named] = await Promise.all([
    readCells(reading, {
      metrics: [...hostMetrics, ...filesystemMetrics],
      counters: hostCounters,
      labels: hostLabels,
      range: recent(range),
      ...scope,
    }),
    readNamedHosts(reading, past),
  ]);
  const signs = await readMetricActivity(reading, past, scope, sendersOf(cells, range));
  const all = [...groupedByHost(cells, [...signs, ...named])];
  const found = only === undefined ? all : hostsCalled(all, only);
  const last = await lastRecords(reading, found, past, scope);
  const nodes = nodesOf(cells);
  const items = found.flatMap(([key, host]) => {
    const metrics = lastMetricOf(host);
    const seen = { metrics, logs: last.logs(key, host), traces: last.traces(key, host) };
    // A host of another project, or one whose records are older than the searched period.
    if (Object.values(seen).every((each) => typeof each !== 'number')) return [];
    const intervals = host.traces.flatMap(({ intervalMs }) => (intervalMs === undefined ? [] : [intervalMs]));
    const state = hostStateOf({
      ...seen,
      atMs: Number(range.to / 1_000_000n),
      intervalMs: intervals.length === 0 ? undefined : Math.min(...intervals),
      isStillNode: isStillNode(host, nodes),
    });
    return [hostOf(key, host, state, seen)];
  });
  return { items, isCut };
};

/** Returns senders whose last point is so recent that their silence need not be checked. */
const sendersOf = (cells: readonly Cell[], { to }: Range): Senders => {
  const fresh = cells.filter(({ atMs }) => Number(to / 1_000_000n) - atMs < minSilenceMs);
  return {
    resourceIds: [...new Set(fresh.map(({ resourceId }) => resourceId))].filter((id) => id !== '0'),
    instances: [...new Set(fresh.flatMap(({ labels }) => labels['instance'] ?? []))],
  };
};

const lastMetricOf = ({ traces, cells }: HostData): number | undefined => {
  const times = [
    ...traces.flatMap(({ lastMs }) => (lastMs === undefined ? [] : [lastMs])),
    ...[...cells.values()].flat().map(({ atMs }) => atMs),
  ];
  return times.length === 0 ? undefined : times.reduce((one, other) => Math.max(one, other));
};

/** Returns clusters with current node metrics, and their nodes. */
const nodesOf = (cells: readonly Cell[]): ReadonlySet<string> =>
  new Set(
    cells
      .filter(({ metric }) => metric.startsWith('k8s.node.'))
      .map(({ resource }) => String(resource['k8s.node.name'])),
  );

const isStillNode = ({ traces, cells }: HostData, nodes: ReadonlySet<string>): boolean | undefined => {
  const name = attributeOf({ traces, cells }, 'k8s.node.name');
  // Only a cluster that reports other nodes shows that this node was deleted.
  return name === undefined || nodes.size === 0 ? undefined : nodes.has(String(name));
};

type FoundHost = readonly [string, HostData];

const hostsCalled = (all: readonly FoundHost[], called: string): FoundHost[] => {
  const byId = all.filter(([key]) => key === called);
  return byId.length > 0 ? byId : all.filter(([, { identity }]) => identity.name === called);
};

/** Returns the times of the last records. */
const lastRecords = async (reading: Reading, found: readonly FoundHost[], range: Range, scope: ProjectScope) => {
  const names = [...new Set(found.flatMap(([key, { identity }]) => [key, identity.name ?? key]))];
  const read = async (signal: 'logs' | 'traces') => {
    if (!reading.plan.entitlements.includes(signal)) {
      const reason = `the plan ${reading.plan.name} does not include ${signal}`;
      return (): LastSeen => reason;
    }
    const last = await readLastRecords(reading, signal, names, range, scope);
    return (key: string, host: HostData): LastSeen =>
      last.get(key) ?? (host.identity.name === undefined ? undefined : last.get(host.identity.name));
  };
  const [logs, traces] = await Promise.all([read('logs'), read('traces')]);
  return { logs, traces };
};

/** Returns the attribute of the first resource of a host that has it. */
const attributeOf = ({ traces, cells }: Pick<HostData, 'traces' | 'cells'>, key: string): unknown => {
  const resources: readonly Attributes[] = [
    ...[...cells.values()].flat().map(({ resource }) => resource),
    ...traces.map(({ resource }) => resource),
  ];
  return resources.find((resource) => resource[key] !== undefined)?.[key];
};

const notSent = (what: string, by: string): string => `no ${what} was received in the last 10 minutes: ${by}`;
const hostReceiver = (scraper: string): string =>
  `the collector's hostmetrics receiver with the scraper ${scraper}, or node_exporter, sends it`;
const detected = (key: string): string =>
  `the sender does not set ${key}; the collector's resourcedetection processor adds it`;

const hostOf = (
  key: string,
  found: HostData,
  { state, reason, wasStopped }: HostState,
  seen: Readonly<Record<string, LastSeen>>,
): Host => {
  const { cells, identity } = found;
  const attribute = (name: string) => textOf(attributeOf(found, name), detected(name));
  const uname = cells.get('node_uname_info')?.[0]?.labels;
  const times = Object.values(seen).filter((each) => typeof each === 'number');
  return {
    id: key,
    name: textOf(identity.name, detected('host.name')),
    state,
    reason: reason,
    wasStopped,
    lastSeen: textOf(
      times.length === 0 ? undefined : formatTime(BigInt(Math.max(...times)) * 1_000_000n),
      'no signal was received in the checked period',
    ),
    os: {
      type: textOf(attributeOf(found, 'os.type') ?? uname?.['sysname']?.toLowerCase(), detected('os.type')),
      description: attribute('os.description'),
    },
    arch: textOf(attributeOf(found, 'host.arch') ?? uname?.['machine'], detected('host.arch')),
    cloud: {
      provider: attribute('cloud.provider'),
      region: attribute('cloud.region'),
      zone: textOf(
        attributeOf(found, 'cloud.availability_zone') ?? attributeOf(found, 'cloud.zone'),
        detected('cloud.availability_zone'),
      ),
      account: attribute('cloud.account.id'),
      instanceType: attribute('host.type'),
    },
    kubernetesNode: textOf(attributeOf(found, 'k8s.node.name'), 'no metric contains a Kubernetes node for it'),
    ...hostFigures(cells),
    uptimeSeconds: figure(uptimeOf(cells), notSent('system.uptime', hostReceiver('system'))),
  };
};

/** Returns the uptime in seconds, at the time of the point that reports it. */
const uptimeOf = (cells: CellsByMetric): number | undefined => {
  const [boot] = hostSources.bootTime.flatMap(({ metric }) => cells.get(metric) ?? []);
  return totalOf(cells, hostSources.uptime) ?? (boot && boot.atMs / 1000 - boot.value / boot.series);
};

/** Returns the resource usage of a host, from its cells. */
export const hostFigures = (cells: CellsByMetric): Pick<Host, 'cpu' | 'memory' | 'disk' | 'network' | 'load'> => {
  const disks = disksOfHost(cells);
  const used = figure(disks?.used, notSent('filesystem sizes', hostReceiver('filesystem')));
  const total = figure(disks?.total, notSent('filesystem sizes', hostReceiver('filesystem')));
  const { utilization, cores } = cpuOf(cells);
  return {
    cpu: { utilization, cores, logicalCpus: logicalCpusOf(cells) },
    memory: memoryOf(cells),
    disk: {
      used,
      total,
      utilization: ratioOf(used, total),
      read: figure(ioOf(cells, hostSources.diskRead), rateMissing(cells, hostSources.diskRead, 'disk')),
      write: figure(ioOf(cells, hostSources.diskWrite), rateMissing(cells, hostSources.diskWrite, 'disk')),
    },
    network: {
      receive: rateOf(cells, hostSources.networkReceive, 'network'),
      transmit: rateOf(cells, hostSources.networkTransmit, 'network'),
    },
    load: {
      m1: figureOf(cells, hostSources.load1, notSent('load average', hostReceiver('load'))),
      m5: figureOf(cells, hostSources.load5, notSent('load average', hostReceiver('load'))),
      m15: figureOf(cells, hostSources.load15, notSent('load average', hostReceiver('load'))),
    },
  };
};

const rateMissing = (cells: CellsByMetric, sources: readonly Source[], scraper: string): string =>
  missing(cells, sources, notSent(`${scraper} bytes`, hostReceiver(scraper)));
const rateOf = (cells: CellsByMetric, sources: readonly Source[], scraper: string): Known =>
  figureOf(cells, sources, rateMissing(cells, sources, scraper));

/**
 * Returns non-idle time as a share of all time, for all names of the modes, and the equivalent number of processors.
 */
const cpuOf = (cells: CellsByMetric): { utilization: Known; cores: Known } => {
  const reason = missing(cells, hostSources.cpu, notSent('processor time', hostReceiver('cpu')));
  const modes = firstOf(cells, hostSources.cpu);
  const cpus = logicalCpusOf(cells);
  if (modes === undefined) {
    const cores = figureOf(cells, hostSources.cpuCores, reason);
    return { utilization: cores.value === null ? unknown(reason) : ratioOf(cores, cpus), cores };
  }
  const sum = (chosen: typeof modes): number => chosen.reduce((total, { value }) => total + value, 0);
  const all = sum(modes);
  const busy = sum(modes.filter(({ cell }) => !idleModes.includes(cpuModeOf(cell.labels))));
  const utilization = all > 0 ? known(busy / all) : unknown('no processor time elapsed between its points');
  return {
    utilization,
    cores:
      utilization.value === null || cpus.value === null
        ? utilization.value === null
          ? utilization
          : cpus
        : known(utilization.value * cpus.value),
  };
};

const logicalCpusOf = (cells: CellsByMetric): Known => {
  const reportedCpus = totalOf(cells, hostSources.logicalCpus);
  if (reportedCpus !== undefined) return known(reportedCpus);
  // There is one series per processor and mode.
  const counts = hostSources.cpu.flatMap(({ metric }) => (cells.get(metric) ?? []).map(({ series }) => series));
  return counts.length > 0
    ? known(Math.max(...counts))
    : unknown(notSent('system.cpu.logical.count', hostReceiver('cpu')));
};

/** Returns used and total memory. If only states are reported, the total is the sum of the disjoint ones. */
const memoryOf = (cells: CellsByMetric): Host['memory'] => {
  const reason = notSent('memory', hostReceiver('memory'));
  const limit = totalOf(cells, hostSources.memoryLimit);
  const available = totalOf(cells, hostSources.memoryAvailable);
  const workingSet = totalOf(cells, hostSources.memoryWorkingSet);
  const reportedMemory = totalOf(cells, hostSources.memoryUsed);
  const used = reportedMemory ?? (limit !== undefined && available !== undefined ? limit - available : workingSet);
  const share = totalOf(cells, hostSources.memoryUtilization);
  const total =
    limit ??
    (reportedMemory === undefined
      ? workingSet !== undefined && available !== undefined
        ? workingSet + available
        : undefined
      : share !== undefined && share > 0
        ? reportedMemory / share
        : sumOfStates(cells));
  const figures = { used: figure(used, reason), total: figure(total, reason) };
  return { ...figures, utilization: ratioOf(figures.used, figures.total) };
};

const wholeStates: readonly string[] = ['used', 'free', 'buffered', 'buffers', 'cached', 'inactive'];

const sumOfStates = (cells: CellsByMetric): number | undefined => {
  const states = (cells.get('system.memory.usage') ?? []).filter(({ labels }) =>
    wholeStates.includes(labels['system.memory.state'] ?? labels['state'] ?? ''),
  );
  return states.length < 2 ? undefined : states.reduce((sum, { value: level }) => sum + level, 0);
};
