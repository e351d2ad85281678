/**
 * Three clusters with the same resources: from the collector's receivers, with names of the semantic conventions,
 * and from Prometheus with kube-state-metrics and cAdvisor. Responses must be equal, and match arithmetic by hand.
 */
import test from 'ava';
import { type Harness, startHarness } from './api-harness.ts';
import { type Agent, agentOf, flat, growing, type Labels, type Metric } from './infrastructure-senders.ts';

const GiB = 1024 ** 3;
const nowMs = Math.floor(Date.now() / 1000) * 1000;
const times = Array.from({ length: 16 }, (_, at) => nowMs - (15 - at) * 30_000);
let harness: Harness;

const gauge = (name: string, value: number, labels: Labels = {}): Metric => ({
  name,
  kind: 'gauge',
  points: [{ labels, values: flat(times, value) }],
});

type Bounds = readonly [cpu: number, memory: number] | undefined;
interface ContainerFacts {
  readonly pod: string;
  readonly uid: string;
  readonly name: string;
  readonly node: string;
  readonly cpu: number | undefined;
  readonly memory: number;
  readonly request: Bounds;
  readonly limit: Bounds;
  readonly restarts: number;
  readonly ready: number;
  readonly last: string | undefined;
}

/** The usage, requests, limits and states of the containers of each cluster. */
const containers: readonly ContainerFacts[] = [
  {
    pod: 'cart-7d4b9c6f5d-x2x4z',
    uid: 'u1',
    name: 'app',
    node: 'n1',
    cpu: 0.25,
    memory: 1.5 * GiB,
    request: [0.5, GiB],
    limit: [1, 2 * GiB],
    restarts: 3,
    ready: 1,
    last: 'OOMKilled',
  },
  {
    pod: 'cart-7d4b9c6f5d-x2x4z',
    uid: 'u1',
    name: 'sidecar',
    node: 'n1',
    cpu: 0.05,
    memory: GiB / 8,
    request: undefined,
    limit: undefined,
    restarts: 0,
    ready: 1,
    last: undefined,
  },
  // It has terminated: the resources that it requested are free again.
  {
    pod: 'load-1',
    uid: 'u2',
    name: 'load',
    node: 'n1',
    cpu: undefined,
    memory: 0,
    request: [2, 4 * GiB],
    limit: undefined,
    restarts: 0,
    ready: 0,
    last: 'Completed',
  },
];
const pods = [
  {
    pod: 'cart-7d4b9c6f5d-x2x4z',
    uid: 'u1',
    node: 'n1',
    phase: 'Running',
    number: 2,
    owner: ['k8s.deployment.name', 'cart', 'ReplicaSet', 'cart-7d4b9c6f5d'],
  },
  {
    pod: 'load-1',
    uid: 'u2',
    node: 'n1',
    phase: 'Succeeded',
    number: 3,
    owner: ['k8s.job.name', 'load', 'Job', 'load'],
  },
] as const;

