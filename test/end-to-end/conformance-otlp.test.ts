/**
 * Requirements of the OTLP specification for servers, over HTTP and gRPC. Throttling (429, UNAVAILABLE,
 * RESOURCE_EXHAUSTED with RetryInfo) needs a failing bus or reached limits; the receivers' contract tests it.
 */
import { readFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import test from 'ava';
import { convertJsonRequest } from '../../schemas/otlp/json.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import { field, requestTypes } from '../cases/proto/load.ts';
import { jsonRequest, request } from '../contract/receivers-bodies.ts';
import { eventually } from '../waiting.ts';
import { type Subject, startSubject } from './conformance.ts';
import { read } from './oiq-process.ts';

const json = 'application/json';
const protobuf = 'application/x-protobuf';
const signals = ['logs', 'metrics', 'traces'] as const;
const allowedOrigin = 'https://shop.example';

let subject: Subject;
let client: Client;
let compressing: Client;
test.before(async () => {
  subject = await startSubject({ OIQ_CORS_ORIGINS: allowedOrigin });
  client = new Client(subject.oiq.grpc, credentials.createInsecure());
  const gzip = { 'grpc.default_compression_algorithm': 2 };
  compressing = new Client(subject.oiq.grpc, credentials.createInsecure(), gzip);
});
test.after.always(async () => {
  client?.close();
  compressing?.close();
  await subject?.close();
});

type Body = Buffer | string;
const post = async (path: string, body: Body, headers: Readonly<Record<string, string>> = {}) => {
  const base = path.startsWith('/otlp/') ? subject.oiq.http : subject.oiq.otlp;
  const response = await fetch(`${base}${path}`, {
    method: 'POST',
    headers: { 'x-license-key': subject.licenseKey, 'content-type': protobuf, ...headers },
    body: typeof body === 'string' ? body : new Uint8Array(body),
  });
  return { status: response.status, headers: response.headers, body: Buffer.from(await response.arrayBuffer()) };
};

const methods = {
  logs: 'logs.v1.LogsService',
  metrics: 'metrics.v1.MetricsService',
  traces: 'trace.v1.TraceService',
} as const;

/** Sends one unary call with raw bytes. Returns the response bytes or the error. */
const call = (
  path: string,
  body: Buffer,
  key = subject.licenseKey,
  compress = false,
): Promise<Buffer | ServiceError> => {
  const metadata = new Metadata();
  metadata.set('x-license-key', key);
  const same = (bytes: Buffer): Buffer => bytes;
  return new Promise((resolve) => {
    (compress ? compressing : client).makeUnaryRequest(path, same, same, body, metadata, (error, response) => {
      resolve(error ?? response ?? Buffer.from('no answer'));
    });
  });
};
const pathOf = (signal: Signal): string => `/opentelemetry.proto.collector.${methods[signal]}/Export`;

const encodings: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  identity: (body) => body,
  gzip: gzipSync,
  deflate: deflateSync,
  zstd: zstdCompressSync,
};

for (const signal of signals) {
  for (const [encoding, encode] of Object.entries(encodings)) {
    for (const media of [protobuf, json]) {
      test(`HTTP: ${signal} as ${media}, ${encoding}, get 200 and a response without fields in the same form`, async (t) => {
        const plain = media === json ? Buffer.from(jsonRequest(signal)) : request(signal);
        for (const prefix of ['', '/otlp']) {
          const headers = { 'content-type': media, 'content-encoding': encoding };
          const response = await post(`${prefix}/v1/${signal}`, encode(plain), headers);
          t.is(response.status, 200, response.body.toString());
          t.is(response.headers.get('content-type'), media);
          t.is(response.body.toString(), media === json ? '{}' : '');
        }
      });
    }
  }
  for (const compress of [false, true])
    test(`gRPC: ${signal}${compress ? ' as gzip' : ''} get OK and a response without fields`, async (t) => {
      t.deepEqual(await call(pathOf(signal), request(signal, 200), undefined, compress), Buffer.alloc(0));
    });
}

