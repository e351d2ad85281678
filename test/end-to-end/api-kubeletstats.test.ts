/** Test data of the collector's kubelet receiver: every figure that the API returns is one of its numbers. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { parse } from 'yaml';
import { landIn, messageOf, metricsRequest } from '../cases/sink-tables.ts';
import { type Harness, startHarness } from './api-harness.ts';

interface Point {
  readonly asDouble?: number;
  readonly asInt?: string;
  readonly attributes?: readonly Attribute[];
}
interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string };
}
interface Metric {
  readonly name: string;
  readonly gauge?: { readonly dataPoints: readonly Point[] };
  readonly sum?: { readonly dataPoints: readonly Point[] };
}
interface Sent {
  readonly resource: { readonly attributes: readonly Attribute[] };
  readonly scopeMetrics: readonly { readonly metrics: readonly Metric[] }[];
}

const sentIn = (file: string): readonly Sent[] =>
  parse(readFileSync(new URL(`../cases/kubeletstats/${file}`, import.meta.url), 'utf8')).resourceMetrics;
/** Only volumes of the second file: the first has everything else. */
const sent = [
  ...sentIn('all-groups.yaml'),
  ...sentIn('claims.yaml').filter(({ resource }) =>
    resource.attributes.some(({ key }) => key === 'k8s.persistentvolumeclaim.name'),
  ),
];

const textsOf = (attributes: readonly Attribute[]): Readonly<Record<string, string>> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? '']));
/** Resources as attributes, with the value of each gauge. */
const resources = sent.map(({ resource, scopeMetrics }) => ({
  attributes: textsOf(resource.attributes),
  values: new Map(
    scopeMetrics
      .flatMap(({ metrics }) => metrics)
      .map(({ name, gauge }) => [name, Number(gauge?.dataPoints[0]?.asInt ?? gauge?.dataPoints[0]?.asDouble)] as const),
  ),
}));
const having = (metric: string) => resources.filter(({ values }) => values.has(metric));

/** The same metrics with points at a given time. */
const at = (ms: number): object => ({
  resourceMetrics: sent.map(({ resource, scopeMetrics }) => ({
    resource,
    scopeMetrics: scopeMetrics.map(({ metrics, ...scope }) => ({
      ...scope,
      metrics: metrics.map(({ gauge, sum, ...about }) => {
        const dataPoints = (gauge ?? sum)?.dataPoints.map((point) => ({
          ...point,
          startTimeUnixNano: `${ms - 3_600_000}000000`,
          timeUnixNano: `${ms}000000`,
        }));
        return { ...about, ...(gauge ? { gauge: { dataPoints } } : { sum: { ...sum, dataPoints } }) };
      }),
    })),
  })),
});

let harness: Harness;
test.before(async () => {
  harness = await startHarness();
  const land = landIn(harness.columns);
  const nowMs = Math.floor(Date.now() / 1000) * 1000;
  for (const [offset, ms] of [nowMs - 80_000, nowMs - 60_000, nowMs - 40_000, nowMs - 20_000].entries()) {
    const body = metricsRequest(at(ms));
    const member = {
      length: body.length,
      size: body.length,
      records: 1,
      receivedAtMs: ms,
      source: '',
      traceparent: '',
    };
    const message = messageOf([body], {
      offset,
      tenantId: 'a',
      projectId: 'shop',
      members: [member],
      signal: 'metrics',
    });
    const { rejected } = await land([message], { sink: 'metrics' });
    if (rejected.length > 0) throw new Error(`not stored: ${JSON.stringify(rejected)}`);
  }
});
test.after.always(() => harness?.close());

const get = async (path: string) => {
  const { status, body } = await harness.request('GET', path, { as: 'viewer' });
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  return body;
};

const figuresOf = (
  metrics: Readonly<Record<string, string>>,
  key: (attributes: Readonly<Record<string, string>>) => string,
) =>
  Object.fromEntries(
    having(Object.values(metrics)[0] ?? '').map(({ attributes, values }) => [
      key(attributes),
      Object.fromEntries(Object.entries(metrics).map(([name, metric]) => [name, values.get(metric)])),
    ]),
  );

