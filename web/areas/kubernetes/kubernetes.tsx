/** Kubernetes: clusters, nodes, namespaces, workloads, pods, containers and events. */
import type { listClusters } from '../../../api/groups/kubernetes/clusters.ts';
import type { listContainers } from '../../../api/groups/kubernetes/containers.ts';
import type { listKubernetesEvents } from '../../../api/groups/kubernetes/events.ts';
import type { listNamespaces } from '../../../api/groups/kubernetes/namespaces.ts';
import type { listNodes } from '../../../api/groups/kubernetes/nodes.ts';
import type { listPods } from '../../../api/groups/kubernetes/pods.ts';
import type { listWorkloads } from '../../../api/groups/kubernetes/workloads.ts';
import { renderKnownNumber, renderKnownRatio, renderKnownText } from '../../charts/render-number.tsx';
import { declareCall } from '../../client/call.ts';
import { formatIsoTime } from '../../frame/format-time.ts';
import { createTabbedView } from '../../frame/parts.tsx';
import { createListView } from '../../lists/declared-list.tsx';
import { PodPanel } from './pod.tsx';

const formatPhases = (podPhases: Readonly<Record<string, number>>): string =>
  Object.entries(podPhases)
    .filter(([, count]) => count > 0)
    .map(([phase, count]) => `${count} ${phase.toLowerCase()}`)
    .join(', ');

const Clusters = createListView({
  title: 'Clusters',
  call: declareCall<typeof listClusters>('GET', '/api/kubernetes/clusters'),
  isOfProject: true,
  hasTimeRange: true,
  emptyText: 'No cluster metrics in this range',
  toKey: ({ id }) => id,
  columns: {
    Cluster: ({ id, name }) => name.value ?? id,
    Nodes: ({ nodes }) => nodes.count,
    Workloads: ({ workloads }) => workloads.count,
    Degraded: ({ workloads }) => <span class={workloads.degraded > 0 ? 'text-error' : ''}>{workloads.degraded}</span>,
    Pods: ({ pods }) => formatPhases(pods),
    Restarts: ({ restarts }) => renderKnownNumber(restarts),
    'CPU used': ({ cpu }) => renderKnownNumber(cpu.used),
    'Memory used': ({ memory }) => renderKnownNumber(memory.used, 'By'),
  },
  wideColumns: ['Workloads', 'Pods', 'Restarts', 'CPU used', 'Memory used'],
  numericColumns: ['Nodes', 'Workloads', 'Degraded', 'Restarts', 'CPU used', 'Memory used'],
});

const Nodes = createListView({
  title: 'Nodes',
  call: declareCall<typeof listNodes>('GET', '/api/kubernetes/nodes'),
  isOfProject: true,
  hasTimeRange: true,
  search: 'Search by name',
  emptyText: 'No nodes in this range.',
  toKey: ({ id }) => id,
  columns: {
    Node: ({ name }) => name,
    Cluster: ({ cluster }) => renderKnownText(cluster),
    Ready: ({ ready }) =>
      ready.value === null ? (
        renderKnownText({ value: null, reason: ready.reason })
      ) : (
        <span class={ready.value ? '' : 'text-error'}>{ready.value ? 'ready' : 'not ready'}</span>
      ),
    Conditions: ({ conditions }) =>
      conditions
        .filter(({ type, status }) => (type === 'Ready' ? status !== 'true' : status === 'true'))
        .map(({ type }) => type)
        .join(', '),
    'CPU used': ({ cpu }) => renderKnownRatio(cpu.allocatableUtilization),
    'Memory used': ({ memory }) => renderKnownRatio(memory.allocatableUtilization),
    Pods: ({ pods }) => pods.running,
  },
  wideColumns: ['Cluster', 'Conditions', 'CPU used', 'Memory used', 'Pods'],
  numericColumns: ['CPU used', 'Memory used', 'Pods'],
});

const Namespaces = createListView({
  title: 'Namespaces',
  call: declareCall<typeof listNamespaces>('GET', '/api/kubernetes/namespaces'),
  isOfProject: true,
  hasTimeRange: true,
  search: 'Search by name',
  emptyText: 'No namespaces in this range.',
  toKey: ({ id }) => id,
  columns: {
    Namespace: ({ name }) => name,
    Cluster: ({ cluster }) => renderKnownText(cluster),
    Workloads: ({ workloads }) => workloads.count,
    Degraded: ({ workloads }) => workloads.degraded,
    Pods: ({ pods }) => formatPhases(pods),
    Restarts: ({ restarts }) => renderKnownNumber(restarts),
    'CPU used': ({ cpu }) => renderKnownNumber(cpu.used),
    'Memory used': ({ memory }) => renderKnownNumber(memory.used, 'By'),
  },
  wideColumns: ['Cluster', 'Workloads', 'Pods', 'CPU used', 'Memory used'],
  numericColumns: ['Workloads', 'Degraded', 'Restarts', 'CPU used', 'Memory used'],
});

