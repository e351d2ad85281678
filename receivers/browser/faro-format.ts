/**
 * Payloads of Grafana Faro. Logs, exceptions, measurements and events become log records whose attributes have the names
 * that the OpenTelemetry Collector's Faro translator writes into its texts; exceptions follow OpenTelemetry's
 * conventions. Traces are OTLP.
 */

import { type Fields, isFields, toFields } from '../../runtime/fields.ts';
import { parseHexId } from '../../schemas/otlp/hex-id.ts';
import { copyJsonRequest } from '../../schemas/otlp/json.ts';
import type { JsonReader } from '../../schemas/otlp/json-reader.ts';
import { JsonRecords } from '../../schemas/otlp/json-records.ts';
import { maxEntries, readJsonText } from '../../schemas/otlp/json-text.ts';
import { rewriteRequest } from '../../schemas/otlp/rewrite.ts';
import { type OtlpMessage, toTextAttributes, writeField, writeMessage } from '../../schemas/otlp/write.ts';
import type { RejectedBody } from '../../schemas/protobuf/separate.ts';
import { WireWriter } from '../../schemas/protobuf/writer.ts';
import { findTimeProblem, type TimeRange } from '../../schemas/readable-times.ts';
import { browserSdkLanguage, sdkLanguageKey } from '../../schemas/rum.ts';
import type { BodyFormat, TranslatedRequest } from '../engine/body-format.ts';
import { requireBrowser } from './body-formats.ts';
import { createScrubber } from './scrub.ts';

type Attribute = OtlpMessage<'KeyValue'>;
type LogRecord = OtlpMessage<'LogRecord'>;

const maxValueDepth = 16;
/** Every record repeats the attributes of its page and session, so a body could become many times its size. */
const maxTranslatedBytes = 16 * 1024 * 1024;
const brace = 0x7b;

const toText = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Reads a JSON object that nests to a limit. */
const readObject = (reader: JsonReader): Fields => {
  if (reader.peek() !== brace) throw reader.createFault('expected an object');
  const start = reader.position;
  reader.skipValue(maxValueDepth);
  return JSON.parse(reader.text.toString('utf8', start, reader.position)) as Fields;
};

const toAnyValue = (value: string | number | boolean): OtlpMessage<'AnyValue'> => {
  if (typeof value === 'string') return { stringValue: value };
  return typeof value === 'number' ? { doubleValue: value } : { boolValue: value };
};

/** Adds a value as an attribute, and each entry of an object or array as an attribute of its own: `context_a_b`. */
const addAttributes = (attributes: Attribute[], key: string, value: unknown): void => {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    attributes.push({ key, value: toAnyValue(value) });
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, entry] of Object.entries(value)) addAttributes(attributes, `${key}_${name}`, entry);
  }
};

const flatten = (groups: Readonly<Record<string, unknown>>): Attribute[] => {
  const attributes: Attribute[] = [];
  for (const [key, value] of Object.entries(groups)) addAttributes(attributes, key, value);
  return attributes;
};

/** Returns the attributes of a group of `meta`, in which `attributes` are those that the page adds. */
const flattenMetaGroup = (name: string, group: unknown): Attribute[] => {
  const { attributes, ...fields } = toFields(group);
  return flatten({ [name]: fields, [`${name}_attr`]: attributes });
};

/** Returns the attributes that all records of the payload have. */
const toMetaAttributes = ({ sdk, browser, ...groups }: Fields): Attribute[] => {
  const { integrations: _integrations, ...sdkFields } = toFields(sdk);
  const { brands, ...browserFields } = toFields(browser);
  return [
    ...flattenMetaGroup('sdk', sdkFields),
    ...flattenMetaGroup('browser', browserFields),
    ...flatten({
      browser_brand: isFields(brands) || Array.isArray(brands) ? brands : undefined,
      browser_brands: toText(brands) || undefined,
    }),
    ...Object.entries(groups).flatMap(([name, group]) => flattenMetaGroup(name, group)),
  ];
};

/** Returns the attributes of every resource of the payload. */
const toResourceAttributes = (meta: Fields, application: string): Record<string, string> => {
  const app = toFields(meta['app']);
  const pairs = [
    ['service.name', application],
    ['service.version', toText(app['version'])],
    ['service.namespace', toText(app['namespace'])],
    ['deployment.environment', toText(app['environment'])],
    [sdkLanguageKey, browserSdkLanguage],
  ] as const;
  return Object.fromEntries(pairs.filter(([, text]) => text !== ''));
};

const severityNumbers = new Map([
  ['trace', 1],
  ['debug', 5],
  ['info', 9],
  ['log', 9],
  ['warn', 13],
  ['error', 17],
]);

