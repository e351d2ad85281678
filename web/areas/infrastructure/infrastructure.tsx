/** Infrastructure: hosts, disks, processes and cloud resources */
import type { listCompute } from '../../../api/groups/infrastructure/compute.ts';
import type { listDisks } from '../../../api/groups/infrastructure/disks.ts';
import type { listHosts } from '../../../api/groups/infrastructure/hosts.ts';
import type { listProcesses } from '../../../api/groups/infrastructure/processes.ts';
import { knownNumber, knownShare, knownText } from '../../charts/known.tsx';
import { callOf } from '../../client/call.ts';
import { partsOf } from '../../frame/parts.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { listed } from '../../lists/declared-list.tsx';
import { HostPanel } from './host.tsx';

const stateFilter = {
  name: 'state',
  label: 'Status',
  options: [
    ['', 'all'],
    ['active', 'active'],
    ['silent', 'silent'],
  ],
} as const;

const Hosts = listed({
  title: 'Hosts',
  call: callOf<typeof listHosts>('GET', '/api/infrastructure/hosts'),
  isOfProject: true,
  isRanged: true,
  search: 'Search by name',
  choices: [
    stateFilter,
    {
      name: 'sort',
      label: 'Sort by',
      options: [
        ['name', 'name'],
        ['-cpu', 'CPU'],
        ['-memory', 'Memory'],
        ['-disk', 'Disk usage'],
        ['-load', 'Load'],
      ],
    },
  ],
  nothing: 'No hosts in this range: no telemetry with a host.name was received.',
  keyOf: ({ id }) => id,
  columns: {
    Host: ({ id, name }) => name.value ?? id,
    State: ({ state, reason }) => (
      <span class={state === 'silent' ? 'text-error' : ''} title={reason}>
        {state}
      </span>
    ),
    CPU: ({ cpu }) => knownShare(cpu.utilization),
    Memory: ({ memory }) => knownShare(memory.utilization),
    Disks: ({ disk }) => knownShare(disk.utilization),
    Load: ({ load }) => knownNumber(load.m5),
    System: ({ os }) => knownText(os.description.value === null ? os.type : os.description),
    'Last seen': ({ lastSeen }) => (lastSeen.value === null ? knownText(lastSeen) : shownMoment(lastSeen.value)),
  },
  numbers: ['CPU', 'Memory', 'Disks', 'Load'],
  Open: HostPanel,
});

const Disks = listed({
  title: 'Disks',
  call: callOf<typeof listDisks>('GET', '/api/infrastructure/disks'),
  isOfProject: true,
  isRanged: true,
  search: 'Search by device or mount point',
  choices: [
    {
      name: 'kind',
      label: 'Type',
      options: [
        ['', 'all'],
        ['filesystem', 'file systems'],
        ['volume', 'Pod volumes'],
      ],
    },
  ],
  nothing: 'No disks in this range.',
  keyOf: ({ id }) => id,
  columns: {
    Disk: ({ device, mountpoints }) => `${device} ${mountpoints.join(', ')}`,
    Host: ({ host }) => knownText(host),
    Used: ({ used }) => knownNumber(used, 'By'),
    Size: ({ total }) => knownNumber(total, 'By'),
    Utilization: ({ utilization }) => knownShare(utilization),
    'Days until full': ({ daysUntilFull }) => knownNumber(daysUntilFull),
  },
  numbers: ['Used', 'Size', 'Utilization', 'Days until full'],
});

const Processes = listed({
  title: 'Processes',
  call: callOf<typeof listProcesses>('GET', '/api/infrastructure/processes'),
  isOfProject: true,
  isRanged: true,
  search: 'Search by name or command',
  nothing: 'No processes in this range.',
  keyOf: ({ id }) => id,
  columns: {
    Process: ({ id, name }) => name.value ?? id,
    Command: ({ command }) => knownText(command),
    Host: ({ host }) => knownText(host),
    Service: ({ service }) => knownText(service),
    CPU: ({ cpuCores }) => knownNumber(cpuCores),
    Memory: ({ memory }) => knownNumber(memory, 'By'),
    Threads: ({ threads }) => knownNumber(threads),
  },
  numbers: ['CPU', 'Memory', 'Threads'],
});

const Compute = listed({
  title: 'Instances and containers',
  call: callOf<typeof listCompute>('GET', '/api/infrastructure/compute'),
  isOfProject: true,
  isRanged: true,
  search: 'Search by name',
  choices: [
    {
      name: 'kind',
      label: 'Type',
      options: [
        ['', 'all'],
        ['instance', 'instances'],
        ['container', 'containers'],
      ],
    },
  ],
  nothing: 'No instances or containers in this range.',
  keyOf: ({ id }) => id,
  columns: {
    Name: ({ id, name }) => name.value ?? id,
    Kind: ({ kind }) => kind,
    State: ({ state }) => state,
    Provider: ({ provider }) => knownText(provider),
    Region: ({ region }) => knownText(region),
    'Type or image': ({ type }) => knownText(type),
    CPU: ({ cpuCores }) => knownNumber(cpuCores),
    Memory: ({ memory }) => knownNumber(memory, 'By'),
  },
  numbers: ['CPU', 'Memory'],
});

export const Infrastructure = partsOf('Infrastructure', [
  { name: '', title: 'Hosts', View: Hosts },
  { name: 'disks', title: 'Disks', View: Disks },
  { name: 'processes', title: 'Processes', View: Processes },
  { name: 'compute', title: 'Instances and containers', View: Compute },
]);
