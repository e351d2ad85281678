/** Requests with some invalid records: the valid records are stored, and each invalid record becomes a dead letter. */
import test from 'ava';
import { republishRejected } from '../../receivers/index.ts';
import { compressSnappy } from '../../schemas/compression.ts';
import { defaultPlans } from '../../schemas/resources/plan.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import { requestTypes, writeRequestTypes } from '../cases/proto/load.ts';
import { lokiPush } from './loki-bodies.ts';
import { call, grpcPath, post, protobuf } from './receivers-calls.ts';
import { type Fixture, running, secretBox } from './receivers-fixture.ts';

const json = 'application/json';
const dayMs = 86_400_000;
const nowMs = Date.now();
const nanoseconds = (timeMs: number): string => `${Math.trunc(timeMs)}000000`;
const traceId = '5b8efff798038103d269b633813fc60c';
const spanId = 'eee19b7ec3c1b174';

const plan = { retentionDays: defaultPlans['enterprise']?.retentionDays ?? { logs: 90, metrics: 395, traces: 30 } };

type Json = Record<string, unknown>;

const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] };
/** OTLP/JSON requests with the given records. */
const requests: Readonly<Record<Signal, (records: readonly Json[]) => Json>> = {
  logs: (logRecords) => ({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] }),
  traces: (spans) => ({ resourceSpans: [{ resource, scopeSpans: [{ spans }] }] }),
  metrics: (dataPoints) => ({
    resourceMetrics: [{ resource, scopeMetrics: [{ metrics: [{ name: 'up', gauge: { dataPoints } }] }] }],
  }),
};
const recordAt: Readonly<Record<Signal, (time: string) => Json>> = {
  logs: (timeUnixNano) => ({ timeUnixNano, body: { stringValue: 'x' } }),
  traces: (startTimeUnixNano) => ({
    traceId,
    spanId,
    name: 'x',
    startTimeUnixNano,
    endTimeUnixNano: startTimeUnixNano,
  }),
  metrics: (timeUnixNano) => ({ timeUnixNano, asDouble: 1 }),
};
const rejectedNames = { logs: 'rejectedLogRecords', metrics: 'rejectedDataPoints', traces: 'rejectedSpans' } as const;

/** The same request in protobuf; ids are hexadecimal in JSON. */
const encode = (signal: Signal, request: Json): Buffer => {
  const text = JSON.stringify(request, (name, value: unknown) =>
    name === 'traceId' || name === 'spanId' || name === 'parentSpanId'
      ? Buffer.from(value as string, 'hex').toString('base64')
      : value,
  );
  const type = requestTypes[signal];
  return Buffer.from(type.encode(type.fromObject(JSON.parse(text))).finish());
};

/** From a response: `partial_success` (1), and in it `rejected_…` (1), which is small here. */
const rejectedCount = (response: Buffer = Buffer.alloc(0)): number => {
  const start = (response[1] ?? 0) < 128 ? 2 : 3;
  return response[0] === 0x0a && response[start] === 0x08 ? (response[start + 1] ?? 0) : 0;
};

const acceptedRecords = ({ bus }: Fixture): number => bus.members().reduce((sum, { records }) => sum + records, 0);

const oddTimes: readonly (readonly [string, (signal: Signal) => string, string])[] = [
  ['milliseconds', () => String(nowMs), 'wrong-time-unit'],
  ['seconds', () => String(Math.trunc(nowMs / 1000)), 'wrong-time-unit'],
  ['microseconds', () => `${nowMs}000`, 'wrong-time-unit'],
  ['400 days ago', () => nanoseconds(nowMs - 400 * dayMs), 'time-too-old'],
  [
    'a day before the retention',
    (signal) => nanoseconds(nowMs - (plan.retentionDays[signal] + 1) * dayMs),
    'time-too-old',
  ],
  ['in two days', () => nanoseconds(nowMs + 2 * dayMs), 'time-in-future'],
  ['in 2099', () => nanoseconds(Date.UTC(2099, 0)), 'time-in-future'],
];
const readableTimes: readonly string[] = [
  '0',
  nanoseconds(nowMs),
  nanoseconds(nowMs + dayMs / 2),
  nanoseconds(nowMs - 29 * dayMs),
];

