/** Kubernetes: clusters, nodes, namespaces, workloads, pods, containers and events. */
import type { listClusters } from '../../../api/groups/kubernetes/clusters.ts';
import type { listContainers } from '../../../api/groups/kubernetes/containers.ts';
import type { listKubernetesEvents } from '../../../api/groups/kubernetes/events.ts';
import type { listNamespaces } from '../../../api/groups/kubernetes/namespaces.ts';
import type { listNodes } from '../../../api/groups/kubernetes/nodes.ts';
import type { listPods } from '../../../api/groups/kubernetes/pods.ts';
import type { listWorkloads } from '../../../api/groups/kubernetes/workloads.ts';
import { knownNumber, knownShare, knownText } from '../../charts/known.tsx';
import { callOf } from '../../client/call.ts';
import { partsOf } from '../../frame/parts.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { listed } from '../../lists/declared-list.tsx';
import { PodPanel } from './pod.tsx';

const formatPhases = (phases: Readonly<Record<string, number>>): string =>
  Object.entries(phases)
    .filter(([, count]) => count > 0)
    .map(([phase, count]) => `${count} ${phase.toLowerCase()}`)
    .join(', ');

const Clusters = listed({
  title: 'Clusters',
  call: callOf<typeof listClusters>('GET', '/api/kubernetes/clusters'),
  isOfProject: true,
  isRanged: true,
  nothing: 'No clusters in this range: no telemetry with a k8s.cluster.name was received.',
  keyOf: ({ id }) => id,
  columns: {
    Cluster: ({ id, name }) => name.value ?? id,
    Nodes: ({ nodes }) => nodes.count,
    Workloads: ({ workloads }) => workloads.count,
    Degraded: ({ workloads }) => <span class={workloads.degraded > 0 ? 'text-error' : ''}>{workloads.degraded}</span>,
    Pods: ({ pods }) => formatPhases(pods),
    Restarts: ({ restarts }) => knownNumber(restarts),
    'CPU used': ({ cpu }) => knownNumber(cpu.used),
    'Memory used': ({ memory }) => knownNumber(memory.used, 'By'),
  },
  numbers: ['Nodes', 'Workloads', 'Degraded', 'Restarts', 'CPU used', 'Memory used'],
});

const Nodes = listed({
  title: 'Nodes',
  call: callOf<typeof listNodes>('GET', '/api/kubernetes/nodes'),
  isOfProject: true,
  isRanged: true,
  search: 'Search by name',
  nothing: 'No nodes in this range.',
  keyOf: ({ id }) => id,
  columns: {
    Node: ({ name }) => name,
    Cluster: ({ cluster }) => knownText(cluster),
    Ready: ({ ready }) =>
      ready.value === null ? (
        knownText({ value: null, reason: ready.reason })
      ) : (
        <span class={ready.value ? '' : 'text-error'}>{ready.value ? 'ready' : 'not ready'}</span>
      ),
    Conditions: ({ conditions }) =>
      conditions
        .filter(({ type, status }) => (type === 'Ready' ? status !== 'true' : status === 'true'))
        .map(({ type }) => type)
        .join(', '),
    'CPU used': ({ cpu }) => knownShare(cpu.allocatableUtilization),
    'Memory used': ({ memory }) => knownShare(memory.allocatableUtilization),
    Pods: ({ pods }) => pods.running,
  },
  numbers: ['CPU used', 'Memory used', 'Pods'],
});

const Namespaces = listed({
  title: 'Namespaces',
  call: callOf<typeof listNamespaces>('GET', '/api/kubernetes/namespaces'),
  isOfProject: true,
  isRanged: true,
  search: 'Search by name',
  nothing: 'No namespaces in this range.',
  keyOf: ({ id }) => id,
  columns: {
    Namespace: ({ name }) => name,
    Cluster: ({ cluster }) => knownText(cluster),
    Workloads: ({ workloads }) => workloads.count,
    Degraded: ({ workloads }) => workloads.degraded,
    Pods: ({ pods }) => formatPhases(pods),
    Restarts: ({ restarts }) => knownNumber(restarts),
    'CPU used': ({ cpu }) => knownNumber(cpu.used),
    'Memory used': ({ memory }) => knownNumber(memory.used, 'By'),
  },
  numbers: ['Workloads', 'Degraded', 'Restarts', 'CPU used', 'Memory used'],
});

