/** What a single span reveals about a call, by kind and attributes. */
import test from 'ava';
import type { Call, Edge } from '../../processors/edges/counts.ts';
import { observeSpan } from '../../processors/edges/observe.ts';
import type { CallEnd } from '../../schemas/edges.ts';
import { iterateItems } from '../../schemas/records/source.ts';
import { spans } from '../../schemas/records/sources.ts';
import { messageOf, text, tracesRequest } from './sink-tables.ts';

const kinds = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const;

interface Observations {
  readonly ends: CallEnd[];
  readonly calls: { readonly edge: Edge; readonly call: Call }[];
}

/** What is observed from one span of service `cart`. */
const observed = (
  kind: keyof typeof kinds,
  attributes: Readonly<Record<string, string | boolean>>,
  { parent = '', links = [] as string[], resource = [] as object[] } = {},
): Observations => {
  const span = {
    traceId: Buffer.alloc(16, 1),
    spanId: Buffer.alloc(8, 2),
    parentSpanId: Buffer.from(parent, 'hex'),
    kind: kinds[kind],
    name: 'x',
    startTimeUnixNano: '1772359200000000000',
    endTimeUnixNano: '1772359200000001234',
    links: links.map((id) => ({ traceId: Buffer.alloc(16, 3), spanId: Buffer.from(id, 'hex') })),
    attributes: Object.entries(attributes).map(([key, value]) =>
      typeof value === 'string' ? text(key, value) : { key, value: { boolValue: value } },
    ),
  };
  const request = tracesRequest({
    resourceSpans: [
      { resource: { attributes: [text('service.name', 'cart'), ...resource] }, scopeSpans: [{ spans: [span] }] },
    ],
  });
  const message = { ...messageOf([request], { signal: 'traces' }), key: 'acme', value: Buffer.from(request) };
  const observations: Observations = { ends: [], calls: [] };
  for (const view of iterateItems(spans, message, { topic: 'otlp.traces', partition: 0 }))
    observeSpan(view, {
      end: (end) => observations.ends.push(end),
      call: (edge, call) => observations.calls.push({ edge, call }),
    });
  return observations;
};

/** `client connection server` of each call, with the peer's system and address. */
const callsOf = ({ calls }: Observations): string[] =>
  calls.map(({ edge }) => {
    const { clientKind, client, connection, serverKind, server, system, address } = edge;
    const more = [system, address].filter((each) => each !== '').join(' ');
    return `${clientKind} ${client} ${connection} ${serverKind} ${server}${more === '' ? '' : ` (${more})`}`;
  });

const databases: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
  [{ 'db.system': 'postgresql', 'db.name': 'shop' }, 'shop (postgresql)'],
  [{ 'db.system.name': 'postgresql', 'db.namespace': 'shop' }, 'shop (postgresql)'],
  [
    { 'db.system.name': 'mysql', 'db.namespace': 'shop', 'server.address': 'db', 'server.port': '3306' },
    'shop (mysql db:3306)',
  ],
  [{ 'db.system': 'mysql', 'net.peer.name': 'db', 'net.peer.port': '3306' }, 'db:3306 (mysql db:3306)'],
  [{ 'db.system': 'redis', 'db.namespace': '1', 'server.address': 'cache' }, 'cache (redis cache)'],
  [{ 'db.system': 'redis', 'db.namespace': '1' }, 'redis (redis)'],
  [{ 'db.system': 'postgresql', 'db.name': 'shop', 'peer.service': 'orders-db' }, 'orders-db (postgresql)'],
  [{ 'db.name': 'shop' }, 'shop'],
  [
    { 'db.system': 'mongodb', 'network.peer.address': '::1', 'network.peer.port': '27017' },
    '[::1]:27017 (mongodb [::1]:27017)',
  ],
];
for (const [attributes, node] of databases)
  test(`a client span with ${JSON.stringify(attributes)} calls the database ${node}`, (t) => {
    const observations = observed('client', attributes);
    t.deepEqual(callsOf(observations), [`service cart query database ${node}`]);
    t.deepEqual(observations.ends, [], 'and waits for no other span');
  });

