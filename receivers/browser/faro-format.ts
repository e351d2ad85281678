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
import { rumLimits } from '../../schemas/rum.ts';
import { toTextOrEmpty } from '../../schemas/text.ts';
import type { BodyFormat, BrowserContext, TranslatedRequest, Translation } from '../engine/body-format.ts';
import { checkTelemetryBytes, requireBrowser, toBrowserAttributes } from './body-formats.ts';
import { createScrubber } from './scrub.ts';
import { mayContainRecording, RecordedEvents, translateSensitive } from './sdk-recordings.ts';

type Attribute = OtlpMessage<'KeyValue'>;
type LogRecord = OtlpMessage<'LogRecord'>;

const maxValueDepth = 16;
/** Every record repeats the attributes of its page and session, so a body may grow to many times its size. */
const maxTranslatedBytes = 16 * 1024 * 1024;
const brace = 0x7b;

/** Reads a JSON object with limited nesting. */
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

/** Returns the attributes of a group of `meta`. Its member `attributes` contains those of the page. */
const flattenMetaGroup = (name: string, group: unknown): Attribute[] => {
  const { attributes, ...fields } = toFields(group);
  return flatten({ [name]: fields, [`${name}_attr`]: attributes });
};

/** Returns the attributes that all records of the payload share. */
const toMetaAttributes = ({ sdk, browser, ...groups }: Fields): Attribute[] => {
  const { integrations: _integrations, ...sdkFields } = toFields(sdk);
  const { brands, ...browserFields } = toFields(browser);
  return [
    ...flattenMetaGroup('sdk', sdkFields),
    ...flattenMetaGroup('browser', browserFields),
    ...flatten({
      browser_brand: isFields(brands) || Array.isArray(brands) ? brands : undefined,
      browser_brands: toTextOrEmpty(brands) || undefined,
    }),
    ...Object.entries(groups).flatMap(([name, group]) => flattenMetaGroup(name, group)),
  ];
};