/** Requests without telemetry: each level is omitted once. */
const empty: Readonly<Record<string, string>> = {
  'no field': '{}',
  'no resource': '{"resourceLogs":[]}',
  'an empty resource entry': '{"resourceLogs":[{}]}',
  'a resource without scopes': '{"resourceLogs":[{"resource":{"attributes":[]},"scopeLogs":[]}]}',
  'a scope without records': '{"resourceLogs":[{"scopeLogs":[{"scope":{"name":"s"},"logRecords":[]}]}]}',
};
for (const [what, text] of Object.entries(empty))
  test(`an empty request with ${what} is a success in every form`, async (t) => {
    const bytes = convertJsonRequest('logs', Buffer.from(text));
    t.is((await post('/v1/logs', text, { 'content-type': json })).status, 200);
    t.is((await post('/v1/logs', bytes)).status, 200);
    t.is((await post('/v1/logs', gzipSync(bytes), { 'content-encoding': 'gzip' })).status, 200);
    t.deepEqual(await call(pathOf('logs'), bytes), Buffer.alloc(0));
  });

/** Decodes `google.rpc.Status`: code, message, and the types of its details. */
const statusOf = (bytes: Buffer): { code: number; message: string; details: string[] } => {
  const status = { code: 0, message: '', details: [] as string[] };
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const length = varint();
    if (tag === 0x08) status.code = length;
    else {
      const content = bytes.subarray(at, at + length);
      at += length;
      if (tag === 0x12) status.message = content.toString();
      else status.details.push(/type\.googleapis\.com\/[\w.]+/.exec(content.toString('latin1'))?.[0] ?? '');
    }
  }
  return status;
};

const badRequest = 'type.googleapis.com/google.rpc.BadRequest';
const bad: readonly (readonly [what: string, body: () => Body, headers: Readonly<Record<string, string>>])[] = [
  ['bytes that are no message', () => Buffer.from([0xff, 0xff, 0xff]), {}],
  ['a message cut off', () => request('logs').subarray(0, 40), {}],
  ['another signal’s message', () => request('traces'), {}],
  ['text that is no JSON', () => '{"resourceLogs":[', { 'content-type': json }],
  ['no bytes at all as JSON', () => '', { 'content-type': json }],
  ['a JSON array', () => '[]', { 'content-type': json }],
  ['a number where a list belongs', () => '{"resourceLogs":1}', { 'content-type': json }],
  [
    'a trace id in base64',
    () => jsonRequest('traces').replace('0102030405060708090a0b0c0d0e0f10', 'AQIDBAUGBwgJCgsMDQ4PEA=='),
    { 'content-type': json },
  ],
  [
    'the name of an enum value',
    () => jsonRequest('traces').replace('"kind":2', '"kind":"SPAN_KIND_SERVER"'),
    { 'content-type': json },
  ],
  ['a body that is no gzip', () => request('logs'), { 'content-encoding': 'gzip' }],
  ['gzip that is cut off', () => gzipSync(request('logs', 50)).subarray(0, 60), { 'content-encoding': 'gzip' }],
];
for (const [what, body, headers] of bad)
  test(`HTTP: ${what} gets 400 and a Status that describes the error, in the request's form`, async (t) => {
    const path = what.includes('trace id') || what.includes('enum') ? '/v1/traces' : '/v1/logs';
    const response = await post(path, body(), headers);
    t.is(response.status, 400);
    t.is(response.headers.get('retry-after'), null);
    if (headers['content-type'] === json) {
      t.is(response.headers.get('content-type'), json);
      const { message, details } = JSON.parse(response.body.toString());
      t.regex(message, /\w/);
      t.deepEqual(details, [{ '@type': badRequest, fieldViolations: [{ description: message }] }]);
    } else {
      t.is(response.headers.get('content-type'), protobuf);
      const { code, message, details } = statusOf(response.body);
      t.is(code, 3);
      t.regex(message, /\w/);
      t.deepEqual(details, [badRequest]);
    }
  });

const wrong: readonly (readonly [what: string, status: number, send: () => ReturnType<typeof post>])[] = [
  ['no key', 401, () => post('/v1/logs', request('logs'), { 'x-license-key': '' })],
  ['an unknown content type', 415, () => post('/v1/logs', request('logs'), { 'content-type': 'text/plain' })],
  ['an unknown encoding', 415, () => post('/v1/logs', request('logs'), { 'content-encoding': 'br' })],
  ['an unknown path', 404, () => post('/v1/unknown', request('logs'))],
  ['profiles, which are in development', 404, () => post('/v1development/profiles', request('logs'))],
  [
    'a body too large once decompressed',
    413,
    () => post('/v1/logs', gzipSync(Buffer.alloc(51 * 1024 * 1024)), { 'content-encoding': 'gzip' }),
  ],
];
for (const [what, status, send] of wrong)
  test(`HTTP: ${what} gets ${status}, a Status and no request to retry`, async (t) => {
    const response = await send();
    t.is(response.status, status);
    t.is(response.headers.get('retry-after'), null);
    const isJson = response.headers.get('content-type') === json;
    const { message } = isJson ? JSON.parse(response.body.toString()) : statusOf(response.body);
    t.regex(message, /\w/);
  });