test('pods match those of the kubelet, with their figures', async (t) => {
  const { items } = await get('/api/kubernetes/pods?limit=100');
  t.deepEqual(
    Object.fromEntries(
      items.map(({ uid, cpu, memory }: Record<string, { value: unknown }>) => [
        uid?.value,
        { cpu: cpu?.value, memory: memory?.value },
      ]),
    ),
    figuresOf({ cpu: 'k8s.pod.cpu.usage', memory: 'k8s.pod.memory.working_set' }, (each) => each['k8s.pod.uid'] ?? ''),
  );
  t.is(items.length, 9);
});

test('containers match those of the kubelet, with their figures', async (t) => {
  const { items } = await get('/api/kubernetes/containers?limit=100');
  t.deepEqual(
    Object.fromEntries(
      items.map(({ id, cpu, memory }: Record<string, Record<string, { value: unknown }>>) => [
        id,
        { cpu: cpu?.['used']?.value, memory: memory?.['used']?.value },
      ]),
    ),
    figuresOf(
      { cpu: 'container.cpu.usage', memory: 'container.memory.working_set' },
      (each) => `${each['k8s.pod.uid']}/${each['k8s.container.name']}`,
    ),
  );
  t.is(items.length, 9);
});

test('a node is a host, with its CPUs, memory and filesystem', async (t) => {
  const { items: nodes } = await get('/api/kubernetes/nodes');
  const { items: hosts } = await get('/api/infrastructure/hosts');
  const values = having('k8s.node.cpu.usage')[0]?.values ?? new Map<string, number>();
  const of = (name: string): number => values.get(`k8s.node.${name}`) ?? Number.NaN;
  const used = of('filesystem.capacity') - of('filesystem.available');
  t.like(nodes, {
    length: 1,
    0: {
      name: 'minikube',
      cpu: { used: { value: of('cpu.usage') } },
      memory: { used: { value: of('memory.working_set') } },
    },
  });
  t.like(hosts, {
    length: 1,
    0: {
      id: 'minikube',
      state: 'active',
      kubernetesNode: { value: 'minikube' },
      cpu: { cores: { value: of('cpu.usage') } },
      memory: {
        used: { value: of('memory.working_set') },
        total: { value: of('memory.working_set') + of('memory.available') },
      },
      disk: {
        used: { value: used },
        total: { value: of('filesystem.capacity') },
        utilization: { value: used / of('filesystem.capacity') },
      },
    },
  });
});

test('volumes with a claim are disks, and volumes of secrets and config maps are not', async (t) => {
  const { items } = await get('/api/infrastructure/disks?limit=100');
  const claimed = having('k8s.volume.capacity').filter(
    ({ attributes }) => 'k8s.persistentvolumeclaim.name' in attributes,
  );
  t.true(claimed.length > 0);
  t.deepEqual(
    items
      .filter(({ claim }: { claim: { value: string | null } }) => claim.value !== null)
      .map(({ claim, used, total }: Record<string, { value: unknown }>) => [claim?.value, used?.value, total?.value])
      .sort(),
    claimed
      .map(({ attributes, values }) => {
        const total = values.get('k8s.volume.capacity') ?? Number.NaN;
        return [
          attributes['k8s.persistentvolumeclaim.name'],
          total - (values.get('k8s.volume.available') ?? Number.NaN),
          total,
        ];
      })
      .sort(),
  );
  t.is(items.length, claimed.length + 1);
});

test('a value that the receiver does not report is unknown, with the receiver that would report it', async (t) => {
  const [pod] = (await get('/api/kubernetes/pods?limit=1')).items;
  for (const name of ['phase', 'restarts']) {
    t.is(pod[name].value, null);
    t.regex(pod[name].reason, /k8s_cluster receiver/);
  }
});
