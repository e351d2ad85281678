/** Behavior of OTLP and remote-write beyond the contract of every receiver (`every-receiver.test.ts`). */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import test from 'ava';
import { republishRejected } from '../../receivers/index.ts';
import { compressSnappy, decompress } from '../../schemas/compression.ts';
import type { DeadLetterHeaders } from '../../schemas/dead-letter.ts';
import { PermanentError } from '../../schemas/errors.ts';
import { generateLicenseKey } from '../../schemas/license-key-format.ts';
import { convertJsonRequest } from '../../schemas/otlp/json.ts';
import { scanRequest } from '../../schemas/otlp/scan.ts';
import { licenseKeys } from '../../schemas/resources/license-key.ts';
import { defaultPlans } from '../../schemas/resources/plan.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import { topics, type UsageReport } from '../../schemas/topics.ts';
import { eventually } from '../waiting.ts';
import { jsonRequest, nestedArrays, request, writeRequest, writeRequest2 } from './receivers-bodies.ts';
import { call, grpcPath, post, protobuf } from './receivers-calls.ts';
import { browserApplication, browserOrigin, manyRequests, running, secretBox, tenantId } from './receivers-fixture.ts';

const signals: readonly Signal[] = ['logs', 'metrics', 'traces'];

for (const signal of signals) {
  const body = request(signal, 3);
  const encodings: [string, Record<string, string>, Uint8Array | string, Uint8Array][] = [
    ['plain protobuf', {}, body, body],
    ['application/octet-stream', { 'content-type': 'application/octet-stream' }, body, body],
    ['gzip', { 'content-encoding': 'gzip' }, gzipSync(body), gzipSync(body)],
    ['GZIP in capitals', { 'Content-Encoding': 'GZIP' }, gzipSync(body), gzipSync(body)],
    ['zstd', { 'content-encoding': 'zstd' }, zstdCompressSync(body), zstdCompressSync(body)],
    ['deflate', { 'content-encoding': 'deflate' }, deflateSync(body), body],
    ['identity', { 'content-encoding': 'identity' }, body, body],
    ['JSON', { 'content-type': 'application/json; charset=utf-8' }, jsonRequest(signal, 3), body],
  ];
  for (const [name, headers, sent, published] of encodings) {
    test(`otlp-http: ${signal} as ${name} are on the bus when the response is sent`, async (t) => {
      await using fixture = await running();
      const {
        status,
        headers: answered,
        body: answer,
      } = await post(fixture, sent, { path: `/v1/${signal}`, ...headers });
      t.is(status, 200);
      t.is(answer.toString(), name === 'JSON' ? '{}' : '');
      t.is(answered.get('content-type')?.split(';')[0], headers['content-type']?.split(';')[0] ?? protobuf);
      const [member, ...others] = fixture.bus.members();
      t.is(others.length, 0);
      t.deepEqual(member?.bytes, Buffer.from(published));
      t.is(member?.records, 3);
      t.is(member?.headers.signal, signal);
      t.is(member?.headers.tenantId, tenantId);
      t.is(member?.headers.keyId, fixture.keyId);
    });
  }

  for (const [gzip, server] of [
    [false, 'own'],
    [true, 'own'],
    [true, 'node'],
  ] as const) {
    test(`otlp-grpc: ${signal} ${gzip ? 'as gzip' : 'plain'} are on the bus when the response is sent: ${server} server`, async (t) => {
      await using fixture = await running({ environment: { OIQ_GRPC_SERVER: server } });
      const { error, response } = await call(fixture, grpcPath(signal), body, { gzip });
      t.is(error, undefined);
      t.is(response?.length, 0);
      const [member] = fixture.bus.members();
      t.is(member?.headers.encoding, gzip ? 'gzip' : 'identity');
      t.deepEqual(decompress(gzip ? 'gzip' : 'identity', member?.bytes ?? Buffer.alloc(0), 1e6), body);
    });
  }
}

test('an empty request succeeds and publishes nothing to the bus', async (t) => {
  await using fixture = await running();
  t.is((await post(fixture, '')).status, 200);
  t.is((await post(fixture, '{}', { 'content-type': 'application/json' })).body.toString(), '{}');
  t.is((await call(fixture, grpcPath('logs'), Buffer.alloc(0))).error, undefined);
  t.is(fixture.bus.messages.length, 0);
});