/** Returns the attributes of every resource of the payload. */
const toResourceAttributes = (meta: Fields, browser: BrowserContext): Record<string, string> => {
  const app = toFields(meta['app']);
  const pairs = [
    ['service.name', browser.application],
    ['service.version', toTextOrEmpty(app['version'])],
    ['service.namespace', toTextOrEmpty(app['namespace'])],
    ['deployment.environment', toTextOrEmpty(app['environment'])],
    ...Object.entries(toBrowserAttributes(browser)),
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

/** Returns a stack in V8's format. */
const formatStack = (title: string, stacktrace: unknown): string => {
  const { frames } = toFields(stacktrace);
  if (!Array.isArray(frames)) return '';
  const lines = frames.map((frame) => {
    const { function: name, module, filename, lineno, colno } = toFields(frame);
    const path = [module, filename].filter((part) => typeof part === 'string' && part !== '').join('|');
    const locationParts = [path, lineno, colno].filter((part) => part !== undefined && part !== null && part !== '');
    return `    at ${toTextOrEmpty(name) || '?'} (${locationParts.join(':')})`;
  });
  return [title, ...lines].join('\n');
};

type ItemKind = 'log' | 'exception' | 'measurement' | 'event';

/** Fields and attributes that depend on the kind of item. Other fields become attributes of the same names. */
const itemFields: Readonly<Record<ItemKind, (item: Fields) => LogRecord>> = {
  log({ message, level, context, ...others }) {
    return {
      ...createSeverity(toTextOrEmpty(level) || 'info'),
      body: { stringValue: toTextOrEmpty(message) },
      attributes: flatten({ context, ...others }),
    };
  },
  exception({ type, value, stacktrace, context, ...others }) {
    const [typeText, message] = [toTextOrEmpty(type), toTextOrEmpty(value)];
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
    const name = toTextOrEmpty(type);
    return {
      ...createSeverity('info'),
      body: { stringValue: name },
      attributes: flatten({ type: name, value: values, context, ...others }),
    };
  },
  event({ name, domain, attributes, ...others }) {
    const eventName = toTextOrEmpty(name);
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

/** Event of Faro's session recording. It contains what people type, so it is not a log record. */
const recordedEventName = 'faro.session_recording.event';

/** Adds an event of a recording. Its attributes contain the JSON, and its number from 0. */
const addRecordedEvent = ({ recordings, sessionId }: Payload, { attributes }: Fields): void => {
  const { event, recording_id: recordingId, seq } = toFields(attributes);
  recordings.add({
    document: { sessionId, tabId: toTextOrEmpty(recordingId) },
    number: toTextOrEmpty(seq),
    part: { part: '1', parts: '1', data: toTextOrEmpty(event) },
  });
};

/** Returns the ids of the trace. Invalid ones become attributes. */
const toTraceFields = (trace: unknown): Pick<LogRecord, 'traceId' | 'spanId' | 'attributes'> => {
  const { trace_id: traceText, span_id: spanText } = toFields(trace);
  const [traceId, spanId] = [parseHexId(toTextOrEmpty(traceText), 16), parseHexId(toTextOrEmpty(spanText), 8)];
  const attributes = flatten({
    traceID: traceId === undefined ? toTextOrEmpty(traceText) || undefined : undefined,
    spanID: spanId === undefined ? toTextOrEmpty(spanText) || undefined : undefined,
  });
  return { traceId, spanId, attributes };
};

/** Returns the time of an item in milliseconds; 0 if it has none. */
const parseTimeMs = (timestamp: unknown): number => {
  if (timestamp === undefined || timestamp === null || timestamp === '') return 0;
  return typeof timestamp === 'number' ? timestamp : Date.parse(toTextOrEmpty(timestamp));
};

interface Payload {
  readonly reader: JsonReader;
  readonly writer: WireWriter;
  readonly records: JsonRecords;
  readonly times: TimeRange | undefined;
  /** Encoded attributes of all records */
  readonly metaAttributes: Buffer;
  readonly sessionId: string;
  readonly recordings: RecordedEvents;
  /** Bytes of the events of recordings */
  recordedBytes: number;
}

const readItem = (payload: Payload, kind: ItemKind): void => {
  const { reader, writer, times, metaAttributes } = payload;
  const start = reader.position;
  const { timestamp, trace, ...item } = readObject(reader);
  if (kind === 'event' && item['name'] === recordedEventName) {
    payload.recordedBytes += reader.position - start;
    addRecordedEvent(payload, item);
    return;
  }
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

/** Returns the positions at which the known members of the payload begin. They may be in any order. */
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

const translatePayload = (
  body: Buffer,
  times: TimeRange | undefined,
  context: BrowserContext | undefined,
): Translation => {
  const browser = requireBrowser(context);
  const { application, privacy } = browser;
  const logs = new WireWriter(body.length * 2);
  const spans = new WireWriter(0);
  const records = new JsonRecords();
  let resourceAttributes: Readonly<Record<string, string>> = {};
  let rejected: RejectedBody | undefined;
  let session = '';
  const recordings = new RecordedEvents(browser);
  readJsonText(body, (reader) => {
    const members = findMembers(reader);
    const end = reader.position;
    const meta = readMeta(reader, members.get('meta'), application);
    resourceAttributes = toResourceAttributes(meta, browser);
    session = toTextOrEmpty(toFields(meta['session'])['id']);
    const bundleId = toTextOrEmpty(toFields(meta['app'])['bundleId']);
    const payload: Payload = {
      reader,
      writer: logs,
      records,
      times,
      metaAttributes: encodeAttributes(toMetaAttributes(meta)),
      sessionId: session,
      recordings,
      recordedBytes: 0,
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
    checkTelemetryBytes(body.length - payload.recordedBytes);
    rejected = records.finish(body);
  });
  const scrubber = createScrubber(privacy);
  const scrubbedSpans = rewriteRequest('traces', spans.finish(), {
    removes: scrubber.removes,
    rewrite: scrubber.rewrite,
    resourceAttributes,
  });
  const additionalRequests: TranslatedRequest[] =
    scrubbedSpans.records === 0 ? [] : [{ signal: 'traces', format: 'otlp', body: scrubbedSpans.body }];
  const scrubbedLogs = rewriteRequest('logs', logs.finish(), scrubber);
  const sessions = session === '' ? [] : [session.slice(0, rumLimits.id)];
  const recorded = recordings.publish();
  const { removedValues } = scrubber;
  return { body: scrubbedLogs.body, additionalRequests, ...recorded, removedValues, sessions, rejected };
};

export const faroFormat: BodyFormat = {
  name: 'faro-json',
  messageFormat: 'otlp',
  isCostly: true,
  isSensitive: mayContainRecording,
  translate(body, _signal, times, browser) {
    const translate = (): Translation => translatePayload(body, times, browser);
    if (!body.includes(recordedEventName)) return translate();
    const translation = translateSensitive(translate);
    const { rejected, droppedRecordings = 0 } = translation;
    // Recorded events whose values nest too deep are rejected without a copy.
    return rejected?.body.includes(recordedEventName)
      ? { ...translation, rejected: undefined, droppedRecordings: droppedRecordings + rejected.records }
      : translation;
  },
};
