/** OpenTelemetry's own exporters, health checkers and reflection clients against running receivers. */
import { connect, constants } from 'node:http2';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { OTLPLogExporter as LogGrpc } from '@opentelemetry/exporter-logs-otlp-grpc';
import { OTLPLogExporter as LogJson } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPLogExporter as LogProto } from '@opentelemetry/exporter-logs-otlp-proto';
import { OTLPMetricExporter as MetricGrpc } from '@opentelemetry/exporter-metrics-otlp-grpc';
import { OTLPMetricExporter as MetricJson } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPMetricExporter as MetricProto } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter as TraceGrpc } from '@opentelemetry/exporter-trace-otlp-grpc';
import { OTLPTraceExporter as TraceJson } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as TraceProto } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider, type LogRecordExporter } from '@opentelemetry/sdk-logs';
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import test from 'ava';
import protobuf from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor.js';
import { decompress } from '../../schemas/compression.ts';
import { scanRequest } from '../../schemas/otlp/scan.ts';
import { request } from '../contract/receivers-bodies.ts';
import { type Fixture, manyRequests, running } from '../contract/receivers-fixture.ts';
import { stretched } from '../waiting.ts';

const resource = resourceFromAttributes({ 'service.name': 'checkout' });
type Options = NonNullable<ConstructorParameters<typeof LogProto>[0]>;
const compression = 'gzip' as NonNullable<Options['compression']>;
const timeoutMillis = stretched(10_000);

const protocols: Record<
  string,
  (fixture: Fixture) => { logs: LogRecordExporter; metrics: PushMetricExporter; traces: SpanExporter }
> = {
  grpc: ({ grpc, secret }) => {
    const metadata = new Metadata();
    metadata.set('x-license-key', secret);
    const options = { url: `http://${grpc}`, metadata, timeoutMillis };
    return {
      logs: new LogGrpc(options),
      metrics: new MetricGrpc(options),
      traces: new TraceGrpc({ ...options, compression }),
    };
  },
  'http/protobuf': ({ http, secret }) => {
    const of = (signal: string) => ({
      url: `${http}/v1/${signal}`,
      headers: { 'x-license-key': secret },
      compression,
      timeoutMillis,
    });
    return {
      logs: new LogProto(of('logs')),
      metrics: new MetricProto(of('metrics')),
      traces: new TraceProto(of('traces')),
    };
  },
  'http/json': ({ http, secret }) => {
    const of = (signal: string) => ({
      url: `${http}/v1/${signal}`,
      headers: { authorization: `Bearer ${secret}` },
      timeoutMillis,
    });
    return {
      logs: new LogJson(of('logs')),
      metrics: new MetricJson(of('metrics')),
      traces: new TraceJson(of('traces')),
    };
  },
};

for (const [protocol, exportersOf] of Object.entries(protocols)) {
  test(`an SDK's logs, metrics and traces over ${protocol} are published to the bus`, async (t) => {
    await using fixture = await running();
    const exporters = exportersOf(fixture);
    const logs = new LoggerProvider({
      resource,
      processors: [new BatchLogRecordProcessor({ exporter: exporters.logs })],
    });
    const meters = new MeterProvider({
      resource,
      readers: [new PeriodicExportingMetricReader({ exporter: exporters.metrics, exportIntervalMillis: 60_000 })],
    });
    const traces = new TracerProvider({
      resource,
      spanProcessors: [new BatchSpanProcessor({ exporter: exporters.traces })],
    });
    for (let index = 0; index < 50; index++) {
      logs.getLogger('test').emit({ body: `line ${index}`, severityNumber: 9, attributes: { index, ok: true } });
      traces
        .getTracer('test')
        .startSpan(`span ${index}`, { attributes: { list: ['a', 'b'] } })
        .end();
      meters.getMeter('test').createHistogram('duration').record(index, { route: '/cart' });
    }
    await Promise.all([logs.forceFlush(), meters.forceFlush(), traces.forceFlush()]);
    const records = { logs: 0, metrics: 0, traces: 0 };
    for (const { headers, bytes } of fixture.bus.members())
      records[headers.signal] += scanRequest(headers.signal, decompress(headers.encoding, bytes, 1e7)).records;
    t.is(records.logs, 50);
    t.is(records.traces, 50);
    t.true(records.metrics >= 1);
    await Promise.all([logs.shutdown(), meters.shutdown(), traces.shutdown()]);
  });
}

const same = (value: Buffer): Buffer => value;

test('health returns SERVING for known services and NOT_FOUND for others, and watchers are notified of the stop', async (t) => {
  const fixture = await running();
  const client = new Client(fixture.grpc, credentials.createInsecure());
  const check = (service: string): Promise<number | Buffer | undefined> =>
    new Promise((resolve) => {
      const message = Buffer.from([0x0a, service.length, ...Buffer.from(service)]);
      client.makeUnaryRequest('/grpc.health.v1.Health/Check', same, same, message, (error, response) =>
        resolve(error?.code ?? response),
      );
    });
  t.deepEqual(await check(''), Buffer.from([8, 1]));
  t.deepEqual(await check('opentelemetry.proto.collector.logs.v1.LogsService'), Buffer.from([8, 1]));
  t.is(await check('nothing'), 5);
  const watched: string[] = [];
  const watch = client.makeServerStreamRequest('/grpc.health.v1.Health/Watch', same, same, Buffer.alloc(0));
  watch.on('error', () => undefined);
  const ended = new Promise<void>((resolve) => watch.on('end', resolve));
  await new Promise<void>((resolve) =>
    watch.on('data', (message: Buffer) => {
      watched.push(message.toString('hex'));
      resolve();
    }),
  );
  const stopped = fixture.receivers.stop();
  await ended;
  await stopped;
  t.deepEqual(watched, ['0801', '0802']);
  client.close();
  await fixture[Symbol.asyncDispose]();
});