test('the main address serves OTLP under /otlp and leaves other paths to other handlers', async (t) => {
  await using fixture = await running();
  const main = { ...fixture, http: fixture.main };
  t.is((await post(main, request('logs'), { path: '/otlp/v1/logs' })).status, 200);
  t.is((await post(main, request('logs'), { path: '/otlp/v1/nothing' })).status, 404);
  t.is((await post(main, request('logs'), { path: '/v1/logs' })).status, 418);
  t.is((await fetch(`${main.http}/api/v1/prom/write`)).status, 405);
  for (const path of ['/api/v2/spans', '/zipkin/api/v2/services', '/loki/api/v1/query', '/loki/api/v1/push/'])
    t.is((await post(main, '[]', { path })).status, 418, path);
  for (const path of ['/zipkin/api/v2/spans', '/loki/api/v1/query'])
    t.is((await post(fixture, '[]', { path })).status, 404, path);

  const snappy = { path: '/api/v1/prom/write', 'content-encoding': 'snappy' };
  const one = await post(main, compressSnappy(writeRequest(5)), snappy);
  t.is(one.status, 202);
  t.deepEqual(JSON.parse(one.body.toString()), { status: 'accepted' });
  const version2 = { ...snappy, 'content-type': 'application/x-protobuf;proto=io.prometheus.write.v2.Request' };
  const two = await post(main, compressSnappy(writeRequest2()), version2);
  t.is(two.status, 202, two.body.toString());
  t.is(two.headers.get('x-prometheus-remote-write-samples-written'), '1');
  t.is(two.headers.get('x-prometheus-remote-write-histograms-written'), '0');
  const bad = await post(main, compressSnappy(Buffer.from([0xff])), version2);
  t.is(bad.status, 400);
  t.is(bad.headers.get('x-prometheus-remote-write-samples-written'), '0');
  t.is((await post(main, writeRequest(), { ...snappy, 'content-encoding': 'gzip' })).status, 415);
  t.is((await post(main, writeRequest(), { ...snappy, 'content-type': 'text/plain' })).status, 415);
  const { format, encoding } = fixture.bus.members()[1]?.headers ?? {};
  t.deepEqual([format, encoding], ['remote-write-1', 'snappy']);
  t.deepEqual(fixture.bus.members()[1]?.bytes, compressSnappy(writeRequest(5)));
  const [deadLetter] = fixture.bus.deadLetters();
  t.is(deadLetter?.headers.origin, 'remote-write');
});

const refusals: [string, number, () => Parameters<typeof post>[1], Record<string, string>][] = [
  ['no key', 401, () => request('logs'), { 'x-license-key': '' }],
  ['an unknown key', 401, () => request('logs'), { 'x-license-key': generateLicenseKey() }],
  ['a key of another case', 401, () => request('logs'), { 'x-license-key': 'OIQ_LK_X' }],
  ['an unknown content type', 415, () => request('logs'), { 'content-type': 'text/plain' }],
  ['an unsupported encoding', 415, () => request('logs'), { 'content-encoding': 'br' }],
  ['two encodings', 415, () => request('logs'), { 'content-encoding': 'gzip, gzip' }],
  ['snappy, which OTLP has not', 415, () => request('logs'), { 'content-encoding': 'snappy' }],
  ['a body that is no gzip', 400, () => request('logs'), { 'content-encoding': 'gzip' }],
  [
    'two gzip streams with rubbish after them',
    400,
    () => Buffer.concat([gzipSync(request('logs')), Buffer.from('x')]),
    { 'content-encoding': 'gzip' },
  ],
  ['JSON that says it is protobuf', 400, () => jsonRequest('logs'), {}],
  ['protobuf that says it is JSON', 400, () => request('logs'), { 'content-type': 'application/json' }],
  ['a wrong JSON shape', 400, () => '{"resourceLogs":3}', { 'content-type': 'application/json' }],
  ['too deep a value', 400, () => nestedArrays(40), {}],
  ['random bytes', 400, () => randomBytes(500), {}],
  ['traces sent as logs', 400, () => request('traces', 2), {}],
  ['an unknown path', 404, () => request('logs'), { path: '/v1/profiles' }],
  ['no path of ours', 404, () => request('logs'), { path: '/' }],
];

for (const [name, status, body, headers] of refusals) {
  test(`otlp-http: ${name} is answered with ${status}, as a Status in the request's encoding`, async (t) => {
    await using fixture = await running();
    const response = await post(fixture, body(), headers);
    t.is(response.status, status);
    const json = !['application/x-protobuf', undefined].includes(headers['content-type']);
    if (json) t.true(typeof JSON.parse(response.body.toString()).message === 'string');
    else t.is(response.body[0], 0x08);
    t.is(response.headers.get('content-type'), json ? 'application/json' : protobuf);
    t.deepEqual(fixture.bus.members(), []);
  });
}