test('HTTP: other methods get 405 and the allowed methods', async (t) => {
  for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
    const response = await fetch(`${subject.oiq.otlp}/v1/traces`, { method });
    t.is(response.status, 405);
    t.is(response.headers.get('allow'), 'POST');
    await response.arrayBuffer();
  }
});

test('HTTP: a body whose announced length is too large gets 413 before it is sent', async (t) => {
  const status = await new Promise((resolve, reject) => {
    const sent = httpRequest(`${subject.oiq.otlp}/v1/logs`, {
      method: 'POST',
      headers: { 'x-license-key': subject.licenseKey, 'content-type': protobuf, 'content-length': 60 * 1024 * 1024 },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      resolve(response.statusCode);
      sent.destroy();
    });
    sent.flushHeaders();
  });
  t.is(status, 413);
});

test('HTTP: sequential requests share one connection, and many run concurrently', async (t) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ports = new Set<number | undefined>();
  for (let round = 0; round < 5; round++) {
    await new Promise<void>((resolve, reject) => {
      const sent = httpRequest(`${subject.oiq.otlp}/v1/logs`, {
        agent,
        method: 'POST',
        headers: { 'x-license-key': subject.licenseKey, 'content-type': protobuf },
      });
      sent.on('error', reject);
      sent.on('response', (response) => {
        ports.add(response.socket.localPort);
        t.is(response.statusCode, 200);
        response.resume().on('end', resolve);
      });
      sent.end(request('logs'));
    });
  }
  agent.destroy();
  t.is(ports.size, 1);
  const many = await Promise.all(Array.from({ length: 60 }, () => post('/v1/traces', request('traces'))));
  t.true(many.every(({ status }) => status === 200));
});

test('HTTP: a client that accepts gzip gets a response that it can decode', async (t) => {
  const response = await post('/v1/logs', jsonRequest('logs'), { 'content-type': json, 'accept-encoding': 'gzip' });
  t.is(response.body.toString(), '{}');
});

test('HTTP: browsers from allowed origins may send, and others may not', async (t) => {
  const preflight = (origin: string) =>
    fetch(`${subject.oiq.otlp}/v1/traces`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-license-key',
      },
    });
  const allowed = await preflight(allowedOrigin);
  t.is(allowed.status, 204);
  t.is(allowed.headers.get('access-control-allow-origin'), allowedOrigin);
  t.regex(allowed.headers.get('access-control-allow-headers') ?? '', /x-license-key/);
  t.is((await preflight('https://other.example')).headers.get('access-control-allow-origin'), null);
  const sent = await post('/v1/traces', request('traces'), { origin: allowedOrigin });
  t.is(sent.headers.get('access-control-allow-origin'), allowedOrigin);
});

const codes: readonly (readonly [what: string, code: number, send: () => ReturnType<typeof call>])[] = [
  ['bytes that are no message', 3, () => call(pathOf('logs'), Buffer.from([0xff, 0xff]))],
  ['another signal’s message', 3, () => call(pathOf('logs'), request('traces'))],
  ['no key', 16, () => call(pathOf('logs'), request('logs'), '')],
  ['an unknown method', 12, () => call('/opentelemetry.proto.collector.logs.v1.LogsService/Import', request('logs'))],
  [
    'profiles, which are in development',
    12,
    () => call('/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export', Buffer.alloc(0)),
  ],
  ['a message too large', 8, () => call(pathOf('logs'), Buffer.alloc(51 * 1024 * 1024))],
  [
    'a message too large once decompressed',
    8,
    () => call(pathOf('logs'), Buffer.alloc(51 * 1024 * 1024), undefined, true),
  ],
];
for (const [what, code, send] of codes)
  test(`gRPC: ${what} gets the code ${code}, a message and no request to retry`, async (t) => {
    const error = await send();
    if (!(error instanceof Error)) return t.fail('it was taken');
    t.is(error.code, code);
    t.regex(error.details, code === 8 ? /larger than 52428800 bytes/ : /\w/);
    t.deepEqual(error.metadata.get('grpc-status-details-bin'), []);
    return undefined;
  });

