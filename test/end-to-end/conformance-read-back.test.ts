/**
 * Every field is sent with an awkward value, and the API returns the same value. Known loss: digits of integer
 * exemplars beyond 2^53.
 */
import test, { type ExecutionContext } from 'ava';
import { field, varint } from '../cases/proto/load.ts';
import { eventually } from '../waiting.ts';
import { type Subject, snappy, startSubject, write, writeRequestOf } from './conformance.ts';
import { read } from './oiq-process.ts';

const seconds = Math.floor(Date.now() / 1000) - 30;
const ns = (fraction: string): string => `${seconds}${fraction}`;
const iso = (fraction: string): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${fraction}Z`;
const milliseconds = seconds * 1000 + 7;

let subject: Subject;
test.before(async () => {
  subject = await startSubject();
});
test.after.always(() => subject?.close());

const send = async (path: string, body: unknown): Promise<void> => {
  const response = await fetch(`${subject.oiq.otlp}${path}`, {
    method: 'POST',
    headers: { 'x-license-key': subject.licenseKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (response.status !== 200) throw new Error(await response.text());
};

type Fields = Record<string, unknown>;
const items = async (path: string): Promise<Fields[]> =>
  (await read<{ items: Fields[] }>(subject.oiq.http, path, subject.token)).items;

/** Values sent as AnyValue, and how the API returns them. */
const values: readonly (readonly [key: string, sent: Fields, expected: unknown])[] = [
  ['text', { stringValue: 'plain' }, 'plain'],
  ['empty text', { stringValue: '' }, ''],
  ['text that looks like a number', { stringValue: '007' }, '007'],
  ['quotes \\ and "more"', { stringValue: 'a "b" \\ \'c\' {d} [e]' }, 'a "b" \\ \'c\' {d} [e]'],
  ['control characters', { stringValue: 'a\u0000b\tc\r\nd\u001b' }, 'a\u0000b\tc\r\nd\u001b'],
  ['beyond ASCII 🚀', { stringValue: 'äöü 測試 🚀 \u202e \ufeff' }, 'äöü 測試 🚀 \u202e \ufeff'],
  ['__proto__', { stringValue: 'own' }, 'own'],
  ['', { stringValue: 'a key without a name' }, 'a key without a name'],
  ['true', { boolValue: true }, true],
  ['false', { boolValue: false }, false],
  ['zero', { intValue: '0' }, 0],
  ['minus one', { intValue: -1 }, -1],
  ['largest integer', { intValue: '9223372036854775807' }, '9223372036854775807'],
  ['smallest integer', { intValue: '-9223372036854775808' }, '-9223372036854775808'],
  ['a fraction', { doubleValue: 0.1 }, 0.1],
  ['a whole double', { doubleValue: 3 }, 3],
  ['largest double', { doubleValue: Number.MAX_VALUE }, Number.MAX_VALUE],
  ['smallest double', { doubleValue: 5e-324 }, 5e-324],
  ['not a number', { doubleValue: 'NaN' }, 'NaN'],
  ['infinity', { doubleValue: '-Infinity' }, '-Infinity'],
  ['bytes', { bytesValue: 'AP8Q' }, 'AP8Q'],
  ['nothing', {}, null],
  ['no items', { arrayValue: {} }, []],
  [
    'items',
    {
      arrayValue: {
        values: [
          { stringValue: 'x' },
          { intValue: '9007199254740993' },
          {},
          { arrayValue: { values: [{ boolValue: false }] } },
        ],
      },
    },
    ['x', '9007199254740993', null, [false]],
  ],
  [
    'a map',
    {
      kvlistValue: {
        values: [{ key: 'a "b"', value: { kvlistValue: { values: [{ key: 'c', value: { doubleValue: 1.5 } }] } } }],
      },
    },
    { 'a "b"': { c: 1.5 } },
  ],
];
const attributes = values.map(([key, value]) => ({ key, value }));
/** Reads own entries only, because a key may be `__proto__`. */
const entriesOf = (value: unknown): [string, unknown][] =>
  Object.entries(value as Fields).sort(([a], [b]) => (a < b ? -1 : 1));
const expected = (() => {
  const all = Object.create(null) as Fields;
  for (const [key, , value] of values) all[key] = value;
  return entriesOf(all);
})();

const resource = (service: string) => ({
  attributes: [...attributes, { key: 'service.name', value: { stringValue: service } }],
  droppedAttributesCount: 11,
});
const scope = { name: 'a "scope"', version: '1.0-β', attributes, droppedAttributesCount: 12 };
const resourceSchemaUrl = 'https://example.com/resource?a="b"';
const scopeSchemaUrl = 'https://example.com/scope/β';
/** Asserts the resource and scope of a response. */
const hasOrigins = (t: ExecutionContext, found: Fields | undefined): void => {
  t.like(found, {
    resourceDroppedAttributes: 11,
    resourceSchemaUrl,
    scope: { name: scope.name, version: scope.version, droppedAttributes: 12, schemaUrl: scopeSchemaUrl },
  });
  t.deepEqual(entriesOf((found?.['scope'] as Fields | undefined)?.['attributes'] ?? {}), expected);
  t.deepEqual(
    entriesOf(found?.['resource']).filter(([name]) => name !== 'service.name'),
    expected,
  );
};
const traceId = 'ABCDEF0123456789abcdef0123456789';

for (const [at, [key, value, expectedBody]] of values.entries()) {
  test(`a log record whose body is ${key === '' ? 'a text' : key} is read back in full`, async (t) => {
    const service = `log-${at}`;
    const record = {
      timeUnixNano: ns('123456789'),
      observedTimeUnixNano: ns('987654321'),
      severityNumber: 18,
      severityText: 'schlimm "!"',
      eventName: 'an event\n',
      body: value,
      attributes,
      droppedAttributesCount: 4_294_967_295,
      flags: 257,
      traceId,
      spanId: '00F067AA0BA902B7',
    };
    await send('/v1/logs', {
      resourceLogs: [
        {
          resource: resource(service),
          schemaUrl: resourceSchemaUrl,
          scopeLogs: [{ scope, schemaUrl: scopeSchemaUrl, logRecords: [record] }],
        },
      ],
    });
    const path = `/api/logs?scope=account&service=${service}`;
    await eventually('the record', async () => (await items(path)).length === 1);
    const [found] = await items(path);
    t.like(found, {
      timestamp: iso('123456789'),
      observedTimestamp: iso('987654321'),
      severity: 'schlimm "!"',
      severityNumber: 18,
      eventName: 'an event\n',
      service,
      droppedAttributes: 4_294_967_295,
      flags: 257,
      traceId: traceId.toLowerCase(),
      spanId: '00f067aa0ba902b7',
    });
    t.deepEqual(found?.['body'], expectedBody);
    t.deepEqual(entriesOf(found?.['attributes']), expected);
    hasOrigins(t, found);
  });
}

test('a span is read back in full, with its events and links', async (t) => {
  const span = {
    traceId,
    spanId: '0000000000000001',
    parentSpanId: 'fFfFfFfFfFfFfFfF',
    traceState: 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE',
    flags: 0x301,
    name: '',
    kind: 5,
    startTimeUnixNano: ns('000000001'),
    endTimeUnixNano: String(BigInt(ns('000000001')) + 9_007_199_254_740_993n),
    attributes,
    droppedAttributesCount: 1,
    events: [
      { timeUnixNano: ns('000000002'), name: 'exception', attributes },
      { timeUnixNano: ns('000000002'), name: '', droppedAttributesCount: 4 },
    ],
    droppedEventsCount: 2,
    links: [
      { traceId: 'f'.repeat(32), spanId: 'e'.repeat(16), traceState: 'a=b', attributes, droppedAttributesCount: 5 },
      { flags: 0x301, traceId, spanId: '0000000000000001' },
    ],
    droppedLinksCount: 3,
    status: { code: 2, message: 'it "broke"\n' },
  };
  await send('/v1/traces', {
    resourceSpans: [
      {
        resource: resource('spans'),
        schemaUrl: resourceSchemaUrl,
        scopeSpans: [{ scope, schemaUrl: scopeSchemaUrl, spans: [span] }],
      },
    ],
  });
  const path = '/api/traces?scope=account&service=spans';
  await eventually('the trace', async () => (await items(path)).length === 1);
  const trace = `/api/traces/${traceId.toLowerCase()}?scope=account`;
  const { spans } = await read<{ spans: Fields[] }>(subject.oiq.http, trace, subject.token);
  const [found] = spans;
  t.like(found, {
    traceId: traceId.toLowerCase(),
    spanId: '0000000000000001',
    parentSpanId: 'f'.repeat(16),
    traceState: 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE',
    flags: 0x301,
    name: '',
    kind: 'consumer',
    startTime: iso('000000001'),
    durationNs: '9007199254740993',
    status: 'error',
    statusMessage: 'it "broke"\n',
    service: 'spans',
    dropped: { attributes: 1, events: 2, links: 3 },
  });
  t.deepEqual(entriesOf(found?.['attributes']), expected);
  hasOrigins(t, found);
  const [exception, nameless] = (found?.['events'] ?? []) as Fields[];
  t.like(exception, { time: iso('000000002'), name: 'exception', droppedAttributes: 0 });
  t.deepEqual(entriesOf(exception?.['attributes']), expected);
  t.like(nameless, { name: '', attributes: {}, droppedAttributes: 4 });
  const [far, own] = (found?.['links'] ?? []) as Fields[];
  t.like(far, { traceId: 'f'.repeat(32), spanId: 'e'.repeat(16), traceState: 'a=b', droppedAttributes: 5, flags: 0 });
  t.deepEqual(entriesOf(far?.['attributes']), expected);
  t.like(own, {
    traceId: traceId.toLowerCase(),
    spanId: '0000000000000001',
    traceState: '',
    droppedAttributes: 0,
    flags: 0x301,
  });
});

interface SeriesFields {
  readonly labels: Fields;
  readonly points: Fields[];
  readonly exemplars: Fields[];
}
/** Points and exemplars are stored separately from the series, so this waits for them. */
const seriesOf = async (metric: string, exemplarCount = 0): Promise<Fields & SeriesFields> => {
  const path = `/api/metrics?scope=account&name=${encodeURIComponent(metric)}`;
  const find = async () => (await items(path))[0] as (Fields & { series: (Fields & SeriesFields)[] }) | undefined;
  await eventually(metric, async () => {
    const found = (await find())?.series;
    const [one] = found ?? [];
    return found?.length === 1 && one !== undefined && one.points.length > 0 && one.exemplars.length >= exemplarCount;
  });
  const [series] = (await find())?.series ?? [];
  if (series === undefined) throw new Error(`no series of ${metric}`);
  return series;
};

const point = { timeUnixNano: ns('000000003'), startTimeUnixNano: ns('000000001'), attributes };
const exemplars = [
  {
    timeUnixNano: ns('000000002'),
    asDouble: 0.25,
    traceId,
    spanId: '00f067aa0ba902b7',
    filteredAttributes: [{ key: 'user "id"', value: { intValue: '7' } }],
  },
  { timeUnixNano: ns('000000003'), asInt: '-3' },
];
const exemplarsAsRead = [
  {
    timestamp: iso('000000002'),
    value: 0.25,
    traceId: traceId.toLowerCase(),
    spanId: '00f067aa0ba902b7',
    attributes: { 'user "id"': 7 },
  },
  { timestamp: iso('000000003'), value: -3, traceId: null, spanId: null, attributes: {} },
];

const max = '18446744073709551615';
const kinds: readonly (readonly [name: string, sent: Fields, expected: Fields, exemplars: boolean])[] = [
  ['gauge of a fraction', { gauge: { dataPoints: [{ ...point, asDouble: -0.1, exemplars }] } }, { value: -0.1 }, true],
  ['gauge of NaN', { gauge: { dataPoints: [{ ...point, asDouble: 'NaN' }] } }, { value: 'NaN', flags: 0 }, false],
  ['gauge without a value', { gauge: { dataPoints: [{ ...point, flags: 1 }] } }, { value: 'NaN', flags: 1 }, false],
  [
    'delta sum of infinity',
    { sum: { aggregationTemporality: 1, dataPoints: [{ ...point, asDouble: 'Infinity' }] } },
    { value: 'Infinity' },
    false,
  ],
  [
    'monotonic sum of a negative integer',
    {
      sum: {
        aggregationTemporality: 2,
        isMonotonic: true,
        dataPoints: [{ ...point, asInt: '-9007199254740991', exemplars }],
      },
    },
    { value: -9_007_199_254_740_991 },
    true,
  ],
  [
    'gauge of an integer beyond 2^53',
    { gauge: { dataPoints: [{ ...point, asInt: '-9223372036854775807' }] } },
    { value: '-9223372036854775807' },
    false,
  ],
  [
    'histogram',
    {
      histogram: {
        aggregationTemporality: 2,
        dataPoints: [
          {
            ...point,
            count: max,
            sum: -1.5,
            min: -7,
            max: 0.5,
            explicitBounds: [-1e9, 0, 1e-9],
            bucketCounts: ['0', max, 1, '2'],
            exemplars,
          },
        ],
      },
    },
    { count: max, sum: -1.5, min: -7, max: 0.5, bounds: [-1e9, 0, 1e-9], bucketCounts: [0, max, 1, 2] },
    true,
  ],
  [
    'histogram without sum, extremes and buckets',
    { histogram: { aggregationTemporality: 1, dataPoints: [{ ...point, count: 3 }] } },
    { count: 3, sum: null, min: null, max: null, bounds: [], bucketCounts: [] },
    false,
  ],
  [
    'exponential histogram',
    {
      exponentialHistogram: {
        aggregationTemporality: 2,
        dataPoints: [
          {
            ...point,
            count: '9007199254740993',
            sum: 0,
            min: -2,
            max: 2,
            scale: -10,
            zeroCount: '5',
            zeroThreshold: 1e-300,
            positive: { offset: -2_147_483_648, bucketCounts: ['1', '0', '9007199254740993'] },
            negative: { offset: 2_147_483_647, bucketCounts: [4] },
            exemplars,
          },
        ],
      },
    },
    {
      count: '9007199254740993',
      sum: 0,
      min: -2,
      max: 2,
      exponential: {
        scale: -10,
        zeroCount: 5,
        zeroThreshold: 1e-300,
        positive: { offset: -2_147_483_648, bucketCounts: [1, 0, '9007199254740993'] },
        negative: { offset: 2_147_483_647, bucketCounts: [4] },
      },
    },
    true,
  ],
  [
    'summary',
    {
      summary: {
        dataPoints: [
          {
            ...point,
            count: '4',
            sum: 1e308,
            quantileValues: [
              { quantile: 0, value: -1 },
              { quantile: 1, value: 'NaN' },
            ],
          },
        ],
      },
    },
    {
      count: 4,
      sum: 1e308,
      quantiles: [
        { quantile: 0, value: -1 },
        { quantile: 1, value: 'NaN' },
      ],
    },
    false,
  ],
];

for (const [name, sent, expectedPoint, hasExemplars] of kinds) {
  test(`a ${name} is read back in full`, async (t) => {
    const metric = { name, unit: '{things}/s', description: 'what "it" is\n', metadata: attributes, ...sent };
    await send('/v1/metrics', {
      resourceMetrics: [
        {
          resource: resource('metrics'),
          schemaUrl: resourceSchemaUrl,
          scopeMetrics: [{ scope, schemaUrl: scopeSchemaUrl, metrics: [metric] }],
        },
      ],
    });
    const series = await seriesOf(name, hasExemplars ? exemplarsAsRead.length : 0);
    t.like(series, { unit: '{things}/s', service: 'metrics' });
    hasOrigins(t, series);
    t.deepEqual(entriesOf(series['metadata']), expected);
    t.deepEqual(entriesOf(series.labels), expected);
    t.like(series.points[0], {
      timestamp: iso('000000003'),
      startTimestamp: iso('000000001'),
      flags: 0,
      ...expectedPoint,
    });
    t.deepEqual(series.exemplars, hasExemplars ? exemplarsAsRead : []);
  });
}

const isoMs = (ms: number): string => `${new Date(ms).toISOString().slice(0, 23)}000000Z`;
const double = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
};
const sample = (value: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0x09]), value, Buffer.from([0x10]), varint(milliseconds)]);
const staleMark = Buffer.from('020000000000f07f', 'hex');

test('remote-write: labels, start timestamps, exemplars and native histograms are read back', async (t) => {
  const body = writeRequestOf(2, [
    {
      labels: [
        ['__name__', 'rw.size ü'],
        ['job', 'the job'],
        ['quote', 'a "b"\n'],
      ],
      histograms: [
        {
          countFloat: 3.75,
          sum: Number.NaN,
          schema: 3,
          zeroThreshold: 1e-9,
          zeroCountFloat: 1.25,
          resetHint: 3,
          positiveSpans: [
            { offset: -3, length: 1 },
            { offset: 1, length: 1 },
          ],
          positiveCounts: [1.5, 1],
          timestamp: milliseconds,
          startTimestamp: milliseconds - 1,
        },
      ],
      exemplars: [{ labels: [['trace_id', traceId.toLowerCase()]], value: 0.5, timestamp: milliseconds }],
      metadata: { type: 3, help: 'size of "it"', unit: 'bytes' },
    },
  ]);
  t.is((await write(subject, 2, snappy(body))).status, 202);
  const series = await seriesOf('rw.size ü', 1);
  t.like(series, {
    type: 'exponential_histogram',
    unit: 'bytes',
    service: 'the job',
    labels: { job: 'the job', quote: 'a "b"\n' },
  });
  t.like(series.points[0], {
    timestamp: isoMs(milliseconds),
    startTimestamp: isoMs(milliseconds - 1),
    count: 3.75,
    resetHint: 'gauge',
    sum: 'NaN',
    min: null,
    max: null,
    exponential: {
      scale: 3,
      zeroCount: 1.25,
      zeroThreshold: 1e-9,
      positive: { offset: -4, bucketCounts: [1.5, 0, 1] },
      negative: { offset: -1, bucketCounts: [] },
    },
  });
  t.like(series.exemplars[0], {
    value: 0.5,
    traceId: traceId.toLowerCase(),
    attributes: { trace_id: traceId.toLowerCase() },
  });
});

test('remote-write: unpacked references, split runs and a start timestamp of the whole series are supported', async (t) => {
  const symbols = ['', '__name__', 'rw_unpacked', 'a', 'b', 'trace_id'].map((symbol) => field(4, symbol));
  const one = (ref: number): Buffer => Buffer.from([0x08, ref]);
  const run = (...refs: number[]): Buffer => field(1, Buffer.from(refs));
  const exemplar = field(4, one(5), one(4), Buffer.from([0x11]), double(2), Buffer.from([0x18]), varint(milliseconds));
  const created = Buffer.concat([Buffer.from([0x30]), varint(milliseconds - 5)]);
  const series = field(5, one(1), one(2), run(3), field(2, sample(double(1))), run(4), exemplar, created);
  t.is((await write(subject, 2, snappy(Buffer.concat([...symbols, series])))).status, 202);
  const found = await seriesOf('rw_unpacked', 1);
  t.deepEqual(found.labels, { a: 'b' });
  t.like(found.points[0], { value: 1, timestamp: isoMs(milliseconds), startTimestamp: isoMs(milliseconds - 5) });
  t.like(found.exemplars[0], { value: 2, attributes: { trace_id: 'b' } });
});

test('remote-write 1.0: a staleness marker is distinguished from a NaN sample', async (t) => {
  const labels = (name: string) => field(1, field(1, '__name__'), field(2, name));
  const body = Buffer.concat([
    field(1, labels('rw_stale'), field(2, sample(staleMark))),
    field(1, labels('rw_nan'), field(2, sample(double(Number.NaN)))),
  ]);
  t.is((await write(subject, 1, snappy(body))).status, 202);
  t.like((await seriesOf('rw_stale')).points[0], { value: 'NaN', flags: 1 });
  t.like((await seriesOf('rw_nan')).points[0], { value: 'NaN', flags: 0 });
});

test('remote-write 1.0: metadata sent first describes the series after it', async (t) => {
  const metadata = field(
    3,
    Buffer.from([0x08, 1]),
    field(2, 'rw_described'),
    field(4, 'how "many"'),
    field(5, 'things'),
  );
  const labels = field(1, field(1, '__name__'), field(2, 'rw_described_total'));
  t.is(
    (await write(subject, 1, snappy(Buffer.concat([field(1, labels, field(2, sample(double(1)))), metadata])))).status,
    202,
  );
  t.like(await seriesOf('rw_described_total'), { type: 'counter', unit: 'things' });
});