/** As sent by the receivers `k8s_cluster` and `kubeletstats`, or with current names. */
const byCollector = async (agent: Agent, cluster: string, isToday: boolean): Promise<void> => {
  const inCluster = { 'k8s.cluster.name': cluster };
  const name = (former: string, today: string): string => (isToday ? today : former);
  for (const [node, ready] of [
    ['n1', 1],
    ['n2', 0],
  ] as const) {
    const status = (type: string, value: number) =>
      (['true', 'false', 'unknown'] as const).map((each) =>
        gauge('k8s.node.condition.status', each === (value === 1 ? 'true' : 'false') ? 1 : 0, {
          'k8s.node.condition.type': type,
          'k8s.node.condition.status': each,
        }),
      );
    await agent.metrics({ ...inCluster, 'k8s.node.name': node }, [
      ...(isToday
        ? [...status('Ready', ready), ...status('DiskPressure', 1 - ready)]
        : [gauge('k8s.node.condition_ready', ready), gauge('k8s.node.condition_disk_pressure', 1 - ready)]),
      gauge(name('k8s.node.allocatable_cpu', 'k8s.node.cpu.allocatable'), 4),
      gauge(name('k8s.node.allocatable_memory', 'k8s.node.memory.allocatable'), 16 * GiB),
      gauge(name('k8s.node.allocatable_pods', 'k8s.node.pod.allocatable'), 110),
    ]);
    await agent.metrics({ ...inCluster, 'k8s.node.name': node }, [
      gauge('k8s.node.memory.working_set', 6 * GiB),
      isToday
        ? { name: 'k8s.node.cpu.time', kind: 'counter', points: [{ values: growing(times, 1.5) }] }
        : gauge('k8s.node.cpu.usage', 1.5),
    ]);
  }
  const inNamespace = { ...inCluster, 'k8s.namespace.name': 'shop' };
  await agent.metrics(inNamespace, [gauge('k8s.namespace.phase', 1)]);
  await agent.metrics({ ...inNamespace, 'k8s.deployment.name': 'cart' }, [
    gauge(name('k8s.deployment.desired', 'k8s.deployment.pod.desired'), 2),
    gauge(name('k8s.deployment.available', 'k8s.deployment.pod.available'), 1),
  ]);
  await agent.metrics({ ...inNamespace, 'k8s.job.name': 'load' }, [
    gauge(name('k8s.job.desired_successful_pods', 'k8s.job.pod.desired_successful'), 1),
    gauge(name('k8s.job.successful_pods', 'k8s.job.pod.successful'), 1),
    gauge(name('k8s.job.failed_pods', 'k8s.job.pod.failed'), 0),
  ]);
  for (const { pod, uid, node, phase, number, owner } of pods)
    await agent.metrics(
      {
        ...inNamespace,
        'k8s.pod.name': pod,
        'k8s.pod.uid': `${cluster}-${uid}`,
        'k8s.node.name': node,
        [owner[0]]: owner[1],
      },
      isToday
        ? ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'].map((each) =>
            gauge('k8s.pod.status.phase', each === phase ? 1 : 0, { 'k8s.pod.status.phase': each }),
          )
        : [gauge('k8s.pod.phase', number)],
    );
  for (const { pod, uid, name: container, node, cpu, memory, request, limit, restarts, ready, last } of containers) {
    const resource = {
      ...inNamespace,
      'k8s.pod.name': pod,
      'k8s.pod.uid': `${cluster}-${uid}`,
      'k8s.container.name': container,
      'container.id': `${cluster}-${container}`,
    };
    const bound = (what: 'request' | 'limit', values: Bounds): Metric[] =>
      values === undefined
        ? []
        : [
            gauge(name(`k8s.container.cpu_${what}`, `k8s.container.cpu.${what}`), values[0]),
            gauge(name(`k8s.container.memory_${what}`, `k8s.container.memory.${what}`), values[1]),
          ];
    await agent.metrics(
      {
        ...resource,
        'k8s.node.name': node,
        'container.image.name': 'shop/cart',
        'container.image.tag': '1.2',
        ...(last === undefined ? {} : { 'k8s.container.status.last_terminated_reason': last }),
      },
      [
        ...bound('request', request),
        ...bound('limit', limit),
        gauge(name('k8s.container.restarts', 'k8s.container.restart.count'), restarts),
        gauge('k8s.container.ready', ready),
      ],
    );
    if (cpu === undefined) continue;
    await agent.metrics(resource, [
      isToday
        ? { name: 'container.cpu.time', kind: 'counter', points: [{ values: growing(times, cpu) }] }
        : gauge('container.cpu.usage', cpu),
      gauge('container.memory.working_set', memory),
    ]);
  }
};

