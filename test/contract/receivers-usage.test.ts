/** Usage that receivers report to the ledger, and quota changes in a running receiver. */

import { randomBytes } from 'node:crypto';
import { connect } from 'node:http2';
import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import test from 'ava';
import { compressSnappy } from '../../schemas/compression.ts';
import { Quota, quotaId, quotas } from '../../schemas/resources/quota.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import { topics, UsageReport } from '../../schemas/topics.ts';
import { sinks } from '../../sinks/registry.ts';
import { openTables } from '../cases/sink-tables.ts';
import { eventually } from '../waiting.ts';
import { jsonRequest, request, writeRequest, writeRequest2 } from './receivers-bodies.ts';
import { type Fixture, projectId, running, tenantId } from './receivers-fixture.ts';

const post = async ({ http, secret }: Fixture, body: Uint8Array | string, headers: Record<string, string> = {}) => {
  const { path = '/v1/logs', ...others } = headers;
  const response = await fetch(http + path, {
    method: 'POST',
    headers: { 'x-license-key': secret, 'content-type': 'application/x-protobuf', ...others },
    body: body as Uint8Array<ArrayBuffer>,
  });
  await response.arrayBuffer();
  return response.status;
};

/** The status of a call with these bytes, which no client would send. */
const rawGrpc = async ({ grpc, secret }: Fixture, bytes: Uint8Array): Promise<unknown> => {
  const session = connect(`http://${grpc}`);
  const stream = session.request({
    ':method': 'POST',
    ':path': '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
    'content-type': 'application/grpc',
    te: 'trailers',
    'x-license-key': secret,
  });
  const status = new Promise<unknown>((resolve, reject) => {
    stream.once('response', (headers) => 'grpc-status' in headers && resolve(headers['grpc-status']));
    stream.once('trailers', (headers) => resolve(headers['grpc-status']));
    stream.once('error', reject);
  });
  stream.end(bytes);
  return status.finally(() => session.close());
};

/** Rows of the published reports, without the fields that all rows share. */
const reported = ({ bus, keyId }: Fixture) => {
  const reports = bus.messages.filter(({ topic }) => topic === topics.usage.name);
  const rows = reports.flatMap(({ value }) => UsageReport.parse(JSON.parse(value.toString())).rows);
  return rows.map(({ hour, ...row }) => {
    if (row.tenantId !== tenantId || row.projectId !== projectId || row.keyId !== keyId)
      throw new Error('whose is it?');
    return `${row.signal} ${row.reason} ${row.requests} ${row.records} ${row.bytes}`;
  });
};

/** Retries until the status is returned, because the change feed has a short delay. */
const until = (status: number, send: () => Promise<number>): Promise<void> =>
  eventually(`an answer of ${status}`, async () => (await send()) === status);

test('refusals of a known key are reported at the end, by reason; dead letters are not', async (t) => {
  await using fixture = await running({ key: { signals: ['logs'] } });
  t.is(await post(fixture, request('logs')), 200);
  t.is(await post(fixture, request('traces'), { path: '/v1/traces' }), 403);
  t.is(await post(fixture, request('logs'), { 'content-type': 'text/plain' }), 415);
  t.is(await post(fixture, request('logs'), { 'content-encoding': 'br' }), 415);
  t.is(await post(fixture, 'garbage'), 400);
  t.is(await post(fixture, gzipSync(Buffer.alloc(51 * 1024 * 1024)), { 'content-encoding': 'gzip' }), 413);
  t.is(await post({ ...fixture, secret: 'unknown' } as Fixture, request('logs')), 401);
  fixture.bus.broken = topics.logs.name;
  const body = request('logs', 3);
  t.is(await post(fixture, body), 503);
  fixture.bus.broken = undefined;
  await fixture.receivers.stop();
  t.deepEqual(reported(fixture).sort(), [
    `logs unavailable 1 3 ${body.length}`,
    'logs unsupported-encoding 1 0 0',
    'logs unsupported-type 1 0 0',
    'traces forbidden 1 0 0',
  ]);
  t.is(fixture.bus.deadLetters().length, 2);
});

test('a quota that is set, raised and removed takes effect while requests arrive', async (t) => {
  await using fixture = await running();
  const stored = fixture.documents.forTenant(tenantId).collection(quotas);
  const body = request('logs', 2, 'z'.repeat(400));
  const send = () => post(fixture, body);
  t.is(await send(), 200);
  const dayOf = (rejectBytes: number) => Quota.parse({ day: { logs: { rejectBytes } } });
  await stored.insert({ id: quotaId, ...dayOf(body.length - 1) });
  await until(429, send);
  t.is(await post(fixture, request('traces'), { path: '/v1/traces' }), 200, 'another signal is not held by it');
  await stored.replace(quotaId, dayOf(1_000_000));
  await until(200, send);
  await stored.replace(quotaId, dayOf(1));
  await until(429, send);
  await stored.delete(quotaId);
  await until(200, send);
  await fixture.receivers.stop();
  t.true(reported(fixture).every((row) => row.startsWith('logs quota ')));
});

