/** Disks of hosts and volumes of pods: usage, reads and writes, and when they are full */
import { z } from 'zod';
import type { ProjectScope } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { NumberOrReason, toKnownNumber } from '../../queries/unknown-numbers.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import type { CellQuery } from './cell-points.ts';
import { type Cell, readCells } from './cells.ts';
import { DaysUntilFull, forecastFull, type UsagePoint } from './disk-fill.ts';
import { type Disk as Filesystem, findDisks, getDeviceIo, isShared } from './filesystems.ts';
import { groupByHost, type HostData } from './host-parts.ts';
import { recentRange } from './hosts.ts';
import {
  type CellsByMetric,
  explainMissing,
  KnownText,
  listSourceMetrics,
  sumValues,
  toKnown,
  toKnownText,
} from './item-values.ts';
import { filesystemMetrics, hostLabels, hostSources, volumeSources } from './names.ts';

export const Disk = z.strictObject({
  id: z.string(),
  kind: z
    .enum(['filesystem', 'volume'])
    .describe('`filesystem` of a host, or `volume` of a pod as reported by the kubelet'),
  host: KnownText.describe('Id of the host; for a shared filesystem, the first that mounts it'),
  hostName: KnownText.describe('Name of that host'),
  hosts: z.int().describe('Number of hosts that mount the filesystem'),
  device: z.string(),
  type: KnownText.describe('Type of the filesystem'),
  mountpoints: z.array(z.string()),
  aliases: z.array(z.string()).describe('Other device names of the same disk'),
  isReadOnly: z.boolean(),
  namespace: KnownText.describe('Namespace of the pod of a volume'),
  pod: KnownText,
  claim: KnownText.describe('Persistent volume claim'),
  used: NumberOrReason.describe('Used bytes'),
  total: NumberOrReason.describe('Usable bytes, without the space reserved for root'),
  utilization: NumberOrReason.describe('Used share, between 0 and 1'),
  read: NumberOrReason.describe('Read rate in bytes per second'),
  write: NumberOrReason.describe('Write rate in bytes per second'),
  daysUntilFull: DaysUntilFull,
});
export type Disk = z.output<typeof Disk>;

/** A disk, with the identifiers of its history */
export interface DiskWithHistory {
  readonly disk: Disk;
  readonly cells: readonly Cell[];
  readonly hostKey: string;
}

const volumeLabels = ['persistentvolumeclaim', 'namespace', 'k8s.volume.name'] as const;
const volumeMetrics = listSourceMetrics(volumeSources);
const labels = [...new Set([...hostLabels, ...volumeLabels])];
/** Metric with the names of scraped hosts */
const nodeNameMetric = 'node_uname_info';
const ioMetrics = listSourceMetrics({ read: hostSources.diskRead, write: hostSources.diskWrite });
const noIoReason =
  'no disk bytes of this device were received in the last 10 minutes: the hostmetrics receiver with the scraper disk, or node_exporter, sends them';
const pendingForecast: DaysUntilFull = {
  value: null,
  low: null,
  high: null,
  reason: 'not read yet',
  bytesPerDay: null,
};

/** Returns disks at the end of a range, without predictions. */
export const readDisks = async (
  reader: TenantReader,
  range: Range,
  scope: ProjectScope,
): Promise<{ readonly items: DiskWithHistory[]; readonly isTruncated: boolean }> => {
  const { cells, isTruncated } = await readCells(reader, {
    metrics: [...filesystemMetrics, ...ioMetrics, ...volumeMetrics, nodeNameMetric],
    counters: ioMetrics,
    labels,
    range: recentRange(range),
    ...scope,
  });
  const isVolumeCell = ({ metric }: Cell): boolean => volumeMetrics.includes(metric);
  const hosts = groupByHost(cells.filter((cell) => !isVolumeCell(cell)));
  const filesystems = [...hosts].flatMap(([key, host]) =>
    findDisks(host.cells).map((disk) => toFilesystemDisk(key, host, disk)),
  );
  return { isTruncated, items: [...deduplicateShares(filesystems), ...toVolumeDisks(cells.filter(isVolumeCell))] };
};

const computeUtilization = (used: number, total: number): NumberOrReason => toKnownNumber(total > 0 ? used / total : 0);

