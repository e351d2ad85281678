/**
 * Derives disks of a host from its filesystem metrics. Omits pseudo filesystems, and counts a filesystem with several
 * mounts once.
 */
import type { Cell } from './cells.ts';
import { type CellsByMetric, findFirstAvailable, getSourceValues, type Source, sumValues } from './item-values.ts';
import {
  filesystemSources,
  getDevice,
  getFilesystemState,
  getFilesystemType,
  getMountpoint,
  nodeFilesystemSources,
} from './names.ts';

/** A disk with its mount points. Bytes; `free` is available to unprivileged users. */
export interface Disk {
  readonly device: string;
  readonly type: string;
  readonly mountpoints: readonly string[];
  /** Other device names that report the same bytes */
  readonly aliases: readonly string[];
  readonly used: number;
  readonly free: number;
  readonly isReadOnly: boolean;
}

const pseudoTypes: ReadonlySet<string> = new Set([
  ...[
    'tmpfs',
    'devtmpfs',
    'ramfs',
    'rootfs',
    'overlay',
    'aufs',
    'squashfs',
    'iso9660',
    'udf',
    'erofs',
    'proc',
    'sysfs',
  ],
  ...['cgroup', 'cgroup2', 'devpts', 'mqueue', 'autofs', 'rpc_pipefs', 'nsfs', 'tracefs', 'debugfs', 'securityfs'],
  ...['configfs', 'hugetlbfs', 'binfmt_misc', 'fusectl', 'pstore', 'bpf', 'efivarfs', 'selinuxfs', 'fuse.lxcfs'],
  ...['fuse.portal', 'fuse.gvfsd-fuse', 'none', 'devfs', 'shm', '9p', 'nullfs', 'fdescfs', 'linprocfs', 'lofs'],
]);
const networkTypes =
  /^(nfs\d?|cifs|smb\d?|smbfs|ceph|glusterfs|fuse\.(glusterfs|sshfs|s3fs|ceph)|afs|lustre|beegfs|ocfs2|gfs2)$/i;

export const isPseudo = (type: string): boolean => pseudoTypes.has(type.toLowerCase());
/** Returns whether several hosts may report the same disk. */
export const isShared = (type: string): boolean => networkTypes.test(type);

interface Mount {
  readonly device: string;
  readonly type: string;
  readonly mountpoint: string;
  readonly used: number;
  readonly free: number;
  readonly isReadOnly: boolean;
}

/**
 * Returns bytes by mount point, from either form: by state (OpenTelemetry), or size, free and available
 * (node_exporter).
 */
const readMounts = (cells: CellsByMetric): Mount[] => {
  const bytesByMount = new Map<string, { cell: Cell; bytes: Map<string, number> }>();
  const addBytes = (cell: Cell, name: string, value: number): void => {
    const key = JSON.stringify([getDevice(cell.labels), getMountpoint(cell.labels), getFilesystemType(cell.labels)]);
    const mountData = bytesByMount.get(key) ?? { cell, bytes: new Map<string, number>() };
    bytesByMount.set(key, mountData);
    mountData.bytes.set(name, value);
  };
  for (const source of filesystemSources.byState)
    for (const { cell, value } of getSourceValues(cells, source))
      addBytes(cell, getFilesystemState(cell.labels), value);
  for (const name of ['size', 'free', 'available'] as const)
    for (const source of filesystemSources[name])
      for (const { cell, value } of getSourceValues(cells, source)) addBytes(cell, name, value);
  const mounts = [...bytesByMount.values()].flatMap(({ cell, bytes }) => {
    const size = bytes.get('size');
    const used = bytes.get('used') ?? (size === undefined ? undefined : size - (bytes.get('free') ?? Number.NaN));
    const free = bytes.get('available') ?? bytes.get('free');
    if (used === undefined || free === undefined || !Number.isFinite(used)) return [];
    const { labels } = cell;
    return [
      {
        device: getDevice(labels),
        type: getFilesystemType(labels),
        mountpoint: getMountpoint(labels),
        isReadOnly: labels['mode'] === 'ro' || labels['system.filesystem.mode'] === 'ro',
        used,
        free,
      },
    ];
  });
  return mounts.length > 0 ? mounts : readNodeFilesystem(cells);
};

/** Returns the filesystem that stores pods, for nodes that only the kubelet reports. */
const readNodeFilesystem = (cells: CellsByMetric): Mount[] => {
  const capacity = sumValues(cells, nodeFilesystemSources.capacity);
  const free = sumValues(cells, nodeFilesystemSources.available);
  if (capacity === undefined || free === undefined) return [];
  return [{ device: 'nodefs', type: '', mountpoint: '', used: capacity - free, free, isReadOnly: false }];
};

/**
 * Returns the kind of a device's name. Two names of different kinds may be aliases of one disk; two names of one kind
 * are two disks.
 */
const getNameKind = (device: string): string => /^\/dev\/(root|dm-|mapper\/|disk\/by-)/.exec(device)?.[1] ?? 'plain';

