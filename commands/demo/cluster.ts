/**
 * The Kubernetes cluster in which the demo shop runs, as its collectors report it: metrics of the receivers
 * `hostmetrics`, `k8s_cluster` and `kubeletstats`, events of `k8s_events`, and flows and DNS lookups of OBI.
 */
import { type Attributes, createSpanId, type Outbox, toKeyValues, toNanosecondText } from './otlp-json.ts';

const gibibyte = 2 ** 30;

const clusterAttributes: Attributes = { 'k8s.cluster.name': 'demo', 'deployment.environment.name': 'demo' };
const nodes = ['node-1', 'node-2', 'node-3'] as const;
type Node = (typeof nodes)[number];

const mapNodes = (toAttributes: (node: Node) => Attributes): Readonly<Record<Node, Attributes>> => ({
  'node-1': toAttributes('node-1'),
  'node-2': toAttributes('node-2'),
  'node-3': toAttributes('node-3'),
});

const cpus = 4;
const memoryBytes = 16 * gibibyte;
/** Days since the nodes were started */
const uptimeDays = 12;

/** Resource of a node in the metrics of its collector */
const nodeAttributes = mapNodes((node) => ({
  ...clusterAttributes,
  'host.name': node,
  'host.id': `i-0d3a51c7e29f8b4${nodes.indexOf(node)}`,
  'host.type': 'm6i.xlarge',
  'host.arch': 'amd64',
  'os.type': 'linux',
  'os.description': 'Ubuntu 24.04.3 LTS',
  'cloud.provider': 'aws',
  'cloud.region': 'eu-central-1',
  'k8s.node.name': node,
}));

/** Resource of the agent that reports flows and DNS lookups of a node */
const agentAttributes = mapNodes((node) => ({
  ...nodeAttributes[node],
  'telemetry.distro.name': 'opentelemetry-ebpf-instrumentation',
  'telemetry.distro.version': 'v0.4.0',
}));

/** Bytes per second of the flows between workloads. An empty destination namespace is outside the cluster. */
const flows: readonly (readonly [source: string, destination: string, bytesPerSecond: number, port: number])[] = [
  ['frontend', 'catalog', 42_000, 8080],
  ['frontend', 'cart', 9_000, 8080],
  ['frontend', 'checkout', 6_500, 8080],
  ['checkout', 'cart', 2_400, 8080],
  ['checkout', 'payments', 3_100, 8080],
  ['checkout', 'shipping', 1_700, 8080],
  ['catalog', 'orders-db', 88_000, 5432],
  ['cart', 'orders-db', 17_000, 5432],
  ['checkout', 'orders-db', 12_000, 5432],
  ['payments', 'api.cards.example', 5_200, 443],
];

/** Lookups per second by name, with the type of error */
const lookups: readonly (readonly [name: string, perSecond: number, error: string])[] = [
  ['orders-db-0.shop.svc.cluster.local', 3, ''],
  ['api.cards.example', 0.8, ''],
  ['api.cards.example.shop.svc.cluster.local', 0.8, 'NXDOMAIN'],
];
const lookupBounds = [0.001, 0.005, 0.01, 0.05, 0.1];
const lookupSeconds = 0.003;

const database = 'orders-db';
const databasePod: Attributes = {
  ...clusterAttributes,
  'k8s.namespace.name': 'shop',
  'k8s.node.name': 'node-2',
  'k8s.statefulset.name': database,
  'k8s.pod.name': `${database}-0`,
  'k8s.pod.uid': '9f1c7d2e-52a4-4c1f-9d0e-3b7a5e8d21f0',
  'host.name': 'node-2',
};

type Labels = Attributes;
type Points = readonly (readonly [value: number, labels?: Labels])[];

/** The attributes of a pod that its collectors know, from those that its program reports. */
const toPodAttributes = (pod: Attributes): Attributes => {
  const service = String(pod['service.name']);
  return {
    ...clusterAttributes,
    'k8s.namespace.name': 'shop',
    'k8s.node.name': pod['k8s.node.name'] ?? '',
    'k8s.deployment.name': service,
    'k8s.pod.name': pod['k8s.pod.name'] ?? '',
    'k8s.pod.uid': pod['k8s.pod.uid'] ?? '',
    'container.id': pod['container.id'] ?? '',
    'container.image.name': pod['container.image.name'] ?? '',
    'container.image.tag': pod['container.image.tag'] ?? '',
  };
};

/** Reports the cluster. Counters are cumulative since the start. */
export class Cluster {
  readonly #metrics: Outbox;
  readonly #logs: Outbox;
  readonly #startMs: number;
  #nowMs: number;
  #paymentsVersion = '';

