/** Zipkin v2 JSON, with OpenTelemetry's mapping of Zipkin to OTLP. */
import type { JsonReader } from '../schemas/otlp/json-reader.ts';
import { JsonRecords } from '../schemas/otlp/json-records.ts';
import {
  createObjectReader,
  maxEntries,
  readBoolean,
  readElements,
  readJsonText,
  readNonNegativeInteger,
  readString,
  readStrings,
} from '../schemas/otlp/json-text.ts';
import { type OtlpMessage, toTextAttributes, writeField, writeMessage } from '../schemas/otlp/write.ts';
import type { RejectedBody } from '../schemas/protobuf/separate.ts';
import { WireWriter } from '../schemas/protobuf/writer.ts';
import { findTimeProblem, type TimeRange } from '../schemas/readable-times.ts';
import type { BodyFormat } from './engine/body-format.ts';
import { createErrorResponse, createPartialErrorResponse } from './engine/error-responses.ts';
import { shapeBody, toTextResponse } from './engine/http-ingest.ts';
import { defineHttpReceiver } from './engine/http-receiver.ts';

interface Endpoint {
  serviceName: string;
  ipv4: string;
  ipv6: string;
  port: number;
}

/** A Zipkin span. Times are in microseconds. */
interface ZipkinSpan {
  traceId: Buffer;
  id: Buffer;
  parentId: Buffer;
  name: string;
  kind: number;
  timestamp: number;
  duration: number;
  debug: boolean;
  shared: boolean;
  localEndpoint: Partial<Endpoint>;
  remoteEndpoint: Partial<Endpoint>;
  annotations: Partial<Annotation>[];
  tags: Map<string, string>;
}

interface Annotation {
  timestamp: number;
  value: string;
}

const kinds = new Map([
  ['SERVER', 2],
  ['CLIENT', 3],
  ['PRODUCER', 4],
  ['CONSUMER', 5],
]);
const statusCodes = new Map([
  ['OK', 1],
  ['STATUS_CODE_OK', 1],
  ['ERROR', 2],
  ['STATUS_CODE_ERROR', 2],
]);

/** Parses an ID of up to `bytes` bytes. Zipkin clients may omit leading zeros, and may use 64-bit trace IDs. */
const createIdReader =
  (bytes: number) =>
  (reader: JsonReader): Buffer => {
    const at = reader.position;
    const text = readString(reader);
    if (text.length > 0 && text.length <= bytes * 2 && /^[0-9a-fA-F]+$/.test(text))
      return Buffer.from(text.padStart(bytes * 2, '0'), 'hex');
    throw reader.createFault(`expected an id of 1 to ${bytes * 2} hexadecimal digits in a string`, at, 'bad-id');
  };

const isZero = (id: Buffer): boolean => id.every((byte) => byte === 0);

const readKind = (reader: JsonReader): number => {
  const at = reader.position;
  const kind = kinds.get(readString(reader));
  if (kind === undefined) throw reader.createFault(`expected one of ${[...kinds.keys()].join(', ')}`, at);
  return kind;
};

const readEndpoint = createObjectReader<Endpoint>({
  serviceName: readString,
  ipv4: readString,
  ipv6: readString,
  port: readNonNegativeInteger,
});

const readAnnotation = createObjectReader<Annotation>({ timestamp: readNonNegativeInteger, value: readString });

const readSpan = createObjectReader<ZipkinSpan>({
  traceId: createIdReader(16),
  id: createIdReader(8),
  parentId: createIdReader(8),
  name: readString,
  kind: readKind,
  timestamp: readNonNegativeInteger,
  duration: readNonNegativeInteger,
  debug: readBoolean,
  shared: readBoolean,
  localEndpoint: readEndpoint,
  remoteEndpoint: readEndpoint,
  annotations(reader) {
    const annotations: Partial<Annotation>[] = [];
    readElements(reader, () => {
      annotations.push(readAnnotation(reader));
      if (annotations.length > maxEntries)
        throw reader.createFault(`there are more than ${maxEntries} annotations`, reader.position, 'too-many');
    });
    return annotations;
  },
  tags: readStrings,
});

type Attribute = OtlpMessage<'KeyValue'>;

const toNanoseconds = (microseconds: number): bigint => BigInt(microseconds) * 1000n;