/** Returns the key of a disk: a device, or a ZFS pool, whose datasets share the free space. */
const toDiskKey = ({ device, type, mountpoint }: Mount): string => {
  if (type === 'zfs') return device.split('/')[0] ?? device;
  return device === '' ? `at ${mountpoint}` : device;
};

const toDisk = (device: string, mounts: readonly Mount[]): Disk => {
  const byDevice = new Map(mounts.map((mount) => [mount.device, mount]));
  const distinctMounts = [...byDevice.values()];
  return {
    device,
    type: mounts[0]?.type ?? '',
    mountpoints: [...new Set(mounts.map(({ mountpoint }) => mountpoint))].toSorted(),
    aliases: [],
    used: distinctMounts.reduce((sum, { used }) => sum + used, 0),
    free: Math.max(...distinctMounts.map(({ free }) => free)),
    isReadOnly: mounts.every(({ isReadOnly }) => isReadOnly),
  };
};

/** Merges two names of a disk that have equal used and free bytes, such as /dev/root and /dev/vda1. */
const mergeDisks = (disk: Disk, alias: Disk): Disk => ({
  ...disk,
  mountpoints: [...new Set([...disk.mountpoints, ...alias.mountpoints])].toSorted(),
  aliases: [...disk.aliases, alias.device].toSorted(),
  isReadOnly: disk.isReadOnly && alias.isReadOnly,
});

const isAlias = (disk: Disk, alias: Disk): boolean =>
  disk.type === alias.type &&
  disk.used === alias.used &&
  disk.free === alias.free &&
  getNameKind(disk.device) !== getNameKind(alias.device);

/** Returns the disks of one host. Mounts of one device are one disk, and so are two names of one device. */
export const findDisks = (cells: CellsByMetric): Disk[] => {
  const mounts = readMounts(cells).filter(({ type, used, free }) => !isPseudo(type) && used + free > 0);
  const disks: Disk[] = [];
  for (const [device, deviceMounts] of Map.groupBy(mounts, toDiskKey)) {
    const disk = toDisk(device, deviceMounts);
    const aliasIndex = disks.findIndex((other) => isAlias(other, disk));
    const aliasDisk = disks[aliasIndex];
    if (aliasDisk === undefined) disks.push(disk);
    else disks[aliasIndex] = mergeDisks(aliasDisk, disk);
  }
  return disks;
};

/** Returns the bytes of all writable disks of a host; `undefined` if there are none. */
export const sumHostDisks = (cells: CellsByMetric): { readonly used: number; readonly total: number } | undefined => {
  const hostDisks = findDisks(cells).filter(({ type }) => !isShared(type));
  if (hostDisks.length === 0) return undefined;
  return {
    used: hostDisks.reduce((sum, { used }) => sum + used, 0),
    total: hostDisks.reduce((sum, { used, free }) => sum + used + free, 0),
  };
};

/** Returns the disk of a partition: sda1 → sda, nvme0n1p2 → nvme0n1. */
const findParentDisk = (device: string): string | undefined =>
  /^((?:nvme\d+n\d+|mmcblk\d+))p\d+$/.exec(device)?.[1] ?? /^((?:s|h|v|xv)d[a-z]+)\d+$/.exec(device)?.[1];
/** Devices built from other devices or memory, whose reads are also counted there */
const virtualDevicePattern = /^(dm-\d+|md\d+|loop\d+|ram\d+|zram\d+|sr\d+|fd\d+|bcache\d+|drbd\d+)$/;

/**
 * Returns bytes per second over the disks of a host without double counting: excludes partitions, and devices built
 * from disks that are also present.
 */
export const sumIo = (cells: CellsByMetric, sources: readonly Source[]): number | undefined => {
  const values = findFirstAvailable(cells, sources);
  const devices = new Set(values?.map(({ cell }) => getDevice(cell.labels)));
  const isWholeDisk = (device: string): boolean => {
    const disk = findParentDisk(device);
    return !virtualDevicePattern.test(device) && (disk === undefined || !devices.has(disk));
  };
  const wholeDiskValues = values?.filter(({ cell }) => isWholeDisk(getDevice(cell.labels)));
  const countedValues = wholeDiskValues === undefined || wholeDiskValues.length === 0 ? values : wholeDiskValues;
  return countedValues?.reduce((sum, { value }) => sum + value, 0);
};

/** Returns the rate for the device of one filesystem, or for the disk of its partition. */
export const getDeviceIo = (cells: CellsByMetric, sources: readonly Source[], device: string): number | undefined => {
  const name = device.replace(/^\/dev\//, '');
  const values = findFirstAvailable(cells, sources) ?? [];
  for (const candidate of [name, findParentDisk(name)]) {
    const deviceValues = values.filter(({ cell }) => getDevice(cell.labels) === candidate);
    if (deviceValues.length > 0) return deviceValues.reduce((sum, { value }) => sum + value, 0);
  }
  return undefined;
};