/** As Prometheus sends it: kube-state-metrics has its own pod in the plain labels, and cAdvisor has no UIDs. */
const byPrometheus = (agent: Agent, cluster: string): Promise<void> => {
  const series = (name: string, value: number, labels: Labels) => ({
    name,
    labels: { cluster, ...labels },
    values: flat(times, value),
  });
  const state = (name: string, value: number, { namespace, pod, container, ...labels }: Labels = {}) =>
    series(name, value, {
      namespace: 'monitoring',
      pod: 'kube-state-metrics-0',
      container: 'kube-state-metrics',
      job: 'kube-state-metrics',
      ...(namespace === undefined ? {} : { exported_namespace: namespace }),
      ...(pod === undefined ? {} : { exported_pod: pod }),
      ...(container === undefined ? {} : { exported_container: container }),
      ...labels,
    });
  const inNamespace = { namespace: 'shop' };
  const ofNodes = (['n1', 'n2'] as const).flatMap((node) => [
    ...['true', 'false', 'unknown'].flatMap((status) => [
      state('kube_node_status_condition', status === (node === 'n1' ? 'true' : 'false') ? 1 : 0, {
        node,
        condition: 'Ready',
        status,
      }),
      state('kube_node_status_condition', status === (node === 'n1' ? 'false' : 'true') ? 1 : 0, {
        node,
        condition: 'DiskPressure',
        status,
      }),
    ]),
    state('kube_node_status_allocatable', 4, { node, resource: 'cpu', unit: 'core' }),
    state('kube_node_status_allocatable', 16 * GiB, { node, resource: 'memory', unit: 'byte' }),
    state('kube_node_status_allocatable', 110, { node, resource: 'pods', unit: 'integer' }),
  ]);
  const ofPods = pods.flatMap(({ pod, uid, node, phase, owner }) => [
    ...['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'].map((each) =>
      state('kube_pod_status_phase', each === phase ? 1 : 0, {
        ...inNamespace,
        pod,
        uid: `${cluster}-${uid}`,
        phase: each,
      }),
    ),
    state('kube_pod_info', 1, {
      ...inNamespace,
      pod,
      uid: `${cluster}-${uid}`,
      node,
      created_by_kind: owner[2],
      created_by_name: owner[3],
    }),
    state('kube_pod_owner', 1, {
      ...inNamespace,
      pod,
      uid: `${cluster}-${uid}`,
      owner_kind: owner[2],
      owner_name: owner[3],
    }),
  ]);
  const ofContainers = containers.flatMap(
    ({ pod, uid, name, node, cpu, memory, request, limit, restarts, ready, last }) => {
      const labels = { ...inNamespace, pod, uid: `${cluster}-${uid}`, container: name };
      const bound = (what: string, values: Bounds) =>
        values === undefined
          ? []
          : [
              state(`kube_pod_container_resource_${what}`, values[0], {
                ...labels,
                node,
                resource: 'cpu',
                unit: 'core',
              }),
              state(`kube_pod_container_resource_${what}`, values[1], {
                ...labels,
                node,
                resource: 'memory',
                unit: 'byte',
              }),
            ];
      const used = { ...inNamespace, cluster, pod, container: name, instance: `${node}:10250` };
      return [
        ...bound('requests', request),
        ...bound('limits', limit),
        state('kube_pod_container_status_restarts_total', restarts, labels),
        state('kube_pod_container_status_ready', ready, labels),
        ...(last === undefined
          ? []
          : [state('kube_pod_container_status_last_terminated_reason', 1, { ...labels, reason: last })]),
        ...(last === 'OOMKilled' ? [state('kube_pod_container_status_last_terminated_exitcode', 137, labels)] : []),
        ...(cpu === undefined
          ? []
          : [
              { name: 'container_cpu_usage_seconds_total', labels: used, values: growing(times, cpu) },
              { name: 'container_memory_working_set_bytes', labels: used, values: flat(times, memory) },
              { name: 'container_cpu_cfs_periods_total', labels: used, values: growing(times, 10) },
              { name: 'container_cpu_cfs_throttled_periods_total', labels: used, values: growing(times, 2) },
              // The kernel killed a child process of the sidecar. Kubernetes reports no termination.
              {
                name: 'container_oom_events_total',
                labels: used,
                values: flat(times.slice(0, 8), 0).concat(flat(times.slice(8), name === 'sidecar' ? 1 : 0)),
              },
              // The cgroup of the whole pod.
              {
                name: 'container_memory_working_set_bytes',
                labels: { ...used, container: '' },
                values: flat(times, 99 * GiB),
              },
            ]),
      ];
    },
  );
  return agent.remoteWrite([
    ...[...ofNodes, ...ofPods, ...ofContainers],
    state('kube_namespace_status_phase', 1, { ...inNamespace, phase: 'Active' }),
    state('kube_namespace_status_phase', 0, { ...inNamespace, phase: 'Terminating' }),
    state('kube_deployment_spec_replicas', 2, { ...inNamespace, deployment: 'cart' }),
    state('kube_deployment_status_replicas_available', 1, { ...inNamespace, deployment: 'cart' }),
    state('kube_job_spec_completions', 1, { ...inNamespace, job_name: 'load' }),
    state('kube_job_status_succeeded', 1, { ...inNamespace, job_name: 'load' }),
    state('kube_job_status_failed', 0, { ...inNamespace, job_name: 'load' }),
  ]);
};