const toFilesystemDisk = (hostKey: string, { cells, identity }: HostData, filesystem: Filesystem): DiskWithHistory => {
  const total = filesystem.used + filesystem.free;
  const readIo = (sources: typeof hostSources.diskRead | typeof hostSources.diskWrite): NumberOrReason =>
    toKnown(getDeviceIo(cells, sources, filesystem.device), explainMissing(cells, sources, noIoReason));
  const noPodText = toKnownText(undefined, 'it is a filesystem of a host');
  return {
    hostKey,
    cells: [...cells.values()].flat(),
    disk: {
      id: isShared(filesystem.type) ? filesystem.device : `${hostKey}:${filesystem.device}`,
      kind: 'filesystem',
      host: toKnownText(hostKey, ''),
      hostName: toKnownText(identity.name, 'the sender reports no host.name'),
      hosts: 1,
      device: filesystem.device,
      mountpoints: [...filesystem.mountpoints],
      aliases: [...filesystem.aliases],
      type: toKnownText(filesystem.type, 'the sender reports no type'),
      isReadOnly: filesystem.isReadOnly,
      namespace: noPodText,
      pod: noPodText,
      claim: noPodText,
      used: toKnownNumber(filesystem.used),
      total: toKnownNumber(total),
      utilization: computeUtilization(filesystem.used, total),
      read: readIo(hostSources.diskRead),
      write: readIo(hostSources.diskWrite),
      daysUntilFull: pendingForecast,
    },
  };
};

/** Deduplicates network filesystems that several hosts mount. */
const deduplicateShares = (disks: readonly DiskWithHistory[]): DiskWithHistory[] =>
  [...Map.groupBy(disks, ({ disk }) => disk.id).values()].flatMap((sameDisks) => {
    const [first] = sameDisks;
    if (first === undefined) return [];
    const mountpoints = [...new Set(sameDisks.flatMap(({ disk }) => disk.mountpoints))].toSorted();
    return [{ ...first, disk: { ...first.disk, hosts: sameDisks.length, mountpoints } }];
  });

/**
 * Returns the identifier of a volume: the claim, which outlives pods and may be mounted by several, otherwise pod and
 * name. Without claim and type, the volume may not be a disk of its own.
 */
const toVolumeKey = ({ resource, labels: cellLabels }: Cell): string | undefined => {
  const namespace = resource['k8s.namespace.name'] ?? cellLabels['namespace'] ?? '';
  const claim = resource['k8s.persistentvolumeclaim.name'] ?? cellLabels['persistentvolumeclaim'];
  if (claim !== undefined) return JSON.stringify([namespace, claim]);
  const name = resource['k8s.volume.name'] ?? cellLabels['k8s.volume.name'];
  const type = resource['k8s.volume.type'];
  if (name === undefined || type === undefined || nodeVolumeTypes.has(String(type))) return undefined;
  return JSON.stringify([namespace, resource['k8s.pod.uid'] ?? '', name]);
};

/**
 * Volume types that are a directory of the node, or its memory. Their bytes belong to the node, but the kubelet reports
 * them like other volumes.
 */
const nodeVolumeTypes: ReadonlySet<string> = new Set([
  ...['configMap', 'secret', 'downwardAPI', 'projected', 'emptyDir', 'hostPath', 'local', 'image'],
]);

const toVolumeDisks = (cells: readonly Cell[]): DiskWithHistory[] =>
  [...Map.groupBy(cells, toVolumeKey)].flatMap(([key, volumeCells]) => {
    const byMetric: CellsByMetric = Map.groupBy(selectNewest(volumeCells), ({ metric }) => metric);
    const capacityBytes = sumValues(byMetric, volumeSources.capacity);
    const available = sumValues(byMetric, volumeSources.available);
    const [first] = volumeCells;
    if (key === undefined || first === undefined || capacityBytes === undefined || available === undefined) return [];
    const { resource, labels: given } = first;
    const used = capacityBytes - available;
    const noHost = toKnownText(undefined, 'it is a volume of a pod');
    const noBytes = toKnown(undefined, 'the kubelet does not report bytes read and written for volumes');
    return [
      {
        hostKey: key,
        cells: volumeCells,
        disk: {
          id: `volume:${(JSON.parse(key) as string[]).join('/')}`,
          kind: 'volume' as const,
          host: noHost,
          hostName: noHost,
          hosts: 0,
          aliases: [],
          isReadOnly: false,
          device: String(resource['k8s.volume.name'] ?? given['persistentvolumeclaim'] ?? ''),
          type: toKnownText(resource['k8s.volume.type'], 'the sender reports no type'),
          mountpoints: [],
          namespace: toKnownText(resource['k8s.namespace.name'] ?? given['namespace'], 'not reported by the sender'),
          pod: toKnownText(resource['k8s.pod.name'], 'not reported by the sender'),
          claim: toKnownText(resource['k8s.persistentvolumeclaim.name'] ?? given['persistentvolumeclaim'], 'not set'),
          used: toKnownNumber(used),
          total: toKnownNumber(capacityBytes),
          utilization: computeUtilization(used, capacityBytes),
          read: noBytes,
          write: noBytes,
          daysUntilFull: pendingForecast,
        },
      },
    ];
  });