test('other methods are answered with 405 and the allowed methods', async (t) => {
  await using fixture = await running();
  const response = await fetch(`${fixture.http}/v1/logs`);
  t.is(response.status, 405);
  t.is(response.headers.get('allow'), 'POST');
});

test('the license key header takes precedence over the bearer token', async (t) => {
  await using fixture = await running();
  const bearer = { authorization: `Bearer ${fixture.secret}` };
  t.is((await post(fixture, request('logs'), { ...bearer, 'x-license-key': generateLicenseKey() })).status, 401);
  const response = await fetch(`${fixture.http}/v1/logs`, {
    method: 'POST',
    headers: { ...bearer, 'content-type': protobuf },
    body: request('logs') as Uint8Array<ArrayBuffer>,
  });
  t.is(response.status, 200);
});

test('agents that support only Basic authentication send the key as its password', async (t) => {
  await using fixture = await running();
  const basic = (text: string): Promise<number> =>
    post({ ...fixture, secret: '' }, request('logs'), {
      authorization: `Basic ${Buffer.from(text).toString('base64')}`,
    }).then(({ status }) => status);
  t.is(await basic(`anybody:${fixture.secret}`), 200);
  t.is(await basic(`:${fixture.secret}`), 200);
  for (const text of [`${fixture.secret}:`, `anybody:${generateLicenseKey()}`, '', ':']) t.is(await basic(text), 401);
  t.is((await post({ ...fixture, secret: '' }, request('logs'), { authorization: 'Digest x' })).status, 401);
});

test('a request refused as malformed is in the dead letter queue byte for byte, with the reason and the position', async (t) => {
  await using fixture = await running();
  const body = gzipSync(nestedArrays(60));
  const { status } = await post(fixture, body, { 'content-encoding': 'gzip' });
  t.is(status, 400);
  const [deadLetter] = fixture.bus.deadLetters();
  t.deepEqual(deadLetter?.body, body);
  t.like(deadLetter?.headers, {
    tenantId,
    keyId: fixture.keyId,
    signal: 'logs',
    origin: 'otlp-http',
    kind: 'refused',
    contentEncoding: 'gzip',
    contentType: protobuf,
    cut: false,
    size: body.length,
    source: '127.0.0.1',
  });
  t.is(typeof deadLetter?.headers.position, 'number');
  t.true((deadLetter?.headers.message.length ?? 0) > 5);
});

test('a refused body above the message size is stored in several chunks', async (t) => {
  await using fixture = await running();
  const body = randomBytes(2_500_000);
  t.is((await post(fixture, body)).status, 400);
  const deadLetters = fixture.bus.deadLetters();
  t.is(deadLetters.length, 1);
  t.deepEqual(deadLetters[0]?.body, body);
  t.true((deadLetters[0]?.headers.chunks ?? 0) > 2);
});

test('when the copy of a refused body cannot be stored the response is 503', async (t) => {
  await using fixture = await running();
  fixture.bus.broken = 'dead-letter';
  const response = await post(fixture, randomBytes(100));
  t.is(response.status, 503);
  t.truthy(response.headers.get('retry-after'));
});

test('a body that the bus does not accept is answered with 503 and UNAVAILABLE, with a retry delay', async (t) => {
  await using fixture = await running();
  fixture.bus.broken = 'everything';
  const response = await post(fixture, request('logs'));
  t.is(response.status, 503);
  t.true(Number(response.headers.get('retry-after')) >= 1);
  const { error } = await call(fixture, grpcPath('logs'), request('logs'));
  t.is(error?.code, 14);
  t.true(error?.metadata.get('grpc-status-details-bin')[0]?.includes('google.rpc.RetryInfo'));
  fixture.bus.broken = undefined;
  t.is((await post(fixture, request('logs'))).status, 200);
});