const Workloads = listed({
  title: 'Workloads',
  call: callOf<typeof listWorkloads>('GET', '/api/kubernetes/workloads'),
  isOfProject: true,
  isRanged: true,
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
  nothing: 'No workloads in this range.',
  keyOf: ({ id }) => id,
  columns: {
    Workload: ({ name }) => name,
    Kind: ({ kind }) => kind,
    Namespace: ({ namespace }) => knownText(namespace),
    State: ({ state }) => <span class={state === 'degraded' ? 'text-error' : ''}>{state}</span>,
    Ready: ({ ready }) => knownNumber(ready),
    Desired: ({ desired }) => knownNumber(desired),
    Restarts: ({ restarts }) => knownNumber(restarts),
    CPU: ({ cpu }) => knownNumber(cpu),
    Memory: ({ memory }) => knownNumber(memory, 'By'),
  },
  numbers: ['Ready', 'Desired', 'Restarts', 'CPU', 'Memory'],
});

const phases = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];

const Pods = listed({
  title: 'Pods',
  call: callOf<typeof listPods>('GET', '/api/kubernetes/pods'),
  isOfProject: true,
  isRanged: true,
  search: 'Search by name',
  choices: [
    { name: 'phase', label: 'Phase', options: [['', 'all'], ...phases.map((phase) => [phase, phase] as const)] },
  ],
  nothing: 'No pods in this range.',
  keyOf: ({ uid, id }) => uid.value ?? id,
  columns: {
    Pod: ({ id, name }) => name.value ?? id,
    Namespace: ({ namespace }) => knownText(namespace),
    Phase: ({ phase, reason }) => (
      <span class={phase.value === 'Failed' ? 'text-error' : ''}>
        {phase.value ?? '–'} {reason.value}
      </span>
    ),
    Restarts: ({ restarts }) => knownNumber(restarts),
    'Last ended': ({ lastTerminations }) =>
      lastTerminations.map(({ container, reason }) => `${container}: ${reason}`).join(', '),
    Node: ({ node }) => knownText(node),
    CPU: ({ cpu }) => knownNumber(cpu),
    Memory: ({ memory }) => knownNumber(memory, 'By'),
  },
  numbers: ['Restarts', 'CPU', 'Memory'],
  Open: PodPanel,
});

const Containers = listed({
  title: 'Containers',
  call: callOf<typeof listContainers>('GET', '/api/kubernetes/containers'),
  isOfProject: true,
  isRanged: true,
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
  nothing: 'No containers in this range.',
  keyOf: ({ id }) => id,
  columns: {
    Container: ({ name }) => name,
    Pod: ({ pod }) => knownText(pod),
    State: ({ state, reason }) => `${state.value ?? '–'} ${reason.value ?? ''}`,
    Restarts: ({ restarts }) => knownNumber(restarts),
    'Out of memory': ({ oom }) => <span title={oom.reasons.join(' ')}>{oom.verdict}</span>,
    'CPU of limit': ({ cpu }) => knownShare(cpu.limitUtilization),
    'Memory of limit': ({ memory }) => knownShare(memory.limitUtilization),
  },
  numbers: ['Restarts', 'CPU of limit', 'Memory of limit'],
});

const Events = listed({
  title: 'Events',
  call: callOf<typeof listKubernetesEvents>('GET', '/api/kubernetes/events'),
  isOfProject: true,
  isRanged: true,
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
  nothing: 'No Kubernetes events in this range.',
  keyOf: ({ id }) => id,
  columns: {
    Time: ({ timestamp }) => shownMoment(timestamp),
    Type: ({ type }) => <span class={type === 'Warning' ? 'text-warn' : ''}>{type}</span>,
    Reason: ({ reason }) => reason,
    Object: ({ object }) => `${object.kind ?? ''} ${object.name ?? ''}`,
    Message: ({ message }) => message,
    Count: ({ count }) => count,
  },
  numbers: ['Count'],
});

export const Kubernetes = partsOf('Kubernetes', [
  { name: '', title: 'Clusters', View: Clusters },
  { name: 'nodes', title: 'Nodes', View: Nodes },
  { name: 'namespaces', title: 'Namespaces', View: Namespaces },
  { name: 'workloads', title: 'Workloads', View: Workloads },
  { name: 'pods', title: 'Pods', View: Pods },
  { name: 'containers', title: 'Containers', View: Containers },
  { name: 'events', title: 'Events', View: Events },
]);