for (const signal of ['logs', 'metrics', 'traces'] as const) {
  test(`${signal}: records with times that no query finds are rejected, in both encodings, and the others are stored`, async (t) => {
    await using fixture = await running({ plan });
    for (const [name, time, reason] of oddTimes) {
      const body = requests[signal]([...readableTimes, time(signal)].map(recordAt[signal]));
      for (const [type, bytes] of [
        [json, JSON.stringify(body)],
        [protobuf, encode(signal, body)],
      ] as const) {
        fixture.bus.messages.length = 0;
        const response = await post(fixture, bytes, { path: `/v1/${signal}`, 'content-type': type });
        t.is(response.status, 200, `${name} ${response.body}`);
        if (type === json) {
          const { partialSuccess } = JSON.parse(response.body.toString());
          t.is(partialSuccess[rejectedNames[signal]], '1', name);
          t.regex(partialSuccess.errorMessage, /\[4\]\.(?:start)?[tT]imeUnixNano: the time is /, name);
        } else {
          t.is(rejectedCount(response.body), 1, name);
          t.regex(response.body.toString(), /TimeUnixNano is|timeUnixNano is/, name);
        }
        t.is(acceptedRecords(fixture), readableTimes.length, name);
        const [deadLetter, ...others] = fixture.bus.deadLetters();
        t.deepEqual(others, []);
        t.like(deadLetter?.headers, { reason, signal, contentEncoding: 'identity' }, name);
        t.regex(deadLetter?.headers.message ?? '', /1 record; the others of the request were accepted/);
      }
    }
  });

  test(`${signal}: a request of records that no query finds is refused, and it is a dead letter`, async (t) => {
    await using fixture = await running({ plan });
    for (const [name, time, reason] of oddTimes) {
      fixture.bus.messages.length = 0;
      const body = encode(signal, requests[signal]([recordAt[signal](time(signal)), recordAt[signal](time(signal))]));
      t.is((await post(fixture, body, { path: `/v1/${signal}` })).status, 400, name);
      t.is(acceptedRecords(fixture), 0);
      t.deepEqual(
        fixture.bus.deadLetters().map(({ headers, body: stored }) => [headers.reason, stored.equals(body)]),
        [[reason, true]],
      );
    }
  });
}

test('one bad record of a batch does not cost the others, and a replay of its dead letter repeats none of them', async (t) => {
  await using fixture = await running({ plan });
  const records = Array.from({ length: 999 }, (_, index) => recordAt.logs(nanoseconds(nowMs - index)));
  const badRecords: readonly (readonly [string, Json])[] = [
    ['an id of 8 bytes', { traceId: 'eee19b7ec3c1b174' }],
    ['a severity of 1000', { severityNumber: 1000 }],
    ['a time after 2106', { timeUnixNano: '4294967296000000000' }],
    ['a body that is text', { body: 'text' }],
    ['a severity by name', { severityNumber: 'INFO' }],
    ['values that nest too deep', { body: nest(40) }],
  ];
  for (const [name, badRecord] of badRecords) {
    fixture.bus.messages.length = 0;
    const body = requests.logs([...records.slice(0, 500), badRecord, ...records.slice(500)]);
    const response = await post(fixture, JSON.stringify(body), { 'content-type': json });
    t.is(response.status, 200, name);
    t.is(JSON.parse(response.body.toString()).partialSuccess.rejectedLogRecords, '1', name);
    t.regex(JSON.parse(response.body.toString()).partialSuccess.errorMessage, /logRecords\[500\]/, name);
    t.is(acceptedRecords(fixture), 999, name);
    const [deadLetter] = fixture.bus.deadLetters();
    if (deadLetter === undefined) return t.fail(name);
    t.deepEqual(JSON.parse(deadLetter.body.toString()), requests.logs([badRecord]), name);
    t.regex(deadLetter.headers.message, /logRecords\[0\]/, name);
    t.throws(() => republishRejected(deadLetter.headers, deadLetter.body, { secretBox }), undefined, name);
    // Once the record is valid, for example in a newer version, the same dead letter becomes exactly that record.
    const mended = Buffer.from(JSON.stringify(requests.logs([recordAt.logs(nanoseconds(nowMs))])));
    t.deepEqual(
      republishRejected(deadLetter.headers, mended, { secretBox }).map(({ headers }) => headers['records']),
      ['1'],
    );
  }
});