const remotes: readonly (readonly [Readonly<Record<string, string>>, string | undefined])[] = [
  [{ 'server.address': 'api.example', 'server.port': '443' }, 'external api.example'],
  [{ 'server.address': 'api.example', 'server.port': '8443' }, 'external api.example:8443'],
  [{ 'net.peer.name': 'api.example', 'net.peer.port': '80' }, 'external api.example'],
  [{ 'net.peer.ip': '10.0.0.1', 'net.peer.port': '9000' }, 'external 10.0.0.1:9000'],
  [{ 'net.sock.peer.addr': '10.0.0.2' }, 'external 10.0.0.2'],
  [{ 'url.full': 'https://user:secret@api.example:443/path?a=b' }, 'external api.example'],
  [{ 'http.url': 'http://api.example:8080' }, 'external api.example:8080'],
  [{ 'http.url': 'not a url' }, undefined],
  [{ 'http.host': 'api.example:8080' }, 'external api.example:8080'],
  [{ 'peer.service': 'billing', 'server.address': 'b', 'server.port': '1' }, 'service billing b:1'],
  [{ 'server.address': 'x'.repeat(600) }, `external ${'x'.repeat(512)}`],
  [{}, undefined],
];
for (const [attributes, node] of remotes)
  test(`a client span with ${JSON.stringify(attributes).slice(0, 80)} without a matching server span calls ${node?.slice(0, 60) ?? 'an unknown node'}`, (t) => {
    const { ends, calls } = observed('client', attributes);
    t.deepEqual(calls, []);
    t.is(ends.length, 1);
    const peer = ends[0]?.peer;
    t.is(peer && `${peer.kind} ${peer.name}${peer.address === '' ? '' : ` ${peer.address}`}`, node);
  });

const kafka = { 'messaging.system': 'kafka', 'messaging.destination.name': 'orders' };
const queues: readonly (readonly [
  keyof typeof kinds,
  Readonly<Record<string, string | boolean>>,
  readonly string[],
  number,
])[] = [
  ['producer', kafka, ['service cart publish queue orders (kafka)'], 1],
  ['client', kafka, ['service cart publish queue orders (kafka)'], 1],
  ['producer', { ...kafka, 'messaging.operation.type': 'create' }, [], 1],
  ['client', { ...kafka, 'messaging.operation.type': 'receive' }, ['queue orders receive service cart (kafka)'], 0],
  ['client', { ...kafka, 'messaging.operation.type': 'settle' }, [], 0],
  ['consumer', kafka, ['queue orders process service cart (kafka)'], 0],
  ['consumer', { ...kafka, 'messaging.operation': 'receive' }, ['queue orders receive service cart (kafka)'], 0],
  ['consumer', {}, [], 0],
  [
    'producer',
    { 'messaging.system': 'rabbitmq', 'messaging.destination': 'mails' },
    ['service cart publish queue mails (rabbitmq)'],
    1,
  ],
  ['producer', { 'messaging.system': 'sqs' }, ['service cart publish queue sqs (sqs)'], 1],
  [
    'producer',
    { ...kafka, 'messaging.destination.template': 'orders-{region}' },
    ['service cart publish queue orders-{region} (kafka)'],
    1,
  ],
  [
    'producer',
    { ...kafka, 'messaging.destination.temporary': true },
    ['service cart publish queue (temporary) (kafka)'],
    1,
  ],
  ['producer', {}, [], 1],
];
for (const [kind, attributes, calls, ends] of queues)
  test(`a ${kind} span with ${JSON.stringify(attributes)} gives ${calls.join() || 'no edge'}, with ${ends} pending ends`, (t) => {
    const observations = observed(kind, attributes);
    t.deepEqual(callsOf(observations), [...calls]);
    t.is(observations.ends.length, ends);
    t.true(observations.ends.every(({ isMessage }) => isMessage));
  });

test('a server span without a parent is an edge from a user, and one with a parent waits for its client', (t) => {
  t.deepEqual(callsOf(observed('server', {})), ['user  request service cart']);
  const { ends, calls } = observed('server', {}, { parent: '0404040404040404' });
  t.deepEqual(calls, []);
  t.like(ends[0], { callerId: '0404040404040404', calleeId: '0202020202020202', traceId: '01'.repeat(16) });
});

test("Zipkin's server span shares the id of its client", (t) => {
  const [end] = observed('server', { 'zipkin.shared': true }, { parent: '0404040404040404' }).ends;
  t.like(end, { callerId: '0202020202020202', calleeId: '0202020202020202' });
});

test('a consumer span waits once for each linked producer, and for its parent only if it has no links', (t) => {
  const links = ['0505050505050505', '0606060606060606', '0505050505050505'];
  const { ends } = observed('consumer', kafka, { parent: '0404040404040404', links });
  t.deepEqual(
    ends.map(({ traceId, callerId }) => [traceId, callerId]),
    [
      ['03'.repeat(16), '0505050505050505'],
      ['03'.repeat(16), '0606060606060606'],
    ],
  );
  t.is(observed('consumer', kafka, { parent: '0404040404040404' }).ends[0]?.callerId, '0404040404040404');
  const polled = observed('consumer', { ...kafka, 'messaging.operation': 'receive' }, { links });
  t.deepEqual(polled.ends, [], 'what polls links all that is then processed in spans that link it again');
});

test('an internal span gives no edge, and the environment is read from either convention', (t) => {
  t.deepEqual(observed('internal', { 'db.system': 'postgresql' }), { ends: [], calls: [] });
  for (const key of ['deployment.environment', 'deployment.environment.name'])
    t.is(observed('client', {}, { resource: [text(key, 'live')] }).ends[0]?.environment, 'live');
});

test('durations are exact to the nanosecond', (t) => {
  t.is(observed('client', {}).ends[0]?.durationNs, 1234);
});