interface Reflected {
  readonly services?: { readonly service: readonly { readonly name: string }[] };
  readonly files?: { readonly file: readonly string[] };
  readonly failure?: { readonly code: number };
}

for (const version of ['v1', 'v1alpha']) {
  test(`reflection ${version} lists the services and describes them completely`, async (t) => {
    await using fixture = await running();
    const client = new Client(fixture.grpc, credentials.createInsecure());
    const { root } = protobuf.parse(
      `syntax = "proto3";
       message Request { string host = 1; string file_by_filename = 3; string file_containing_symbol = 4; string list_services = 7; }
       message Response { Files files = 4; Services services = 6; Failure failure = 7; }
       message Files { repeated bytes file = 1; }
       message Services { repeated Service service = 1; }
       message Service { string name = 1; }
       message Failure { int32 code = 1; }`,
      { keepCase: true },
    );
    const reflect = (message: object): Promise<Reflected> =>
      new Promise((resolve, reject) => {
        const path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;
        const stream = client.makeBidiStreamRequest(path, same, same);
        stream.on('data', (bytes: Buffer) => resolve(root.lookupType('Response').decode(bytes).toJSON() as Reflected));
        stream.on('error', reject);
        stream.write(Buffer.from(root.lookupType('Request').encode(message).finish()));
        stream.end();
      });
    const listed = await reflect({ list_services: '*' });
    const names = listed.services?.service.map(({ name }) => name) ?? [];
    t.true(names.includes('opentelemetry.proto.collector.trace.v1.TraceService'));
    t.true(names.includes('grpc.health.v1.Health'));
    t.true(names.includes(`grpc.reflection.${version}.ServerReflection`));
    for (const symbol of [
      ...names,
      'opentelemetry.proto.logs.v1.LogRecord',
      'opentelemetry.proto.trace.v1.Span.Event',
    ]) {
      const described = await reflect({ file_containing_symbol: symbol });
      const files = (described.files?.file ?? []).map((text) => Buffer.from(text, 'base64'));
      const decoded = files.map((bytes) => descriptor.FileDescriptorProto.decode(bytes).toJSON());
      const set = descriptor.FileDescriptorSet.fromObject({ file: decoded });
      const types = protobuf.Root.fromDescriptor(set as never).resolveAll();
      t.truthy(types.lookup(symbol), symbol);
      for (const { messageType = [] } of decoded as { messageType?: { field?: { typeName?: string }[] }[] }[])
        for (const { field = [] } of messageType)
          for (const { typeName } of field) t.true(typeName?.startsWith('.') ?? true);
    }
    t.is((await reflect({ file_containing_symbol: 'no.such.Thing' })).failure?.code, 5);
    t.truthy((await reflect({ file_by_filename: 'opentelemetry/proto/common/v1/common.proto' })).files);
    client.close();
  });
}

const exportPath = '/opentelemetry.proto.collector.logs.v1.LogsService/Export';

test('streams that are opened and reset at once do not prevent others from being served', async (t) => {
  await using fixture = await running({ plan: manyRequests });
  const attacker = connect(`http://${fixture.grpc}`);
  attacker.on('error', () => undefined);
  const headers = {
    ':method': 'POST',
    ':path': exportPath,
    'content-type': 'application/grpc',
    'x-license-key': fixture.secret,
  };
  for (let index = 0; index < 3_000 && !attacker.destroyed; index++) {
    const stream = attacker.request(headers);
    stream.on('error', () => undefined);
    stream.close(constants.NGHTTP2_CANCEL);
    if (index % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const client = new Client(fixture.grpc, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set('x-license-key', fixture.secret);
  const error = await new Promise((resolve) =>
    client.makeUnaryRequest(exportPath, same, same, request('logs'), metadata, (failed) => resolve(failed)),
  );
  t.is(error, null);
  attacker.destroy();
  client.close();
});

test('a large message in many frames, and several calls on one connection, are accepted', async (t) => {
  await using fixture = await running({ plan: manyRequests });
  const client = new Client(fixture.grpc, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set('x-license-key', fixture.secret);
  const large = request('logs', 10_000, 'q'.repeat(500));
  const send = (body: Buffer): Promise<unknown> =>
    new Promise((resolve) =>
      client.makeUnaryRequest(exportPath, same, same, body, metadata, (failed) => resolve(failed)),
    );
  const responses = await Promise.all([send(large), ...Array.from({ length: 50 }, () => send(request('logs')))]);
  t.true(responses.every((response) => response === null));
  const records = fixture.bus.members().reduce((sum, member) => sum + member.records, 0);
  t.is(records, 10_050);
  client.close();
});
