/** Flows, topology and DNS from agents, routers and CoreDNS. */
import test from 'ava';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
const minuteMs = 60_000;
const minute = (Math.floor(Date.now() / minuteMs) - 10) * minuteMs;
const canary = 'canary-of-b';

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
const mapOf = (attributes: Readonly<Record<string, string>>): string =>
  Object.keys(attributes).length === 0 ? 'map()' : `map(${Object.entries(attributes).flat().map(quoted).join(', ')})`;
const typesOf = (attributes: object): string => `'${'s'.repeat(Object.keys(attributes).length)}'`;
const at = (ms: number): string => `fromUnixTimestamp64Milli(${ms})`;

interface Counter {
  readonly tenant?: string;
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly grows: number;
  readonly source?: string;
}

/** A flow from one workload to another, as reported by one side. */
const flow = (from: string, to: string, side: string, grows: number, tenant = 'a'): Counter => ({
  tenant,
  metric: 'obi.network.flow.bytes',
  grows,
  labels: {
    'k8s.src.namespace': 'shop',
    'k8s.src.owner.name': from,
    'k8s.dst.namespace': 'shop',
    'k8s.dst.owner.name': to,
    ...(side === '' ? {} : { 'iface.direction': side }),
  },
});

const counters: readonly Counter[] = [
  flow('web', 'cart', 'egress', 1000),
  flow('web', 'cart', 'ingress', 900),
  flow('cart', 'web', 'egress', 50),
  flow('cart', 'db', 'ingress', 300),
  flow('web', 'mail', '', 70),
  flow(canary, canary, 'egress', 5, 'b'),
  {
    metric: 'beyla_network_flow_bytes_total',
    labels: { k8s_src_namespace: 'shop', k8s_src_owner_name: 'web', k8s_dst_owner_name: '', iface_direction: 'egress' },
    grows: 11,
    source: 'prometheus',
  },
  {
    metric: 'coredns_dns_responses_total',
    labels: { server: 'dns://:53', rcode: 'NOERROR' },
    grows: 90,
    source: 'prometheus',
  },
  {
    metric: 'coredns_dns_responses_total',
    labels: { server: 'dns://:53', rcode: 'SERVFAIL' },
    grows: 10,
    source: 'prometheus',
  },
];

interface Export {
  readonly from: string;
  readonly to: string;
  readonly bytes: number;
  readonly sampler: string;
  readonly rate?: number;
  readonly tenant?: string;
}

/** `10.0.0.1` is a pod of web, `10.0.0.2` a host. Two routers report the first connection, one with sampling. */
const exported: readonly Export[] = [
  { from: '10.0.0.1', to: '10.0.0.2', bytes: 400, sampler: 'r1' },
  { from: '10.0.0.1', to: '10.0.0.2', bytes: 200, sampler: 'r1' },
  { from: '10.0.0.1', to: '10.0.0.2', bytes: 5, sampler: 'r2', rate: 100 },
  { from: '10.0.0.9', to: '10.0.0.2', bytes: 7, sampler: 'r2' },
  { from: canary, to: canary, bytes: 7, sampler: 'r2', tenant: 'b' },
];

const exportedAttributes = ({ from, to, bytes, sampler, rate = 1 }: Export) => ({
  'source.address': from,
  'source.port': '40000',
  'destination.address': to,
  'destination.port': '443',
  'network.transport': 'tcp',
  'network.flow.type': 'ipfix',
  'network.flow.sampler_address': sampler,
  'network.flow.sampling_rate': String(rate),
  'network.io.bytes': String(bytes),
  'network.io.packets': '1',
});

