/**
 * Metric names of Kubernetes. They are current OpenTelemetry names (semantic conventions 1.38 to 1.43) and former ones,
 * those of the collector's receivers (contrib 0.155: `k8s_cluster`, `kubeletstats`), and those of kube-state-metrics
 * (2, and 1 where it differed) and cAdvisor. In each list, current names are first.
 */
import { level, rate, rateMetrics, type Source } from '../infrastructure/figures.ts';

type Labels = Readonly<Record<string, string>>;

const hasResource = (resource: string) => (labels: Labels) => labels['resource'] === resource;
const isContainer = (labels: Labels): boolean => {
  const name = labels['container'] ?? labels['container_name'] ?? '';
  return name !== '' && name !== 'POD';
};

export const containerSources = {
  /** In cores. */
  cpu: [
    level('container.cpu.usage'),
    // Former name of the kubelet receiver for the same number of cores.
    level('container.cpu.utilization'),
    rate('container.cpu.time'),
    rate('container_cpu_usage_seconds_total', { where: isContainer }),
  ],
  memory: [
    level('container.memory.working_set'),
    level('container.memory.usage'),
    level('container_memory_working_set_bytes', { where: isContainer }),
  ],
  cpuRequest: [
    level('k8s.container.cpu.request.current'),
    level('k8s.container.cpu.request.desired'),
    level('k8s.container.cpu.request'),
    level('k8s.container.cpu_request'),
    level('kube_pod_container_resource_requests', { where: hasResource('cpu') }),
    level('kube_pod_container_resource_requests_cpu_cores'),
  ],
  cpuLimit: [
    level('k8s.container.cpu.limit.current'),
    level('k8s.container.cpu.limit.desired'),
    level('k8s.container.cpu.limit'),
    level('k8s.container.cpu_limit'),
    level('kube_pod_container_resource_limits', { where: hasResource('cpu') }),
    level('kube_pod_container_resource_limits_cpu_cores'),
  ],
  memoryRequest: [
    level('k8s.container.memory.request.current'),
    level('k8s.container.memory.request.desired'),
    level('k8s.container.memory.request'),
    level('k8s.container.memory_request'),
    level('kube_pod_container_resource_requests', { where: hasResource('memory') }),
    level('kube_pod_container_resource_requests_memory_bytes'),
  ],
  memoryLimit: [
    level('k8s.container.memory.limit.current'),
    level('k8s.container.memory.limit.desired'),
    level('k8s.container.memory.limit'),
    level('k8s.container.memory_limit'),
    level('kube_pod_container_resource_limits', { where: hasResource('memory') }),
    level('kube_pod_container_resource_limits_memory_bytes'),
  ],
  restarts: [
    level('k8s.container.restart.count'),
    level('k8s.container.restarts'),
    level('kube_pod_container_status_restarts_total'),
  ],
  ready: [level('k8s.container.ready'), level('kube_pod_container_status_ready')],
  /** 1 for the active reason. */
  statusReason: [
    level('k8s.container.status.reason'),
    level('kube_pod_container_status_waiting_reason'),
    level('kube_pod_container_status_terminated_reason'),
  ],
  state: [level('k8s.container.status.state')],
  lastReason: [level('kube_pod_container_status_last_terminated_reason')],
  exitCode: [level('kube_pod_container_status_last_terminated_exitcode')],
  throttledPeriods: [
    rate('container.cpu.throttling_data.throttled_periods'),
    rate('container_cpu_cfs_throttled_periods_total', { where: isContainer }),
  ],
  periods: [
    rate('container.cpu.throttling_data.periods'),
    rate('container_cpu_cfs_periods_total', { where: isContainer }),
  ],
} as const satisfies Record<string, readonly Source[]>;

/** Number of processes that the kernel killed in the cgroup of a container */
export const oomCounters: readonly string[] = ['container_oom_events_total'];

export const podSources = {
  cpu: [level('k8s.pod.cpu.usage'), level('k8s.pod.cpu.utilization'), rate('k8s.pod.cpu.time')],
  memory: [level('k8s.pod.memory.working_set'), level('k8s.pod.memory.usage')],
  /** The phase as a number, and as the label of a series with value 1. */
  phaseNumber: [level('k8s.pod.phase')],
  phase: [level('k8s.pod.status.phase'), level('kube_pod_status_phase')],
  reason: [level('k8s.pod.status.reason'), level('kube_pod_status_reason')],
  owner: [level('kube_pod_owner')],
  about: [level('kube_pod_info')],
} as const satisfies Record<string, readonly Source[]>;