const nest = (depth: number): Json =>
  depth === 0 ? { stringValue: 'x' } : { arrayValue: { values: [nest(depth - 1)] } };

test('a replay of a request that an earlier version refused whole stores the valid records, and a dead letter of the others', async (t) => {
  await using fixture = await running({ plan });
  const bad = { traceId: 'eee19b7ec3c1b174' };
  await post(fixture, JSON.stringify(requests.logs([bad])), { 'content-type': json });
  const [refused] = fixture.bus.deadLetters();
  if (refused === undefined) return t.fail('there is no dead letter');
  const whole = Buffer.from(JSON.stringify(requests.logs([recordAt.logs('0'), bad, recordAt.logs('0')])));
  const [accepted, deadLetter, ...others] = republishRejected(refused.headers, whole, { secretBox });
  t.is(accepted?.headers['records'], '2');
  t.deepEqual(JSON.parse(Buffer.from(deadLetter?.value ?? []).toString()), requests.logs([bad]));
  t.deepEqual(others, []);
});

test('a resource, a scope or a metric with a fault is rejected alone, and its records are counted', async (t) => {
  await using fixture = await running({ plan });
  const good = recordAt.metrics(nanoseconds(nowMs));
  const metric = { name: 'up', gauge: { dataPoints: [good, good] } };
  const scopeOf = (...metrics: Json[]): Json => ({ scopeMetrics: [{ metrics }] });
  const cases: readonly (readonly [string, Json[], number, number])[] = [
    ['a metric', [scopeOf(metric, { ...metric, unit: 5 })], 2, 2],
    ['a metric whose name follows', [scopeOf(metric, { gauge: metric.gauge, name: 5 })], 2, 2],
    ['a resource', [scopeOf(metric), { scopeMetrics: [{ metrics: [metric, metric] }], resource: 'shop' }], 2, 4],
  ];
  for (const [name, resourceMetrics, accepted, rejected] of cases) {
    fixture.bus.messages.length = 0;
    const text = JSON.stringify({ resourceMetrics });
    const response = await post(fixture, text, { path: '/v1/metrics', 'content-type': json });
    const { rejectedDataPoints } = JSON.parse(response.body.toString()).partialSuccess;
    t.is(acceptedRecords(fixture), accepted, name);
    t.true(Number(rejectedDataPoints) >= 1 && Number(rejectedDataPoints) <= rejected, `${name}: ${rejectedDataPoints}`);
  }
});

test('over gRPC, the response has partial_success', async (t) => {
  await using fixture = await running({ plan });
  const body = encode('logs', requests.logs([recordAt.logs(nanoseconds(nowMs)), recordAt.logs(String(nowMs))]));
  const { error, response } = await call(fixture, grpcPath('logs'), body, { gzip: true });
  t.is(error, undefined);
  t.is(rejectedCount(response), 1);
  t.regex(response?.toString() ?? '', /milliseconds: send nanoseconds/);
  t.is(acceptedRecords(fixture), 1);
});

