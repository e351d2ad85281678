/** Loki's push API: JSON, and protobuf in snappy. A stream becomes a resource, a line becomes a log record. */
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { PermanentError } from '../schemas/errors.ts';
import { parseHexId } from '../schemas/otlp/hex-id.ts';
import type { JsonReader } from '../schemas/otlp/json-reader.ts';
import { JsonRecords } from '../schemas/otlp/json-records.ts';
import { createObjectReader, maxEntries, readJsonText, readString, readStrings } from '../schemas/otlp/json-text.ts';
import { toTextAttributes, writeField, writeMessage } from '../schemas/otlp/write.ts';
import { createMalformedError, WireReader } from '../schemas/protobuf/reader.ts';
import { type RejectedBody, type SeparatedRequest, separateRecords } from '../schemas/protobuf/separate.ts';
import type { SplittableMessage } from '../schemas/protobuf/split.ts';
import { findInvalidUtf8 } from '../schemas/protobuf/utf8.ts';
import { WireWriter } from '../schemas/protobuf/writer.ts';
import { findTimeProblem, type TimeRange } from '../schemas/readable-times.ts';
import { toPlainText } from '../schemas/tables/search-text.ts';
import type { BodyFormat } from './engine/body-format.ts';
import { parseEncoding } from './engine/dead-letters.ts';
import { createErrorResponse, createPartialErrorResponse } from './engine/error-responses.ts';
import { toTextResponse } from './engine/http-ingest.ts';
import { defineHttpReceiver } from './engine/http-receiver.ts';

type Labels = ReadonlyMap<string, string>;

/** Resource attributes that Loki converts to labels on OTLP ingestion; this is the reverse mapping. */
const attributesByLabel = new Map(
  [
    'cloud.availability_zone',
    'cloud.region',
    'container.name',
    'deployment.environment',
    'deployment.environment.name',
    'k8s.cluster.name',
    'k8s.container.name',
    'k8s.cronjob.name',
    'k8s.daemonset.name',
    'k8s.deployment.name',
    'k8s.job.name',
    'k8s.namespace.name',
    'k8s.pod.name',
    'k8s.replicaset.name',
    'k8s.statefulset.name',
    'service.instance.id',
    'service.name',
    'service.namespace',
  ].map((attribute) => [attribute.replaceAll('.', '_'), attribute]),
);

/** Labels in which Loki searches the service name of a stream without `service_name`. The label is retained. */
const serviceLabels = [
  'service',
  'app',
  'application',
  'app_name',
  'name',
  'app_kubernetes_io_name',
  'container',
  'container_name',
  'k8s_container_name',
  'component',
  'workload',
  'job',
  'k8s_job_name',
];

const severityNumbers = new Map([
  ['trace', 1],
  ['debug', 5],
  ['info', 9],
  ['information', 9],
  ['notice', 10],
  ['warn', 13],
  ['warning', 13],
  ['error', 17],
  ['err', 17],
  ['critical', 21],
  ['crit', 21],
  ['fatal', 21],
  ['alert', 21],
  ['emergency', 21],
]);

const noLabels: Labels = new Map();
const findSeverity = (texts: Labels): string | undefined => texts.get('level') ?? texts.get('detected_level');

const toResourceAttributes = (labels: Labels): [string, string][] => {
  const pairs = [...labels].map(([name, value]): [string, string] => [attributesByLabel.get(name) ?? name, value]);
  const serviceLabel = labels.has('service_name') ? undefined : serviceLabels.find((label) => labels.get(label));
  return serviceLabel === undefined ? pairs : [['service.name', labels.get(serviceLabel) ?? ''], ...pairs];
};

/** Writes the entries of one stream; `read` calls its argument with each entry. */
const writeStream = (
  writer: WireWriter,
  labels: Labels,
  read: (write: (timeUnixNano: bigint, line: string, metadata: Labels) => void) => void,
): void => {
  const streamSeverity = findSeverity(labels);
  writeField(writer, 1, () => {
    writeField(writer, 1, () =>
      writeMessage(writer, 'Resource', { attributes: toTextAttributes(toResourceAttributes(labels)) }),
    );
    writeField(writer, 2, () =>
      read((timeUnixNano, stringValue, metadata) => {
        const severityText = findSeverity(metadata) ?? streamSeverity;
        writeField(writer, 2, () =>
          writeMessage(writer, 'LogRecord', {
            timeUnixNano,
            severityNumber: severityNumbers.get(toPlainText(severityText ?? '').toLowerCase()),
            severityText,
            body: { stringValue },
            attributes: toTextAttributes(metadata),
            traceId: parseHexId(metadata.get('trace_id'), 16),
            spanId: parseHexId(metadata.get('span_id'), 8),
          }),
        );
      }),
    );
  });
};

