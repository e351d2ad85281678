import { defineGroup } from '../define-group.ts';
import { listClusters } from './clusters.ts';
import { listContainers } from './containers.ts';
import { listKubernetesEvents } from './events.ts';
import { listNamespaces } from './namespaces.ts';
import { listNodes } from './nodes.ts';
import { showPod } from './pod.ts';
import { listPods } from './pods.ts';
import { listWorkloads } from './workloads.ts';

export const kubernetesGroup = defineGroup({
  name: 'kubernetes',
  summary: 'Clusters, nodes, workloads, pods and events.',
  entitlement: 'metrics',
  reads: ['logs'],
  operations: [
    ...[listClusters, listNodes, listNamespaces, listWorkloads],
    ...[listPods, showPod, listContainers, listKubernetesEvents],
  ],
});
