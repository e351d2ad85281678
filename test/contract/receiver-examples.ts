/** Test data of each receiver: valid and invalid bodies of each of its formats, and the form of its responses. */
import { gzipSync } from 'node:zlib';
import { compressSnappy } from '../../schemas/compression.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import { lokiPush } from './loki-bodies.ts';
import { field, jsonRequest, nestedArrays, request, writeRequest, writeRequest2 } from './receivers-bodies.ts';

/** Bodies of one format, before they are compressed. */
export interface FormatExample {
  readonly signal: Signal;
  readonly contentType: string;
  readonly encoding: 'identity' | 'gzip' | 'snappy';
  readonly good: Buffer;
  /** Number of records in the valid body. */
  readonly records: number;
  /** Refused as malformed at a known position. */
  readonly malformed: Buffer;
  /** Well formed, without a record. */
  readonly nothing: Buffer;
}

export interface ReceiverExample {
  /** Status of a success over HTTP; over gRPC it is OK. */
  readonly success?: number;
  /** The error message of a refusal in the protocol's form. Throws if the response has another form. */
  messageOf(contentType: string | null, body: Buffer): string;
  /** By the name of the format. Contains every format of the receiver. */
  readonly formats: Readonly<Record<string, FormatExample>>;
}

export const packed = (bytes: Buffer, encoding: FormatExample['encoding']): Buffer => {
  if (encoding === 'identity') return bytes;
  return encoding === 'gzip' ? gzipSync(bytes) : compressSnappy(bytes);
};

const protobuf = 'application/x-protobuf';
/** A field that no schema has. */
const unknownField = Buffer.from([0x78, 0x01]);

const otlp = { signal: 'logs', contentType: protobuf, encoding: 'gzip', good: request('logs', 3), records: 3 } as const;
const otlpProtobuf: FormatExample = { ...otlp, malformed: nestedArrays(60), nothing: unknownField };

const otlpJson: FormatExample = {
  ...otlp,
  contentType: 'application/json',
  good: Buffer.from(jsonRequest('logs', 3)),
  malformed: Buffer.from('{"resourceLogs":[3]}'),
  nothing: Buffer.from('{"resourceLogs":[]}'),
};

const expectType = (expected: string, contentType: string | null): void => {
  if (contentType !== expected) throw new Error(`the answer is ${contentType}, not ${expected}`);
};

const otlpMessage: ReceiverExample['messageOf'] = (contentType, body) => {
  if (contentType === 'application/json') return (JSON.parse(body.toString()) as { message: string }).message;
  expectType(protobuf, contentType);
  // google.rpc.Status: code (1), message (2).
  if (body[0] !== 0x08 || body[2] !== 0x12) throw new Error('the answer is no google.rpc.Status');
  return body.subarray(4).toString();
};

const plainText: ReceiverExample['messageOf'] = (contentType, body) => {
  expectType('text/plain; charset=utf-8', contentType);
  return body.toString();
};

const zipkinSpan = (index: number) => ({
  traceId: '5af7183fb1d4cf5f',
  id: `352bff9a74ca9ad${index}`,
  name: 'get /api',
  kind: 'CLIENT',
  timestamp: 1_556_604_172_355_737,
  duration: 1_431,
  localEndpoint: { serviceName: 'backend' },
});

const faroPayload = {
  logs: [{ message: 'one', level: 'info', timestamp: '2023-11-14T22:13:20.000Z' }],
  exceptions: [{ type: 'Error', value: 'two', timestamp: '2023-11-14T22:13:21.000Z' }],
  measurements: [{ type: 'web-vitals', values: { lcp: 1200 }, timestamp: '2023-11-14T22:13:22.000Z' }],
  meta: { app: { name: 'checkout' }, session: { id: 's1' } },
};

const lokiValues = [
  ['1700000000000000000', 'one'],
  ['1700000000000000001', 'two', { trace_id: 'abc' }],
];

export const receiverExamples: Readonly<Record<string, ReceiverExample>> = {
  'otlp-http': {
    success: 200,
    messageOf: otlpMessage,
    formats: { 'otlp-protobuf': otlpProtobuf, 'otlp-json': otlpJson },
  },
  'otlp-grpc': { messageOf: (_type, body) => body.toString(), formats: { 'otlp-protobuf': otlpProtobuf } },
  'remote-write': {
    success: 202,
    messageOf(contentType, body) {
      expectType('application/json', contentType);
      return (JSON.parse(body.toString()) as { error: string }).error;
    },
    formats: {
      'remote-write-1': {
        signal: 'metrics',
        contentType: protobuf,
        encoding: 'snappy',
        good: writeRequest(4),
        records: 4,
        malformed: Buffer.from([0x0a, 0x7f]),
        nothing: unknownField,
      },
      'remote-write-2': {
        signal: 'metrics',
        encoding: 'snappy',
        good: writeRequest2(),
        records: 1,
        contentType: `${protobuf};proto=io.prometheus.write.v2.Request`,
        malformed: Buffer.from([0x2a, 0x7f]),
        nothing: field(4, Buffer.alloc(0)),
      },
    },
  },
  loki: {
    success: 204,
    messageOf: plainText,
    formats: {
      'loki-json': {
        signal: 'logs',
        contentType: 'application/json',
        encoding: 'gzip',
        records: 2,
        good: Buffer.from(JSON.stringify({ streams: [{ stream: { job: 'shop' }, values: lokiValues }] })),
        malformed: Buffer.from('{"streams":[{"stream":{},"values":[["now","one"]]}]}'),
        nothing: Buffer.from('{"streams":[{"stream":{},"values":[]}]}'),
      },
      'loki-protobuf': {
        signal: 'logs',
        contentType: protobuf,
        encoding: 'snappy',
        records: 2,
        good: lokiPush('{job="shop"}', [
          [1_700_000_000, 0, 'one'],
          [1_700_000_000, 1, 'two', { trace_id: 'abc' }],
        ]),
        malformed: lokiPush('{job=shop}', [[1_700_000_000, 0, 'one']]),
        nothing: lokiPush('{job="shop"}', []),
      },
    },
  },
  browser: {
    success: 200,
    messageOf: otlpMessage,
    formats: {
      'browser-otlp-protobuf': otlpProtobuf,
      'browser-otlp-json': otlpJson,
    },
  },
  faro: {
    success: 202,
    messageOf: plainText,
    formats: {
      'faro-json': {
        signal: 'logs',
        contentType: 'application/json',
        encoding: 'gzip',
        records: 3,
        good: Buffer.from(JSON.stringify(faroPayload)),
        malformed: Buffer.from('{"logs":[{"message":"one","timestamp":"now"}]}'),
        nothing: Buffer.from('{"meta":{"app":{"name":"checkout"}},"logs":[]}'),
      },
    },
  },
  zipkin: {
    success: 202,
    messageOf: plainText,
    formats: {
      'zipkin-json': {
        signal: 'traces',
        contentType: 'application/json',
        encoding: 'gzip',
        records: 3,
        good: Buffer.from(JSON.stringify([1, 2, 3].map(zipkinSpan))),
        malformed: Buffer.from('[{"traceId":"5af7183fb1d4cf5f","id":"not hexadecimal"}]'),
        nothing: Buffer.from('[]'),
      },
    },
  },
};
