/**
 * The telemetry of collectors in one minute: `hostmetrics` on every host, `kubeletstats` and `k8s_cluster` of a
 * cluster, receivers of databases, and OBI's flows. Names, kinds and attributes are those of contrib 0.155.
 */

type Labels = Readonly<Record<string, string>>;

/** A metric of one resource: a gauge, a non-monotonic sum or a counter, with labels and values. */
export interface SentMetric {
  readonly name: string;
  readonly kind: 'gauge' | 'amount' | 'counter';
  readonly points: readonly (readonly [labels: Labels, value: number])[];
}

export interface Sender {
  readonly resource: Labels;
  readonly metrics: readonly SentMetric[];
}

/** The numbers of all resources. */
export interface Size {
  readonly hosts: number;
  readonly processesPerHost: number;
  readonly nodes: number;
  readonly pods: number;
  readonly databases: number;
  readonly flows: number;
}

const GiB = 1024 ** 3;
const numbered = (count: number, name: string): string[] =>
  Array.from({ length: count }, (_, at) => `${name}-${String(at).padStart(4, '0')}`);
const metric = (kind: SentMetric['kind'], name: string, ...points: SentMetric['points']): SentMetric => ({
  kind,
  name,
  points,
});
const gauge = (name: string, value: number, labels: Labels = {}) => metric('gauge', name, [labels, value]);
const amount = (name: string, value: number, labels: Labels = {}) => metric('amount', name, [labels, value]);
const each = (keys: readonly string[], label: string, others: Labels = {}): Labels[] =>
  keys.map((key) => ({ ...others, [label]: key }));

const cpuStates = ['user', 'system', 'idle', 'interrupt', 'nice', 'softirq', 'steal', 'wait'];
const memoryStates = ['used', 'free', 'buffered', 'cached', 'slab_reclaimable', 'slab_unreclaimable'];
const cores = 4;

const hostMetrics: readonly SentMetric[] = [
  metric(
    'counter',
    'system.cpu.time',
    ...numbered(cores, 'cpu').flatMap((cpu) =>
      each(cpuStates, 'state', { cpu }).map((labels) => [labels, labels['state'] === 'idle' ? 9000 : 900] as const),
    ),
  ),
  metric('amount', 'system.memory.usage', ...each(memoryStates, 'state').map((labels) => [labels, 2 * GiB] as const)),
  ...['1m', '5m', '15m'].map((name) => gauge(`system.cpu.load_average.${name}`, 1.5)),
  ...['system.disk.io', 'system.disk.operations'].map((name) =>
    metric(
      'counter',
      name,
      ...['sda', 'sdb'].flatMap((device) =>
        each(['read', 'write'], 'direction', { device }).map((labels) => [labels, 1e9] as const),
      ),
    ),
  ),
  metric(
    'amount',
    'system.filesystem.usage',
    ...['/', '/data'].flatMap((mountpoint) =>
      each(['used', 'free', 'reserved'], 'state', {
        mountpoint,
        device: mountpoint === '/' ? '/dev/sda1' : '/dev/sdb1',
        type: 'ext4',
        mode: 'rw',
      }).map((labels) => [labels, labels['state'] === 'reserved' ? GiB : 40 * GiB] as const),
    ),
  ),
  ...['system.network.io', 'system.network.packets'].map((name) =>
    metric(
      'counter',
      name,
      ...['eth0', 'lo'].flatMap((device) =>
        each(['receive', 'transmit'], 'direction', { device }).map((labels) => [labels, 1e9] as const),
      ),
    ),
  ),
  gauge('system.uptime', 100_000),
];

const processMetrics: readonly SentMetric[] = [
  metric('counter', 'process.cpu.time', ...each(['user', 'system'], 'state').map((labels) => [labels, 100] as const)),
  amount('process.memory.usage', GiB / 4),
  amount('process.memory.virtual', GiB),
  metric('counter', 'process.disk.io', ...each(['read', 'write'], 'direction').map((labels) => [labels, 1e6] as const)),
];

const hostsOf = ({ hosts, processesPerHost }: Size): Sender[] =>
  numbered(hosts, 'host').flatMap((name, at) => {
    const resource = {
      'host.id': `id-${name}`,
      'host.name': name,
      'os.type': 'linux',
      'host.arch': 'amd64',
      'cloud.provider': 'aws',
      'cloud.region': `region-${at % 4}`,
      'host.type': `m5.${at % 3}xlarge`,
    };
    return [
      { resource, metrics: hostMetrics },
      ...numbered(processesPerHost, 'program').map((program, index) => ({
        resource: {
          ...resource,
          'process.pid': String(1000 + index),
          'process.executable.name': program,
          'process.command': `/usr/bin/${program}`,
          'process.owner': 'root',
        },
        metrics: processMetrics,
      })),
    ];
  });

const cluster = { 'k8s.cluster.name': 'production' };
const podsPerDeployment = 5;

