/**
 * Metric names of Kubernetes. They are current OpenTelemetry names (semantic conventions 1.38 to 1.43) and former ones,
 * those of the collector's receivers (contrib 0.155: `k8s_cluster`, `kubeletstats`), and those of kube-state-metrics
 * (2, and 1 where it differed) and cAdvisor. In each list, current names are first.
 */
import { createLevelSource, createRateSource, listRateMetrics, type Source } from '../infrastructure/item-values.ts';

type Labels = Readonly<Record<string, string>>;

const hasResource = (resource: string) => (labels: Labels) => labels['resource'] === resource;
const isContainer = (labels: Labels): boolean => {
  const name = labels['container'] ?? labels['container_name'] ?? '';
  return name !== '' && name !== 'POD';
};

export const containerSources = {
  /** In cores. */
  cpu: [
    createLevelSource('container.cpu.usage'),
    // Former name of the kubelet receiver for the same number of cores.
    createLevelSource('container.cpu.utilization'),
    createRateSource('container.cpu.time'),
    createRateSource('container_cpu_usage_seconds_total', { where: isContainer }),
  ],
  memory: [
    createLevelSource('container.memory.working_set'),
    createLevelSource('container.memory.usage'),
    createLevelSource('container_memory_working_set_bytes', { where: isContainer }),
  ],
  cpuRequest: [
    createLevelSource('k8s.container.cpu.request.current'),
    createLevelSource('k8s.container.cpu.request.desired'),
    createLevelSource('k8s.container.cpu.request'),
    createLevelSource('k8s.container.cpu_request'),
    createLevelSource('kube_pod_container_resource_requests', { where: hasResource('cpu') }),
    createLevelSource('kube_pod_container_resource_requests_cpu_cores'),
  ],
  cpuLimit: [
    createLevelSource('k8s.container.cpu.limit.current'),
    createLevelSource('k8s.container.cpu.limit.desired'),
    createLevelSource('k8s.container.cpu.limit'),
    createLevelSource('k8s.container.cpu_limit'),
    createLevelSource('kube_pod_container_resource_limits', { where: hasResource('cpu') }),
    createLevelSource('kube_pod_container_resource_limits_cpu_cores'),
  ],
  memoryRequest: [
    createLevelSource('k8s.container.memory.request.current'),
    createLevelSource('k8s.container.memory.request.desired'),
    createLevelSource('k8s.container.memory.request'),
    createLevelSource('k8s.container.memory_request'),
    createLevelSource('kube_pod_container_resource_requests', { where: hasResource('memory') }),
    createLevelSource('kube_pod_container_resource_requests_memory_bytes'),
  ],
  memoryLimit: [
    createLevelSource('k8s.container.memory.limit.current'),
    createLevelSource('k8s.container.memory.limit.desired'),
    createLevelSource('k8s.container.memory.limit'),
    createLevelSource('k8s.container.memory_limit'),
    createLevelSource('kube_pod_container_resource_limits', { where: hasResource('memory') }),
    createLevelSource('kube_pod_container_resource_limits_memory_bytes'),
  ],
  restarts: [
    createLevelSource('k8s.container.restart.count'),
    createLevelSource('k8s.container.restarts'),
    createLevelSource('kube_pod_container_status_restarts_total'),
  ],
  ready: [createLevelSource('k8s.container.ready'), createLevelSource('kube_pod_container_status_ready')],
  /** 1 for the active reason. */
  statusReason: [
    createLevelSource('k8s.container.status.reason'),
    createLevelSource('kube_pod_container_status_waiting_reason'),
    createLevelSource('kube_pod_container_status_terminated_reason'),
  ],
  state: [createLevelSource('k8s.container.status.state')],
  lastReason: [createLevelSource('kube_pod_container_status_last_terminated_reason')],
  exitCode: [createLevelSource('kube_pod_container_status_last_terminated_exitcode')],
  throttledPeriods: [
    createRateSource('container.cpu.throttling_data.throttled_periods'),
    createRateSource('container_cpu_cfs_throttled_periods_total', { where: isContainer }),
  ],
  periods: [
    createRateSource('container.cpu.throttling_data.periods'),
    createRateSource('container_cpu_cfs_periods_total', { where: isContainer }),
  ],
} as const satisfies Record<string, readonly Source[]>;

/** Number of processes that the kernel killed in the cgroup of a container */
export const oomCounters: readonly string[] = ['container_oom_events_total'];

