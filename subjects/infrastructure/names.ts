/**
 * Metric names of hosts, processes, disks and containers. They are the current OpenTelemetry names (semantic
 * conventions 1.38), current and former names of collectors (contrib 0.155: `hostmetrics`, `docker_stats`,
 * `kubeletstats`), and those of node_exporter and cAdvisor through remote-write or the `prometheus` receiver. In each
 * list, current names are first.
 */
import { createLevelSource, createRateSource, listRateMetrics, listSourceMetrics, type Source } from './item-values.ts';

type Labels = Readonly<Record<string, string>>;

/** Returns the first label that exists. */
const findFirstLabel = (labels: Labels, keys: readonly string[]): string => {
  for (const key of keys) if (labels[key] !== undefined) return labels[key];
  return '';
};

/** Names of each label, the current one first */
const labelKeys = {
  cpuMode: ['cpu.mode', 'system.cpu.state', 'process.cpu.state', 'state', 'mode'],
  memoryState: ['system.memory.state', 'state'],
  filesystemState: ['system.filesystem.state', 'state'],
  diskDirection: ['disk.io.direction', 'direction', 'operation'],
  networkDirection: ['network.io.direction', 'direction'],
  interface: ['network.interface.name', 'interface', 'device'],
  device: ['system.device', 'device'],
  mountpoint: ['system.filesystem.mountpoint', 'mountpoint'],
  filesystemType: ['system.filesystem.type', 'type', 'fstype'],
} as const;

export const getCpuMode = (labels: Labels): string => findFirstLabel(labels, labelKeys.cpuMode);
export const getMemoryState = (labels: Labels): string => findFirstLabel(labels, labelKeys.memoryState);
export const getFilesystemState = (labels: Labels): string => findFirstLabel(labels, labelKeys.filesystemState);
export const getNetworkInterface = (labels: Labels): string => findFirstLabel(labels, labelKeys.interface);
export const getDevice = (labels: Labels): string => findFirstLabel(labels, labelKeys.device);
export const getMountpoint = (labels: Labels): string => findFirstLabel(labels, labelKeys.mountpoint);
export const getFilesystemType = (labels: Labels): string => findFirstLabel(labels, labelKeys.filesystemType);

const isDiskDirection = (direction: string) => (labels: Labels) =>
  findFirstLabel(labels, labelKeys.diskDirection).toLowerCase() === direction;

/** Interfaces whose bytes are also counted at another interface, or never leave the host */
const virtualInterfacePattern =
  /^(lo\d*|veth.*|docker\d+|br-.*|cni\d+|cali.*|flannel.*|cilium.*|lxc.*|virbr.*|dummy\d+|kube-ipvs\d+|nodelocaldns)$/;
const isNetworkDirection = (direction: string) => (labels: Labels) =>
  findFirstLabel(labels, labelKeys.networkDirection) === direction &&
  !virtualInterfacePattern.test(getNetworkInterface(labels));
const isPhysicalInterface = (labels: Labels) => !virtualInterfacePattern.test(getNetworkInterface(labels));

const hasMemoryState = (value: string) => (labels: Labels) => getMemoryState(labels) === value;

/** Modes whose time does not count as busy */
export const idleModes: readonly string[] = ['idle', 'iowait', 'wait'];

export const hostSources = {
  /** Processor time, by mode. */
  cpu: [
    createRateSource('system.cpu.time'),
    createLevelSource('system.cpu.utilization'),
    createRateSource('node_cpu_seconds_total'),
    createRateSource('node_cpu'),
  ],
  /** In cores, for senders that report nothing else. */
  cpuCores: [
    createLevelSource('k8s.node.cpu.usage'),
    // Former name of the kubelet receiver for the same number of cores.
    createLevelSource('k8s.node.cpu.utilization'),
    createRateSource('k8s.node.cpu.time'),
  ],
  logicalCpus: [createLevelSource('system.cpu.logical.count'), createLevelSource('machine_cpu_cores')],
  memoryUsed: [createLevelSource('system.memory.usage', { where: hasMemoryState('used') })],
  memoryUtilization: [createLevelSource('system.memory.utilization', { where: hasMemoryState('used') })],
  memoryLimit: [
    createLevelSource('system.memory.limit'),
    createLevelSource('node_memory_MemTotal_bytes'),
    createLevelSource('node_memory_MemTotal'),
  ],
  memoryAvailable: [
    createLevelSource('node_memory_MemAvailable_bytes'),
    createLevelSource('node_memory_MemAvailable'),
    createLevelSource('k8s.node.memory.available'),
  ],
  memoryWorkingSet: [createLevelSource('k8s.node.memory.working_set')],
  diskRead: [
    createRateSource('system.disk.io', { where: isDiskDirection('read') }),
    createRateSource('node_disk_read_bytes_total'),
    createRateSource('node_disk_bytes_read'),
  ],
  diskWrite: [
    createRateSource('system.disk.io', { where: isDiskDirection('write') }),
    createRateSource('node_disk_written_bytes_total'),
    createRateSource('node_disk_bytes_written'),
  ],
  networkReceive: [
    createRateSource('system.network.io', { where: isNetworkDirection('receive') }),
    createRateSource('node_network_receive_bytes_total', { where: isPhysicalInterface }),
    createRateSource('node_network_receive_bytes', { where: isPhysicalInterface }),
    createRateSource('k8s.node.network.io', { where: isNetworkDirection('receive') }),
  ],
  networkTransmit: [
    createRateSource('system.network.io', { where: isNetworkDirection('transmit') }),
    createRateSource('node_network_transmit_bytes_total', { where: isPhysicalInterface }),
    createRateSource('node_network_transmit_bytes', { where: isPhysicalInterface }),
    createRateSource('k8s.node.network.io', { where: isNetworkDirection('transmit') }),
  ],
  load1: [createLevelSource('system.cpu.load_average.1m'), createLevelSource('node_load1')],
  load5: [createLevelSource('system.cpu.load_average.5m'), createLevelSource('node_load5')],
  load15: [createLevelSource('system.cpu.load_average.15m'), createLevelSource('node_load15')],
  uptime: [createLevelSource('system.uptime'), createLevelSource('k8s.node.uptime')],
  /** Seconds since the epoch. */
  bootTime: [createLevelSource('node_boot_time_seconds'), createLevelSource('node_boot_time')],
} as const satisfies Record<string, readonly Source[]>;