const nodesOf = ({ nodes }: Size): Sender[] =>
  numbered(nodes, 'node').map((name) => ({
    resource: { ...cluster, 'k8s.node.name': name, 'k8s.node.uid': `uid-${name}` },
    metrics: [
      gauge('k8s.node.condition_ready', 1),
      gauge('k8s.node.allocatable_cpu', 16),
      gauge('k8s.node.allocatable_memory', 64 * GiB),
      gauge('k8s.node.allocatable_pods', 110),
      gauge('k8s.node.cpu.usage', 6),
      gauge('k8s.node.memory.working_set', 30 * GiB),
      gauge('k8s.node.memory.available', 34 * GiB),
      metric('counter', 'k8s.node.network.io', [{ interface: 'eth0', direction: 'receive' }, 1e9]),
      gauge('k8s.node.filesystem.capacity', 200 * GiB),
      gauge('k8s.node.filesystem.available', 90 * GiB),
    ],
  }));

const podsOf = ({ pods, nodes }: Size): Sender[] =>
  numbered(pods, 'pod').flatMap((pod, at) => {
    const deployment = `app-${Math.floor(at / podsPerDeployment)}`;
    const ofPod = {
      ...cluster,
      'k8s.namespace.name': `team-${Math.floor(at / podsPerDeployment) % 30}`,
      'k8s.pod.name': `${deployment}-7d4b9c6f5d-${pod}`,
      'k8s.pod.uid': `uid-${pod}`,
      'k8s.node.name': `node-${String(at % nodes).padStart(4, '0')}`,
      'k8s.deployment.name': deployment,
    };
    return [
      {
        resource: ofPod,
        metrics: [
          gauge('k8s.pod.phase', 2),
          gauge('k8s.pod.cpu.usage', 0.3),
          gauge('k8s.pod.memory.working_set', GiB / 2),
        ],
      },
      {
        resource: {
          ...ofPod,
          'k8s.container.name': 'app',
          'container.id': `container-${pod}`,
          'container.image.name': `shop/${deployment}`,
          'container.image.tag': '1.2',
        },
        metrics: [
          gauge('container.cpu.usage', 0.3),
          gauge('container.memory.working_set', GiB / 2),
          gauge('k8s.container.cpu_request', 0.5),
          gauge('k8s.container.cpu_limit', 1),
          gauge('k8s.container.memory_request', GiB / 2),
          gauge('k8s.container.memory_limit', GiB),
          gauge('k8s.container.restarts', 1),
          gauge('k8s.container.ready', 1),
        ],
      },
    ];
  });

const deploymentsOf = ({ pods }: Size): Sender[] =>
  Array.from({ length: Math.ceil(pods / podsPerDeployment) }, (_, at) => ({
    resource: { ...cluster, 'k8s.namespace.name': `team-${at % 30}`, 'k8s.deployment.name': `app-${at}` },
    metrics: [gauge('k8s.deployment.desired', podsPerDeployment), gauge('k8s.deployment.available', podsPerDeployment)],
  }));

const databasesOf = ({ databases }: Size): Sender[] =>
  numbered(databases, 'orders').map((name) => ({
    resource: { 'postgresql.database.name': name, 'service.instance.id': `${name}:5432` },
    metrics: [
      amount('postgresql.backends', 30),
      amount('postgresql.db_size', 100 * GiB),
      gauge('postgresql.connection.max', 200),
      ...['commits', 'rollbacks', 'deadlocks', 'blks_hit', 'blks_read'].map((what) =>
        metric('counter', `postgresql.${what}`, [{}, 1000]),
      ),
    ],
  }));

/** Flows between workloads, as reported by both ends. */
const flowsOf = ({ flows, nodes }: Size): Sender[] =>
  numbered(nodes, 'node').map((node, at) => ({
    resource: { 'service.name': 'obi', 'host.name': node, 'k8s.node.name': node },
    metrics: [
      metric(
        'counter',
        'obi.network.flow.bytes',
        ...Array.from({ length: Math.ceil(flows / nodes) }, (_, index) => at + index * nodes).flatMap((flow) =>
          each(['ingress', 'egress'], 'iface.direction', {
            'k8s.src.namespace': `team-${flow % 30}`,
            'k8s.src.owner.name': `app-${flow % 300}`,
            'k8s.dst.namespace': `team-${(flow * 7) % 30}`,
            'k8s.dst.owner.name': `app-${(flow * 7) % 290}`,
            'k8s.src.node.name': node,
            'k8s.dst.node.name': `node-${(flow * 3) % nodes}`,
          }).map((labels) => [labels, 1e6] as const),
        ),
      ),
    ],
  }));

/** All senders. */
export const sendersOf = (size: Size): Sender[] => [
  ...[...hostsOf(size), ...nodesOf(size), ...podsOf(size)],
  ...[...deploymentsOf(size), ...databasesOf(size), ...flowsOf(size)],
];