const Workloads = createListView({
  title: 'Workloads',
  call: declareCall<typeof listWorkloads>('GET', '/api/kubernetes/workloads'),
  isOfProject: true,
  hasTimeRange: true,
  search: 'Search by name',
  choices: [
    {
      name: 'state',
      label: 'Status',
      options: [
        ['', 'all'],
        ['degraded', 'degraded'],
        ['ready', 'ready'],
        ['unknown', 'unknown'],
      ],
    },
  ],
  emptyText: 'No workloads in this range.',
  toKey: ({ id }) => id,
  columns: {
    Workload: ({ name }) => name,
    Kind: ({ kind }) => kind,
    Namespace: ({ namespace }) => renderKnownText(namespace),
    State: ({ state }) => <span class={state === 'degraded' ? 'text-error' : ''}>{state}</span>,
    Ready: ({ ready }) => renderKnownNumber(ready),
    Desired: ({ desired }) => renderKnownNumber(desired),
    Restarts: ({ restarts }) => renderKnownNumber(restarts),
    CPU: ({ cpu }) => renderKnownNumber(cpu),
    Memory: ({ memory }) => renderKnownNumber(memory, 'By'),
  },
  wideColumns: ['Kind', 'Namespace', 'Desired', 'Restarts', 'CPU', 'Memory'],
  numericColumns: ['Ready', 'Desired', 'Restarts', 'CPU', 'Memory'],
});

const podPhases = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];

const Pods = createListView({
  title: 'Pods',
  call: declareCall<typeof listPods>('GET', '/api/kubernetes/pods'),
  isOfProject: true,
  hasTimeRange: true,
  search: 'Search by name',
  choices: [
    { name: 'phase', label: 'Phase', options: [['', 'all'], ...podPhases.map((phase) => [phase, phase] as const)] },
  ],
  emptyText: 'No pods in this range.',
  toKey: ({ uid, id }) => uid.value ?? id,
  columns: {
    Pod: ({ id, name }) => name.value ?? id,
    Namespace: ({ namespace }) => renderKnownText(namespace),
    Phase: ({ phase, reason }) => (
      <span class={phase.value === 'Failed' ? 'text-error' : ''}>
        {phase.value ?? '–'} {reason.value}
      </span>
    ),
    Restarts: ({ restarts }) => renderKnownNumber(restarts),
    'Last terminations': ({ lastTerminations }) =>
      lastTerminations.map(({ container, reason }) => `${container}: ${reason}`).join(', '),
    Node: ({ node }) => renderKnownText(node),
    CPU: ({ cpu }) => renderKnownNumber(cpu),
    Memory: ({ memory }) => renderKnownNumber(memory, 'By'),
  },
  wideColumns: ['Namespace', 'Last terminations', 'Node', 'CPU', 'Memory'],
  numericColumns: ['Restarts', 'CPU', 'Memory'],
  ItemPanel: PodPanel,
});

const Containers = createListView({
  title: 'Containers',
  call: declareCall<typeof listContainers>('GET', '/api/kubernetes/containers'),
  isOfProject: true,
  hasTimeRange: true,
  search: 'Search by name',
  choices: [
    {
      name: 'oom',
      label: 'Out of memory',
      options: [
        ['', 'all'],
        ['yes', 'yes'],
        ['likely', 'likely'],
        ['no', 'no'],
        ['unknown', 'unknown'],
      ],
    },
  ],
  emptyText: 'No containers in this range.',
  toKey: ({ id }) => id,
  columns: {
    Container: ({ name }) => name,
    Pod: ({ pod }) => renderKnownText(pod),
    State: ({ state, reason }) => `${state.value ?? '–'} ${reason.value ?? ''}`,
    Restarts: ({ restarts }) => renderKnownNumber(restarts),
    'Out of memory': ({ oom }) => <span title={oom.reasons.join(' ')}>{oom.verdict}</span>,
    'CPU (% of limit)': ({ cpu }) => renderKnownRatio(cpu.limitUtilization),
    'Memory (% of limit)': ({ memory }) => renderKnownRatio(memory.limitUtilization),
  },
  wideColumns: ['Pod', 'Out of memory', 'CPU (% of limit)', 'Memory (% of limit)'],
  numericColumns: ['Restarts', 'CPU (% of limit)', 'Memory (% of limit)'],
});

const Events = createListView({
  title: 'Events',
  call: declareCall<typeof listKubernetesEvents>('GET', '/api/kubernetes/events'),
  isOfProject: true,
  hasTimeRange: true,
  choices: [
    {
      name: 'type',
      label: 'Type',
      options: [
        ['', 'all'],
        ['Warning', 'warning'],
        ['Normal', 'normal'],
      ],
    },
  ],
  emptyText: 'No Kubernetes events in this range.',
  toKey: ({ id }) => id,
  columns: {
    Time: ({ timestamp }) => formatIsoTime(timestamp),
    Type: ({ type }) => <span class={type === 'Warning' ? 'text-warn' : ''}>{type}</span>,
    Reason: ({ reason }) => reason,
    Object: ({ object }) => `${object.kind ?? ''} ${object.name ?? ''}`,
    Message: ({ message }) => message,
    Count: ({ count }) => count,
  },
  wideColumns: ['Type', 'Object', 'Count'],
  numericColumns: ['Count'],
});

export const Kubernetes = createTabbedView('Kubernetes', [
  { name: '', title: 'Clusters', View: Clusters },
  { name: 'nodes', title: 'Nodes', View: Nodes },
  { name: 'namespaces', title: 'Namespaces', View: Namespaces },
  { name: 'workloads', title: 'Workloads', View: Workloads },
  { name: 'pods', title: 'Pods', View: Pods },
  { name: 'containers', title: 'Containers', View: Containers },
  { name: 'events', title: 'Events', View: Events },
]);