export const podSources = {
  cpu: [
    createLevelSource('k8s.pod.cpu.usage'),
    createLevelSource('k8s.pod.cpu.utilization'),
    createRateSource('k8s.pod.cpu.time'),
  ],
  memory: [createLevelSource('k8s.pod.memory.working_set'), createLevelSource('k8s.pod.memory.usage')],
  /** The phase as a number, and as the label of a series with value 1. */
  phaseNumber: [createLevelSource('k8s.pod.phase')],
  phase: [createLevelSource('k8s.pod.status.phase'), createLevelSource('kube_pod_status_phase')],
  reason: [createLevelSource('k8s.pod.status.reason'), createLevelSource('kube_pod_status_reason')],
  owner: [createLevelSource('kube_pod_owner')],
  about: [createLevelSource('kube_pod_info')],
} as const satisfies Record<string, readonly Source[]>;

/** Values of `k8s.pod.phase` */
export const phases: readonly string[] = ['', 'Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];

export const nodeSources = {
  cpu: [
    createLevelSource('k8s.node.cpu.usage'),
    createLevelSource('k8s.node.cpu.utilization'),
    createRateSource('k8s.node.cpu.time'),
  ],
  memory: [createLevelSource('k8s.node.memory.working_set'), createLevelSource('k8s.node.memory.usage')],
  cpuAllocatable: [
    createLevelSource('k8s.node.cpu.allocatable'),
    createLevelSource('k8s.node.allocatable.cpu'),
    createLevelSource('k8s.node.allocatable_cpu'),
    createLevelSource('kube_node_status_allocatable', { where: hasResource('cpu') }),
    createLevelSource('kube_node_status_allocatable_cpu_cores'),
  ],
  memoryAllocatable: [
    createLevelSource('k8s.node.memory.allocatable'),
    createLevelSource('k8s.node.allocatable.memory'),
    createLevelSource('k8s.node.allocatable_memory'),
    createLevelSource('kube_node_status_allocatable', { where: hasResource('memory') }),
    createLevelSource('kube_node_status_allocatable_memory_bytes'),
  ],
  podsAllocatable: [
    createLevelSource('k8s.node.pod.allocatable'),
    createLevelSource('k8s.node.allocatable.pods'),
    createLevelSource('k8s.node.allocatable_pods'),
    createLevelSource('kube_node_status_allocatable', { where: hasResource('pods') }),
    createLevelSource('kube_node_status_allocatable_pods'),
  ],
  /** One metric per condition: 1 true, 0 false, -1 unknown. */
  conditionNumbers: [
    createLevelSource('k8s.node.condition_ready'),
    createLevelSource('k8s.node.condition_memory_pressure'),
    createLevelSource('k8s.node.condition_disk_pressure'),
    createLevelSource('k8s.node.condition_pid_pressure'),
    createLevelSource('k8s.node.condition_network_unavailable'),
    createLevelSource('k8s.node.condition'),
  ],
  /** 1 for the current status of a condition. */
  conditions: [createLevelSource('k8s.node.condition.status'), createLevelSource('kube_node_status_condition')],
  about: [createLevelSource('kube_node_info')],
} as const satisfies Record<string, readonly Source[]>;

export const conditionNames: Readonly<Record<string, string>> = {
  'k8s.node.condition_ready': 'Ready',
  'k8s.node.condition_memory_pressure': 'MemoryPressure',
  'k8s.node.condition_disk_pressure': 'DiskPressure',
  'k8s.node.condition_pid_pressure': 'PIDPressure',
  'k8s.node.condition_network_unavailable': 'NetworkUnavailable',
};

export const namespaceSources = {
  /** 1 active, 0 terminating. */
  phaseNumber: [createLevelSource('k8s.namespace.phase')],
  phase: [createLevelSource('kube_namespace_status_phase')],
} as const satisfies Record<string, readonly Source[]>;

export const workloadKinds = ['Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob'] as const;
export type WorkloadKind = (typeof workloadKinds)[number];

interface WorkloadNames {
  /** Source of the name: attribute of the resource, label of kube-state-metrics */
  readonly attribute: string;
  readonly label: string;
  readonly sources: Readonly<
    Record<'desired' | 'ready' | 'available' | 'updated' | 'active' | 'failed', readonly Source[]>
  >;
}

/** Returns current and former names: `k8s.deployment.pod.desired`, `.desired_pods`, `.desired`. */
const createNamedSources = (prefix: string, currentName: string, ...formerNames: readonly string[]): Source[] =>
  [currentName, ...formerNames].map((name) => createLevelSource(`k8s.${prefix}.${name}`));

export const workloads: Readonly<Record<WorkloadKind, WorkloadNames>> = {
  Deployment: {
    attribute: 'k8s.deployment.name',
    label: 'deployment',
    sources: {
      desired: [
        ...createNamedSources('deployment', 'pod.desired', 'desired_pods', 'desired'),
        createLevelSource('kube_deployment_spec_replicas'),
      ],
      ready: [createLevelSource('kube_deployment_status_replicas_ready')],
      available: [
        ...createNamedSources('deployment', 'pod.available', 'available_pods', 'available'),
        createLevelSource('kube_deployment_status_replicas_available'),
      ],
      updated: [createLevelSource('kube_deployment_status_replicas_updated')],
      active: [],
      failed: [],
    },
  },
  StatefulSet: {
    attribute: 'k8s.statefulset.name',
    label: 'statefulset',
    sources: {
      desired: [
        ...createNamedSources('statefulset', 'pod.desired', 'desired_pods'),
        createLevelSource('kube_statefulset_replicas'),
      ],
      ready: [
        ...createNamedSources('statefulset', 'pod.ready', 'ready_pods'),
        createLevelSource('kube_statefulset_status_replicas_ready'),
      ],
      available: [createLevelSource('kube_statefulset_status_replicas_available')],
      updated: [
        ...createNamedSources('statefulset', 'pod.updated', 'updated_pods'),
        createLevelSource('kube_statefulset_status_replicas_updated'),
      ],
      active: [],
      failed: [],
    },
  },
  DaemonSet: {
    attribute: 'k8s.daemonset.name',
    label: 'daemonset',
    sources: {
      desired: [
        ...createNamedSources('daemonset', 'node.desired_scheduled', 'desired_scheduled_nodes'),
        createLevelSource('kube_daemonset_status_desired_number_scheduled'),
      ],
      ready: [
        ...createNamedSources('daemonset', 'node.ready', 'ready_nodes'),
        createLevelSource('kube_daemonset_status_number_ready'),
      ],
      available: [createLevelSource('kube_daemonset_status_number_available')],
      updated: [
        createLevelSource('kube_daemonset_status_updated_number_scheduled'),
        createLevelSource('kube_daemonset_updated_number_scheduled'),
      ],
      active: [],
      failed: [],
    },
  },
  Job: {
    attribute: 'k8s.job.name',
    label: 'job_name',
    sources: {
      desired: [
        ...createNamedSources('job', 'pod.desired_successful', 'desired_successful_pods'),
        createLevelSource('kube_job_spec_completions'),
      ],
      ready: [
        ...createNamedSources('job', 'pod.successful', 'successful_pods'),
        createLevelSource('kube_job_status_succeeded'),
      ],
      available: [],
      updated: [],
      active: [...createNamedSources('job', 'pod.active', 'active_pods'), createLevelSource('kube_job_status_active')],
      failed: [...createNamedSources('job', 'pod.failed', 'failed_pods'), createLevelSource('kube_job_status_failed')],
    },
  },
  CronJob: {
    attribute: 'k8s.cronjob.name',
    label: 'cronjob',
    sources: {
      desired: [],
      ready: [],
      available: [],
      updated: [],
      failed: [],
      active: [
        ...createNamedSources('cronjob', 'job.active', 'active_jobs'),
        createLevelSource('kube_cronjob_status_active'),
      ],
    },
  },
};

/** Metrics whose rates are requested */
export const kubernetesCounters: readonly string[] = [
  ...new Set([containerSources, podSources, nodeSources].flatMap(listRateMetrics)),
];

/** Labels from which positions and states are read */
export const kubernetesLabels: readonly string[] = [
  ...[
    'cluster',
    'namespace',
    'exported_namespace',
    'pod',
    'exported_pod',
    'pod_name',
    'container',
    'exported_container',
  ],
  ...[
    'container_name',
    'uid',
    'node',
    'exported_node',
    'instance',
    'phase',
    'reason',
    'condition',
    'status',
    'resource',
  ],
  ...['owner_kind', 'owner_name', 'created_by_kind', 'created_by_name', 'kubelet_version'],
  ...Object.values(workloads).map(({ label }) => label),
  ...['k8s.pod.status.phase', 'k8s.pod.status.reason', 'k8s.container.status.reason', 'k8s.container.status.state'],
  ...['k8s.node.condition.type', 'k8s.node.condition.status'],
];