const string = (stringValue: string): object => ({ stringValue });
const map = (fields: Readonly<Record<string, object>>): object => ({
  kvlistValue: { values: Object.entries(fields).map(([key, value]) => ({ key, value })) },
});

/** An event in the form of the API server. */
const eventObject = (uid: string, reason: string, type: string, object: Labels, count = 1): object =>
  map({
    kind: string('Event'),
    metadata: map({ name: string(`${reason}.1`), namespace: string('shop'), uid: string(`${uid}-${reason}`) }),
    involvedObject: map(Object.fromEntries(Object.entries(object).map(([key, value]) => [key, string(value)]))),
    reason: string(reason),
    type: string(type),
    message: string(`${reason} of ${object['name']}`),
    count: { intValue: String(count) },
    source: map({ component: string('kubelet'), host: string('n1') }),
    lastTimestamp: string('2026-03-01T10:00:00Z'),
  });

const clusters = ['receivers', 'semconv', 'prometheus'];
test.before(async () => {
  harness = await startHarness({ projects: ['other'] });
  const a = agentOf(harness.columns, 'a');
  await byCollector(a, 'receivers', false);
  await byCollector(a, 'semconv', true);
  await byPrometheus(a, 'prometheus');
  await a.metrics({ 'k8s.cluster.name': 'kubelets', 'k8s.node.name': 'n1' }, [
    gauge('k8s.node.memory.working_set', GiB),
  ]);
  const b = agentOf(harness.columns, 'b');
  await byCollector(b, 'canary-of-b', false);
  const pod = {
    kind: 'Pod',
    name: 'cart-7d4b9c6f5d-x2x4z',
    namespace: 'shop',
    uid: 'receivers-u1',
    fieldPath: 'spec.containers{app}',
  };
  const objects = 'github.com/open-telemetry/opentelemetry-collector-contrib/receiver/k8sobjectsreceiver';
  const watched = (atMs: number, object: object): Parameters<Agent['logs']>[1][number] => ({
    atMs,
    body: map({ type: string('ADDED'), object }),
    attributes: { 'k8s.resource.name': 'events', 'event.domain': 'k8s', 'event.name': 'x' },
  });
  await a.logs(
    { 'k8s.namespace.name': 'shop', 'k8s.cluster.name': 'receivers' },
    [
      watched(nowMs - 4000, eventObject('w', 'BackOff', 'Warning', pod, 5)),
      // Pulled instead of watched: the object itself.
      {
        atMs: nowMs - 3000,
        body: eventObject('p', 'Pulled', 'Normal', pod),
        attributes: { 'k8s.resource.name': 'events' },
      },
      watched(nowMs - 2500, eventObject('n', 'OOMKilling', 'Warning', { kind: 'Node', name: 'n1', uid: 'n1' })),
      // The end of a pull and objects of another kind are not events.
      {
        atMs: nowMs - 2400,
        body: map({ type: string('PullEnd'), object: map({ kind: string('events') }) }),
        attributes: { 'k8s.resource.name': 'events' },
      },
      { atMs: nowMs - 2300, body: map({ kind: string('Node') }), attributes: { 'k8s.resource.name': 'nodes' } },
    ],
    objects,
  );
  await a.logs(
    {
      'k8s.cluster.name': 'receivers',
      'k8s.node.name': 'n1',
      'k8s.object.kind': 'Pod',
      'k8s.object.name': pod.name,
      'k8s.object.uid': pod.uid,
      'k8s.object.fieldpath': pod.fieldPath,
      'k8s.object.api_version': 'v1',
    },
    [
      {
        atMs: nowMs - 1000,
        body: string('Killing container app'),
        severityNumber: 9,
        severityText: 'Normal',
        attributes: {
          'k8s.event.reason': 'Killing',
          'k8s.event.action': '',
          'k8s.event.uid': 'e-1',
          'k8s.event.name': 'x',
          'k8s.namespace.name': 'shop',
          'k8s.event.count': '2',
          'k8s.event.start_time': '2026-03-01 10:00:00 +0000 UTC',
        },
      },
    ],
    'github.com/open-telemetry/opentelemetry-collector-contrib/receiver/k8seventsreceiver',
  );
  await a.logs({ 'k8s.pod.uid': 'receivers-u1', 'service.name': 'cart' }, [
    { atMs: nowMs - 500, body: string('out of heap') },
  ]);
  await b.logs({ 'k8s.pod.uid': 'receivers-u1', 'k8s.object.kind': 'Pod', 'k8s.object.uid': 'receivers-u1' }, [
    {
      atMs: nowMs - 400,
      body: string('canary-of-b'),
      attributes: { 'k8s.event.reason': 'Killing', 'k8s.event.uid': 'e' },
    },
  ]);
});
test.after.always(() => harness?.close());