test('a span without an id, or with only zeros, is rejected; a log record of no trace is not', async (t) => {
  await using fixture = await running({ plan });
  const span = recordAt.traces(nanoseconds(nowMs));
  const zeros = '0'.repeat(32);
  const faulty = [
    { ...span, traceId: zeros },
    { ...span, spanId: '0'.repeat(16) },
    { ...span, traceId: '' },
    { name: 'x', startTimeUnixNano: nanoseconds(nowMs) },
  ];
  const body = requests.traces([...faulty, { ...span, parentSpanId: '0'.repeat(16) }]);
  for (const [type, bytes] of [
    [json, JSON.stringify(body)],
    [protobuf, encode('traces', body)],
  ] as const) {
    fixture.bus.messages.length = 0;
    const response = await post(fixture, bytes, { path: '/v1/traces', 'content-type': type });
    if (type === json) t.is(JSON.parse(response.body.toString()).partialSuccess.rejectedSpans, '4');
    else t.is(rejectedCount(response.body), 4);
    t.is(acceptedRecords(fixture), 1);
    t.is(fixture.bus.deadLetters()[0]?.headers.reason, 'bad-id');
  }
  const record = { ...recordAt.logs(nanoseconds(nowMs)), traceId: zeros };
  t.is((await post(fixture, JSON.stringify(requests.logs([record])), { 'content-type': json })).body.toString(), '{}');
});

const emptyBodies: readonly (readonly [string, string, RegExp | undefined])[] = [
  ['{}', 'logs', undefined],
  ['{"resourceLogs":[]}', 'logs', undefined],
  ['{"resourceLogs":[{"scopeLogs":[]}],"future":5}', 'logs', undefined],
  ['{"resource_logs":[{"scope_logs":[{"log_records":[{}]}]}]}', 'logs', /resource_logs is unknown.*resourceLogs/],
  ['{"ResourceLogs":[{"ScopeLogs":[]}]}', 'logs', /ResourceLogs is unknown/],
  ['{"resourceLogs":[{"scope_logs":[{"logRecords":[{}]}]}]}', 'logs', /^resourceLogs\[0\].*scope_logs is unknown/],
  ['{"resourceLogs":[{"scopeLogs":[{"records":[{}]}]}]}', 'logs', /records is unknown.*logRecords/],
  ['{"resourceLogs":[{"scopeLogs":[{"logRecords":[{}]}]}]}', 'metrics', /resourceLogs is unknown.*resourceMetrics/],
  [
    '{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"a","gauge":{"data_points":[{}]}}]}]}]}',
    'metrics',
    /data_points/,
  ],
  ['{"level":"error","msg":"plain"}', 'logs', /level is unknown.*resourceLogs/],
  ['{"level":"error","resourceLogs":[]}', 'logs', /level is unknown/],
];
test('a body in which no record is found is reported, unless it has none to find', async (t) => {
  await using fixture = await running({ plan });
  for (const [text, signal, message] of emptyBodies) {
    fixture.bus.messages.length = 0;
    const response = await post(fixture, text, { path: `/v1/${signal}`, 'content-type': json });
    t.is(response.status, 200);
    t.is(acceptedRecords(fixture), 0);
    const { partialSuccess } = JSON.parse(response.body.toString());
    if (message === undefined) t.is(partialSuccess, undefined, text);
    else t.regex(partialSuccess?.errorMessage ?? '', message, text);
    t.is(partialSuccess?.rejectedLogRecords ?? '0', '0');
    t.deepEqual(
      fixture.bus.deadLetters().map(({ headers, body }) => [headers.reason, body.toString()]),
      message === undefined ? [] : [['no-records', text]],
    );
  }
});

test('records beside a part with unknown names are stored, and that part is reported', async (t) => {
  await using fixture = await running({ plan });
  const good = { scopeLogs: [{ logRecords: [recordAt.logs('0')] }] };
  const lost = { scope_logs: [{ log_records: [{}] }] };
  const text = JSON.stringify({ resourceLogs: [good, lost, good] });
  const response = await post(fixture, text, { 'content-type': json });
  t.regex(
    JSON.parse(response.body.toString()).partialSuccess.errorMessage,
    /^resourceLogs\[1\].*scope_logs is unknown/,
  );
  t.is(acceptedRecords(fixture), 2);
  t.deepEqual(JSON.parse(fixture.bus.deadLetters()[0]?.body.toString() ?? '{}'), { resourceLogs: [lost] });
});

