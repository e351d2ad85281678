/** Conversion of Loki pushes to OTLP, decoded with a protobuf library. */
import test from 'ava';
import fc from 'fast-check';
import { requireFormat } from '../../receivers/registry.ts';
import { PermanentError } from '../../schemas/errors.ts';
import { scanRequest } from '../../schemas/otlp/scan.ts';
import { lokiPush } from '../contract/loki-bodies.ts';
import { requestTypes } from './proto/load.ts';

interface Attributes {
  readonly [name: string]: string;
}
interface Pair {
  readonly key: string;
  readonly value: { readonly stringValue: string };
}
interface Decoded {
  readonly resourceLogs?: readonly {
    readonly resource: { readonly attributes?: readonly Pair[] };
    readonly scopeLogs: readonly { readonly logRecords?: readonly Record<string, unknown>[] }[];
  }[];
}

const attributesOf = (pairs: readonly Pair[] = []): Attributes =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, value.stringValue]));

/** The streams in the converted body: their resources and records. */
const streamsOf = (format: 'loki-json' | 'loki-protobuf', body: string | Buffer) => {
  const bytes = requireFormat(format).translate?.(Buffer.from(body), 'logs').body ?? Buffer.alloc(0);
  scanRequest('logs', bytes);
  const type = requestTypes.logs;
  const { resourceLogs = [] } = type.toObject(type.decode(bytes), { longs: String, bytes: String }) as Decoded;
  return resourceLogs.map(({ resource, scopeLogs }) => ({
    resource: attributesOf(resource.attributes),
    records: scopeLogs.flatMap(({ logRecords = [] }) =>
      logRecords.map(({ attributes, body: text, ...others }) => ({
        ...others,
        body: (text as Pair['value']).stringValue,
        attributes: attributesOf(attributes as Pair[]),
      })),
    ),
  }));
};

const push = (streams: unknown): string => JSON.stringify({ streams });
const time = '1700000000123456789';

test('a stream is a resource and a line is a record; invalid parts are skipped', (t) => {
  const body = `{"x":[{}],"streams":[
    {"values":[["${time}","one"],["1700000000123456790","two \\u00e9\\n"]],"y":null,"stream":{"env":"prod"}},
    {"stream":{"env":"dev"},"values":null},
    {"stream":{"env":"test"},"values":[["0",""]]}]}`;
  t.deepEqual(streamsOf('loki-json', body), [
    {
      resource: { env: 'prod' },
      records: [
        { timeUnixNano: time, body: 'one', attributes: {} },
        { timeUnixNano: '1700000000123456790', body: 'two é\n', attributes: {} },
      ],
    },
    { resource: { env: 'test' }, records: [{ body: '', attributes: {} }] },
  ]);
});

test('labels that Loki derives from resource attributes become attributes again, and the service name follows Loki’s rules', (t) => {
  const resource = (stream: Attributes): Attributes | undefined =>
    streamsOf('loki-json', push([{ stream, values: [[time, 'x']] }]))[0]?.resource;
  t.deepEqual(resource({ service_name: 'shop', k8s_pod_name: 'p-1', app: 'other', deployment_environment_name: 'e' }), {
    'service.name': 'shop',
    'k8s.pod.name': 'p-1',
    app: 'other',
    'deployment.environment.name': 'e',
  });
  t.deepEqual(resource({ job: 'a/b', container: 'web' }), { 'service.name': 'web', job: 'a/b', container: 'web' });
  t.deepEqual(resource({ constructor: 'x', filename: '/var/log' }), { constructor: 'x', filename: '/var/log' });
});

test('structured metadata become attributes; level, trace and span are read from them', (t) => {
  const metadata = { level: 'WARN', trace_id: '0102030405060708090a0b0c0d0e0f10', span_id: '0102030405060708', a: 'b' };
  const stream = {
    stream: { detected_level: 'info' },
    values: [
      [time, 'x', metadata],
      [time, 'y'],
      [time, 'z', {}],
    ],
  };
  const odd = { stream: { level: 'loud' }, values: [[time, 'x', { trace_id: 'no id', span_id: 'xyz' }]] };
  const [first, second] = streamsOf('loki-json', push([stream, odd]));
  const info = { timeUnixNano: time, severityNumber: 9, severityText: 'info', attributes: {} };
  t.deepEqual(first?.records, [
    {
      timeUnixNano: time,
      severityNumber: 13,
      severityText: 'WARN',
      body: 'x',
      attributes: metadata,
      traceId: 'AQIDBAUGBwgJCgsMDQ4PEA==',
      spanId: 'AQIDBAUGBwg=',
    },
    { ...info, body: 'y' },
    { ...info, body: 'z' },
  ]);
  const attributes = { trace_id: 'no id', span_id: 'xyz' };
  t.deepEqual(second?.records, [{ timeUnixNano: time, severityText: 'loud', body: 'x', attributes }]);
});

test('protobuf gives the same result as JSON', (t) => {
  const metadata = { level: 'error', a: 'é' };
  const body = Buffer.concat([
    lokiPush('{job="shop", env="pr\\"od\\n"}', [
      [1_700_000_000, 123_456_789, 'one', metadata],
      [0, 0, ''],
    ]),
    lokiPush('{}', [[1, 0, 'two']]),
  ]);
  const json = push([
    {
      stream: { job: 'shop', env: 'pr"od\n' },
      values: [
        [time, 'one', metadata],
        ['0', ''],
      ],
    },
    { stream: {}, values: [['1000000000', 'two']] },
  ]);
  t.deepEqual(streamsOf('loki-protobuf', body), streamsOf('loki-json', json));
});

