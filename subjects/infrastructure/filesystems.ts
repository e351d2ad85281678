/** Disks of a host from what is told of its filesystems: pseudo filesystems left out, and each counted once however often it is mounted. */
import type { Cell } from './cells.ts';
import { type CellsByMetric, firstOf, type Source, totalOf, valuesOf } from './figures.ts';
import {
  deviceOf,
  filesystemSources,
  filesystemStateOf,
  filesystemTypeOf,
  mountpointOf,
  nodeFilesystemSources,
} from './names.ts';

/** A disk with the places where it is mounted. Bytes; `free` is what anybody may still fill. */
export interface Disk {
  readonly device: string;
  readonly type: string;
  readonly mountpoints: readonly string[];
  /** Other names under which the same bytes are told. */
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
/** Whether several hosts may tell of the same disk. */
export const isShared = (type: string): boolean => networkTypes.test(type);

interface Mount {
  readonly device: string;
  readonly type: string;
  readonly mountpoint: string;
  readonly used: number;
  readonly free: number;
  readonly isReadOnly: boolean;
}

/** Bytes by place, from either form: by state (OpenTelemetry), or size, free and available (node_exporter). */
const mountsOf = (cells: CellsByMetric): Mount[] => {
  const places = new Map<string, { cell: Cell; bytes: Map<string, number> }>();
  const add = (cell: Cell, name: string, value: number): void => {
    const key = JSON.stringify([deviceOf(cell.labels), mountpointOf(cell.labels), filesystemTypeOf(cell.labels)]);
    const place = places.get(key) ?? { cell, bytes: new Map<string, number>() };
    places.set(key, place);
    place.bytes.set(name, value);
  };
  for (const source of filesystemSources.byState)
    for (const { cell, value } of valuesOf(cells, source)) add(cell, filesystemStateOf(cell.labels), value);
  for (const name of ['size', 'free', 'available'] as const)
    for (const source of filesystemSources[name])
      for (const { cell, value } of valuesOf(cells, source)) add(cell, name, value);
  const mounts = [...places.values()].flatMap(({ cell, bytes }) => {
    const size = bytes.get('size');
    const used = bytes.get('used') ?? (size === undefined ? undefined : size - (bytes.get('free') ?? Number.NaN));
    const free = bytes.get('available') ?? bytes.get('free');
    if (used === undefined || free === undefined || !Number.isFinite(used)) return [];
    const { labels } = cell;
    return [
      {
        device: deviceOf(labels),
        type: filesystemTypeOf(labels),
        mountpoint: mountpointOf(labels),
        isReadOnly: labels['mode'] === 'ro' || labels['system.filesystem.mode'] === 'ro',
        used,
        free,
      },
    ];
  });
  return mounts.length > 0 ? mounts : nodeFilesystemOf(cells);
};

/** Where only the kubelet tells: the one that it keeps pods on. */
const nodeFilesystemOf = (cells: CellsByMetric): Mount[] => {
  const capacity = totalOf(cells, nodeFilesystemSources.capacity);
  const free = totalOf(cells, nodeFilesystemSources.available);
  if (capacity === undefined || free === undefined) return [];
  return [{ device: 'nodefs', type: '', mountpoint: '', used: capacity - free, free, isReadOnly: false }];
};

/** What a device's name says: two of different kinds may be two names of one disk, two of one kind are two disks. */
const nameKind = (device: string): string => /^\/dev\/(root|dm-|mapper\/|disk\/by-)/.exec(device)?.[1] ?? 'plain';

/** What is one disk: a device, or a ZFS pool, whose datasets share what is free. */
const diskKey = ({ device, type, mountpoint }: Mount): string => {
  if (type === 'zfs') return device.split('/')[0] ?? device;
  return device === '' ? `at ${mountpoint}` : device;
};

const diskOf = (device: string, mounts: readonly Mount[]): Disk => {
  const byDevice = new Map(mounts.map((mount) => [mount.device, mount]));
  const distinct = [...byDevice.values()];
  return {
    device,
    type: mounts[0]?.type ?? '',
    mountpoints: [...new Set(mounts.map(({ mountpoint }) => mountpoint))].toSorted(),
    aliases: [],
    used: distinct.reduce((sum, { used }) => sum + used, 0),
    free: Math.max(...distinct.map(({ free }) => free)),
    isReadOnly: mounts.every(({ isReadOnly }) => isReadOnly),
  };
};

/** One disk of two names with the very same bytes used and free, such as /dev/root and /dev/vda1. */
const merged = (one: Disk, other: Disk): Disk => ({
  ...one,
  mountpoints: [...new Set([...one.mountpoints, ...other.mountpoints])].toSorted(),
  aliases: [...one.aliases, other.device].toSorted(),
  isReadOnly: one.isReadOnly && other.isReadOnly,
});

const isSame = (one: Disk, other: Disk): boolean =>
  one.type === other.type &&
  one.used === other.used &&
  one.free === other.free &&
  nameKind(one.device) !== nameKind(other.device);

/** Disks of one host: mounts of one device are one disk, and so are two names of one device. */
export const disksOf = (cells: CellsByMetric): Disk[] => {
  const mounts = mountsOf(cells).filter(({ type, used, free }) => !isPseudo(type) && used + free > 0);
  const disks: Disk[] = [];
  for (const [device, own] of Map.groupBy(mounts, diskKey)) {
    const disk = diskOf(device, own);
    const at = disks.findIndex((other) => isSame(other, disk));
    const same = disks[at];
    if (same === undefined) disks.push(disk);
    else disks[at] = merged(same, disk);
  }
  return disks;
};

/** Bytes on all disks of a host that it may write; `undefined` where none is told of. */
export const disksOfHost = (cells: CellsByMetric): { readonly used: number; readonly total: number } | undefined => {
  const own = disksOf(cells).filter(({ type }) => !isShared(type));
  if (own.length === 0) return undefined;
  return {
    used: own.reduce((sum, { used }) => sum + used, 0),
    total: own.reduce((sum, { used, free }) => sum + used + free, 0),
  };
};

/** The disk that a partition is of: sda1 → sda, nvme0n1p2 → nvme0n1. */
const diskOfPartition = (device: string): string | undefined =>
  /^((?:nvme\d+n\d+|mmcblk\d+))p\d+$/.exec(device)?.[1] ?? /^((?:s|h|v|xv)d[a-z]+)\d+$/.exec(device)?.[1];
/** Made of other devices, or of memory: what is read of them is read elsewhere too. */
const isMadeUp = /^(dm-\d+|md\d+|loop\d+|ram\d+|zram\d+|sr\d+|fd\d+|bcache\d+|drbd\d+)$/;

/** Bytes a second over the disks of a host, each byte once: neither partitions nor what is built of disks that are there too. */
export const ioOf = (cells: CellsByMetric, sources: readonly Source[]): number | undefined => {
  const values = firstOf(cells, sources);
  const devices = new Set(values?.map(({ cell }) => deviceOf(cell.labels)));
  const isWhole = (device: string): boolean => {
    const disk = diskOfPartition(device);
    return !isMadeUp.test(device) && (disk === undefined || !devices.has(disk));
  };
  const whole = values?.filter(({ cell }) => isWhole(deviceOf(cell.labels)));
  const counted = whole === undefined || whole.length === 0 ? values : whole;
  return counted?.reduce((sum, { value }) => sum + value, 0);
};

/** The same of the device of one filesystem, or of the disk that it is a partition of. */
export const ioOfDevice = (cells: CellsByMetric, sources: readonly Source[], device: string): number | undefined => {
  const name = device.replace(/^\/dev\//, '');
  const values = firstOf(cells, sources) ?? [];
  for (const candidate of [name, diskOfPartition(name)]) {
    const own = values.filter(({ cell }) => deviceOf(cell.labels) === candidate);
    if (own.length > 0) return own.reduce((sum, { value }) => sum + value, 0);
  }
  return undefined;
};