test('a quota counts the bytes that were sent: JSON as JSON', async (t) => {
  await using fixture = await running();
  const json = jsonRequest('logs');
  const stored = fixture.documents.forTenant(tenantId).collection(quotas);
  await stored.insert({ id: quotaId, ...Quota.parse({ day: { total: { rejectBytes: json.length } } }) });
  const large = request('traces', 1, 'z'.repeat(json.length));
  await until(429, () => post(fixture, large, { path: '/v1/traces' }));
  t.is(await post(fixture, json, { 'content-type': 'application/json' }), 200, 'exactly the quota');
  t.is(await post(fixture, json, { 'content-type': 'application/json' }), 429);
});

const json = { 'content-type': 'application/json' };
const gzip = { 'content-encoding': 'gzip' };
const zstd = { 'content-encoding': 'zstd' };
const write = { path: '/api/v1/prom/write', 'content-encoding': 'snappy' };
const loki = { ...json, path: '/loki/api/v1/push' };
const zipkin = { ...json, path: '/api/v2/spans' };
const tall = randomBytes(60).toString('hex');
/** Larger than a bus message, and with three services. */
const wide = (text: string): Buffer =>
  Buffer.concat(Array.from({ length: 3 }, (_, index) => request('logs', 4_000, `${text} ${index} ${tall}`)));
const metadata = Buffer.from([0x1a, 6, 8, 1, 0x12, 2, 0x75, 0x70]);

interface Way {
  readonly bodies: readonly Uint8Array[];
  /** Bytes that the sender encoded. */
  readonly bytes: number;
  readonly signal?: Signal;
  send(fixture: Fixture, body: Uint8Array): Promise<unknown>;
}
const way = (
  sent: readonly Uint8Array[],
  headers: Record<string, string> = {},
  compress: (body: Uint8Array) => Uint8Array = (body) => body,
): Way => ({
  bodies: sent.map(compress),
  bytes: sent.reduce((sum, { length }) => sum + length, 0),
  signal: headers['path'] === zipkin.path ? 'traces' : headers['path'] === write.path ? 'metrics' : 'logs',
  send: async (fixture, body) => {
    const http =
      headers['path']?.startsWith('/api/v1/prom') || headers['path']?.startsWith('/loki') ? fixture.main : fixture.http;
    const status = await post({ ...fixture, http }, body, headers);
    if (status >= 300) throw new Error(`answered ${status}`);
  },
});
const overGrpc = (sent: readonly Uint8Array[], options: object = {}): Way => ({
  ...way(sent),
  async send({ grpc, secret }, body) {
    const client = new Client(grpc, credentials.createInsecure(), options);
    const withKey = new Metadata();
    withKey.set('x-license-key', secret);
    const same = (value: Buffer): Buffer => value;
    await new Promise<void>((resolve, reject) =>
      client.makeUnaryRequest(
        '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
        ...([same, same, Buffer.from(body), withKey] as const),
        (error) => (error === null ? resolve() : reject(error)),
      ),
    ).finally(() => client.close());
  },
});
const many = Array.from({ length: 40 }, (_, index) => request('logs', 1 + (index % 3), `joined ${index}`));

const ways: Readonly<Record<string, Way>> = {
  protobuf: way([request('logs', 3)]),
  JSON: way([Buffer.from(jsonRequest('logs', 3, 'äöü'))], json),
  'JSON that is split': way([Buffer.from(jsonRequest('logs', 9_000, tall))], json),
  'gzip of JSON': way([Buffer.from(jsonRequest('logs', 3))], { ...json, ...gzip }, gzipSync),
  gzip: way([request('logs', 3)], gzip, gzipSync),
  zstd: way([request('logs', 3)], zstd, zstdCompressSync),
  deflate: way([request('logs', 3)], { 'content-encoding': 'deflate' }, deflateSync),
  'a request that is split': way([wide('split')]),
  'gzip of a request that is split': way([wide('split')], gzip, gzipSync),
  'requests that are joined': way(many),
  'JSON requests that are joined': way(
    many.map((_, index) => Buffer.from(jsonRequest('logs', 1 + (index % 3)))),
    json,
  ),
  'fields that are not known': way([Buffer.concat([request('logs'), Buffer.from([0x7a, 3, 1, 2, 3])])]),
  gRPC: overGrpc([request('logs', 3)]),
  'gRPC with gzip': overGrpc([request('logs', 300)], { 'grpc.default_compression_algorithm': 2 }),
  'remote-write': way([Buffer.concat([writeRequest(5), metadata])], write, compressSnappy),
  'remote-write of metadata alone': way([metadata], write, compressSnappy),
  'remote-write 2.0': way(
    [writeRequest2()],
    { ...write, 'content-type': 'application/x-protobuf;proto=io.prometheus.write.v2.Request' },
    compressSnappy,
  ),
  'Loki as gzip of JSON': way(
    [Buffer.from(JSON.stringify({ streams: [{ stream: { app: 'a' }, values: [['1700000000000000000', 'hellö']] }] }))],
    { ...loki, ...gzip },
    gzipSync,
  ),
  Zipkin: way(
    [Buffer.from(JSON.stringify([{ traceId: '0'.repeat(15) + 1, id: '0'.repeat(15) + 2, name: 'x' }]))],
    zipkin,
  ),
  'a request without a record': { ...way([request('logs', 0)]), bytes: 0 },
};