test.before(async () => {
  harness = await startHarness();
  const insert = (into: string, rows: readonly string[]) =>
    harness.columns.execute(`INSERT INTO ${into} VALUES ${rows.join(', ')}`);
  await insert(
    'series (tenant_id, metric, series_id, kind, temporality, monotonic, unit, source, attributes, attribute_types, first_seen, last_seen)',
    counters.map(
      ({ tenant = 'a', metric, labels, source = 'otlp' }, index) =>
        `(${quoted(tenant)}, ${quoted(metric)}, ${index + 1}, 'sum', 2, true, 'By', ${quoted(source)}, ${mapOf(labels)}, ${typesOf(labels)}, ${at(minute)}, ${at(minute + minuteMs)})`,
    ),
  );
  await insert(
    'samples (received_at, tenant_id, metric, series_id, timestamp, start_timestamp, value)',
    counters.flatMap(({ tenant = 'a', metric, grows }, index) =>
      [0, 1].map(
        (point) =>
          `(now64(3), ${quoted(tenant)}, ${quoted(metric)}, ${index + 1}, ${at(minute + point * 30_000)}, ${at(minute - minuteMs)}, ${100 + point * grows})`,
      ),
    ),
  );
  await insert(
    'logs (received_at, timestamp, tenant_id, attributes, attribute_types)',
    exported.map(
      (each) =>
        `(now64(3), ${at(minute + 1000)}, ${quoted(each.tenant ?? 'a')}, ${mapOf(exportedAttributes(each))}, ${typesOf(exportedAttributes(each))})`,
    ),
  );
  const pod = {
    'k8s.pod.ip': '10.0.0.1',
    'k8s.namespace.name': 'shop',
    'k8s.deployment.name': 'web',
    'k8s.node.name': 'n1',
  };
  const host = { 'host.ip': '["10.0.0.2", "fe80::1"]', 'host.name': 'h2' };
  await insert(
    'resources (tenant_id, resource_id, attributes, attribute_types, first_seen, last_seen)',
    [pod, host].map(
      (attributes, index) =>
        `('a', ${index + 1}, ${mapOf(attributes)}, ${typesOf(attributes)}, ${at(minute)}, ${at(minute)})`,
    ),
  );
  const lookup = (name: string, ms: number, error: string, tenant = 'a', index = 0): string => {
    const attributes = { 'dns.question.name': name, ...(error === '' ? {} : { 'error.type': error }) };
    return `(now64(3), ${at(minute + 10 + index)}, ${ms * 1e6}, ${quoted(tenant)}, 'web', 'lookup', 3, ${error === '' ? 0 : 2}, ${mapOf(attributes)}, ${typesOf(attributes)}, unhex('${String(index + 1).padStart(32, '0')}'), unhex('${String(index + 1).padStart(16, '0')}'))`;
  };
  await insert(
    'spans (received_at, timestamp, duration, tenant_id, service, name, kind, status_code, attributes, attribute_types, trace_id, span_id)',
    [
      ...[1, 2, 3].map((ms, index) => lookup('cart.shop.svc', ms, '', 'a', index)),
      lookup('cart.shop.svc', 4, 'SERVFAIL', 'a', 4),
      lookup('nowhere.example', 9, 'NXDOMAIN', 'a', 5),
      lookup(`${canary}.example`, 9, 'NXDOMAIN', 'b', 6),
    ],
  );
});
test.after.always(() => harness?.close());

const range = `from=${minute + 1}&to=${minute + 2 * minuteMs - 1}`;
const get = async (path: string) => {
  const { status, body } = await harness.request('GET', path, { as: 'viewer' });
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  if (JSON.stringify(body).includes(canary)) throw new Error('a response contains rows of another organization');
  return body;
};
interface Shown {
  readonly source: { readonly name: string };
  readonly destination: { readonly name: string };
  readonly bytes: number;
  readonly isCountedOnce: { readonly value: boolean | null };
}
const lines = (items: readonly Shown[]): string[] =>
  items.map(
    ({ source, destination, bytes, isCountedOnce }) =>
      `${source.name} → ${destination.name} ${bytes} ${isCountedOnce.value}`,
  );

test('a flow reported by both ends counts once, and a flow whose observers do not report their observation point is marked', async (t) => {
  const { items, reason } = await get(`/api/network/flows?${range}`);
  t.deepEqual(lines(items), [
    'shop/web → shop/cart 1000 true',
    'shop/web → 10.0.0.2 600 true',
    'shop/cart → shop/db 300 true',
    'shop/web → shop/mail 70 null',
    'shop/cart → shop/web 50 true',
    'shop/web →  11 true',
    '10.0.0.9 → 10.0.0.2 7 true',
  ]);
  t.is(reason, null);
  t.regex(items[3].isCountedOnce.reason, /iface\.direction/);
});

