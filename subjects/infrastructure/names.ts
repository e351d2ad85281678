/**
 * Metric names of hosts, processes, disks and containers. They are the current OpenTelemetry names (semantic
 * conventions 1.38), current and former names of collectors (contrib 0.155: `hostmetrics`, `docker_stats`,
 * `kubeletstats`), and those of node_exporter and cAdvisor through remote-write or the `prometheus` receiver. In each
 * list, current names are first.
 */
import { level, rate, rateMetrics, type Source, sourceMetrics } from './figures.ts';

type Labels = Readonly<Record<string, string>>;

/** Returns the first label that exists. */
const firstLabel = (labels: Labels, keys: readonly string[]): string => {
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

export const cpuMode = (labels: Labels): string => firstLabel(labels, labelKeys.cpuMode);
export const memoryState = (labels: Labels): string => firstLabel(labels, labelKeys.memoryState);
export const filesystemStateOf = (labels: Labels): string => firstLabel(labels, labelKeys.filesystemState);
export const networkInterface = (labels: Labels): string => firstLabel(labels, labelKeys.interface);
export const deviceOf = (labels: Labels): string => firstLabel(labels, labelKeys.device);
export const mountpointOf = (labels: Labels): string => firstLabel(labels, labelKeys.mountpoint);
export const filesystemTypeOf = (labels: Labels): string => firstLabel(labels, labelKeys.filesystemType);

const isDiskDirection = (direction: string) => (labels: Labels) =>
  firstLabel(labels, labelKeys.diskDirection).toLowerCase() === direction;

/** Interfaces whose bytes are also counted at another interface, or never leave the host */
const virtualInterfacePattern =
  /^(lo\d*|veth.*|docker\d+|br-.*|cni\d+|cali.*|flannel.*|cilium.*|lxc.*|virbr.*|dummy\d+|kube-ipvs\d+|nodelocaldns)$/;
const isNetworkDirection = (direction: string) => (labels: Labels) =>
  firstLabel(labels, labelKeys.networkDirection) === direction &&
  !virtualInterfacePattern.test(networkInterface(labels));
const isPhysicalInterface = (labels: Labels) => !virtualInterfacePattern.test(networkInterface(labels));

const hasMemoryState = (value: string) => (labels: Labels) => memoryState(labels) === value;

/** Modes whose time does not count as busy */
export const idleModes: readonly string[] = ['idle', 'iowait', 'wait'];

export const hostSources = {
  /** By mode. */
  cpu: [rate('system.cpu.time'), level('system.cpu.utilization'), rate('node_cpu_seconds_total'), rate('node_cpu')],
  /** In cores, for senders that report nothing else. */
  cpuCores: [
    level('k8s.node.cpu.usage'),
    // Former name of the kubelet receiver for the same number of cores.
    level('k8s.node.cpu.utilization'),
    rate('k8s.node.cpu.time'),
  ],
  logicalCpus: [level('system.cpu.logical.count'), level('machine_cpu_cores')],
  memoryUsed: [level('system.memory.usage', { where: hasMemoryState('used') })],
  memoryUtilization: [level('system.memory.utilization', { where: hasMemoryState('used') })],
  memoryLimit: [level('system.memory.limit'), level('node_memory_MemTotal_bytes'), level('node_memory_MemTotal')],
  memoryAvailable: [
    level('node_memory_MemAvailable_bytes'),
    level('node_memory_MemAvailable'),
    level('k8s.node.memory.available'),
  ],
  memoryWorkingSet: [level('k8s.node.memory.working_set')],
  diskRead: [
    rate('system.disk.io', { where: isDiskDirection('read') }),
    rate('node_disk_read_bytes_total'),
    rate('node_disk_bytes_read'),
  ],
  diskWrite: [
    rate('system.disk.io', { where: isDiskDirection('write') }),
    rate('node_disk_written_bytes_total'),
    rate('node_disk_bytes_written'),
  ],
  networkReceive: [
    rate('system.network.io', { where: isNetworkDirection('receive') }),
    rate('node_network_receive_bytes_total', { where: isPhysicalInterface }),
    rate('node_network_receive_bytes', { where: isPhysicalInterface }),
    rate('k8s.node.network.io', { where: isNetworkDirection('receive') }),
  ],
  networkTransmit: [
    rate('system.network.io', { where: isNetworkDirection('transmit') }),
    rate('node_network_transmit_bytes_total', { where: isPhysicalInterface }),
    rate('node_network_transmit_bytes', { where: isPhysicalInterface }),
    rate('k8s.node.network.io', { where: isNetworkDirection('transmit') }),
  ],
  load1: [level('system.cpu.load_average.1m'), level('node_load1')],
  load5: [level('system.cpu.load_average.5m'), level('node_load5')],
  load15: [level('system.cpu.load_average.15m'), level('node_load15')],
  uptime: [level('system.uptime'), level('k8s.node.uptime')],
  /** Seconds since the epoch. */
  bootTime: [level('node_boot_time_seconds'), level('node_boot_time')],
} as const satisfies Record<string, readonly Source[]>;

/** Bytes of filesystems: by state, or as size, free and available */
export const filesystemSources = {
  byState: [level('system.filesystem.usage')],
  size: [level('node_filesystem_size_bytes'), level('node_filesystem_size')],
  free: [level('node_filesystem_free_bytes'), level('node_filesystem_free')],
  available: [level('node_filesystem_avail_bytes'), level('node_filesystem_avail')],
} as const satisfies Record<string, readonly Source[]>;

/** Filesystem of a node as reported by the kubelet */
export const nodeFilesystemSources = {
  capacity: [level('k8s.node.filesystem.capacity')],
  available: [level('k8s.node.filesystem.available')],
} as const satisfies Record<string, readonly Source[]>;

/** Volumes of pods as reported by the kubelet */
export const volumeSources = {
  capacity: [
    level('k8s.pod.volume.capacity'),
    level('k8s.volume.capacity'),
    level('kubelet_volume_stats_capacity_bytes'),
  ],
  available: [
    level('k8s.pod.volume.available'),
    level('k8s.volume.available'),
    level('kubelet_volume_stats_available_bytes'),
  ],
} as const satisfies Record<string, readonly Source[]>;

export const processSources = {
  /** Seconds per second, which equals cores. */
  cpu: [rate('process.cpu.time'), rate('process_cpu_seconds_total')],
  memory: [
    level('process.memory.usage'),
    level('process.memory.physical_usage'),
    level('process_resident_memory_bytes'),
  ],
  virtual: [
    level('process.memory.virtual'),
    level('process.memory.virtual_usage'),
    level('process_virtual_memory_bytes'),
  ],
  threads: [level('process.thread.count'), level('process.threads')],
  files: [
    level('process.unix.file_descriptor.count'),
    level('process.open_file_descriptor.count'),
    level('process.open_file_descriptors'),
    level('process_open_fds'),
  ],
  read: [rate('process.disk.io', { where: isDiskDirection('read') })],
  write: [rate('process.disk.io', { where: isDiskDirection('write') })],
} as const satisfies Record<string, readonly Source[]>;

/** Returns whether cAdvisor labels belong to the cgroup of a container other than a pause container. */
const isContainer = (labels: Labels): boolean => {
  const name = labels['container'] ?? labels['container_name'] ?? labels['name'] ?? '';
  return name !== '' && name !== 'POD';
};

export const containerSources = {
  /** In cores. */
  cpu: [
    level('container.cpu.usage'),
    rate('container.cpu.time'),
    // From `docker_stats`, in nanoseconds.
    rate('container.cpu.usage.total', { scale: 1e-9 }),
    rate('container_cpu_usage_seconds_total', { where: isContainer }),
  ],
  memory: [
    level('container.memory.working_set'),
    level('container.memory.usage'),
    level('container.memory.usage.total'),
    level('container_memory_working_set_bytes', { where: isContainer }),
  ],
  cpuLimit: [
    level('k8s.container.cpu.limit.current'),
    level('k8s.container.cpu.limit.desired'),
    level('k8s.container.cpu.limit'),
    level('k8s.container.cpu_limit'),
    level('container.cpu.limit'),
  ],
  memoryLimit: [
    level('k8s.container.memory.limit.current'),
    level('k8s.container.memory.limit.desired'),
    level('k8s.container.memory.limit'),
    level('k8s.container.memory_limit'),
    level('container.memory.usage.limit'),
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

export const hostMetrics: readonly string[] = [...sourceMetrics(hostSources), 'node_uname_info'];
export const hostCounters: readonly string[] = rateMetrics(hostSources);
export const filesystemMetrics: readonly string[] = [
  ...sourceMetrics(filesystemSources),
  ...sourceMetrics(nodeFilesystemSources),
];
export const hostLabels: readonly string[] = [
  ...new Set([
    ...Object.values(labelKeys).flat(),
    ...['instance', 'nodename', 'sysname', 'machine', 'release', 'node', 'cluster'],
  ]),
];