/** Queries the hour that ended when the points were created, however long the tests take. */
const at = (path: string): string => `${path}${path.includes('?') ? '&' : '?'}from=${nowMs - 3_600_000}&to=${nowMs}`;

const get = async (path: string) => {
  const { status, body } = await harness.request('GET', at(path), { as: 'viewer' });
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
};
/** The items of one cluster in a list. */
const listed = async (path: string, cluster: string) =>
  (await get(`/api/kubernetes/${path}`)).items.filter((item: { id: string; cluster?: { value: string } }) =>
    item.cluster === undefined ? item.id === cluster : item.cluster.value === cluster,
  );
const near = (found: unknown, expected: number): boolean =>
  typeof found === 'number' && Math.abs(found - expected) < 1e-6 * Math.max(1, expected);

for (const cluster of clusters) {
  const isProm = cluster === 'prometheus';

  test(`${cluster}: nodes have conditions, and allocatable, requested and used resources`, async (t) => {
    const [n1, n2, ...others] = await listed('nodes', cluster);
    t.deepEqual(others, []);
    t.deepEqual([n1.name, n1.ready.value, n2.name, n2.ready.value], ['n1', true, 'n2', false]);
    t.deepEqual(n1.conditions, [
      { type: 'DiskPressure', status: 'false' },
      { type: 'Ready', status: 'true' },
    ]);
    t.deepEqual(n2.conditions, [
      { type: 'DiskPressure', status: 'true' },
      { type: 'Ready', status: 'false' },
    ]);
    t.deepEqual([n1.cpu.allocatable.value, n1.memory.allocatable.value, n1.pods.allocatable.value], [4, 16 * GiB, 110]);
    // The terminated pod requests nothing any more.
    t.deepEqual([n1.cpu.requested.value, n1.memory.requested.value, n1.pods.running], [0.5, GiB, 1]);
    t.is(n2.cpu.requested.value, null);
    if (isProm) {
      t.is(n1.cpu.used.value, null);
      t.regex(n1.cpu.used.reason, /kubeletstats/);
    } else
      t.true(
        near(n1.cpu.used.value, 1.5) &&
          near(n1.cpu.allocatableUtilization.value, 0.375) &&
          n1.memory.used.value === 6 * GiB,
      );
  });

  test(`${cluster}: pods have phase, owner, restarts and the termination reasons of their containers`, async (t) => {
    const found = await listed('pods', cluster);
    t.deepEqual(
      found.map(({ name, phase }: { name: { value: string }; phase: { value: string } }) => [name.value, phase.value]),
      [
        ['cart-7d4b9c6f5d-x2x4z', 'Running'],
        ['load-1', 'Succeeded'],
      ],
    );
    const [cart, load] = found;
    t.like(cart, {
      uid: { value: `${cluster}-u1` },
      node: { value: 'n1' },
      restarts: { value: 3 },
      namespace: { value: 'shop' },
    });
    t.like(cart.owner, { kind: { value: 'Deployment' }, name: { value: 'cart' }, isDerived: isProm });
    t.like(load.owner, { kind: { value: 'Job' }, name: { value: 'load' } });
    t.deepEqual(cart.lastTerminations, [{ container: 'app', reason: 'OOMKilled' }]);
    t.deepEqual(cart.ready, { ready: { value: 2, reason: null }, containers: 2 });
    t.true(near(cart.cpu.value, 0.3) && near(cart.memory.value, 1.625 * GiB), JSON.stringify(cart));
    t.is(load.cpu.value, null);
  });

  test(`${cluster}: containers have usage against request and limit, and a memory verdict`, async (t) => {
    const [app, load, sidecar] = await listed('containers', cluster);
    t.deepEqual([app.name, load.name, sidecar.name], ['app', 'load', 'sidecar']);
    t.true(
      near(app.cpu.used.value, 0.25) &&
        near(app.cpu.requestUtilization.value, 0.5) &&
        near(app.cpu.limitUtilization.value, 0.25),
    );
    t.deepEqual(
      [app.memory.used.value, app.memory.requestUtilization.value, app.memory.limitUtilization.value],
      [1.5 * GiB, 1.5, 0.75],
    );
    t.is(sidecar.memory.limit.reason, 'no limit is set');
    t.is(sidecar.memory.limitUtilization.reason, 'no limit is set');
    t.is(load.lastTermination.reason.value, 'Completed');
    t.is(app.oom.verdict, 'yes');
    t.is(load.oom.verdict, 'no');
    t.is(sidecar.oom.verdict, isProm ? 'yes' : 'no', sidecar.oom.reasons.join('; '));
    t.regex(
      sidecar.oom.reasons.join('; '),
      isProm ? /killed 1 .*Kubernetes does not report/ : /container_oom_events_total/,
    );
    if (isProm) t.true(near(app.throttled.value, 0.2) && app.lastTermination.exitCode.value === 137);
    else
      t.like(app, {
        throttled: { value: null },
        image: { value: 'shop/cart:1.2' },
        lastTermination: { exitCode: { value: null } },
      });
  });

  test(`${cluster}: workloads have desired and available replicas, and the usage of their pods`, async (t) => {
    const [cart, load, ...others] = await listed('workloads', cluster);
    t.deepEqual(others, []);
    t.like(cart, {
      kind: 'Deployment',
      name: 'cart',
      desired: { value: 2 },
      available: { value: 1 },
      state: 'degraded',
      pods: 1,
      restarts: { value: 3 },
    });
    t.true(near(cart.cpu.value, 0.3) && near(cart.memory.value, 1.625 * GiB), JSON.stringify(cart));
    t.like(load, {
      kind: 'Job',
      desired: { value: 1 },
      ready: { value: 1 },
      failed: { value: 0 },
      state: 'ready',
      pods: 0,
    });
  });

  test(`${cluster}: the figures of the namespace and the cluster add up`, async (t) => {
    const namespace = (await listed('namespaces', cluster)).find(({ name }: { name: string }) => name === 'shop');
    t.like(namespace, {
      phase: { value: 'Active' },
      workloads: { count: 2, degraded: 1 },
      pods: { Running: 1, Succeeded: 1 },
      restarts: { value: 3 },
    });
    t.true(near(namespace.cpu.requested.value, 0.5) && near(namespace.cpu.used.value, 0.3));
    const [found] = await listed('clusters', cluster);
    t.like(found, {
      name: { value: cluster },
      nodes: { count: 2, ready: { value: 1, reason: null }, unknown: 0 },
      workloads: { count: 2, degraded: 1 },
      restarts: { value: 3 },
    });
    t.deepEqual([found.cpu.allocatable.value, found.cpu.requested.value], [8, 0.5]);
    // From nodes if they report it, else from pods.
    t.true(near(found.cpu.used.value, isProm ? 0.3 : 3), JSON.stringify(found.cpu));
  });
}