/** Loki's clients send the time of each entry; 0 is unknown. */
const requireReadable = (time: bigint, times: TimeRange | undefined, position: number): void => {
  const problem = time === 0n ? undefined : findTimeProblem(Number(time), 'nanoseconds', times);
  if (problem !== undefined)
    throw new PermanentError(problem.reason, `the time of an entry ${problem.message}`, { position });
};

/** Latest time in nanoseconds that Loki's int64 can represent. */
const maxTimeNs = 2n ** 63n - 1n;

const readTime = (reader: JsonReader, times: TimeRange | undefined): bigint => {
  reader.peek();
  const at = reader.position;
  const text = readString(reader);
  const time = /^[0-9]{1,19}$/.test(text) ? BigInt(text) : -1n;
  if (time < 0n || time > maxTimeNs)
    throw reader.createFault(`expected a time in nanoseconds from 0 to ${maxTimeNs}, as digits in a string`, at);
  requireReadable(time, times, at);
  return time;
};

/** Parses `["time", "line"]` or `["time", "line", {"name": "value"}]`. */
const readEntry = (reader: JsonReader, times: TimeRange | undefined): [bigint, string, Labels] => {
  const entryFormat = 'an entry is a time, a line and, optionally, structured metadata';
  if (!reader.beginArray()) throw reader.createFault(entryFormat);
  const time = readTime(reader, times);
  if (!reader.hasMoreElements()) throw reader.createFault(entryFormat);
  const line = readString(reader);
  const metadata = reader.hasMoreElements() ? readStrings(reader) : undefined;
  if (metadata !== undefined && reader.hasMoreElements()) throw reader.createFault(entryFormat);
  return [time, line, metadata ?? noLabels];
};

/** Entries may precede the labels, so their position is stored until the labels are known. */
const readStreamObject = createObjectReader<{ stream: Labels; values: number }>({
  stream: readStrings,
  values(reader) {
    const at = reader.position;
    reader.skipValue();
    return at;
  },
});

const readJsonStream = (
  reader: JsonReader,
  { writer, records, times }: { writer: WireWriter; records: JsonRecords; times: TimeRange | undefined },
): void => {
  const start = reader.position;
  const { stream = noLabels, values } = readStreamObject(reader);
  if (values === undefined)
    throw reader.createFault('a stream needs values, a list of [time, line]', start, 'no-records');
  const end = reader.position;
  reader.position = values;
  writeStream(writer, stream, (write) =>
    records.readElements(reader, () => write(...readEntry(reader, times)), { isRecord: true }),
  );
  reader.position = end;
};

const lokiJson: BodyFormat = {
  name: 'loki-json',
  messageFormat: 'otlp',
  isCostly: true,
  translate(body, _signal, times) {
    const writer = new WireWriter(body.length);
    const records = new JsonRecords();
    let rejected: RejectedBody | undefined;
    let length = 0;
    let hasStreams = false;
    const streams = (reader: JsonReader): void => {
      hasStreams = true;
      const read = (): void => {
        length = writer.length;
        readJsonStream(reader, { writer, records, times });
      };
      records.readElements(reader, read, { isRecord: false, undo: () => writer.truncate(length) });
    };
    const readBody = createObjectReader({ streams });
    readJsonText(body, (reader) => {
      readBody(reader);
      if (!hasStreams && reader.position > '{}'.length)
        throw reader.createFault('the body has no streams', 0, 'no-records');
      rejected = records.finish(body);
    });
    return { body: writer.finish(), rejected };
  },
};