test('a body above the size limit is answered with 413: by its announced length, streamed and once decompressed', async (t) => {
  await using fixture = await running();
  const large = Buffer.alloc(51 * 1024 * 1024, 32);
  t.is((await post(fixture, large)).status, 413);
  t.is(fixture.bus.deadLetters().length, 0);
  const streamed = await fetch(`${fixture.http}/v1/logs`, {
    method: 'POST',
    headers: { 'x-license-key': fixture.secret, 'content-type': protobuf },
    body: new Blob([large]).stream(),
    duplex: 'half',
  } as RequestInit);
  t.is(streamed.status, 413);
  const compressed = gzipSync(large);
  t.is((await post(fixture, compressed, { 'content-encoding': 'gzip' })).status, 413);
  const [cut, whole] = fixture.bus.deadLetters();
  t.true(cut?.headers.cut);
  t.is(cut?.body.length, 50 * 1024 * 1024);
  t.false(whole?.headers.cut);
  t.deepEqual(whole?.body, compressed);
});

test('gRPC: bytes that are announced and do not arrive are not counted', async (t) => {
  await using fixture = await running();
  const client = connectHttp2(`http://${fixture.grpc}`);
  const stream = client.request({
    ':method': 'POST',
    ':path': grpcPath('logs'),
    'content-type': 'application/grpc',
    'x-license-key': fixture.secret,
  });
  let status: unknown;
  stream.on('response', (headers) => {
    status = headers['grpc-status'];
  });
  stream.on('error', () => undefined);
  // A message of 4 GiB, and two of its bytes.
  stream.end(Buffer.from([0, 0xff, 0xff, 0xff, 0xff, 1, 2]));
  await new Promise((resolve) => stream.once('close', resolve).resume());
  client.destroy();
  t.is(status, '8');
  await fixture.receivers.stop();
  t.is(fixture.bus.deadLetters().length, 0);
  const rows = fixture.bus.messages
    .filter(({ topic }) => topic === topics.usage.name)
    .flatMap(({ value }) => (JSON.parse(Buffer.from(value).toString()) as UsageReport).rows);
  t.like(rows, [{ reason: 'too-large', requests: 1, bytes: 0 }]);
});

// Serial: beside others, the client may take so long to send many headers that the server times out.
test.serial('small requests of one key share messages, and each is acknowledged once it is durable', async (t) => {
  await using fixture = await running({ plan: manyRequests });
  const texts = Array.from({ length: 200 }, (_, index) => `request ${index}`);
  const { promise, resolve } = Promise.withResolvers<void>();
  fixture.bus.held = promise;
  const sent = texts.map(async (text) => {
    const { status, body } = await post(fixture, request('logs', 2, text));
    return status === 200 ? '200' : `${status} ${body}`;
  });
  // While the bus is slow, arriving requests wait and are then combined.
  setTimeout(resolve, 3_000);
  t.deepEqual([...new Set(await Promise.all(sent))], ['200']);
  const digests = (bodies: readonly Buffer[]) =>
    bodies.map((body) => createHash('md5').update(body).digest('hex')).sort();
  const members = fixture.bus.members();
  t.deepEqual(digests(members.map(({ bytes }) => bytes)), digests(texts.map((text) => request('logs', 2, text))));
  t.true(fixture.bus.messages.length < texts.length, `${fixture.bus.messages.length} messages`);
  for (const { headers } of fixture.bus.messages) t.truthy(headers['members']);
});

test('a request above the message size is split at record boundaries and answered when all parts are durable', async (t) => {
  await using fixture = await running();
  const body = request('logs', 5_000, 'x'.repeat(700));
  t.is((await post(fixture, gzipSync(body, { level: 1 }), { 'content-encoding': 'gzip' })).status, 200);
  t.is((await post(fixture, body)).status, 200);
  const members = fixture.bus.members();
  let records = 0;
  for (const { headers, bytes, records: claimed } of members) {
    const { records: scanned } = scanRequest('logs', decompress(headers.encoding, bytes, 1e8));
    t.is(scanned, claimed);
    records += scanned;
  }
  t.is(records, 10_000);
  for (const { value } of fixture.bus.messages) t.true(value.length <= 1024 * 1024);
});

test('one record above the message size is published compressed if that makes it fit', async (t) => {
  await using fixture = await running();
  t.is((await post(fixture, request('logs', 1, 'y'.repeat(3_000_000)))).status, 200);
  const [member] = fixture.bus.members();
  t.is(member?.headers.encoding, 'zstd');
  t.is((await post(fixture, request('logs', 1, randomBytes(1_500_000).toString('hex')))).status, 400);
});

test('tenants with several shards use several keys', async (t) => {
  await using fixture = await running({ organization: { shards: 3 } });
  for (let index = 0; index < 6; index++) await post(fixture, request('logs'));
  t.deepEqual([...new Set(fixture.bus.messages.map(({ key }) => key))].sort(), ['acme/0', 'acme/1', 'acme/2']);
});

