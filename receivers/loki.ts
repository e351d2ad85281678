/** Loki's push API: JSON, and protobuf in snappy. A stream becomes a resource, a line becomes a log record. */
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { PermanentError } from '../schemas/errors.ts';
import type { JsonReader } from '../schemas/otlp/json-reader.ts';
import {
  createObjectReader,
  maxEntries,
  readElements,
  readJsonText,
  readString,
  readStrings,
} from '../schemas/otlp/json-text.ts';
import { toTextAttributes, writeField, writeMessage } from '../schemas/otlp/write.ts';
import { createMalformedError, WireReader } from '../schemas/protobuf/reader.ts';
import { findInvalidUtf8 } from '../schemas/protobuf/utf8.ts';
import { WireWriter } from '../schemas/protobuf/writer.ts';
import type { BodyFormat } from './engine/body-format.ts';
import { toRefusalResponse } from './engine/http-ingest.ts';
import { defineHttpReceiver } from './engine/http-receiver.ts';
import { createRefusal } from './engine/refusal.ts';
import { parseEncoding } from './engine/refuse.ts';

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

const parseId = (text: string | undefined, bytes: number): Buffer | undefined =>
  text?.length === bytes * 2 && /^[0-9a-f]+$/i.test(text) ? Buffer.from(text, 'hex') : undefined;

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
            severityNumber: severityNumbers.get(severityText?.toLowerCase() ?? ''),
            severityText,
            body: { stringValue },
            attributes: toTextAttributes(metadata),
            traceId: parseId(metadata.get('trace_id'), 16),
            spanId: parseId(metadata.get('span_id'), 8),
          }),
        );
      }),
    );
  });
};

/** Latest time in nanoseconds that Loki's int64 can represent. */
const maxTimeNs = 2n ** 63n - 1n;

const readTime = (reader: JsonReader): bigint => {
  reader.peek();
  const at = reader.position;
  const text = readString(reader);
  const time = /^[0-9]{1,19}$/.test(text) ? BigInt(text) : -1n;
  if (time < 0n || time > maxTimeNs)
    throw reader.createFault(`expected a time in nanoseconds from 0 to ${maxTimeNs}, as digits in a string`, at);
  return time;
};

/** Parses `["time", "line"]` or `["time", "line", {"name": "value"}]`. */
const readEntry = (reader: JsonReader): [bigint, string, Labels] => {
  const entryFormat = 'an entry is a time, a line and, optionally, structured metadata';
  if (!reader.beginArray()) throw reader.createFault(entryFormat);
  const time = readTime(reader);
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

const readJsonStream = (reader: JsonReader, writer: WireWriter): void => {
  const { stream = noLabels, values } = readStreamObject(reader);
  if (values === undefined) return;
  const end = reader.position;
  reader.position = values;
  writeStream(writer, stream, (write) => readElements(reader, () => write(...readEntry(reader))));
  reader.position = end;
};

const lokiJson: BodyFormat = {
  name: 'loki-json',
  messageFormat: 'otlp',
  isCostly: true,
  translate(body) {
    const writer = new WireWriter(body.length);
    const streams = (reader: JsonReader): void => readElements(reader, () => readJsonStream(reader, writer));
    readJsonText(body, createObjectReader({ streams }));
    return writer.finish();
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

const readWireEntry = (reader: WireReader, end: number): [bigint, string, Labels] => {
  const metadata = new Map<string, string>();
  let time = 0n;
  let line = '';
  readFields(reader, end, {
    10: (timeEnd) => {
      time = readWireTime(reader, timeEnd);
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

/** The labels may follow the entries, so the stream is read twice. */
const readWireStream = (reader: WireReader, end: number, writer: WireWriter): void => {
  const start = reader.position;
  const skip = (): void => undefined;
  let labels = noLabels;
  readFields(reader, end, {
    10: (labelsEnd) => {
      labels = parseLabels(readTextTo(reader, labelsEnd), reader.position);
    },
    18: skip,
  });
  reader.position = start;
  writeStream(writer, labels, (write) =>
    readFields(reader, end, { 10: skip, 18: (entryEnd) => write(...readWireEntry(reader, entryEnd)) }),
  );
};

const lokiProtobuf: BodyFormat = {
  name: 'loki-protobuf',
  messageFormat: 'otlp',
  isCostly: true,
  translate(body) {
    const reader = new WireReader(body);
    const writer = new WireWriter(body.length * 2);
    readFields(reader, body.length, { 10: (end) => readWireStream(reader, end, writer) });
    return writer.finish();
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
      return createRefusal('unsupported-encoding', 'Content-Encoding of JSON must be gzip, deflate, zstd or identity');
    }
    if (type !== 'application/x-protobuf' && type !== '')
      return createRefusal('unsupported-type', 'Content-Type must be application/x-protobuf or application/json');
    // Protobuf is always a snappy block; many clients do not declare it.
    if (encoding === 'snappy' || encoding === 'identity') return { signal, format: lokiProtobuf, encoding: 'snappy' };
    return createRefusal('unsupported-encoding', 'protobuf must be one snappy block, without another Content-Encoding');
  },
  accepted: () => ({ status: 204, headers: {}, body: undefined }),
  refused: (_headers, refused) => toRefusalResponse(refused, 'text/plain; charset=utf-8', `${refused.message}\n`),
});