/** The ledger once every message on the bus has landed. */
const landed = async ({ bus }: Fixture): Promise<{ accepted: number; landed: number; missing: number }> => {
  const tables = await openTables();
  try {
    for (const [index, { topic, headers, value }] of bus.messages.entries()) {
      const sink = sinks.find(({ inputs }) => inputs.some((input) => input.topic.name === topic))?.name ?? '';
      const { rejected } = await tables.land([{ offset: index, headers, value }], { sink });
      if (rejected.length > 0) throw new Error(rejected[0]?.message);
    }
    const [row] = await tables.read<Record<'accepted' | 'landed' | 'missing', string>>(
      'SELECT sum(bytes) AS accepted, sum(landed_bytes) AS landed, sum(records) - sum(landed_records) AS missing FROM usage FINAL',
    );
    return { accepted: Number(row?.accepted), landed: Number(row?.landed), missing: Number(row?.missing) };
  } finally {
    await tables.close();
  }
};

for (const [name, { bodies, bytes, signal = 'logs', send }] of Object.entries(ways)) {
  test.serial(
    `where bytes are counted, they match the bytes that the sender encoded, to the byte: ${name}`,
    async (t) => {
      await using fixture = await running();
      await fixture.documents
        .forTenant(tenantId)
        .collection(quotas)
        .insert({ id: quotaId, ...Quota.parse({ day: { [signal]: { rejectBytes: 1e9 } } }) });
      await Promise.all(bodies.map((body) => send(fixture, body)));
      await fixture.receivers.stop();
      t.deepEqual(await landed(fixture), { accepted: bytes, landed: bytes, missing: 0 });
      t.is(fixture.counted('accepted'), bytes, 'the receiver booked as much');
    },
  );
}

test('refused bodies count as decompressed; if the compression is broken or the size limit is exceeded, as received', async (t) => {
  await using fixture = await running();
  const damaged = Buffer.concat([request('logs', 500), Buffer.from('garbage')]);
  const whole = gzipSync(damaged);
  const cut = whole.subarray(0, whole.length >> 1);
  const bomb = gzipSync(Buffer.alloc(51 * 1024 * 1024));
  const wrong = Buffer.from('{"resourceLogs":[{"scopeLogs":3}]}');
  const large = Buffer.concat([request('logs', 1, 'x'.repeat(5_000_000)), Buffer.from('garbage')]);
  t.is(await post(fixture, damaged), 400);
  t.is(await post(fixture, whole, gzip), 400);
  t.is(await post(fixture, cut, gzip), 400);
  t.is(await post(fixture, bomb, gzip), 413);
  t.is(await post(fixture, gzipSync(wrong), { ...json, ...gzip }), 400);
  t.is(await post(fixture, gzipSync(large), gzip), 400);
  // Refused for its announced size: neither stored nor counted.
  const announced = Buffer.from([0, 0xff, 0xff, 0xff, 0xff, 1, 2]);
  t.is(await rawGrpc(fixture, announced), '8');
  await fixture.receivers.stop();
  const counted = fixture.bus.deadLetters().map(({ headers }) => headers.bytes);
  const expected = [damaged.length, damaged.length, cut.length, bomb.length, wrong.length, large.length];
  t.deepEqual(counted, expected);
  t.is(
    fixture.counted('malformed') + fixture.counted('too-large'),
    expected.reduce((sum, bytes) => sum + bytes, 0),
  );
});

test('the error of a translated record has its position in the body', async (t) => {
  await using fixture = await running();
  const body = JSON.stringify({ streams: [{ stream: { app: 'a' }, values: [['9000000000000000000', 'x']] }] });
  t.is(await post({ ...fixture, http: fixture.main }, body, loki), 400);
  await fixture.receivers.stop();
  const { reason, message, position, bytes } = fixture.bus.deadLetters()[0]?.headers ?? {};
  const expected = { reason: 'time-in-future', position: body.indexOf('"9'), bytes: body.length };
  t.deepEqual({ reason, position, bytes }, expected);
  t.regex(message ?? '', /^streams\[0\]\.values\[0\]\[0\]: the time of an entry is 2255-/);
});