const createSeverity = (level: string): Pick<LogRecord, 'severityNumber' | 'severityText'> => ({
  severityNumber: severityNumbers.get(level),
  severityText: level,
});

/** Returns a stack in the form of V8. */
const formatStack = (title: string, stacktrace: unknown): string => {
  const { frames } = toFields(stacktrace);
  if (!Array.isArray(frames)) return '';
  const lines = frames.map((frame) => {
    const { function: name, module, filename, lineno, colno } = toFields(frame);
    const path = [module, filename].filter((part) => typeof part === 'string' && part !== '').join('|');
    const place = [path, lineno, colno].filter((part) => part !== undefined && part !== null && part !== '');
    return `    at ${toText(name) || '?'} (${place.join(':')})`;
  });
  return [title, ...lines].join('\n');
};

type ItemKind = 'log' | 'exception' | 'measurement' | 'event';

/** The part of a record that depends on the kind of item. Other fields become attributes of their names. */
const itemFields: Readonly<Record<ItemKind, (item: Fields) => LogRecord>> = {
  log({ message, level, context, ...others }) {
    return {
      ...createSeverity(toText(level) || 'info'),
      body: { stringValue: toText(message) },
      attributes: flatten({ context, ...others }),
    };
  },
  exception({ type, value, stacktrace, context, ...others }) {
    const [typeText, message] = [toText(type), toText(value)];
    const title = [typeText, message].filter((text) => text !== '').join(': ');
    const stack = formatStack(title, stacktrace);
    return {
      ...createSeverity('error'),
      body: { stringValue: title },
      attributes: [
        ...toTextAttributes([
          ['exception.type', typeText],
          ['exception.message', message],
        ]),
        ...(stack === '' ? [] : toTextAttributes([['exception.stacktrace', stack]])),
        ...flatten({ context, ...others }),
      ],
    };
  },
  measurement({ type, values, context, ...others }) {
    const name = toText(type);
    return {
      ...createSeverity('info'),
      body: { stringValue: name },
      attributes: flatten({ type: name, value: values, context, ...others }),
    };
  },
  event({ name, domain, attributes, ...others }) {
    const eventName = toText(name);
    return {
      ...createSeverity('info'),
      eventName,
      body: { stringValue: eventName },
      attributes: flatten({ event_name: eventName, event_domain: domain, event_data: attributes, ...others }),
    };
  },
};

const itemKinds = new Map<string, ItemKind>([
  ['logs', 'log'],
  ['exceptions', 'exception'],
  ['measurements', 'measurement'],
  ['events', 'event'],
]);

/** Events of Faro's session recording. They contain what people type, so they are no log records. */
const isRecordedEvent = (kind: ItemKind, { name }: Fields): boolean =>
  kind === 'event' && typeof name === 'string' && /^faro\.session_(?:recording|replay)\./.test(name);

/** Returns the ids of the trace. Invalid ones become attributes. */
const toTraceFields = (trace: unknown): Pick<LogRecord, 'traceId' | 'spanId' | 'attributes'> => {
  const { trace_id: traceText, span_id: spanText } = toFields(trace);
  const [traceId, spanId] = [parseHexId(toText(traceText), 16), parseHexId(toText(spanText), 8)];
  const attributes = flatten({
    traceID: traceId === undefined ? toText(traceText) || undefined : undefined,
    spanID: spanId === undefined ? toText(spanText) || undefined : undefined,
  });
  return { traceId, spanId, attributes };
};

/** Returns the time of an item in milliseconds; 0 if it has none. */
const parseTimeMs = (timestamp: unknown): number => {
  if (timestamp === undefined || timestamp === null || timestamp === '') return 0;
  return typeof timestamp === 'number' ? timestamp : Date.parse(toText(timestamp));
};

interface Payload {
  readonly reader: JsonReader;
  readonly writer: WireWriter;
  readonly records: JsonRecords;
  readonly times: TimeRange | undefined;
  /** Encoded attributes of all records */
  readonly metaAttributes: Buffer;
}