/** Bytes of filesystems: by state, or as size, free and available */
export const filesystemSources = {
  byState: [createLevelSource('system.filesystem.usage')],
  size: [createLevelSource('node_filesystem_size_bytes'), createLevelSource('node_filesystem_size')],
  free: [createLevelSource('node_filesystem_free_bytes'), createLevelSource('node_filesystem_free')],
  available: [createLevelSource('node_filesystem_avail_bytes'), createLevelSource('node_filesystem_avail')],
} as const satisfies Record<string, readonly Source[]>;

/** Filesystem of a node as reported by the kubelet */
export const nodeFilesystemSources = {
  capacity: [createLevelSource('k8s.node.filesystem.capacity')],
  available: [createLevelSource('k8s.node.filesystem.available')],
} as const satisfies Record<string, readonly Source[]>;

/** Volumes of pods as reported by the kubelet */
export const volumeSources = {
  capacity: [
    createLevelSource('k8s.pod.volume.capacity'),
    createLevelSource('k8s.volume.capacity'),
    createLevelSource('kubelet_volume_stats_capacity_bytes'),
  ],
  available: [
    createLevelSource('k8s.pod.volume.available'),
    createLevelSource('k8s.volume.available'),
    createLevelSource('kubelet_volume_stats_available_bytes'),
  ],
} as const satisfies Record<string, readonly Source[]>;

export const processSources = {
  /** Seconds per second, which equals cores. */
  cpu: [createRateSource('process.cpu.time'), createRateSource('process_cpu_seconds_total')],
  memory: [
    createLevelSource('process.memory.usage'),
    createLevelSource('process.memory.physical_usage'),
    createLevelSource('process_resident_memory_bytes'),
  ],
  virtual: [
    createLevelSource('process.memory.virtual'),
    createLevelSource('process.memory.virtual_usage'),
    createLevelSource('process_virtual_memory_bytes'),
  ],
  threads: [createLevelSource('process.thread.count'), createLevelSource('process.threads')],
  files: [
    createLevelSource('process.unix.file_descriptor.count'),
    createLevelSource('process.open_file_descriptor.count'),
    createLevelSource('process.open_file_descriptors'),
    createLevelSource('process_open_fds'),
  ],
  read: [createRateSource('process.disk.io', { where: isDiskDirection('read') })],
  write: [createRateSource('process.disk.io', { where: isDiskDirection('write') })],
} as const satisfies Record<string, readonly Source[]>;

/** Returns whether cAdvisor labels belong to the cgroup of a container other than a pause container. */
const isContainer = (labels: Labels): boolean => {
  const name = labels['container'] ?? labels['container_name'] ?? labels['name'] ?? '';
  return name !== '' && name !== 'POD';
};

export const containerSources = {
  /** In cores. */
  cpu: [
    createLevelSource('container.cpu.usage'),
    createRateSource('container.cpu.time'),
    // From `docker_stats`, in nanoseconds.
    createRateSource('container.cpu.usage.total', { scale: 1e-9 }),
    createRateSource('container_cpu_usage_seconds_total', { where: isContainer }),
  ],
  memory: [
    createLevelSource('container.memory.working_set'),
    createLevelSource('container.memory.usage'),
    createLevelSource('container.memory.usage.total'),
    createLevelSource('container_memory_working_set_bytes', { where: isContainer }),
  ],
  cpuLimit: [
    createLevelSource('k8s.container.cpu.limit.current'),
    createLevelSource('k8s.container.cpu.limit.desired'),
    createLevelSource('k8s.container.cpu.limit'),
    createLevelSource('k8s.container.cpu_limit'),
    createLevelSource('container.cpu.limit'),
  ],
  memoryLimit: [
    createLevelSource('k8s.container.memory.limit.current'),
    createLevelSource('k8s.container.memory.limit.desired'),
    createLevelSource('k8s.container.memory.limit'),
    createLevelSource('k8s.container.memory_limit'),
    createLevelSource('container.memory.usage.limit'),
  ],
} as const satisfies Record<string, readonly Source[]>;

/** Metrics that show that a host is active; they have few series each, so the last point is cheap to find */
export const hostActivityMetrics: readonly string[] = [
  'system.memory.usage',
  'system.cpu.load_average.1m',
  'system.uptime',
  'system.cpu.time',
  'k8s.node.memory.working_set',
  'node_memory_MemTotal_bytes',
  'node_memory_MemTotal',
  'node_load1',
];

export const hostMetrics: readonly string[] = [...listSourceMetrics(hostSources), 'node_uname_info'];
export const hostCounters: readonly string[] = listRateMetrics(hostSources);
export const filesystemMetrics: readonly string[] = [
  ...listSourceMetrics(filesystemSources),
  ...listSourceMetrics(nodeFilesystemSources),
];
export const hostLabels: readonly string[] = [
  ...new Set([
    ...Object.values(labelKeys).flat(),
    ...['instance', 'nodename', 'sysname', 'machine', 'release', 'node', 'cluster'],
  ]),
];