/** Returns the latest value of each metric, for several mounts of one volume. */
const selectNewest = (cells: readonly Cell[]): Cell[] =>
  [...Map.groupBy(cells, ({ metric }) => metric).values()].map((metricCells) =>
    metricCells.reduce((left, right) => (right.atMs > left.atMs ? right : left)),
  );

const hourMs = 3_600_000;
const dayNs = 86_400_000_000_000n;

/** Returns the series of these cells, by their resources and, for remote-write, their instances. */
const buildSeriesCondition = (cells: readonly Cell[]): NonNullable<CellQuery['series']> => {
  const ids = [...new Set(cells.map(({ resourceId }) => resourceId).filter((id) => id !== '0'))];
  const texts = (key: string): string[] => [
    ...new Set(cells.flatMap(({ labels: cellLabels }) => cellLabels[key] ?? [])),
  ];
  const instances = texts('instance').map(quoteString);
  const conditions = [
    ...(ids.length === 0 ? [] : [`series.resource_id IN (${ids.join(', ')})`]),
    ...(instances.length === 0 ? [] : [`series.attributes['instance'] IN (${instances.join(', ')})`]),
  ];
  return { sql: conditions.length === 0 ? 'false' : conditions.join(' OR '), parameters: {} };
};

/** Returns the disks with predictions, from the hours of the given days before the end of the range. */
export const addForecasts = async (
  reader: TenantReader,
  range: Range,
  scope: ProjectScope,
  { disks, days }: { readonly disks: readonly DiskWithHistory[]; readonly days: number },
): Promise<Disk[]> => {
  if (disks.length === 0) return [];
  const { cells } = await readCells(reader, {
    metrics: [...filesystemMetrics, ...volumeMetrics, nodeNameMetric],
    counters: [],
    labels,
    range: { from: range.to - BigInt(days) * dayNs, to: range.to },
    stepMs: hourMs,
    series: buildSeriesCondition(disks.flatMap((disk) => disk.cells)),
    ...scope,
  });
  const histories = computeHistories(cells);
  return disks.map(({ disk }) => ({
    ...disk,
    daysUntilFull: forecastFull(histories.get(disk.id) ?? [], {
      ceiling: disk.total.value ?? undefined,
      used: disk.used.value ?? 0,
    }),
  }));
};

/**
 * Returns the used bytes per hour, by id of the disk. Each hour is evaluated like the current state, so mounts and
 * aliases count once.
 */
const computeHistories = (cells: readonly Cell[]): ReadonlyMap<string, UsagePoint[]> => {
  const histories = new Map<string, UsagePoint[]>();
  const addPoint = (id: string, atMs: number, used: number): void => {
    const history = histories.get(id);
    if (history === undefined) histories.set(id, [{ atMs, used }]);
    else history.push({ atMs, used });
  };
  const names = cells.filter(({ metric }) => metric === nodeNameMetric);
  const hours = [...Map.groupBy(cells, ({ bucketMs }) => bucketMs)].toSorted(([left], [right]) => left - right);
  for (const [bucketMs, hourCells] of hours) {
    const isVolumeCell = ({ metric }: Cell): boolean => volumeMetrics.includes(metric);
    for (const { disk } of deduplicateShares(
      [...groupByHost([...names, ...hourCells].filter((cell) => !isVolumeCell(cell)))].flatMap(([key, host]) =>
        findDisks(host.cells).map((filesystem) => toFilesystemDisk(key, host, filesystem)),
      ),
    ))
      addPoint(disk.id, bucketMs, disk.used.value ?? 0);
    for (const { disk } of toVolumeDisks(hourCells.filter(isVolumeCell)))
      addPoint(disk.id, bucketMs, disk.used.value ?? 0);
  }
  return histories;
};