test('a revocation takes effect once the feed has delivered it', async (t) => {
  await using fixture = await running();
  t.is((await post(fixture, request('logs'))).status, 200);
  const revokedAt = new Date().toISOString();
  await fixture.documents.forTenant(tenantId).collection(licenseKeys).update(fixture.keyId, { revokedAt });
  await eventually('a refusal', async () => (await post(fixture, request('logs'))).status !== 200);
  t.is((await post(fixture, request('logs'))).status, 401);
  t.is((await call(fixture, grpcPath('logs'), request('logs'))).error?.code, 16);
});

test('a request that the plan or the address does not allow gets 403 and PERMISSION_DENIED', async (t) => {
  await using fixture = await running({ key: { signals: ['metrics'], allowedCidrs: [] } });
  t.is((await post(fixture, request('logs'))).status, 403);
  t.is((await post(fixture, request('metrics'), { path: '/v1/metrics' })).status, 200);
  t.is((await call(fixture, grpcPath('logs'), request('logs'))).error?.code, 7);
  await using elsewhere = await running({ key: { allowedCidrs: ['10.0.0.0/8'] } });
  t.is((await post(elsewhere, request('logs'))).status, 403);
});

test('above a limit the response is 429 and RESOURCE_EXHAUSTED, with a retry delay', async (t) => {
  const limits = { requestsPerSecond: 1, requestsBurst: 3, requestsPerMinute: 100, bytesPerDay: null };
  const startMs = Date.now();
  await using fixture = await running({ plan: { limits }, clock: { now: () => startMs } });
  const statuses: number[] = [];
  for (let index = 0; index < 5; index++) statuses.push((await post(fixture, request('logs'))).status);
  t.deepEqual(statuses, [200, 200, 200, 429, 429]);
  t.is((await post(fixture, request('logs'))).headers.get('retry-after'), '1');
  const { error } = await call(fixture, grpcPath('logs'), request('logs'));
  t.is(error?.code, 8);
  t.true(error?.metadata.get('grpc-status-details-bin')[0]?.includes('google.rpc.RetryInfo'));
});

test('above the daily volume of the plan the response is 429 until midnight UTC', async (t) => {
  const limits = { ...(defaultPlans['pro']?.limits ?? {}), bytesPerDay: 1_000 } as never;
  const nightMs = Date.parse(`${new Date().toISOString().slice(0, 10)}T23:00:00Z`);
  await using fixture = await running({ plan: { limits }, clock: { now: () => nightMs } });
  t.is((await post(fixture, request('logs', 1, 'z'.repeat(500)))).status, 200);
  const refused = await post(fixture, request('logs', 1, 'z'.repeat(500)));
  t.is(refused.status, 429);
  t.is(refused.headers.get('retry-after'), '3600');
  const { error } = await call(fixture, grpcPath('logs'), request('logs', 1, 'z'.repeat(500)));
  t.is(error?.code, 8);
  t.true(error?.metadata.get('grpc-status-details-bin')[0]?.includes('google.rpc.RetryInfo'));
});

for (const server of ['own', 'node'])
  test(`gRPC on the ${server} server: unknown methods, broken frames and unknown encodings have their own codes`, async (t) => {
    await using fixture = await running({ environment: { OIQ_GRPC_SERVER: server } });
    t.is((await call(fixture, '/opentelemetry.Nothing/Export', request('logs'))).error?.code, 12);
    t.is((await call(fixture, grpcPath('logs'), randomBytes(300))).error?.code, 3);
    t.is(fixture.bus.deadLetters()[0]?.headers.origin, 'otlp-grpc');
    t.is((await call({ ...fixture, secret: 'no key' }, grpcPath('logs'), request('logs'))).error?.code, 16);
    const { error } = await call(fixture, grpcPath('logs'), Buffer.alloc(51 * 1024 * 1024));
    t.is(error?.code, 8);
    t.is(error?.metadata.get('grpc-status-details-bin').length, 0);
  });

