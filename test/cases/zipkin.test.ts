/** Conversion of Zipkin spans to OTLP, decoded with a protobuf library. */
import test from 'ava';
import fc from 'fast-check';
import { requireFormat } from '../../receivers/registry.ts';
import { PermanentError } from '../../schemas/errors.ts';
import { scanRequest } from '../../schemas/otlp/scan.ts';
import { requestTypes } from './proto/load.ts';

interface Pair {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}
type Span = Record<string, unknown> & { readonly attributes: Record<string, unknown> };

const attributesOf = (pairs: readonly Pair[] = []): Record<string, unknown> =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]));

interface Decoded {
  readonly resourceSpans?: readonly {
    readonly resource: { readonly attributes?: readonly Pair[] };
    readonly scopeSpans: readonly { readonly scope: unknown; readonly spans: readonly Record<string, unknown>[] }[];
  }[];
}

const translated = (body: string) => {
  const bytes = requireFormat('zipkin-json').translate?.(Buffer.from(body), 'traces').body ?? Buffer.alloc(0);
  scanRequest('traces', bytes);
  const type = requestTypes.traces;
  const { resourceSpans = [] } = type.toObject(type.decode(bytes), { longs: String, bytes: String }) as Decoded;
  return resourceSpans.map(({ resource, scopeSpans }) => ({
    resource: attributesOf(resource.attributes),
    scope: scopeSpans[0]?.scope,
    spans: (scopeSpans[0]?.spans ?? []).map(
      ({ attributes, ...span }): Span => ({ ...span, attributes: attributesOf(attributes as Pair[]) }),
    ),
  }));
};

const ids = { traceId: '000000000000000a000000000000000b', id: '000000000000000c' };
const spanOf = (changes: object): Span => {
  const [group] = translated(JSON.stringify([{ ...ids, timestamp: 1, ...changes }]));
  const [span] = group?.spans ?? [];
  if (span === undefined) throw new Error('there is no span');
  return span;
};

const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64');

test('the example span of the Zipkin documentation is converted as the OpenTelemetry mapping specifies', (t) => {
  const span = {
    traceId: '5af7183fb1d4cf5f',
    parentId: '6b221d5bc9e6496c',
    id: '352bff9a74ca9ad2',
    name: 'get /api',
    kind: 'CLIENT',
    timestamp: 1_556_604_172_355_737,
    duration: 1_431,
    unknown: [{}],
    localEndpoint: { serviceName: 'backend', ipv4: '192.168.99.1', port: 3_306 },
    remoteEndpoint: { serviceName: 'mysql', ipv6: '2001:db8::c001', port: 58_648 },
    tags: { 'http.method': 'GET', 'http.path': '/api' },
    annotations: [{ timestamp: 1_556_604_172_355_800, value: 'wire send' }],
  };
  t.deepEqual(translated(JSON.stringify([span])), [
    {
      resource: { 'service.name': 'backend' },
      scope: {},
      spans: [
        {
          traceId: base64('00000000000000005af7183fb1d4cf5f'),
          spanId: base64('352bff9a74ca9ad2'),
          parentSpanId: base64('6b221d5bc9e6496c'),
          name: 'get /api',
          kind: 3,
          startTimeUnixNano: '1556604172355737000',
          endTimeUnixNano: '1556604172357168000',
          events: [{ timeUnixNano: '1556604172355800000', name: 'wire send' }],
          attributes: {
            'http.method': 'GET',
            'http.path': '/api',
            'peer.service': 'mysql',
            'network.local.address': '192.168.99.1',
            'network.local.port': '3306',
            'network.peer.address': '2001:db8::c001',
            'network.peer.port': '58648',
          },
        },
      ],
    },
  ]);
});

test('IDs can be short, uppercase, and of 64 or 128 bits; a span that is its own parent is a root span', (t) => {
  const { traceId, spanId, parentSpanId } = spanOf({ traceId: 'ABC', id: '1', parentId: '01' });
  t.deepEqual([traceId, spanId, parentSpanId], [base64(`${'0'.repeat(29)}abc`), base64('0000000000000001'), undefined]);
  t.is(spanOf({ traceId: 'f'.repeat(32) }).traceId, base64('f'.repeat(32)));
  t.is(spanOf({ parentId: 'd' }).parentSpanId, base64('000000000000000d'));
});

test('span kinds are mapped, including the tag in which OpenTelemetry stores INTERNAL', (t) => {
  for (const [kind, number] of Object.entries({ SERVER: 2, CLIENT: 3, PRODUCER: 4, CONSUMER: 5 }))
    t.is(spanOf({ kind }).kind, number);
  t.is(spanOf({}).kind, undefined);
  t.like(spanOf({ tags: { 'span.kind': 'internal' } }), { kind: 1, attributes: {} });
});

const statuses: readonly (readonly [Record<string, string>, unknown])[] = [
  [{}, undefined],
  [{ error: 'false' }, undefined],
  [{ error: '' }, { code: 2 }],
  [{ error: 'true' }, { code: 2 }],
  [{ error: 'no route' }, { code: 2, message: 'no route' }],
  [{ 'otel.status_code': 'OK' }, { code: 1 }],
  [
    { 'otel.status_code': 'ERROR', error: 'no route' },
    { code: 2, message: 'no route' },
  ],
  [
    { 'otel.status_code': 'STATUS_CODE_ERROR', 'otel.status_description': 'why' },
    { code: 2, message: 'why' },
  ],
  [{ 'otel.status_code': 'UNSET' }, undefined],
];
for (const [tags, status] of statuses) {
  test(`the tags ${JSON.stringify(tags)} give the status ${JSON.stringify(status)}`, (t) => {
    const span = spanOf({ tags });
    t.deepEqual(span.status, status);
    t.deepEqual(span.attributes, {});
  });
}