test('Loki: entries with a fault are refused with their place, and the others are stored', async (t) => {
  await using fixture = await running({ plan });
  const path = '/loki/api/v1/push';
  const good = [nanoseconds(nowMs), 'one'];
  const old = [String(nowMs), 'milliseconds'];
  const stream = (...values: unknown[]): Json => ({ stream: { job: 'shop' }, values });
  const cases: readonly (readonly [Json[], number, RegExp])[] = [
    [[stream(good, old, good)], 2, /2 entries were stored, and 1 rejected.*streams\[0\]\.values\[1\].*milliseconds/],
    [[stream(good), stream(['-1', 'x'])], 1, /expected a time in nanoseconds/],
    [[stream(good), { labels: '{a="b"}', entries: [{}] }], 1, /streams\[1\]: a stream needs values/],
    [[stream(good), { values: [good], stream: 5 }], 1, /streams\[1\]\.stream/],
  ];
  for (const [streams, accepted, message] of cases) {
    fixture.bus.messages.length = 0;
    const response = await post(fixture, JSON.stringify({ streams }), { path, 'content-type': json });
    t.is(response.status, 400);
    t.regex(response.body.toString(), message);
    t.is(acceptedRecords(fixture), accepted);
    t.is(fixture.bus.deadLetters().length, 1);
  }
  fixture.bus.messages.length = 0;
  for (const text of ['{"streams":[{"labels":"{}","entries":[]}]}', '{"Streams":[{}]}'])
    t.is((await post(fixture, text, { path, 'content-type': json })).status, 400, text);
  t.is(fixture.bus.deadLetters().length, 2);

  fixture.bus.messages.length = 0;
  const seconds = Math.trunc(nowMs / 1000);
  const push = lokiPush('{job="shop"}', [
    [seconds, 0, 'one'],
    [5, 0, 'old'],
    [seconds, 1, 'two'],
  ]);
  const body = Buffer.concat([push, lokiPush('{job=shop}', [[seconds, 0, 'no quotes']])]);
  const apiResponse = await post(fixture, compressSnappy(body), { path });
  t.is(apiResponse.status, 400);
  t.regex(apiResponse.body.toString(), /2 entries were stored, and 2 rejected/);
  t.is(acceptedRecords(fixture), 2);
  const [deadLetter] = fixture.bus.deadLetters();
  t.is(deadLetter?.headers.format, 'loki-protobuf');
  t.false(deadLetter?.body.includes('two'));
  t.true(deadLetter?.body.includes('no quotes') && deadLetter.body.includes('old'));
});

test('Zipkin: spans with a fault are refused with their place, and the others are stored', async (t) => {
  await using fixture = await running({ plan });
  const span = { traceId, id: spanId, name: 'get', timestamp: nowMs * 1000, duration: 5 };
  const cases: readonly (readonly [Json, RegExp])[] = [
    [{ ...span, timestamp: Math.trunc(nowMs / 1000) }, /\[1\].*a time in seconds: send microseconds/],
    [{ ...span, timestamp: nowMs }, /a time in milliseconds: send microseconds/],
    [{ ...span, traceId: '0' }, /only zeros/],
    [{ ...span, id: 'xyz' }, /\[1\]\.id/],
    [{ name: 'no ids' }, /a span needs a traceId and an id/],
  ];
  for (const [badSpan, message] of cases) {
    fixture.bus.messages.length = 0;
    const response = await post(fixture, JSON.stringify([span, badSpan, span]), {
      path: '/api/v2/spans',
      'content-type': json,
    });
    t.is(response.status, 400);
    t.regex(response.body.toString(), /2 spans were stored, and 1 rejected/);
    t.regex(response.body.toString(), message);
    t.is(acceptedRecords(fixture), 2);
    t.deepEqual(JSON.parse(fixture.bus.deadLetters()[0]?.body.toString() ?? ''), [badSpan]);
  }
});