const labels: readonly (readonly [string, Attributes])[] = [
  ['{}', {}],
  [' { } ', {}],
  ['{a="b"}', { a: 'b' }],
  ['{ a = "b" , c="d", }', { a: 'b', c: 'd' }],
  ['{a=`raw \\n`}', { a: 'raw \\n' }],
  ['{a="x}y,z=\\"w\\""}', { a: 'x}y,z="w"' }],
  ['{a="\\t\\\\\\x41\\101\\u00e9\\U0001F600\\xff"}', { a: '\t\\AAé😀\ufffd' }],
];
for (const [text, expected] of labels) {
  test(`the labels ${text} are parsed as in Loki`, (t) => {
    const [stream] = streamsOf('loki-protobuf', lokiPush(text, [[1, 0, 'x']]));
    t.deepEqual(stream?.resource, expected);
  });
}

const faultOf = (format: 'loki-json' | 'loki-protobuf', body: string | Buffer): PermanentError | undefined => {
  try {
    streamsOf(format, body);
    return undefined;
  } catch (error) {
    if (error instanceof PermanentError) return error;
    throw error;
  }
};

for (const text of [
  '',
  'a="b"',
  '{a="b"',
  '{a=b}',
  '{a="b" c="d"}',
  '{="b"}',
  '{1a="b"}',
  '{a="b\n"}',
  '{a="b}',
  '{,}',
]) {
  test(`the labels ${JSON.stringify(text)} are rejected`, (t) => {
    const fault = faultOf('loki-protobuf', lokiPush(text, [[1, 0, 'x']]));
    t.is(fault?.reason, 'malformed');
    t.regex(fault?.message ?? '', /labels/);
    t.is(fault?.position, 4);
  });
}

const values = (...entry: unknown[]): string => push([{ stream: {}, values: [entry] }]);
const jsonFaults: readonly (readonly [string, string, RegExp])[] = [
  ['an array', '[]', /^expected an object/],
  ['a stream that is not an object', push([[]]), /^streams\[0\]: expected an object/],
  ['a label that is a number', push([{ stream: { a: 1 } }]), /^streams\[0\]\.stream\.a: expected a string/],
  ['a time that is a number', values(1, 'x'), /^streams\[0\]\.values\[0\]\[0\]: expected a string/],
  ['a negative time', values('-1', 'x'), /time in nanoseconds/],
  ['a time beyond int64', values('9223372036854775808', 'x'), /time in nanoseconds from 0 to 9223372036854775807/],
  ['a time of RFC 3339', values('2023-11-14T22:13:20Z', 'x'), /time in nanoseconds/],
  ['an empty entry', values(), /an entry is a time, a line/],
  ['an entry without a line', values('1'), /an entry is a time, a line/],
  ['a line that is an object', values('1', {}), /\[1\]: expected a string/],
  ['metadata in a list', values('1', 'x', []), /\[2\]: expected an object/],
  ['metadata that nest', values('1', 'x', { a: {} }), /\[2\]\.a: expected a string/],
  ['a fourth element', values('1', 'x', {}, 'y'), /an entry is a time, a line/],
  ['text after the end', `${push([])} x`, /after the end/],
];
for (const [what, body, message] of jsonFaults) {
  test(`${what} is rejected, with the path`, (t) => {
    const fault = faultOf('loki-json', body);
    t.regex(fault?.message ?? '', message);
    t.is(typeof fault?.position, 'number');
  });
}

test('text that is not UTF-8 and times out of range are rejected in protobuf', (t) => {
  const body = lokiPush('{}', [[1, 0, 'xyz']]);
  body[body.length - 1] = 0xff;
  t.like(faultOf('loki-protobuf', body), { reason: 'bad-utf8', position: body.length - 1 });
  t.regex(faultOf('loki-protobuf', lokiPush('{}', [[9_223_372_036, 0, 'x']]))?.message ?? '', /out of range/);
  t.regex(faultOf('loki-protobuf', lokiPush('{}', [[1, 1_000_000_000, 'x']]))?.message ?? '', /out of range/);
});

test('any input is translated to a body that the scan accepts, or rejected', (t) => {
  const bodies = fc.oneof(
    fc.json(),
    fc.json().map((text) => `{"streams":[{"values":[["1","x",${text}]]}]}`),
  );
  fc.assert(fc.property(bodies, (body) => void faultOf('loki-json', body)));
  const good = lokiPush('{job="shop"}', [[1, 2, 'a line', { a: 'b' }]]);
  const damaged = fc.tuple(fc.nat(good.length - 1), fc.nat(255)).map(([at, value]) => {
    const bytes = Buffer.from(good);
    bytes[at] = value;
    return bytes;
  });
  fc.assert(
    fc.property(
      fc.oneof(
        damaged,
        fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      ),
      (body) => void faultOf('loki-protobuf', body),
    ),
  );
  t.pass();
});

test('more names than a stream or an entry can have are rejected before they fill the memory', (t) => {
  const many = Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`n${index}`, '']));
  t.is(faultOf('loki-json', push([{ stream: many }]))?.reason, 'too-many');
  t.is(faultOf('loki-json', values('1', 'x', many))?.reason, 'too-many');
  t.regex(faultOf('loki-protobuf', lokiPush('{}', [[1, 0, 'x', many]]))?.message ?? '', /more than 10000/);
});
