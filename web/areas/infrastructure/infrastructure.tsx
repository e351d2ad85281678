/** Infrastructure: hosts, disks, processes and cloud resources */
import type { listCompute } from '../../../api/groups/infrastructure/compute.ts';
import type { listDisks } from '../../../api/groups/infrastructure/disks.ts';
import type { listHosts } from '../../../api/groups/infrastructure/hosts.ts';
import type { listProcesses } from '../../../api/groups/infrastructure/processes.ts';
import { renderKnownNumber, renderKnownRatio, renderKnownText } from '../../charts/render-number.tsx';
import { declareCall } from '../../client/call.ts';
import { formatIsoTime } from '../../frame/format-time.ts';
import { createTabbedView } from '../../frame/parts.tsx';
import { createListView } from '../../lists/declared-list.tsx';
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

const Hosts = createListView({
  title: 'Hosts',
  call: declareCall<typeof listHosts>('GET', '/api/infrastructure/hosts'),
  isOfProject: true,
  hasTimeRange: true,
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
  emptyText: 'No hosts in this range. No telemetry with a host.name was received.',
  toKey: ({ id }) => id,
  columns: {
    Host: ({ id, name }) => name.value ?? id,
    State: ({ state, reason }) => (
      <span class={state === 'silent' ? 'text-error' : ''} title={reason}>
        {state}
      </span>
    ),
    CPU: ({ cpu }) => renderKnownRatio(cpu.utilization),
    Memory: ({ memory }) => renderKnownRatio(memory.utilization),
    Disks: ({ disk }) => renderKnownRatio(disk.utilization),
    Load: ({ load }) => renderKnownNumber(load.m5),
    System: ({ os }) => renderKnownText(os.description.value === null ? os.type : os.description),
    'Last seen': ({ lastSeen }) =>
      lastSeen.value === null ? renderKnownText(lastSeen) : formatIsoTime(lastSeen.value),
  },
  wideColumns: ['Memory', 'Disks', 'Load', 'System', 'Last seen'],
  numericColumns: ['CPU', 'Memory', 'Disks', 'Load'],
  ItemPanel: HostPanel,
});

const Disks = createListView({
  title: 'Disks',
  call: declareCall<typeof listDisks>('GET', '/api/infrastructure/disks'),
  isOfProject: true,
  hasTimeRange: true,
  filters: ['host'],
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
  emptyText: 'No disks in this range.',
  toKey: ({ id }) => id,
  columns: {
    Disk: ({ device, mountpoints }) => `${device} ${mountpoints.join(', ')}`,
    Host: ({ host, hostName }) => renderKnownText(hostName.value === null ? host : hostName),
    Used: ({ used }) => renderKnownNumber(used, 'By'),
    Size: ({ total }) => renderKnownNumber(total, 'By'),
    Utilization: ({ utilization }) => renderKnownRatio(utilization),
    'Days until full': ({ daysUntilFull }) => renderKnownNumber(daysUntilFull),
  },
  wideColumns: ['Host', 'Used', 'Size', 'Days until full'],
  numericColumns: ['Used', 'Size', 'Utilization', 'Days until full'],
});

const Processes = createListView({
  title: 'Processes',
  call: declareCall<typeof listProcesses>('GET', '/api/infrastructure/processes'),
  isOfProject: true,
  hasTimeRange: true,
  search: 'Search by name or command',
  emptyText: 'No processes in this range.',
  toKey: ({ id }) => id,
  columns: {
    Process: ({ id, name }) => name.value ?? id,
    Command: ({ command }) => renderKnownText(command),
    Host: ({ host }) => renderKnownText(host),
    Service: ({ service }) => renderKnownText(service),
    CPU: ({ cpuCores }) => renderKnownNumber(cpuCores),
    Memory: ({ memory }) => renderKnownNumber(memory, 'By'),
    Threads: ({ threads }) => renderKnownNumber(threads),
  },
  wideColumns: ['Command', 'Host', 'Service', 'Threads'],
  numericColumns: ['CPU', 'Memory', 'Threads'],
});

const Compute = createListView({
  title: 'Instances and containers',
  call: declareCall<typeof listCompute>('GET', '/api/infrastructure/compute'),
  isOfProject: true,
  hasTimeRange: true,
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
  emptyText: 'No instances or containers in this range.',
  toKey: ({ id }) => id,
  columns: {
    Name: ({ id, name }) => name.value ?? id,
    Kind: ({ kind }) => kind,
    State: ({ state }) => state,
    Provider: ({ provider }) => renderKnownText(provider),
    Region: ({ region }) => renderKnownText(region),
    'Type or image': ({ type }) => renderKnownText(type),
    CPU: ({ cpuCores }) => renderKnownNumber(cpuCores),
    Memory: ({ memory }) => renderKnownNumber(memory, 'By'),
  },
  wideColumns: ['Kind', 'Provider', 'Region', 'Type or image', 'Memory'],
  numericColumns: ['CPU', 'Memory'],
});

export const Infrastructure = createTabbedView('Infrastructure', [
  { name: '', title: 'Hosts', View: Hosts },
  { name: 'disks', title: 'Disks', View: Disks },
  { name: 'processes', title: 'Processes', View: Processes },
  { name: 'compute', title: 'Instances and containers', View: Compute },
]);