/** Loki's own limits are far below. */
const maxLabelsLength = 64 * 1024;
const labelPattern = /\s*([a-zA-Z_][\w.:]*)\s*=\s*("(?:[^"\\\n]|\\.)*"|`[^`]*`)\s*(,|(?=\}))/y;
const escapes = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|([abfnrtv\\"']))/g;
const escapedCharacters: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** Parses a Go string literal. Invalid bytes become U+FFFD. */
const unquote = (quoted: string): string => {
  const inner = quoted.slice(1, -1);
  if (quoted.startsWith('`')) return inner;
  return inner.replace(escapes, (_all, byte, short, long, octal, character: string | undefined) => {
    if (character !== undefined) return escapedCharacters[character] ?? character;
    const code = octal === undefined ? Number.parseInt(byte ?? short ?? long, 16) : Number.parseInt(octal, 8);
    const isByte = byte !== undefined || octal !== undefined;
    return code > 0x10ffff || (isByte && code > 0x7f) ? '\ufffd' : String.fromCodePoint(code);
  });
};

/** Parses `{name="value", other="value"}`, as Promtail and Loki write it. */
const parseLabels = (text: string, position: number): Labels => {
  const createLabelError = (problem: string): PermanentError =>
    createMalformedError(`the labels of a stream ${problem}`, position);
  if (text.length > maxLabelsLength) throw createLabelError(`are longer than ${maxLabelsLength} characters`);
  const trimmed = text.trim();
  if (!trimmed.startsWith('{') || !trimmed.endsWith('}'))
    throw createLabelError('are not in braces, as in {job="shop"}');
  const labels = new Map<string, string>();
  labelPattern.lastIndex = 1;
  let at = 1;
  for (let match = labelPattern.exec(trimmed); match !== null; match = labelPattern.exec(trimmed)) {
    at = labelPattern.lastIndex;
    labels.set(match[1] ?? '', unquote(match[2] ?? ''));
  }
  if (trimmed.slice(at).trim() !== '}')
    throw createLabelError(`are not name="value", separated by commas: ${trimmed.slice(at, at + 40)}`);
  return labels;
};

/**
 * Reads the fields of a message up to `end`: by tag, the function that reads the field, with its end if it has a
 * length.
 */
const readFields = (reader: WireReader, end: number, fields: Readonly<Record<number, (end: number) => void>>): void => {
  const knownFields = new Set(Object.keys(fields).map((tag) => Number(tag) >> 3));
  while (reader.position < end) {
    const at = reader.position;
    const tag = reader.readTag(end);
    const read = fields[tag];
    if (read === undefined) {
      if (knownFields.has(tag >> 3)) throw createMalformedError(`field ${tag >> 3} has the wire type ${tag % 8}`, at);
      reader.skip(tag, end);
    } else if (tag % 8 === 2) {
      const fieldEnd = reader.readLengthEnd(end);
      read(fieldEnd);
      reader.position = fieldEnd;
    } else read(end);
  }
};

const readTextTo = (reader: WireReader, end: number): string => {
  const bytes = reader.bytes.subarray(reader.position, end);
  if (isUtf8(bytes)) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
  const position = findInvalidUtf8(reader.bytes, reader.position, end);
  throw new PermanentError('bad-utf8', 'a text is not UTF-8', { position });
};

const readWireTime = (reader: WireReader, end: number): bigint => {
  const at = reader.position;
  let seconds = 0;
  let nanos = 0;
  readFields(reader, end, {
    8: (limit) => {
      seconds = reader.readVarint(limit);
    },
    16: (limit) => {
      nanos = reader.readVarint(limit);
    },
  });
  // A number above 2⁵³ is not exact, but it is also far above this limit.
  if (seconds > 9_223_372_035 || nanos > 999_999_999)
    throw createMalformedError('the time of an entry is out of range', at);
  return BigInt(seconds) * 1_000_000_000n + BigInt(nanos);
};

const readWirePair = (reader: WireReader, end: number): [string, string] => {
  const pair: [string, string] = ['', ''];
  readFields(reader, end, {
    10: (nameEnd) => {
      pair[0] = readTextTo(reader, nameEnd);
    },
    18: (valueEnd) => {
      pair[1] = readTextTo(reader, valueEnd);
    },
  });
  return pair;
};

const readWireEntry = (reader: WireReader, end: number, times: TimeRange | undefined): [bigint, string, Labels] => {
  const metadata = new Map<string, string>();
  let time = 0n;
  let line = '';
  readFields(reader, end, {
    10: (timeEnd) => {
      const at = reader.position;
      time = readWireTime(reader, timeEnd);
      requireReadable(time, times, at);
    },
    18: (lineEnd) => {
      line = readTextTo(reader, lineEnd);
    },
    26: (pairEnd) => {
      metadata.set(...readWirePair(reader, pairEnd));
      if (metadata.size > maxEntries)
        throw createMalformedError(`an entry has more than ${maxEntries} structured metadata`, pairEnd);
    },
  });
  return [time, line, metadata];
};

const readWireLabels = (reader: WireReader, end: number): Labels =>
  parseLabels(readTextTo(reader, end), reader.position);

const skip = (): void => undefined;

/** Translates a push. The labels of a stream may follow its entries, so each stream is read twice. */
const translatePush = (body: Buffer, times: TimeRange | undefined): { body: Buffer; entries: number } => {
  const reader = new WireReader(body);
  const writer = new WireWriter(body.length * 2);
  let entries = 0;
  const readStream = (end: number): void => {
    const start = reader.position;
    let labels = noLabels;
    readFields(reader, end, {
      10: (labelsEnd) => {
        labels = readWireLabels(reader, labelsEnd);
      },
      18: skip,
    });
    reader.position = start;
    writeStream(writer, labels, (write) =>
      readFields(reader, end, {
        10: skip,
        18: (entryEnd) => {
          write(...readWireEntry(reader, entryEnd, times));
          entries++;
        },
      }),
    );
  };
  readFields(reader, body.length, { 10: readStream });
  return { body: writer.finish(), entries };
};

const streamMessage = 1;
/** A push contains streams, and a stream contains entries. */
const pushMessages: SplittableMessage = {
  message: 0,
  fields: new Map([[1, { message: streamMessage, fields: new Map([[2, undefined]]) }]]),
};

const separatePush = (body: Buffer, times: TimeRange | undefined): SeparatedRequest | undefined => {
  const reader = new WireReader(body);
  const readStream = (end: number): void =>
    readFields(reader, end, {
      10: (labelsEnd) => void readWireLabels(reader, labelsEnd),
      18: (entryEnd) => void readWireEntry(reader, entryEnd, times),
    });
  return separateRecords(pushMessages, body, {
    checkFields(message, start, end) {
      reader.position = start;
      if (message === streamMessage) readStream(end);
      else readFields(reader, end, { 10: readStream });
    },
  });
};

const lokiProtobuf: BodyFormat = {
  name: 'loki-protobuf',
  messageFormat: 'otlp',
  isCostly: true,
  translate(body, _signal, times) {
    try {
      return { body: translatePush(body, times).body, rejected: undefined };
    } catch (error) {
      if (!(error instanceof PermanentError)) throw error;
      const separated = separatePush(body, times);
      if (separated === undefined) throw error;
      const accepted = translatePush(separated.accepted, times);
      if (accepted.entries === 0) throw error;
      return { body: accepted.body, rejected: separated.rejected };
    }
  },
};

const getMediaType = (headers: IncomingHttpHeaders): string =>
  (headers['content-type']?.split(';')[0] ?? '').trim().toLowerCase();

const pushPath = '/loki/api/v1/push';

export const loki = defineHttpReceiver({
  name: 'loki',
  summary: `Loki's push API (${pushPath}), JSON and protobuf, on port 4318 and on the main address`,
  signals: ['logs'],
  listens: [
    { setting: 'OTLP_HTTP_ADDRESS', protocol: 'http', paths: { logs: pushPath } },
    { setting: 'HTTP_ADDRESS', protocol: 'http', paths: { logs: pushPath } },
  ],
  maxBodyBytes: 10 * 1024 * 1024,
  formats: [lokiJson, lokiProtobuf],
  shape(signal, headers) {
    const type = getMediaType(headers);
    const encoding = parseEncoding(headers['content-encoding'] ?? '');
    if (type === 'application/json') {
      if (encoding !== undefined && encoding !== 'snappy') return { signal, format: lokiJson, encoding };
      return createErrorResponse(
        'unsupported-encoding',
        'Content-Encoding of JSON must be gzip, deflate, zstd or identity',
      );
    }
    if (type !== 'application/x-protobuf' && type !== '')
      return createErrorResponse('unsupported-type', 'Content-Type must be application/x-protobuf or application/json');
    // Protobuf is always a snappy block; many clients do not declare it.
    if (encoding === 'snappy' || encoding === 'identity') return { signal, format: lokiProtobuf, encoding: 'snappy' };
    return createErrorResponse(
      'unsupported-encoding',
      'protobuf must be one snappy block, without another Content-Encoding',
    );
  },
  toSuccessResponse: (_headers, _shape, { records, rejected }) =>
    rejected === undefined
      ? { status: 204, headers: {}, body: undefined }
      : toTextResponse(createPartialErrorResponse('entries', { records, rejected })),
  toErrorResponse: (_headers, errorResponse) => toTextResponse(errorResponse),
});