test('flows between addresses show transport and port, and packets if exporters count them', async (t) => {
  const { items } = await get(`/api/network/flows?${range}&by=address`);
  const exportedFlows = items.filter(({ seenBy }: { seenBy: string }) => seenBy === 'exporter');
  t.deepEqual(
    exportedFlows.map(({ source, destinationPort, transport, bytes, packets }: never) => [
      (source as { name: string }).name,
      destinationPort,
      transport,
      bytes,
      (packets as { value: number }).value,
    ]),
    [
      ['10.0.0.1', 443, 'tcp', 600, 100],
      ['10.0.0.9', 443, 'tcp', 7, 1],
    ],
  );
});

test('flows between hosts resolve an address to its owner, and show the address if the owner is unknown', async (t) => {
  const { items } = await get(`/api/network/flows?${range}&by=host`);
  const exportedFlows = items.filter(({ seenBy }: { seenBy: string }) => seenBy === 'exporter');
  t.deepEqual(lines(exportedFlows), ['n1 → h2 600 true', '10.0.0.9 → h2 7 true']);
});

test('flows are filtered by their ends, and pages contain each flow once', async (t) => {
  t.deepEqual(lines((await get(`/api/network/flows?${range}&source=cart`)).items), [
    'shop/cart → shop/db 300 true',
    'shop/cart → shop/web 50 true',
  ]);
  t.deepEqual(lines((await get(`/api/network/flows?${range}&destination=db`)).items), ['shop/cart → shop/db 300 true']);
  const all = (await get(`/api/network/flows?${range}`)).items;
  const first = await get(`/api/network/flows?${range}&limit=4`);
  const rest = await get(`/api/network/flows?limit=4&cursor=${first.nextCursor}`);
  t.deepEqual([...first.items, ...rest.items], all);
  t.is(rest.nextCursor, null);
});

test('outgoing and incoming traffic of all nodes in the topology are equal', async (t) => {
  const { nodes, edges } = await get(`/api/network/topology?${range}`);
  const sum = (key: string): number =>
    nodes.reduce((total: number, node: Record<string, number>) => total + (node[key] ?? 0), 0);
  const carried = edges.reduce((total: number, { bytes }: { bytes: number }) => total + bytes, 0);
  t.is(carried, 1000 + 600 + 300 + 70 + 50 + 11 + 7);
  t.deepEqual([sum('bytesOut'), sum('bytesIn')], [carried, carried]);
  const cut = await get(`/api/network/topology?${range}&limit=2`);
  t.is(cut.edges.length, 2);
  t.regex(cut.partial[0].message, /7 edges/);
});

test('DNS names have lookup failures by error and latency, and DNS servers their response codes', async (t) => {
  const { names, nameCount, servers } = await get(`/api/network/dns?${range}`);
  t.is(nameCount, 2);
  const [cart, nowhere] = names;
  t.deepEqual(
    [cart.name, cart.lookups, cart.failures, cart.failureRate, cart.errors],
    ['cart.shop.svc', 4, 1, 0.25, { SERVFAIL: 1 }],
  );
  t.is(cart.p50.value, 2.5e6);
  t.deepEqual([nowhere.name, nowhere.failures, nowhere.errors], ['nowhere.example', 1, { NXDOMAIN: 1 }]);
  t.deepEqual(servers, [
    {
      server: 'dns://:53',
      codes: { NOERROR: 90, SERVFAIL: 10 },
      responses: 100,
      failures: 10,
      p50: { value: null, reason: 'CoreDNS sent no coredns_dns_request_duration_seconds' },
      p95: { value: null, reason: 'CoreDNS sent no coredns_dns_request_duration_seconds' },
    },
  ]);
  t.deepEqual((await get(`/api/network/dns?${range}&search=nowhere`)).names.length, 1);
});

test('without flows or lookups the reason names the possible senders', async (t) => {
  const early = `from=${minute - 60 * minuteMs}&to=${minute - 30 * minuteMs}`;
  t.regex((await get(`/api/network/flows?${early}`)).reason, /obi\.network\.flow\.bytes/);
  t.regex((await get(`/api/network/dns?${early}`)).reason, /dns\.question\.name/);
});