for (const server of ['own', 'node'])
  test(`gRPC on the ${server} server: the deadline of a call is met even if the bus does not respond`, async (t) => {
    await using fixture = await running({ environment: { OIQ_GRPC_SERVER: server } });
    const { promise, resolve } = Promise.withResolvers<void>();
    fixture.bus.held = promise;
    const client = new Client(fixture.grpc, credentials.createInsecure());
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${fixture.secret}`);
    const same = (value: Buffer) => value;
    const code = await new Promise((done) => {
      const deadline = { deadline: Date.now() + 400 };
      client.makeUnaryRequest(grpcPath('logs'), same, same, request('logs'), metadata, deadline, (error) =>
        done(error?.code),
      );
    });
    t.is(code, 4);
    // A client that does not enforce the deadline itself.
    metadata.set('grpc-timeout', '300m');
    const callError = await new Promise<ServiceError | null>((done) => {
      client.makeUnaryRequest(grpcPath('logs'), same, same, request('logs'), metadata, (error) => done(error));
    });
    t.is(callError?.code, 4);
    t.regex(callError?.details ?? '', /the deadline passed before the request was durable/);
    resolve();
    client.close();
  });

const refusedDeadLetter = {
  id: '1',
  tenantId,
  projectId: 'shop',
  keyId: 'k',
  signal: 'logs',
  origin: 'otlp-http',
  kind: 'refused',
  reason: 'malformed',
  message: '',
  position: undefined,
  receivedAtMs: 5,
  source: '10.0.0.1',
  contentType: 'application/json',
  contentEncoding: 'gzip',
  topic: '',
  partition: 0,
  offset: 0,
  originalHeaders: {},
  chunk: 0,
  chunks: 1,
  size: 1,
  cut: false,
} satisfies DeadLetterHeaders;

test('a dead letter yields the messages that its receiver would have published', (t) => {
  const [message] = republishRejected(refusedDeadLetter, gzipSync(jsonRequest('logs', 4)), { secretBox });
  t.is(message?.topic, 'otlp.logs');
  t.deepEqual(Buffer.from(message?.value ?? []), convertJsonRequest('logs', Buffer.from(jsonRequest('logs', 4))));
  t.throws(() => republishRejected({ ...refusedDeadLetter, cut: true }, Buffer.alloc(1), { secretBox }), {
    instanceOf: PermanentError,
  });
  t.throws(() => republishRejected(refusedDeadLetter, Buffer.alloc(1), { secretBox }), { instanceOf: PermanentError });
});

const before = {
  'otlp-http, JSON': {
    origin: 'otlp-http',
    signal: 'logs',
    contentType: 'application/json; charset=utf-8',
    contentEncoding: 'x-gzip',
    originalHeaders: { format: 'otlp' },
    body: gzipSync(jsonRequest('logs', 4)),
  },
  'otlp-http, protobuf': {
    origin: 'otlp-http',
    signal: 'traces',
    contentType: 'application/octet-stream',
    contentEncoding: '',
    originalHeaders: { format: 'otlp', traceparent: '' },
    body: request('traces', 4),
  },
  'otlp-grpc': {
    origin: 'otlp-grpc',
    signal: 'metrics',
    contentType: 'application/grpc',
    contentEncoding: 'zstd',
    originalHeaders: { format: 'otlp' },
    body: zstdCompressSync(request('metrics', 4)),
  },
  'remote-write 1.0': {
    origin: 'remote-write',
    signal: 'metrics',
    contentType: '',
    contentEncoding: 'snappy',
    originalHeaders: { format: 'remote-write-1' },
    body: compressSnappy(writeRequest(4)),
  },
  'remote-write 2.0': {
    origin: 'remote-write',
    signal: 'metrics',
    contentType: protobuf,
    contentEncoding: 'snappy',
    originalHeaders: { format: 'remote-write-2' },
    body: compressSnappy(writeRequest2()),
  },
};

for (const [name, { body, originalHeaders, ...formatFields }] of Object.entries(before)) {
  test(`a dead letter from before formats had names is read in its format: ${name}`, (t) => {
    const [message] = republishRejected({ ...refusedDeadLetter, ...formatFields, originalHeaders }, body, {
      secretBox,
    });
    t.is(message?.headers?.['records'], name === 'remote-write 2.0' ? '1' : '4');
    t.is(message?.headers?.['format'], originalHeaders.format);
  });
}

test('a large body is translated in the worker, which supports every format', async (t) => {
  await using fixture = await running();
  const line = 'x'.repeat(300);
  const lines = Array.from({ length: 2_000 }, (_, index) => [`170000000000000${1_000 + index}`, line]);
  const push = JSON.stringify({ streams: [{ stream: { job: 'shop' }, values: lines }] });
  t.is((await post(fixture, push, { path: '/loki/api/v1/push', 'content-type': 'application/json' })).status, 204);
  const spans = lines.map((_, index) => ({ traceId: 'a', id: (index + 1).toString(16), name: line }));
  const sent = { path: '/api/v2/spans', 'content-type': 'application/json' };
  t.is((await post(fixture, JSON.stringify(spans), sent)).status, 202);
  const refused = await post(fixture, `${push} x`, { path: '/loki/api/v1/push', 'content-type': 'application/json' });
  t.is(refused.status, 400);
  t.is(fixture.bus.deadLetters()[0]?.headers.position, push.length + 1);
  const recordCounts = { logs: 0, traces: 0, metrics: 0 };
  for (const { headers, records } of fixture.bus.members()) recordCounts[headers.signal] += records;
  t.deepEqual(recordCounts, { logs: 2_000, traces: 2_000, metrics: 0 });
});

test('browsers from allowed origins may send', async (t) => {
  await using fixture = await running({ environment: { OIQ_CORS_ORIGINS: 'https://shop.example' } });
  const preflight = (origin: string) =>
    fetch(`${fixture.http}/v1/traces`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-license-key' },
    });
  const allowed = await preflight('https://shop.example');
  t.is(allowed.status, 204);
  t.is(allowed.headers.get('access-control-allow-origin'), 'https://shop.example');
  t.is(allowed.headers.get('access-control-allow-headers'), 'x-license-key');
  t.is((await preflight('https://elsewhere.example')).headers.get('access-control-allow-origin'), null);
  const sent = await post(fixture, request('logs'), { origin: 'https://shop.example' });
  t.is(sent.headers.get('access-control-allow-origin'), 'https://shop.example');
});

test('a sender that waits for 100 Continue gets a refusal before it sends its body', async (t) => {
  await using fixture = await running();
  const { request: httpRequest } = await import('node:http');
  const expecting = (secret: string): Promise<{ continued: boolean; status: number }> =>
    new Promise((resolve, reject) => {
      let continued = false;
      const body = request('logs');
      const sent = httpRequest(`${fixture.http}/v1/logs`, {
        method: 'POST',
        headers: {
          'x-license-key': secret,
          'content-type': protobuf,
          'content-length': body.length,
          expect: '100-continue',
        },
      });
      sent.on('continue', () => {
        continued = true;
        sent.end(body);
      });
      sent.on('response', (response) => {
        resolve({ continued, status: response.statusCode ?? 0 });
        response.resume();
        sent.destroy();
      });
      sent.on('error', reject);
      sent.flushHeaders();
    });
  t.deepEqual(await expecting(fixture.secret), { continued: true, status: 200 });
  t.deepEqual(await expecting(generateLicenseKey()), { continued: false, status: 401 });
});

test('a request that breaks off is discarded, and the receivers can still stop', async (t) => {
  const fixture = await running();
  const { connect } = await import('node:net');
  const { port } = new URL(fixture.http);
  const socket = connect(Number(port), '127.0.0.1');
  socket.write(
    `POST /v1/logs HTTP/1.1\r\nHost: x\r\nX-License-Key: ${fixture.secret}\r\nContent-Type: ${protobuf}\r\nContent-Length: 1000\r\n\r\nabc`,
  );
  await new Promise((resolve) => setTimeout(resolve, 100));
  socket.destroy();
  await fixture.receivers.stop();
  t.is(fixture.bus.messages.length, 0);
  await fixture[Symbol.asyncDispose]();
});

for (const server of ['own', 'node'])
  test(`in-flight requests are answered when the receivers stop, and then no port is open: ${server} gRPC server`, async (t) => {
    // A long shutdown timeout, so that the server aborts nothing during the test.
    const fixture = await running({ environment: { OIQ_GRPC_SERVER: server, OIQ_SHUTDOWN_SECONDS: '100' } });
    const { promise, resolve } = Promise.withResolvers<void>();
    fixture.bus.held = promise;
    const publishes = async (count: number): Promise<void> => {
      while (fixture.bus.publishes < count) await new Promise((done) => setTimeout(done, 10));
    };
    const http = post(fixture, request('logs'));
    await publishes(1);
    const grpc = call(fixture, grpcPath('logs'), request('logs'));
    await publishes(2);
    const stopped = fixture.receivers.stop();
    resolve();
    t.is((await http).status, 200);
    t.is((await grpc).error, undefined);
    await stopped;
    await t.throwsAsync(post(fixture, request('logs')));
    await fixture[Symbol.asyncDispose]();
  });

test('a session of a browser that sends too much is refused, from whatever address, and other sessions are not', async (t) => {
  await using fixture = await running({ environment: { OIQ_TRUSTED_PROXIES: '127.0.0.1/32' } });
  const send = async (session: string, index: number): Promise<number> => {
    const logRecords = [{ attributes: [{ key: 'session.id', value: { stringValue: session } }] }];
    const response = await fetch(`${fixture.http}/rum/${fixture.browserSecret}/v1/logs`, {
      method: 'POST',
      headers: { origin: browserOrigin, 'x-forwarded-for': `198.51.100.${index % 200}` },
      body: JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }),
    });
    await response.arrayBuffer();
    return response.status;
  };
  const statuses: number[] = [];
  for (let index = 0; index < 300 && statuses.at(-1) !== 429; index++) statuses.push(await send('flood', index));
  t.is(statuses.at(-1), 429);
  t.true(statuses.length > 120);
  t.is(await send('calm', 1), 200);
});

test('the country of a visitor is stored, and the address is not', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-country-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'countries.csv');
  writeFileSync(path, '198.51.100.0/24,FR\n');
  await using fixture = await running({
    environment: { OIQ_TRUSTED_PROXIES: '127.0.0.1/32', OIQ_COUNTRY_FILE: path },
  });
  const response = await fetch(`${fixture.http}/rum/${fixture.browserSecret}/v1/logs`, {
    method: 'POST',
    headers: { origin: browserOrigin, 'x-forwarded-for': '198.51.100.7' },
    body: jsonRequest('logs', 1, 'hello').replaceAll('checkout', browserApplication),
  });
  t.is(response.status, 200);
  const text = fixture.bus
    .members()
    .map(({ bytes }) => bytes.toString('latin1'))
    .join();
  t.regex(text, /client\.geo\.country\.iso_code[^a-z]*FR/);
  t.false(text.includes('198.51.100.7'));
});

/** Sends bodies with many values that are scanned for personal data, from one address, until stopped. Uses a thread. */
const floodCode = `
  const { parentPort, workerData: { url, origin } } = require('node:worker_threads');
  const values = Array.from({ length: 1_000 }, (_, index) => ({
    key: 'k' + index,
    value: { stringValue: 'https://shop.example.com/cart/' + index + '?token=abc#top of user' + index + '@example.com' },
  }));
  const body = JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [{ attributes: values }] }] }] });
  const headers = { origin, 'x-forwarded-for': '198.51.100.7' };
  const send = async () => {
    const response = await fetch(url, { method: 'POST', headers, body });
    await response.arrayBuffer();
    parentPort.postMessage(response.status);
    setImmediate(send);
  };
  for (let count = 0; count < 16; count++) send();
