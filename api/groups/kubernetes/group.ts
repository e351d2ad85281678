import { defineGroup } from '../define-group.ts';

export const kubernetesGroup = defineGroup({
  name: 'kubernetes',
  summary: 'Clusters, nodes, workloads, pods and events.',
  planned: [
    ['GET /api/kubernetes/clusters', 'viewer', 'clusters'],
    ['GET /api/kubernetes/nodes', 'viewer', 'nodes: conditions, allocatable, requested, used'],
    ['GET /api/kubernetes/namespaces', 'viewer', 'namespaces'],
    ['GET /api/kubernetes/workloads', 'viewer', 'deployments, stateful sets, daemon sets, jobs: desired and ready'],
    ['GET /api/kubernetes/pods', 'viewer', 'pods: phase, restarts, last termination reason'],
    ['GET /api/kubernetes/pods/{uid}', 'viewer', 'one pod with its logs, events, containers'],
    ['GET /api/kubernetes/containers', 'viewer', 'containers: use against request and limit'],
    ['GET /api/kubernetes/events', 'viewer', 'cluster events'],
  ],
});