test('shared and debug spans are marked; a span without a time starts at the epoch and is marked', (t) => {
  t.deepEqual(spanOf({ shared: true, debug: true }).attributes, { 'zipkin.debug': true, 'zipkin.shared': true });
  t.deepEqual(spanOf({ shared: false, debug: null }).attributes, {});
  t.like(spanOf({ timestamp: null, duration: 5 }), {
    startTimeUnixNano: undefined,
    endTimeUnixNano: '5000',
    attributes: { 'otel.zipkin.absentField.startTime': true },
  });
});

test('spans are grouped by their resource and scope, which OpenTelemetry exporters store in tags', (t) => {
  const of = (id: string, serviceName: string, tags: object) => ({
    traceId: 'a',
    id,
    timestamp: 1,
    localEndpoint: { serviceName },
    tags,
  });
  const sdk = { 'telemetry.sdk.language': 'go', 'otel.library.name': 'gin', 'otel.library.version': '1' };
  const body = [
    of('1', 'shop', sdk),
    of('2', 'cart', {}),
    of('3', 'shop', { ...sdk, 'w3c.tracestate': 'a=b', x: 'y' }),
  ];
  const [shop, cart, ...others] = translated(JSON.stringify(body));
  t.is(others.length, 0);
  t.deepEqual(cart?.resource, { 'service.name': 'cart' });
  t.deepEqual(shop?.resource, { 'service.name': 'shop', 'telemetry.sdk.language': 'go' });
  t.deepEqual(shop?.scope, { name: 'gin', version: '1' });
  t.deepEqual(
    shop?.spans.map(({ traceState, attributes }) => [traceState, attributes]),
    [
      [undefined, {}],
      ['a=b', { x: 'y' }],
    ],
  );
});

const faultOf = (body: string): PermanentError | undefined => {
  try {
    translated(body);
    return undefined;
  } catch (error) {
    if (error instanceof PermanentError) return error;
    throw error;
  }
};

const faults: readonly (readonly [string, object, RegExp])[] = [
  ['no trace id', { traceId: null }, /^\[0\]: a span needs a traceId and an id/],
  ['no id', { id: null }, /a span needs/],
  ['an empty id', { id: '' }, /^\[0\]\.id: expected an id of 1 to 16/],
  ['a trace id of 33 digits', { traceId: 'a'.repeat(33) }, /^\[0\]\.traceId: expected an id of 1 to 32/],
  ['a numeric id', { id: 12 }, /id: expected a string/],
  ['a kind that does not exist', { kind: 'OTHER' }, /^\[0\]\.kind: expected one of SERVER/],
  ['a time before the epoch', { timestamp: -1 }, /^\[0\]\.timestamp: expected an integer from 0 to 9007199254740991/],
  ['a time after all', { timestamp: 2 ** 64 }, /^\[0\]\.timestamp: expected an integer from 0 to 9007199254740991/],
  ['an inexact time', { timestamp: 2 ** 60 }, /timestamp: expected an integer/],
  ['a tag that is not a string', { tags: { a: 1 } }, /^\[0\]\.tags\.a: expected a string/],
  ['tags in a list', { tags: [] }, /tags: expected an object/],
  ['an annotation that is a string', { annotations: ['x'] }, /annotations\[0\]: expected an object/],
  ['an endpoint that is a string', { localEndpoint: 'x' }, /localEndpoint: expected an object/],
  ['shared that is not a boolean', { shared: 'true' }, /shared: expected true or false/],
];
for (const [what, change, message] of faults) {
  test(`${what} is refused, with the path`, (t) => {
    const fault = faultOf(JSON.stringify([{ ...ids, ...change }]));
    t.regex(fault?.message ?? '', message);
    t.is(typeof fault?.position, 'number');
  });
}

test('any input is converted to a request that a scan accepts, or refused', (t) => {
  const span = fc.record(
    {
      traceId: fc.string({ maxLength: 33 }),
      id: fc.constant('1'),
      name: fc.string(),
      kind: fc.string(),
      timestamp: fc.oneof(fc.integer(), fc.double()),
      tags: fc.dictionary(fc.string(), fc.string()),
      x: fc.anything(),
    },
    { requiredKeys: ['id'] },
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.json(),
        fc.array(span).map((spans) => JSON.stringify(spans)),
      ),
      (body) => void faultOf(body),
    ),
  );
  t.pass();
});

test('a span with too many tags or annotations is refused before it fills the memory', (t) => {
  const tags = Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`n${index}`, '']));
  t.is(faultOf(JSON.stringify([{ ...ids, tags }]))?.reason, 'too-many');
  t.is(faultOf(JSON.stringify([{ ...ids, annotations: Array(10_001).fill({}) }]))?.reason, 'too-many');
});

test('no span is lost if a request has spans of more services than are buffered at once', (t) => {
  const spans = Array.from({ length: 2_500 }, (_, index) => ({
    ...ids,
    localEndpoint: { serviceName: `s${index % 1_250}` },
  }));
  const groups = translated(JSON.stringify(spans));
  t.is(
    groups.reduce((sum, group) => sum + group.spans.length, 0),
    2_500,
  );
  t.is(new Set(groups.map(({ resource }) => resource['service.name'])).size, 1_250);
});