test('gRPC: many calls run concurrently on one connection', async (t) => {
  const many = await Promise.all(Array.from({ length: 300 }, () => call(pathOf('metrics'), request('metrics'))));
  t.true(many.every((response) => !(response instanceof Error)));
});

/** Adds an unknown field to the message at each level. */
test('unknown fields are skipped, in protobuf and in JSON', async (t) => {
  const unknown = Buffer.concat([field(900, 'later'), Buffer.from([0xf8, 0x7f, 0x01])]);
  const record = Buffer.concat([field(5, field(1, 'later 1')), unknown]);
  const scope = Buffer.concat([unknown, field(2, record)]);
  const body = Buffer.concat([field(1, field(2, scope), unknown), unknown]);
  t.is((await post('/v1/logs', body)).status, 200);
  t.deepEqual(await call(pathOf('logs'), body), Buffer.alloc(0));
  const text = JSON.stringify({
    later: { resourceLogs: [1, { a: null }] },
    resourceLogs: [
      { later: [], scopeLogs: [{ later: 'x', logRecords: [{ later: 1, body: { stringValue: 'later 2' } }] }] },
    ],
  });
  t.is((await post('/v1/logs', text, { 'content-type': json })).status, 200);
});

const nowSeconds = Math.floor(Date.now() / 1000) - 60;

/** A published example with current times and its own names. */
const example = (file: string, suffix: string, id: string): string =>
  readFileSync(new URL(`../cases/otlp-examples/${file}.json`, import.meta.url), 'utf8')
    .replaceAll('1544712660', String(nowSeconds))
    .replaceAll('1544712661', String(nowSeconds + 1))
    .replaceAll('"my.service"', `"my.service.${suffix}"`)
    .replaceAll(/"my\.(counter|gauge|histogram|exponential\.histogram)"/g, `"my.$1.${suffix}"`)
    .replaceAll(/5B8EFFF798038103D269B633813FC6../gi, `5B8EFFF798038103D269B633813FC6${id}`);

type Send = (signal: Signal, text: string) => Promise<boolean>;
const bytesOf = (signal: Signal, text: string): Buffer => convertJsonRequest(signal, Buffer.from(text));
/** Encoded by an independent library. */
const byLibrary = (signal: Signal, text: string): Buffer => {
  const type = requestTypes[signal];
  return Buffer.from(type.encode(type.decode(bytesOf(signal, text))).finish());
};
const ways: Readonly<Record<string, Send>> = {
  json: async (signal, text) => (await post(`/v1/${signal}`, text, { 'content-type': json })).status === 200,
  jsonCharset: async (signal, text) =>
    (await post(`/v1/${signal}`, text, { 'content-type': 'application/json; charset=utf-8' })).status === 200,
  jsonGzip: async (signal, text) =>
    (await post(`/v1/${signal}`, gzipSync(text), { 'content-type': json, 'content-encoding': 'gzip' })).status === 200,
  protobuf: async (signal, text) => (await post(`/v1/${signal}`, byLibrary(signal, text))).status === 200,
  octets: async (signal, text) =>
    (await post(`/otlp/v1/${signal}`, bytesOf(signal, text), { 'content-type': 'application/octet-stream' })).status ===
    200,
  zstd: async (signal, text) =>
    (await post(`/v1/${signal}`, zstdCompressSync(bytesOf(signal, text)), { 'content-encoding': 'zstd' })).status ===
    200,
  deflate: async (signal, text) =>
    (await post(`/v1/${signal}`, deflateSync(bytesOf(signal, text)), { 'content-encoding': 'deflate' })).status === 200,
  grpc: async (signal, text) => !((await call(pathOf(signal), byLibrary(signal, text))) instanceof Error),
  grpcGzip: async (signal, text) =>
    !((await call(pathOf(signal), bytesOf(signal, text), undefined, true)) instanceof Error),
};

interface Page<Item> {
  readonly items: Item[];
}
type Fields = Record<string, unknown>;
const iso = (fraction: string): string => `${new Date(nowSeconds * 1000).toISOString().slice(0, 19)}.${fraction}Z`;