`;

test.serial('a flood of one visitor delays neither other visitors nor servers', async (t) => {
  await using fixture = await running({ environment: { OIQ_TRUSTED_PROXIES: '127.0.0.1/32' } });
  const url = `${fixture.http}/rum/${fixture.browserSecret}/v1/logs`;
  const small = jsonRequest('logs', 1, 'hello').replaceAll('checkout', browserApplication);
  const visit = async (address: string): Promise<number> => {
    const headers = { origin: browserOrigin, 'x-forwarded-for': address };
    const response = await fetch(url, { method: 'POST', headers, body: small });
    await response.arrayBuffer();
    return response.status;
  };
  const statuses: number[] = [];
  const measure = async (send: (index: number) => Promise<number>): Promise<number> => {
    const durations: number[] = [];
    for (let index = 0; index < 15; index++) {
      const startedAt = performance.now();
      statuses.push(await send(index));
      durations.push(performance.now() - startedAt);
    }
    return durations.toSorted((left, right) => left - right)[7] ?? 0;
  };
  const measureBoth = async (): Promise<string> => {
    const visitMs = await measure((index) => visit(`203.0.113.${index}`));
    const serverMs = await measure(async () => (await post(fixture, request('logs'))).status);
    return `${visitMs.toFixed(1)} ms of a visitor, ${serverMs.toFixed(1)} ms of a server`;
  };
  const alone = await measureBoth();
  const flooded = new Set<number>();
  const flood = new Worker(floodCode, { eval: true, workerData: { url, origin: browserOrigin } });
  flood.on('message', (status: number) => flooded.add(status));
  await eventually('the flood is limited', () => flooded.has(429));
  const during = await measureBoth();
  await flood.terminate();
  t.log(`medians alone: ${alone}; during the flood: ${during}`);
  t.deepEqual([...new Set(statuses)], [200]);
  t.deepEqual([...flooded].sort(), [200, 429]);
  t.true(fixture.getCounter('oiq_browser_removed_values_total') > 1_000);
});