/** Removes and returns a tag that has its own field in OTLP. */
const extractTag = (tags: Map<string, string>, ...names: readonly string[]): string | undefined => {
  let value: string | undefined;
  for (const name of names) {
    value ??= tags.get(name);
    tags.delete(name);
  }
  return value;
};

/**
 * Removes the status tags and returns the status. An `error` tag with any value other than `false` marks a failure; its
 * value becomes the message, unless it is just `true`.
 */
const extractStatus = (tags: Map<string, string>): OtlpMessage<'Status'> | undefined => {
  const code = statusCodes.get(extractTag(tags, 'otel.status_code') ?? '');
  const description = extractTag(tags, 'otel.status_description');
  const error = extractTag(tags, 'error');
  const hasFailed = error !== undefined && error !== 'false';
  if (!hasFailed && code === undefined) return undefined;
  const message = description ?? (hasFailed && error !== 'true' ? error : '');
  return { code: hasFailed ? 2 : code, message };
};

/** Attributes that OpenTelemetry's own exporters flatten into tags: they describe the process, not the span. */
const resourceTagPattern = /^(?:service|telemetry|host|os|process|container|k8s|cloud|faas|deployment|webengine)\./;

const extractResourceTags = ({ localEndpoint }: Partial<ZipkinSpan>, tags: Map<string, string>): [string, string][] => {
  const pairs = [...tags].filter(([name]) => resourceTagPattern.test(name));
  for (const [name] of pairs) tags.delete(name);
  const source = extractTag(tags, 'otlp.service.name.source') ?? 'service.name';
  const service = localEndpoint?.serviceName;
  return service ? [[source, service], ...pairs.filter(([name]) => name !== source)] : pairs;
};

const toEndpointAttributes = (
  { ipv4, ipv6, port }: Partial<Endpoint> = {},
  names: 'network.local' | 'network.peer',
): Attribute[] => {
  const address = ipv4 || ipv6;
  return [
    ...(address ? [{ key: `${names}.address`, value: { stringValue: address } }] : []),
    ...(port ? [{ key: `${names}.port`, value: { intValue: BigInt(port) } }] : []),
  ];
};

const toFlagAttributes = (key: string, set: boolean | undefined): Attribute[] =>
  set ? [{ key, value: { boolValue: true } }] : [];

const toAttributes = (span: Partial<ZipkinSpan>, tags: Map<string, string>): Attribute[] => [
  ...toTextAttributes(tags),
  ...toEndpointAttributes(span.localEndpoint, 'network.local'),
  ...toTextAttributes(span.remoteEndpoint?.serviceName ? [['peer.service', span.remoteEndpoint.serviceName]] : []),
  ...toEndpointAttributes(span.remoteEndpoint, 'network.peer'),
  ...toFlagAttributes('zipkin.debug', span.debug),
  ...toFlagAttributes('zipkin.shared', span.shared),
  ...toFlagAttributes('otel.zipkin.absentField.startTime', !span.timestamp),
];

const writeSpan = (writer: WireWriter, span: Partial<ZipkinSpan>, tags: Map<string, string>): void => {
  const { traceId, id, parentId, name, timestamp = 0, duration = 0, annotations = [] } = span;
  // Older clients set a root span as its own parent.
  const parentSpanId = parentId !== undefined && id !== undefined && !parentId.equals(id) ? parentId : undefined;
  const internal = extractTag(tags, 'span.kind') === 'internal' ? 1 : undefined;
  writeMessage(writer, 'Span', {
    traceId,
    spanId: id,
    parentSpanId,
    traceState: extractTag(tags, 'w3c.tracestate'),
    name,
    kind: span.kind ?? internal,
    startTimeUnixNano: toNanoseconds(timestamp),
    endTimeUnixNano: toNanoseconds(timestamp) + toNanoseconds(duration),
    status: extractStatus(tags),
    attributes: toAttributes(span, tags),
    events: annotations.map((event) => ({ timeUnixNano: toNanoseconds(event.timestamp ?? 0), name: event.value })),
  });
};

/** The spans of one resource and scope */
interface Group {
  readonly resource: readonly (readonly [string, string])[];
  readonly scope: OtlpMessage<'InstrumentationScope'>;
  readonly spans: WireWriter;
}