const label = (name: string, value: string) => ({ name, value });
const series = (labels: Json[], ...timestamps: number[]): Json => ({
  labels: [label('__name__', 'up'), ...labels],
  samples: timestamps.map((timestamp) => ({ timestamp, value: 1 })),
});

test('remote-write: samples that no query finds and series with a fault are refused, and the others are stored', async (t) => {
  await using fixture = await running({ plan });
  const type = writeRequestTypes[1];
  const good = series([label('a', 'b')], nowMs);
  const cases: readonly (readonly [string, Json[], number, number, RegExp])[] = [
    ['time 0', [good, series([], 0)], 1, 1, /Sample\.timestamp is 1970-01-01/],
    ['time -1', [good, series([], -1)], 1, 1, /retains nothing before/],
    ['seconds', [good, series([], Math.trunc(nowMs / 1000))], 1, 1, /seconds: send milliseconds/],
    ['beyond retention', [series([], nowMs - 400 * dayMs, nowMs, nowMs - 1)], 2, 1, /retains nothing before/],
    ['in two days', [good, series([], nowMs + 2 * dayMs)], 1, 1, /ahead of the receiver/],
    ['a label twice', [good, series([label('a', 'b'), label('a', 'c')], nowMs, nowMs)], 1, 2, /label/],
  ];
  for (const [name, timeseries, accepted, rejected, message] of cases) {
    fixture.bus.messages.length = 0;
    const body = Buffer.from(type.encode(type.fromObject({ timeseries })).finish());
    const response = await fetch(`${fixture.main}/api/v1/prom/write`, {
      method: 'POST',
      headers: { 'x-license-key': fixture.secret, 'content-type': protobuf, 'content-encoding': 'snappy' },
      body: compressSnappy(body) as Uint8Array<ArrayBuffer>,
    });
    const { error } = (await response.json()) as { error: string };
    t.is(response.status, 400, name);
    t.true(error.startsWith(`only ${accepted} samples were stored, and ${rejected} rejected`), `${name}: ${error}`);
    t.regex(error, message, name);
    t.is(acceptedRecords(fixture), accepted, name);
    t.is(fixture.bus.deadLetters().length, 1, name);
  }
});

test('remote-write: a body in which no sample is found is refused, unless it has none to find', async (t) => {
  await using fixture = await running({ plan });
  const unknown = [0x3a, 3, 1, 2, 3];
  const toBody = (version: 1 | 2, request: Json): number[] => {
    const type = writeRequestTypes[version];
    return [...type.encode(type.fromObject(request)).finish()];
  };
  const withoutSamples = toBody(1, { timeseries: [series([label('a', 'b')])] });
  const metadata = toBody(1, { metadata: [{ type: 1, metricFamilyName: 'up', help: 'whether it is up' }] });
  const symbols = toBody(2, { symbols: ['', 'up'] });
  const cases: readonly (readonly [string, 1 | 2, readonly number[], number])[] = [
    ['no byte', 1, [], 202],
    ['no byte', 2, [], 202],
    ['a series without samples', 1, withoutSamples, 202],
    ['metadata', 1, metadata, 202],
    ['symbols alone', 2, symbols, 202],
    ['an unknown field', 1, unknown, 400],
    ['an unknown field after a series without samples', 1, [...withoutSamples, ...unknown], 400],
    ['an unknown field after symbols', 2, [...symbols, ...unknown], 400],
    ['an unknown field after a sample', 1, [...toBody(1, { timeseries: [series([], nowMs)] }), ...unknown], 202],
  ];
  for (const [name, version, body, status] of cases) {
    fixture.bus.messages.length = 0;
    const response = await fetch(`${fixture.main}/api/v1/prom/write`, {
      method: 'POST',
      headers: {
        'x-license-key': fixture.secret,
        'content-type': version === 1 ? protobuf : `${protobuf};proto=io.prometheus.write.v2.Request`,
        'content-encoding': 'snappy',
      },
      body: compressSnappy(Buffer.from(body)) as Uint8Array<ArrayBuffer>,
    });
    const text = await response.text();
    t.is(response.status, status, `${name}, ${version}.0: ${text}`);
    if (status === 400) t.regex(text, /no sample was found: a field is unknown here/);
    t.deepEqual(
      fixture.bus.deadLetters().map(({ headers }) => headers.reason),
      status === 400 ? ['no-records'] : [],
      name,
    );
  }
});