  constructor({ metrics, logs }: { readonly metrics: Outbox; readonly logs: Outbox }, startMs: number) {
    this.#metrics = metrics;
    this.#logs = logs;
    this.#startMs = startMs;
    this.#nowMs = startMs;
  }

  /** Records the state at a time, in epoch milliseconds, with these pods of the services. */
  record(nowMs: number, pods: ReadonlyMap<string, readonly Attributes[]>): void {
    this.#nowMs = nowMs;
    for (const node of nodes) {
      this.#recordHost(node);
      this.#recordNode(node);
    }
    this.#recordLookups();
    for (const [source, destination, bytesPerSecond, port] of flows)
      this.#recordFlow(source, destination, bytesPerSecond, port);
    this.#gauge({ ...clusterAttributes, 'k8s.namespace.name': 'shop' }, 'k8s.namespace.phase', '', [[1]]);
    for (const [service, instances] of pods) this.#recordDeployment(service, instances);
    this.#recordDatabase();
    this.#recordRollout(pods);
  }

  get #seconds(): number {
    return (this.#nowMs - this.#startMs) / 1_000;
  }

  /** A value between -1 and 1 that changes slowly, with its own phase. */
  #wave(phase: number): number {
    return Math.sin(this.#nowMs / 900_000 + phase);
  }