const maxGroups = 1_000;

/** Writes each span as soon as it is read: as objects, the spans would take many times their size. */
class SpanGroups {
  readonly #groups = new Map<string, Group>();
  readonly #writer = new WireWriter(0);

  add(span: Partial<ZipkinSpan>): void {
    const tags = span.tags ?? new Map<string, string>();
    const resource = extractResourceTags(span, tags);
    const name = extractTag(tags, 'otel.scope.name', 'otel.library.name');
    const version = extractTag(tags, 'otel.scope.version', 'otel.library.version');
    const key = JSON.stringify([resource, name, version]);
    let group = this.#groups.get(key);
    if (group === undefined) {
      if (this.#groups.size === maxGroups) this.#flush();
      group = { resource, scope: { name, version }, spans: new WireWriter(0) };
      this.#groups.set(key, group);
    }
    const { spans } = group;
    writeField(spans, 2, () => writeSpan(spans, span, tags));
  }

  finish(): Buffer {
    this.#flush();
    return this.#writer.finish();
  }

  #flush(): void {
    const writer = this.#writer;
    for (const { resource, scope, spans } of this.#groups.values()) {
      const bytes = spans.finish();
      writeField(writer, 1, () => {
        writeField(writer, 1, () => writeMessage(writer, 'Resource', { attributes: toTextAttributes(resource) }));
        writeField(writer, 2, () => {
          writeField(writer, 1, () => writeMessage(writer, 'InstrumentationScope', scope));
          writer.copyBytes(bytes, 0, bytes.length);
        });
      });
    }
    this.#groups.clear();
  }
}

/** Reads a span with its ids and, if it has one, a readable time. */
const readValidSpan = (reader: JsonReader, times: TimeRange | undefined): Partial<ZipkinSpan> => {
  const start = reader.position;
  const span = readSpan(reader);
  if (span.traceId === undefined || span.id === undefined)
    throw reader.createFault('a span needs a traceId and an id', start);
  if (isZero(span.traceId) || isZero(span.id))
    throw reader.createFault('the traceId or the id of the span is only zeros', start, 'bad-id');
  const problem = span.timestamp ? findTimeProblem(span.timestamp, 'microseconds', times) : undefined;
  if (problem !== undefined)
    throw reader.createFault(`the timestamp of the span ${problem.message}`, start, problem.reason);
  return span;
};

const zipkinJson: BodyFormat = {
  name: 'zipkin-json',
  messageFormat: 'otlp',
  isCostly: true,
  translate(body, _signal, times) {
    const groups = new SpanGroups();
    const records = new JsonRecords();
    let rejected: RejectedBody | undefined;
    readJsonText(body, (reader) => {
      records.readElements(reader, () => groups.add(readValidSpan(reader, times)), { isRecord: true });
      rejected = records.finish(body);
    });
    return { body: groups.finish(), rejected };
  },
};

export const zipkin = defineHttpReceiver({
  name: 'zipkin',
  summary: 'Zipkin v2 JSON, /api/v2/spans on 4318 and /zipkin/api/v2/spans on the main address',
  signals: ['traces'],
  // On the main address everything under /api/ belongs to the API, which may get a version 2.
  listens: [
    { setting: 'OTLP_HTTP_ADDRESS', protocol: 'http', paths: { traces: '/api/v2/spans' } },
    { setting: 'HTTP_ADDRESS', protocol: 'http', paths: { traces: '/zipkin/api/v2/spans' } },
  ],
  maxBodyBytes: 10 * 1024 * 1024,
  formats: [zipkinJson],
  shape(signal, headers) {
    const type = (headers['content-type']?.split(';')[0] ?? '').trim().toLowerCase();
    if (type !== 'application/json' && type !== '')
      return createErrorResponse('unsupported-type', 'Content-Type must be application/json');
    return shapeBody(signal, zipkinJson, headers);
  },
  toSuccessResponse: (_headers, _shape, { records, rejected }) =>
    rejected === undefined
      ? { status: 202, headers: { 'content-length': 0 }, body: undefined }
      : toTextResponse(createPartialErrorResponse('spans', { records, rejected })),
  toErrorResponse: (_headers, errorResponse) => toTextResponse(errorResponse),
});