/** Values of `k8s.pod.phase` */
export const phases: readonly string[] = ['', 'Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];

export const nodeSources = {
  cpu: [level('k8s.node.cpu.usage'), level('k8s.node.cpu.utilization'), rate('k8s.node.cpu.time')],
  memory: [level('k8s.node.memory.working_set'), level('k8s.node.memory.usage')],
  cpuAllocatable: [
    level('k8s.node.cpu.allocatable'),
    level('k8s.node.allocatable.cpu'),
    level('k8s.node.allocatable_cpu'),
    level('kube_node_status_allocatable', { where: hasResource('cpu') }),
    level('kube_node_status_allocatable_cpu_cores'),
  ],
  memoryAllocatable: [
    level('k8s.node.memory.allocatable'),
    level('k8s.node.allocatable.memory'),
    level('k8s.node.allocatable_memory'),
    level('kube_node_status_allocatable', { where: hasResource('memory') }),
    level('kube_node_status_allocatable_memory_bytes'),
  ],
  podsAllocatable: [
    level('k8s.node.pod.allocatable'),
    level('k8s.node.allocatable.pods'),
    level('k8s.node.allocatable_pods'),
    level('kube_node_status_allocatable', { where: hasResource('pods') }),
    level('kube_node_status_allocatable_pods'),
  ],
  /** One metric per condition: 1 true, 0 false, -1 unknown. */
  conditionNumbers: [
    level('k8s.node.condition_ready'),
    level('k8s.node.condition_memory_pressure'),
    level('k8s.node.condition_disk_pressure'),
    level('k8s.node.condition_pid_pressure'),
    level('k8s.node.condition_network_unavailable'),
    level('k8s.node.condition'),
  ],
  /** 1 for the current status of a condition. */
  conditions: [level('k8s.node.condition.status'), level('kube_node_status_condition')],
  about: [level('kube_node_info')],
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
  phaseNumber: [level('k8s.namespace.phase')],
  phase: [level('kube_namespace_status_phase')],
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
const currentAndFormer = (prefix: string, currentName: string, ...formerNames: readonly string[]): Source[] =>
  [currentName, ...formerNames].map((name) => level(`k8s.${prefix}.${name}`));

export const workloads: Readonly<Record<WorkloadKind, WorkloadNames>> = {
  Deployment: {
    attribute: 'k8s.deployment.name',
    label: 'deployment',
    sources: {
      desired: [
        ...currentAndFormer('deployment', 'pod.desired', 'desired_pods', 'desired'),
        level('kube_deployment_spec_replicas'),
      ],
      ready: [level('kube_deployment_status_replicas_ready')],
      available: [
        ...currentAndFormer('deployment', 'pod.available', 'available_pods', 'available'),
        level('kube_deployment_status_replicas_available'),
      ],
      updated: [level('kube_deployment_status_replicas_updated')],
      active: [],
      failed: [],
    },
  },
  StatefulSet: {
    attribute: 'k8s.statefulset.name',
    label: 'statefulset',
    sources: {
      desired: [...currentAndFormer('statefulset', 'pod.desired', 'desired_pods'), level('kube_statefulset_replicas')],
      ready: [
        ...currentAndFormer('statefulset', 'pod.ready', 'ready_pods'),
        level('kube_statefulset_status_replicas_ready'),
      ],
      available: [level('kube_statefulset_status_replicas_available')],
      updated: [
        ...currentAndFormer('statefulset', 'pod.updated', 'updated_pods'),
        level('kube_statefulset_status_replicas_updated'),
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
        ...currentAndFormer('daemonset', 'node.desired_scheduled', 'desired_scheduled_nodes'),
        level('kube_daemonset_status_desired_number_scheduled'),
      ],
      ready: [
        ...currentAndFormer('daemonset', 'node.ready', 'ready_nodes'),
        level('kube_daemonset_status_number_ready'),
      ],
      available: [level('kube_daemonset_status_number_available')],
      updated: [
        level('kube_daemonset_status_updated_number_scheduled'),
        level('kube_daemonset_updated_number_scheduled'),
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
        ...currentAndFormer('job', 'pod.desired_successful', 'desired_successful_pods'),
        level('kube_job_spec_completions'),
      ],
      ready: [...currentAndFormer('job', 'pod.successful', 'successful_pods'), level('kube_job_status_succeeded')],
      available: [],
      updated: [],
      active: [...currentAndFormer('job', 'pod.active', 'active_pods'), level('kube_job_status_active')],
      failed: [...currentAndFormer('job', 'pod.failed', 'failed_pods'), level('kube_job_status_failed')],
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
      active: [...currentAndFormer('cronjob', 'job.active', 'active_jobs'), level('kube_cronjob_status_active')],
    },
  },
};

/** Metrics whose rates are requested */
export const kubernetesCounters: readonly string[] = [
  ...new Set([containerSources, podSources, nodeSources].flatMap(rateMetrics)),
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