for (const [at, [way, send]] of Object.entries(ways).entries()) {
  const id = (0x10 + at).toString(16);
  const service = `my.service.${way}`;
  const resource = { 'service.name': service };
  const scope = { name: 'my.library', version: '1.0.0' };
  const get = <Item>(path: string): Promise<Page<Item>> => read(subject.oiq.http, path, subject.token);

  test(`the published examples sent as ${way} are read back field by field`, async (t) => {
    for (const [file, signal] of [
      ['logs', 'logs'],
      ['events', 'logs'],
      ['metrics', 'metrics'],
      ['trace', 'traces'],
    ] as const)
      t.true(await send(signal, example(file, way, id)), file);
    const logs = `/api/logs?scope=account&service=${service}`;
    await eventually('both records', async () => (await get(logs)).items.length === 2);
    const [event, log] = (await get<Fields>(logs)).items.toSorted(
      (a, b) => Number(a['eventName'] === null) - Number(b['eventName'] === null),
    );
    t.like(log, {
      timestamp: iso('300000000'),
      observedTimestamp: iso('300000000'),
      severity: 'Information',
      severityNumber: 10,
      body: 'Example log record',
      service,
      resource,
      scope,
      traceId: `5b8efff798038103d269b633813fc6${id}`,
      spanId: 'eee19b7ec3c1b174',
      attributes: {
        'string.attribute': 'some string',
        'boolean.attribute': true,
        'int.attribute': 10,
        'double.attribute': 637.704,
        'array.attribute': ['many', 'values'],
        'map.attribute': { 'some.map.key': 'some value' },
      },
    });
    t.like(event, {
      eventName: 'browser.page_view',
      severity: 'test severity text',
      severityNumber: 9,
      attributes: { 'event.attribute': 'some event attribute' },
      traceId: null,
    });
    t.like(event?.['body'], { type: 0, title: 'Free Online GUID Generator', referrer: 'https://wwww.google.com' });

    const trace = `/api/traces/5b8efff798038103d269b633813fc6${id}?scope=account`;
    await eventually(
      'the trace',
      async () =>
        (await fetch(`${subject.oiq.http}${trace}`, { headers: { authorization: `Bearer ${subject.token}` } }))
          .status === 200,
    );
    const { spans } = await read<{ spans: Fields[] }>(subject.oiq.http, trace, subject.token);
    t.like(spans[0], {
      spanId: 'eee19b7ec3c1b174',
      parentSpanId: 'eee19b7ec3c1b173',
      name: "I'm a server span",
      kind: 'server',
      startTime: iso('000000000'),
      durationNs: 1_000_000_000,
      status: 'unset',
      service,
      resource,
      scope,
      attributes: { 'my.span.attr': 'some value' },
    });

    const metric = async (name: string): Promise<Fields & { series: (Fields & { points: Fields[] })[] }> => {
      const path = `/api/metrics?scope=account&name=${name}.${way}`;
      await eventually(name, async () => {
        const series = (await get<{ series: { points: Fields[] }[] }>(path)).items[0]?.series;
        return series?.length === 1 && (series[0]?.points.length ?? 0) > 0;
      });
      const [found] = (await get<Fields & { series: (Fields & { points: Fields[] })[] }>(path)).items;
      if (found === undefined) throw new Error(`no metric ${name}`);
      return found;
    };
    const expected: Readonly<Record<string, readonly [Fields, Fields]>> = {
      'my.counter': [
        { type: 'sum', unit: '1', description: 'I am a Counter', temporality: 'delta', monotonic: true },
        { value: 5, startTimestamp: iso('300000000') },
      ],
      'my.gauge': [
        { type: 'gauge', description: 'I am a Gauge', monotonic: false },
        { value: 10, startTimestamp: null },
      ],
      'my.histogram': [
        { type: 'histogram', temporality: 'delta' },
        { count: 2, sum: 2, min: 0, max: 2, bounds: [1], bucketCounts: [1, 1] },
      ],
      'my.exponential.histogram': [
        { type: 'exponential_histogram', temporality: 'delta' },
        {
          count: 3,
          sum: 10,
          min: 0,
          max: 5,
          exponential: {
            scale: 0,
            zeroCount: 1,
            zeroThreshold: 0,
            positive: { offset: 1, bucketCounts: [0, 2] },
            negative: { offset: 0, bucketCounts: [] },
          },
        },
      ],
    };
    for (const [name, [described, point]] of Object.entries(expected)) {
      const found = await metric(name);
      t.like(found, { unit: '1', ...described });
      const [series] = found.series;
      t.like(series, { service, resource, scope, labels: { [`${name}.attr`]: 'some value' } });
      t.like(series?.points[0], { timestamp: iso('300000000'), flags: 0, ...point });
    }
  });
}