test('the number of ready nodes is unknown for a cluster that is reported only by kubelets', async (t) => {
  const [{ nodes }] = await listed('clusters', 'kubelets');
  t.deepEqual([nodes.count, nodes.ready.value, nodes.unknown], [1, null, 1]);
  t.regex(nodes.ready.reason, /k8s_cluster receiver or kube-state-metrics/);
});

test('events in all formats are read in the same way, and other objects are not events', async (t) => {
  const { items } = await get('/api/kubernetes/events');
  t.deepEqual(
    items.map(({ reason, type, count }: { reason: string; type: string; count: number }) => [reason, type, count]),
    [
      ['Killing', 'Normal', 2],
      ['OOMKilling', 'Warning', 1],
      ['Pulled', 'Normal', 1],
      ['BackOff', 'Warning', 5],
    ],
  );
  const object = { kind: 'Pod', name: 'cart-7d4b9c6f5d-x2x4z', uid: 'receivers-u1', fieldPath: 'spec.containers{app}' };
  for (const event of [items[0], items[2], items[3]]) {
    t.deepEqual(event.object, object);
    t.like(event, { cluster: 'receivers', namespace: 'shop', node: 'n1' });
  }
  t.deepEqual([items[0].message, items[3].message], ['Killing container app', 'BackOff of cart-7d4b9c6f5d-x2x4z']);
});