test('remote-write 2.0: the headers of a refusal have the counts of what was stored', async (t) => {
  await using fixture = await running({ plan });
  const type = writeRequestTypes[2];
  const sampled = (labelsRefs: number[], timestamp: number) => ({ labelsRefs, samples: [{ timestamp, value: 1 }] });
  const request = {
    symbols: ['', '__name__', 'up'],
    timeseries: [sampled([1, 2], nowMs), sampled([1, 2], 5), sampled([1, 9], nowMs)],
  };
  const response = await fetch(`${fixture.main}/api/v1/prom/write`, {
    method: 'POST',
    headers: {
      'x-license-key': fixture.secret,
      'content-type': `${protobuf};proto=io.prometheus.write.v2.Request`,
      'content-encoding': 'snappy',
    },
    body: compressSnappy(Buffer.from(type.encode(type.fromObject(request)).finish())) as Uint8Array<ArrayBuffer>,
  });
  t.is(response.status, 400);
  t.is(response.headers.get('x-prometheus-remote-write-samples-written'), '1');
  t.is(acceptedRecords(fixture), 1);
});

test('while the dead letter cannot be stored, nothing is acknowledged', async (t) => {
  await using fixture = await running({ plan });
  const body = JSON.stringify(requests.logs([recordAt.logs('0'), { traceId: 'ab' }]));
  fixture.bus.broken = 'oiq.dead-letter';
  fixture.bus.failsEvery = 1;
  t.is((await post(fixture, body, { 'content-type': json })).status, 503);
  t.is(fixture.bus.messages.length, 0);
});

test('a large body is separated in the worker as on the main thread', async (t) => {
  await using fixture = await running({ plan });
  const text = 'x'.repeat(2_000);
  const records = Array.from({ length: 6_000 }, (_, index) => ({
    timeUnixNano: index % 3 === 0 ? String(nowMs) : nanoseconds(nowMs),
    body: { stringValue: text },
  }));
  const body = requests.logs(records);
  for (const [type, bytes] of [
    [json, JSON.stringify(body)],
    [protobuf, encode('logs', body)],
  ] as const) {
    fixture.bus.messages.length = 0;
    t.is((await post(fixture, bytes, { 'content-type': type })).status, 200);
    t.is(acceptedRecords(fixture), 4_000);
    const [deadLetter] = fixture.bus.deadLetters();
    t.regex(deadLetter?.headers.message ?? '', /2000 records/);
    t.is(deadLetter?.headers.reason, 'wrong-time-unit');
  }
});

test('above ten thousand faults a request is refused whole, in limited time', async (t) => {
  await using fixture = await running({ plan });
  const records = Array.from({ length: 30_000 }, (_, index) => ({ timeUnixNano: index % 2 ? '0' : String(nowMs) }));
  const body = requests.logs(records);
  for (const [type, bytes] of [
    [json, JSON.stringify(body)],
    [protobuf, encode('logs', body)],
  ] as const) {
    fixture.bus.messages.length = 0;
    t.is((await post(fixture, bytes, { 'content-type': type })).status, 400);
    t.is(acceptedRecords(fixture), 0);
    t.is(fixture.bus.deadLetters().length, 1);
  }
});