const readItem = ({ reader, writer, times, metaAttributes }: Payload, kind: ItemKind): void => {
  const start = reader.position;
  const { timestamp, trace, ...item } = readObject(reader);
  if (isRecordedEvent(kind, item)) return;
  const timeMs = parseTimeMs(timestamp);
  if (!Number.isFinite(timeMs) || timeMs < 0 || timeMs > Number.MAX_SAFE_INTEGER)
    throw reader.createFault('the timestamp is not a time such as 2026-01-31T10:00:00.000Z', start, 'bad-time');
  const problem = timeMs === 0 ? undefined : findTimeProblem(timeMs, 'milliseconds', times);
  if (problem !== undefined) throw reader.createFault(`the timestamp ${problem.message}`, start, problem.reason);
  const { attributes = [], ...fields } = itemFields[kind](item);
  if (attributes.length > maxEntries)
    throw reader.createFault(`the item has more than ${maxEntries} attributes`, start, 'too-many');
  if (attributes.some(({ value }) => value?.doubleValue !== undefined && !Number.isFinite(value.doubleValue)))
    throw reader.createFault('a number is too large for a double', start);
  const { attributes: idAttributes = [], ...ids } = toTraceFields(trace);
  writeField(writer, 2, () => {
    writeMessage(writer, 'LogRecord', {
      timeUnixNano: BigInt(Math.round(timeMs)) * 1_000_000n,
      ...fields,
      ...ids,
      attributes: [...toTextAttributes([['kind', kind]]), ...attributes, ...idAttributes],
    });
    writer.copyBytes(metaAttributes, 0, metaAttributes.length);
  });
  if (writer.length > maxTranslatedBytes)
    throw reader.createFault('the items and what meta adds to each are too large together', start, 'too-large');
};

/** Returns where the known members of the payload begin. Their order is free. */
const findMembers = (reader: JsonReader): ReadonlyMap<string, number> => {
  const positions = new Map<string, number>();
  for (let hasMore = reader.beginObject(); hasMore; hasMore = reader.hasMoreMembers()) {
    reader.readKey();
    const name = reader.readUnescaped();
    reader.peek();
    if (reader.skipLiteral('null')) continue;
    const isKnown = name === 'meta' || name === 'traces' || itemKinds.has(name);
    if (isKnown) positions.set(name, reader.position);
    reader.skipValue();
  }
  return positions;
};

const readMeta = (reader: JsonReader, position: number | undefined, application: string): Fields => {
  if (position === undefined) return {};
  reader.position = position;
  const meta = readObject(reader);
  const name = toFields(meta['app'])['name'];
  if (name === undefined || name === '' || name === application) return meta;
  const message = `meta.app.name is ${JSON.stringify(name).slice(0, 100)}, but the key is for ${application}`;
  throw reader.createFault(message, position, 'foreign-service');
};

const encodeAttributes = (attributes: readonly Attribute[]): Buffer => {
  const writer = new WireWriter(1024);
  writeMessage(writer, 'LogRecord', { attributes });
  return writer.finish();
};

export const faroFormat: BodyFormat = {
  name: 'faro-json',
  messageFormat: 'otlp',
  isCostly: true,
  translate(body, _signal, times, browserContext) {
    const { application, privacy } = requireBrowser(browserContext);
    const logs = new WireWriter(body.length * 2);
    const spans = new WireWriter(0);
    const records = new JsonRecords();
    let resourceAttributes: Readonly<Record<string, string>> = {};
    let rejected: RejectedBody | undefined;
    readJsonText(body, (reader) => {
      const members = findMembers(reader);
      const end = reader.position;
      const meta = readMeta(reader, members.get('meta'), application);
      resourceAttributes = toResourceAttributes(meta, application);
      const bundleId = toText(toFields(meta['app'])['bundleId']);
      const payload = {
        reader,
        writer: logs,
        records,
        times,
        metaAttributes: encodeAttributes(toMetaAttributes(meta)),
      };
      const readItems = (): void => {
        for (const [name, kind] of itemKinds) {
          const position = members.get(name);
          if (position === undefined) continue;
          reader.position = position;
          let length = 0;
          const read = (): void => {
            length = logs.length;
            readItem(payload, kind);
          };
          records.readElements(reader, read, { isRecord: true, undo: () => logs.truncate(length) });
        }
      };
      writeField(logs, 1, () => {
        const pairs = [
          ...Object.entries(resourceAttributes),
          ...(bundleId === '' ? [] : [['app_bundle_id', bundleId] as const]),
        ];
        writeField(logs, 1, () => writeMessage(logs, 'Resource', { attributes: toTextAttributes(pairs) }));
        writeField(logs, 2, readItems);
      });
      const traces = members.get('traces');
      if (traces !== undefined) {
        reader.position = traces;
        copyJsonRequest('traces', reader, { writer: spans, records, times });
      }
      reader.position = end;
      rejected = records.finish(body);
    });
    const scrubber = createScrubber(privacy);
    const scrubbedSpans = rewriteRequest('traces', spans.finish(), { ...scrubber, resourceAttributes });
    const additionalRequests: TranslatedRequest[] =
      scrubbedSpans.records === 0 ? [] : [{ signal: 'traces', format: 'otlp', body: scrubbedSpans.body }];
    const scrubbedLogs = rewriteRequest('logs', logs.finish(), scrubber);
    return { body: scrubbedLogs.body, additionalRequests, rejected };
  },
};