const filters: readonly [query: string, reasons: string[]][] = [
  ['type=Warning', ['OOMKilling', 'BackOff']],
  ['type=Normal', ['Killing', 'Pulled']],
  ['kind=Pod', ['Killing', 'Pulled', 'BackOff']],
  ['kind=Node', ['OOMKilling']],
  ['name=n1', ['OOMKilling']],
  ['reason=Pulled', ['Pulled']],
  ['uid=receivers-u1&type=Warning', ['BackOff']],
  ['namespace=shop', ['Killing', 'OOMKilling', 'Pulled', 'BackOff']],
  ['namespace=other', []],
  ['projectId=other', []],
];
for (const [query, reasons] of filters)
  test(`events with ${query}`, async (t) => {
    const { items } = await get(`/api/kubernetes/events?${query}`);
    t.deepEqual(
      items.map(({ reason }: { reason: string }) => reason),
      reasons,
    );
  });

test('pages of events neither skip nor repeat an event', async (t) => {
  const found: string[] = [];
  let cursor = '';
  do {
    const page = await get(`/api/kubernetes/events?limit=1${cursor}`);
    found.push(...page.items.map(({ reason }: { reason: string }) => reason));
    cursor = page.nextCursor === null ? '' : `&cursor=${page.nextCursor}`;
  } while (cursor !== '');
  t.deepEqual(found, ['Killing', 'OOMKilling', 'Pulled', 'BackOff']);
});

test('a pod has its containers, events and log records', async (t) => {
  const pod = await get('/api/kubernetes/pods/receivers-u1');
  t.like(pod, { name: { value: 'cart-7d4b9c6f5d-x2x4z' }, phase: { value: 'Running' } });
  t.deepEqual(
    pod.containers.map(({ name }: { name: string }) => name),
    ['app', 'sidecar'],
  );
  t.deepEqual(
    pod.events.items.map(({ reason }: { reason: string }) => reason),
    ['Killing', 'Pulled', 'BackOff'],
  );
  t.deepEqual(
    pod.logs.items.map(({ body }: { body: string }) => body),
    ['out of heap'],
  );
  t.is((await harness.request('GET', '/api/kubernetes/pods/canary-of-b-u1')).status, 404);
});

test('lists are filtered, searched and sorted', async (t) => {
  const names = async (path: string) =>
    (await get(`/api/kubernetes/${path}`)).items.map(({ name }: { name: string | { value: string } }) =>
      typeof name === 'string' ? name : name.value,
    );
  t.deepEqual(await names('containers?cluster=prometheus&oom=yes'), ['app', 'sidecar']);
  t.deepEqual(await names('containers?cluster=semconv&sort=-memory&limit=1'), ['app']);
  t.deepEqual(await names('pods?cluster=semconv&phase=Succeeded'), ['load-1']);
  t.deepEqual(await names('pods?owner=cart&cluster=receivers'), ['cart-7d4b9c6f5d-x2x4z']);
  t.deepEqual(await names('workloads?state=degraded&cluster=receivers'), ['cart']);
  t.deepEqual(await names('nodes?search=N2&cluster=prometheus'), ['n2']);
  t.deepEqual(await names('clusters?projectId=other'), []);
});

test('no response contains data of another organization', async (t) => {
  for (const path of [
    'clusters',
    'nodes',
    'namespaces',
    'workloads',
    'pods',
    'containers',
    'events',
    'pods/receivers-u1',
  ])
    t.false(JSON.stringify(await get(`/api/kubernetes/${path}`)).includes('canary-of-b'), path);
});