  #recordHost(node: Node): void {
    const index = nodes.indexOf(node);
    const resource = nodeAttributes[node];
    const busy = 0.32 + index * 0.08 + 0.06 * this.#wave(index);
    const shares: Readonly<Record<string, number>> = {
      user: busy * 0.75,
      system: busy * 0.25,
      iowait: 0.01,
      idle: 0.99 - busy,
    };
    const cpuPoints = Array.from({ length: cpus }, (_, cpu) =>
      Object.entries(shares).map(
        ([mode, share]) => [share * this.#seconds, { 'cpu.mode': mode, 'cpu.logical_number': cpu }] as const,
      ),
    ).flat();
    this.#counter(resource, 'system.cpu.time', 's', cpuPoints);
    this.#gauge(resource, 'system.cpu.logical.count', '{cpu}', [[cpus]]);
    for (const [minutes, load] of [
      ['1m', cpus * busy + Math.random() * 0.2],
      ['5m', cpus * busy],
      ['15m', cpus * busy * 0.97],
    ] as const)
      this.#gauge(resource, `system.cpu.load_average.${minutes}`, '{thread}', [[load]]);
    const used = memoryBytes * (0.48 + index * 0.06 + 0.02 * this.#wave(index));
    this.#gauge(resource, 'system.memory.limit', 'By', [[memoryBytes]]);
    this.#gauge(resource, 'system.memory.usage', 'By', [
      [used, { 'system.memory.state': 'used' }],
      [memoryBytes * 0.2, { 'system.memory.state': 'cached' }],
      [memoryBytes * 0.03, { 'system.memory.state': 'buffers' }],
      [memoryBytes * 0.77 - used, { 'system.memory.state': 'free' }],
    ]);
    this.#recordDisks(node);
    const networkLabels = (direction: string): Labels => ({
      'network.interface.name': 'ens5',
      'network.io.direction': direction,
    });
    this.#counter(resource, 'system.network.io', 'By', [
      [1_900_000 * this.#seconds, networkLabels('receive')],
      [1_100_000 * this.#seconds, networkLabels('transmit')],
    ]);
    this.#gauge(resource, 'system.uptime', 's', [[uptimeDays * 86_400 + this.#seconds]]);
  }

  /** The data volume of node-2 fills up. */
  #recordDisks(node: Node): void {
    const resource = nodeAttributes[node];
    const disks = [
      { device: 'nvme0n1p1', mountpoint: '/', size: 80 * gibibyte, used: 31 * gibibyte },
      ...(node === 'node-2'
        ? [
            {
              device: 'nvme1n1',
              mountpoint: '/var/lib/postgresql',
              size: 200 * gibibyte,
              used: 168 * gibibyte + 900_000 * this.#seconds,
            },
          ]
        : []),
    ];
    const usage = disks.flatMap(({ device, mountpoint, size, used }) => {
      const labels = {
        'system.device': `/dev/${device}`,
        'system.filesystem.mountpoint': mountpoint,
        'system.filesystem.type': 'ext4',
        'system.filesystem.mode': 'rw',
      };
      return [
        [used, { ...labels, 'system.filesystem.state': 'used' }],
        [size - used, { ...labels, 'system.filesystem.state': 'free' }],
      ] as const;
    });
    this.#gauge(resource, 'system.filesystem.usage', 'By', usage);
    const io = disks.flatMap(
      ({ device }, index) =>
        [
          [(index + 1) * 240_000 * this.#seconds, { 'system.device': device, 'disk.io.direction': 'read' }],
          [(index + 1) * 1_300_000 * this.#seconds, { 'system.device': device, 'disk.io.direction': 'write' }],
        ] as const,
    );
    this.#counter(resource, 'system.disk.io', 'By', io);
  }

  #recordNode(node: Node): void {
    const resource = nodeAttributes[node];
    this.#gauge(resource, 'k8s.node.condition_ready', '', [[1]]);
    for (const condition of ['memory_pressure', 'disk_pressure', 'pid_pressure'])
      this.#gauge(resource, `k8s.node.condition_${condition}`, '', [[0]]);
    this.#gauge(resource, 'k8s.node.allocatable_cpu', '{cpu}', [[cpus - 0.1]]);
    this.#gauge(resource, 'k8s.node.allocatable_memory', 'By', [[memoryBytes * 0.93]]);
    this.#gauge(resource, 'k8s.node.allocatable_pods', '{pod}', [[58]]);
    const index = nodes.indexOf(node);
    this.#gauge(resource, 'k8s.node.cpu.usage', '{cpu}', [[cpus * (0.3 + index * 0.08) + 0.1 * this.#wave(index)]]);
    this.#gauge(resource, 'k8s.node.memory.working_set', 'By', [[memoryBytes * (0.46 + index * 0.06)]]);
  }

  #recordDeployment(service: string, instances: readonly Attributes[]): void {
    const deployment = { ...clusterAttributes, 'k8s.namespace.name': 'shop', 'k8s.deployment.name': service };
    this.#gauge(deployment, 'k8s.deployment.desired', '{pod}', [[instances.length]]);
    this.#gauge(deployment, 'k8s.deployment.available', '{pod}', [[instances.length]]);
    for (const instance of instances) {
      const phase = String(instance['k8s.pod.name']).length;
      this.#recordPod(toPodAttributes(instance), service, 0.12 + 0.05 * this.#wave(phase), 150e6);
    }
  }

  #recordDatabase(): void {
    const statefulSet = { ...clusterAttributes, 'k8s.namespace.name': 'shop', 'k8s.statefulset.name': database };
    for (const state of ['desired_pods', 'ready_pods', 'current_pods', 'updated_pods'])
      this.#gauge(statefulSet, `k8s.statefulset.${state}`, '{pod}', [[1]]);
    this.#recordPod(databasePod, 'postgres', 0.6 + 0.1 * this.#wave(2), 1.4e9);
  }

  #recordPod(pod: Attributes, containerName: string, cores: number, bytes: number): void {
    const container = { ...pod, 'k8s.container.name': containerName };
    this.#gauge(pod, 'k8s.pod.phase', '', [[2]]);
    this.#gauge(pod, 'k8s.pod.cpu.usage', '{cpu}', [[cores]]);
    this.#gauge(pod, 'k8s.pod.memory.working_set', 'By', [[bytes]]);
    this.#gauge(container, 'container.cpu.usage', '{cpu}', [[cores]]);
    this.#gauge(container, 'container.memory.working_set', 'By', [[bytes]]);
    this.#gauge(container, 'k8s.container.ready', '', [[1]]);
    this.#gauge(container, 'k8s.container.restarts', '{restart}', [[0]]);
    this.#gauge(container, 'k8s.container.cpu_request', '{cpu}', [[0.25]]);
    this.#gauge(container, 'k8s.container.cpu_limit', '{cpu}', [[1]]);
    this.#gauge(container, 'k8s.container.memory_request', 'By', [[bytes * 1.2]]);
    this.#gauge(container, 'k8s.container.memory_limit', 'By', [[bytes * 1.6]]);
  }

  /** Both ends of a flow within the cluster report the same bytes. */
  #recordFlow(source: string, destination: string, bytesPerSecond: number, port: number): void {
    const isInside = !destination.includes('.');
    const sourceNode = nodes[source.length % nodes.length] ?? 'node-1';
    const destinationNode = nodes[destination.length % nodes.length] ?? 'node-1';
    const labels: Labels = {
      'k8s.src.namespace': 'shop',
      'k8s.src.owner.name': source,
      'k8s.src.node.name': sourceNode,
      'src.address': `10.42.${source.length}.11`,
      'src.zone': `eu-central-1${'abc'[nodes.indexOf(sourceNode)]}`,
      'k8s.dst.namespace': isInside ? 'shop' : '',
      'k8s.dst.owner.name': destination,
      'k8s.dst.node.name': isInside ? destinationNode : '',
      'dst.address': isInside ? `10.42.${destination.length}.12` : '203.0.113.80',
      'dst.zone': isInside ? `eu-central-1${'abc'[nodes.indexOf(destinationNode)]}` : '',
      'dst.port': port,
      transport: 'TCP',
    };
    const bytes = bytesPerSecond * this.#seconds;
    const name = 'obi.network.flow.bytes';
    this.#counter(agentAttributes[sourceNode], name, 'By', [[bytes, { ...labels, 'iface.direction': 'egress' }]]);
    if (isInside)
      this.#counter(agentAttributes[destinationNode], name, 'By', [
        [bytes, { ...labels, 'iface.direction': 'ingress' }],
      ]);
  }

  #recordLookups(): void {
    const timeUnixNano = toNanosecondText(this.#nowMs);
    const startTimeUnixNano = toNanosecondText(this.#startMs);
    const dataPoints = lookups.map(([name, perSecond, error]) => {
      const count = Math.floor(perSecond * this.#seconds);
      const slow = Math.floor(count * 0.04);
      return {
        attributes: toKeyValues({ 'dns.question.name': name, ...(error !== '' && { 'error.type': error }) }),
        startTimeUnixNano,
        timeUnixNano,
        count: String(count),
        sum: count * lookupSeconds,
        bucketCounts: [0, count - slow, 0, slow, 0, 0].map(String),
        explicitBounds: lookupBounds,
      };
    });
    this.#metrics.add(agentAttributes['node-1'], {
      name: 'dns.lookup.duration',
      unit: 's',
      histogram: { aggregationTemporality: 2, dataPoints },
    });
  }

  /** Reports the events of a rollout when a deployment has a new version. */
  #recordRollout(pods: ReadonlyMap<string, readonly Attributes[]>): void {
    const [payments] = pods.get('payments') ?? [];
    const version = String(payments?.['service.version']);
    if (payments === undefined || version === this.#paymentsVersion) return;
    const isFirst = this.#paymentsVersion === '';
    this.#paymentsVersion = version;
    if (isFirst) return;
    const pod = String(payments['k8s.pod.name']);
    const replicaSet = pod.split('-').slice(0, 2).join('-');
    const image = `${payments['container.image.name']}:${version}`;
    this.#event('Deployment', 'payments', 'ScalingReplicaSet', `Scaled up replica set ${replicaSet} to 1`);
    this.#event('Pod', pod, 'Scheduled', `Successfully assigned shop/${pod} to ${payments['k8s.node.name']}`);
    this.#event('Pod', pod, 'Pulled', `Successfully pulled image "${image}" in 1.9s`);
    this.#event('Pod', pod, 'Started', 'Started container payments');
  }

  #event(kind: string, name: string, reason: string, message: string): void {
    const time = toNanosecondText(this.#nowMs);
    const uid = createSpanId();
    this.#logs.add(
      { ...clusterAttributes, 'k8s.object.kind': kind, 'k8s.object.name': name, 'k8s.object.uid': uid },
      {
        timeUnixNano: time,
        observedTimeUnixNano: time,
        severityNumber: 9,
        severityText: 'Normal',
        body: { stringValue: message },
        attributes: toKeyValues({
          'k8s.event.reason': reason,
          'k8s.event.start_time': new Date(this.#nowMs).toISOString(),
          'k8s.event.name': `${name}.${uid}`,
          'k8s.event.uid': uid,
          'k8s.event.count': 1,
          'k8s.namespace.name': 'shop',
        }),
      },
    );
  }

  #gauge(resource: Attributes, name: string, unit: string, points: Points): void {
    this.#metrics.add(resource, { name, unit, gauge: { dataPoints: this.#toDataPoints(points) } });
  }

  #counter(resource: Attributes, name: string, unit: string, points: Points): void {
    const startTimeUnixNano = toNanosecondText(this.#startMs);
    const dataPoints = this.#toDataPoints(points).map((point) => ({ ...point, startTimeUnixNano }));
    this.#metrics.add(resource, { name, unit, sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints } });
  }

  #toDataPoints(points: Points): readonly object[] {
    const timeUnixNano = toNanosecondText(this.#nowMs);
    return points.map(([asDouble, labels = {}]) => ({ timeUnixNano, asDouble, attributes: toKeyValues(labels) }));
  }
}
