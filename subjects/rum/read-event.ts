/** Reads the events in records of browsers, by the names in `event-mapping.ts`. */
import { createHash } from 'node:crypto';
import { formatTime } from '../../queries/time.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import type { Span } from '../../schemas/records/span.ts';
import {
  browserSdkLanguage,
  frustrationTypes,
  type LoadPhase,
  loadPhases,
  type RumEvent,
  rumLimits,
  sdkLanguageKey,
  type VitalName,
  vitalRatings,
} from '../../schemas/rum.ts';
import { truncateText } from '../../schemas/text.ts';
import { separateStack } from '../errors/embedded-exceptions.ts';
import { computeFingerprint } from '../errors/fingerprint.ts';
import { toPlainStack } from '../errors/plain-stack.ts';
import { truncateStack } from '../errors/stack.ts';
import { type EventMapping, eventMappings, type MappedField, sharedFields } from './event-mapping.ts';
import { addFaroFields, isFaroBody } from './faro-body.ts';
import { getHost, isSameSite } from './page-group.ts';
import { parseUserAgent, toDeviceType } from './user-agent.ts';
import { parseVitalName, rateVital } from './vitals.ts';

/** Returns an id of limited length. A longer id is replaced by its hash, so that different ids stay different. */
const toId = (text: string): string =>
  text.length <= rumLimits.id ? text : `sha256-${createHash('sha256').update(text).digest('hex').slice(0, 40)}`;

const parseNumber = (text: string, max = 1e12): number | null => {
  if (text === '') return null;
  const number = Number(text);
  return Number.isFinite(number) && number >= 0 && number <= max ? number : null;
};
const parseMilliseconds = (text: string): number | null => parseNumber(text, 1e9);
const parseBoolean = (text: string): boolean | null => (text === 'true' ? true : text === 'false' ? false : null);

/** Attributes of replays that arrive as log records: they are not events. */
const replayKeys = ['rr-web.event', 'rr-web.chunk'];
const faroKinds = new Set(['log', 'event', 'exception', 'measurement']);

/** Returns whether a record is one of a browser. Cheap, because every record is checked. */
export const isBrowserRecord = (record: LogRecord | Span): boolean => {
  const language = record.getResourceAttribute(sdkLanguageKey);
  if (language !== undefined) return language === browserSdkLanguage;
  if (!('body' in record)) return false;
  const kind = record.getAttribute('kind');
  return kind !== undefined && faroKinds.has(kind) && isFaroBody(record.body);
};

/** What a mapping reads: the names of the event, and its attributes. */
interface EventSource {
  readonly record: LogRecord | Span;
  readonly type: 'log' | 'span';
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  /** Times of loading a document by name, in milliseconds; for spans, whose events have them. */
  readonly times: ReadonlyMap<string, number>;
}

const mappingsOf = {
  log: eventMappings.filter(({ match }) => match.record === 'log'),
  span: eventMappings.filter(({ match }) => match.record === 'span'),
} as const;

const matches = ({ match }: EventMapping, { name, attributes }: EventSource): boolean => {
  if (match.names !== undefined && !match.names.includes(name)) return false;
  for (const key in match.attributes) {
    const value = attributes.get(key);
    if (value === undefined || !(match.attributes[key] as readonly string[]).includes(value)) return false;
  }
  return match.has === undefined || match.has.some((key) => attributes.has(key));
};

/** Attributes that are fields of events, and are not stored a second time. */
const mappedKeys = new Set<string>([
  ...Object.values(sharedFields).flat(),
  ...eventMappings.flatMap(({ fields = {}, vitals = {}, phases = {} }) => [
    ...Object.values(fields).flat(),
    ...Object.values(vitals),
    ...Object.values(phases),
  ]),
  'event.name',
  'exception.type',
  'exception.message',
  'exception.stacktrace',
]);

/** Resource attribute with the bundle id of Faro, by which source maps are found */
const bundleIdKey = 'app_bundle_id';

const readBundleId = ({ record }: EventSource, kind: RumEvent['kind']): Record<string, string> => {
  const bundleId = kind === 'error' ? record.getResourceAttribute(bundleIdKey) : undefined;
  return bundleId === undefined ? {} : { [bundleIdKey]: truncateText(bundleId, rumLimits.name) };
};

const collectOtherAttributes = (attributes: ReadonlyMap<string, string>): Record<string, string> => {
  const others: Record<string, string> = {};
  let count = 0;
  for (const [key, value] of attributes) {
    if (mappedKeys.has(key) || key === '' || key.length > rumLimits.name) continue;
    if (++count > rumLimits.attributes) break;
    others[key] = truncateText(value, rumLimits.text);
  }
  return others;
};

/** Reads fields of one record: by the names of its mapping, then by the shared ones. */
class FieldReader {
  readonly #source: EventSource;
  readonly #mapping: EventMapping | undefined;

  constructor(source: EventSource, mapping: EventMapping | undefined) {
    this.#source = source;
    this.#mapping = mapping;
  }

  read(field: MappedField): string {
    const mapped = this.#find(this.#mapping?.fields?.[field]) || this.#mapping?.constants?.[field];
    if (mapped !== undefined && mapped !== '') return mapped;
    return this.#find((sharedFields as Partial<Record<MappedField, readonly string[]>>)[field]);
  }

  readNumber(field: MappedField, max?: number): number | null {
    return parseNumber(this.read(field), max);
  }

  #find(names: readonly string[] = []): string {
    const { attributes, record } = this.#source;
    for (const name of names) {
      const value = attributes.get(name);
      if (value !== undefined && value !== '') return value;
    }
    for (const name of names) {
      const value = record.getResourceAttribute(name);
      if (value !== undefined && value !== '') return value;
    }
    return '';
  }
}

const toCamelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Names of the times that a phase lies between; one time alone counts from the start of the navigation. */
const phaseTimes: Readonly<Record<LoadPhase, readonly [start: string | undefined, end: string]>> = {
  redirect: ['redirect_start', 'redirect_end'],
  dns: ['domain_lookup_start', 'domain_lookup_end'],
  connect: ['connect_start', 'connect_end'],
  tls: ['secure_connection_start', 'connect_end'],
  waiting: ['request_start', 'response_start'],
  download: ['response_start', 'response_end'],
  domInteractive: [undefined, 'dom_interactive'],
  domContentLoaded: [undefined, 'dom_content_loaded_event_end'],
  domComplete: [undefined, 'dom_complete'],
  load: [undefined, 'load_event_end'],
};
const timeNames = new Map(
  [...new Set(Object.values(phaseTimes).flat())].flatMap((name) =>
    name === undefined ? [] : [[name, toCamelCase(name)] as const],
  ),
);

const readPhases = (mapping: EventMapping, { attributes, times }: EventSource): RumEvent['phases'] => {
  const { timings, phases: durations = {} } = mapping;
  if (timings === undefined) return {};
  const readTime = (name: string): number | undefined => {
    const camelCase = timeNames.get(name) as string;
    for (const prefix of timings) {
      const time = parseMilliseconds(attributes.get(prefix + name) ?? attributes.get(prefix + camelCase) ?? '');
      if (time !== null) return time;
    }
    return times.get(camelCase);
  };
  const phases: RumEvent['phases'] = {};
  for (const phase of loadPhases) {
    const reported = parseMilliseconds(attributes.get(durations[phase] ?? '') ?? '');
    const [startName, endName] = phaseTimes[phase];
    const [start, end] = [startName === undefined ? 0 : readTime(startName), readTime(endName)];
    // A time of 0 is one that was not reached, or that another site hides.
    const isKnown =
      start !== undefined && end !== undefined && end > 0 && end >= start && (startName === undefined || start > 0);
    if (reported !== null) phases[phase] = reported;
    else if (isKnown) phases[phase] = end - start;
  }
  return phases;
};

/** Returns whether a resource came from a cache; `null` if its sizes are hidden, as those of other sites are. */
const readIsCached = (fields: FieldReader): boolean | null => {
  const status = fields.read('cacheStatus');
  if (status !== '') return status !== 'fullLoad';
  const [bytes, encoded, decoded] = [
    fields.readNumber('bytes'),
    fields.readNumber('encodedBytes'),
    fields.readNumber('decodedBytes'),
  ];
  if (bytes === null || decoded === null || decoded === 0) return null;
  return bytes === 0 || (encoded !== null && bytes < encoded);
};

const readDevice = (
  fields: FieldReader,
): Pick<RumEvent, 'device' | 'browser' | 'browserVersion' | 'os' | 'osVersion'> => {
  const userAgent = parseUserAgent(fields.read('userAgent'));
  const isMobile = parseBoolean(fields.read('isMobile'));
  const device = toDeviceType(fields.read('device'));
  return {
    device: device || userAgent?.device || (isMobile === null ? '' : isMobile ? 'mobile' : 'desktop'),
    browser: userAgent?.browser || truncateText(fields.read('browser'), rumLimits.name),
    browserVersion: userAgent?.browserVersion || truncateText(fields.read('browserVersion'), rumLimits.name),
    os: userAgent?.os || truncateText(fields.read('os'), rumLimits.name),
    osVersion: userAgent?.osVersion || truncateText(fields.read('osVersion'), rumLimits.name),
  };
};

const traceIdPattern = /^[0-9a-f]{32}$/;
const spanIdPattern = /^[0-9a-f]{16}$/;
const readTrace = ({ record }: EventSource, fields: FieldReader): Pick<RumEvent, 'traceId' | 'spanId'> => {
  if (record.traceId !== '') return { traceId: record.traceId, spanId: record.spanId };
  const [traceId, spanId] = [fields.read('traceId').toLowerCase(), fields.read('spanId').toLowerCase()];
  return {
    traceId: traceIdPattern.test(traceId) ? traceId : '',
    spanId: spanIdPattern.test(spanId) ? spanId : '',
  };
};

/** Error of an event, with the fingerprint of its error group. */
const readError = (
  { record }: EventSource,
  fields: FieldReader,
): Pick<RumEvent, 'errorType' | 'message' | 'stack' | 'fingerprint' | 'isHandled'> => {
  const error = separateStack({
    type: fields.read('errorType'),
    message: fields.read('message'),
    stack: fields.read('stack'),
  });
  const stack = truncateStack(toPlainStack(error.stack));
  const { id, components } = computeFingerprint({
    type: truncateText(error.type, 300),
    message: truncateText(error.message, 4_096),
    stack,
    service: record.service,
    projectId: record.projectId,
  });
  const type = error.type === '' ? (components.find(([name]) => name === 'type')?.[1] ?? '') : error.type;
  return {
    errorType: truncateText(type, rumLimits.name),
    message: truncateText(error.message, rumLimits.text),
    stack: truncateText(stack, rumLimits.stack),
    fingerprint: id,
    isHandled: parseBoolean(fields.read('isHandled')),
  };
};

const noError = { errorType: '', stack: '', fingerprint: '', isHandled: null } as const;

const isRating = (text: string): text is RumEvent['rating'] => (vitalRatings as readonly string[]).includes(text);

const clickSuffix = /[\s-]?click$/;
/** Returns the type of a frustration by its name, such as `rage` or `rage click`; undefined for others. */
const parseFrustration = (name: string): string | undefined => {
  const type = `${name.toLowerCase().replace(/_/g, ' ').replace(clickSuffix, '')}_click`;
  return frustrationTypes.find((known) => known === type);
};

/** Fields of a resource or request; nothing is known of others. */
const readLoad = (
  kind: RumEvent['kind'],
  url: string,
  fields: FieldReader,
): Pick<RumEvent, 'host' | 'isFirstParty' | 'bytes' | 'isCached' | 'isBlocking'> => {
  if (kind !== 'resource' && kind !== 'request')
    return { host: '', isFirstParty: null, bytes: null, isCached: null, isBlocking: null };
  const host = getHost(truncateText(fields.read('target'), rumLimits.url));
  const bytes = fields.readNumber('bytes', 1e15);
  const blockingStatus = fields.read('blockingStatus');
  return {
    host,
    isFirstParty: isSameSite(getHost(url), host),
    bytes: bytes === null ? null : Math.round(bytes),
    isCached: readIsCached(fields),
    isBlocking: blockingStatus === '' ? null : blockingStatus === 'blocking',
  };
};

const readDuration = ({ record, type }: EventSource, kind: RumEvent['kind'], fields: FieldReader): number | null => {
  const reported = fields.readNumber('durationMs', 1e9);
  if (reported !== null || type === 'log' || kind === 'error') return reported;
  return Math.min((record as Span).durationMs, 1e9);
};

const readCountry = (fields: FieldReader): string => {
  const country = fields.read('country');
  return /^[A-Za-z]{2}$/.test(country) ? country.toUpperCase() : '';
};

/** Returns the body of a log record, and its id. */
const readLogRecord = ({ record, type }: EventSource): { readonly body: string; readonly recordId: string } => {
  if (type === 'span') return { body: '', recordId: '' };
  const { body, recordId } = record as LogRecord;
  return { body: isFaroBody(body) ? '' : body, recordId };
};

const readNavigationType = (fields: FieldReader, mapping: EventMapping | undefined): string =>
  mapping?.view === 'route' ? 'route' : truncateText(fields.read('navigationType'), rumLimits.name);

/** Builds the event of a record. */
const buildEvent = (source: EventSource, mapping: EventMapping | undefined, kind: RumEvent['kind']): RumEvent => {
  const { record, attributes } = source;
  const fields = new FieldReader(source, mapping);
  const readText = (field: MappedField, length: number): string => truncateText(fields.read(field), length);
  const timeNs = record.timeNs;
  const url = readText('url', rumLimits.url);
  const { body, recordId } = readLogRecord(source);
  return {
    tenantId: record.tenantId,
    projectId: record.projectId,
    application: truncateText(record.service, 512),
    environment: readText('environment', rumLimits.name),
    release: readText('release', rumLimits.name),
    at: formatTime(timeNs),
    timeMs: Number(timeNs / 1_000_000n),
    kind,
    name: truncateText(fields.read('name') || source.name, rumLimits.name),
    sessionId: toId(fields.read('sessionId')),
    viewId: toId(fields.read('viewId')),
    route: readText('route', rumLimits.text),
    page: '',
    url,
    referrer: readText('referrer', rumLimits.url),
    userId: readText('userId', rumLimits.name),
    value: kind === 'vital' ? fields.readNumber('value') : null,
    rating: '',
    navigationType: readNavigationType(fields, mapping),
    eventId: toId(fields.read('eventId')),
    element: readText('element', rumLimits.text),
    elementText: readText('elementText', rumLimits.name),
    durationMs: readDuration(source, kind, fields),
    phases: mapping === undefined ? {} : readPhases(mapping, source),
    target: readText('target', rumLimits.url),
    resourceType: readText('resourceType', rumLimits.name),
    ...readLoad(kind, url, fields),
    method: readText('method', rumLimits.name),
    status: Math.trunc(fields.readNumber('status', 65_535) ?? 0),
    message: truncateText(fields.read('message') || body, rumLimits.text),
    ...(kind === 'error' ? readError(source, fields) : noError),
    ...readTrace(source, fields),
    recordId,
    ...readDevice(fields),
    country: readCountry(fields),
    sdk: readText('sdk', rumLimits.name),
    sdkVersion: readText('sdkVersion', rumLimits.name),
    sampling: fields.readNumber('sampling', 1),
    attributes: { ...collectOtherAttributes(attributes), ...readBundleId(source, kind) },
  };
};

const toVital = (event: RumEvent, name: VitalName, value: number): RumEvent => ({
  ...event,
  kind: 'vital',
  name,
  value,
  rating: isRating(event.rating) && event.rating !== '' ? event.rating : rateVital(name, value),
});

/** Returns the vitals of a record: one, or those of several attributes. Invalid values are none. */
const readVitals = (source: EventSource, mapping: EventMapping): RumEvent[] => {
  const event = buildEvent(source, mapping, 'vital');
  const reportedRating = new FieldReader(source, mapping).read('rating');
  const rating = isRating(reportedRating) ? reportedRating : '';
  if (mapping.vitals === undefined) {
    const name = parseVitalName(event.name);
    if (event.value === null) return [];
    return name === undefined ? [{ ...event, kind: 'custom' }] : [toVital({ ...event, rating }, name, event.value)];
  }
  return Object.entries(mapping.vitals).flatMap(([name, key]) => {
    const value = parseNumber(source.attributes.get(key) ?? '');
    return value === null ? [] : [toVital({ ...event, rating }, name as VitalName, value)];
  });
};

const readMapped = (source: EventSource): RumEvent[] => {
  const mapping = mappingsOf[source.type].find((candidate) => matches(candidate, source));
  if (mapping?.isRepeatedByChildren && (source.record as Span).parentSpanId !== '') return [];
  if (mapping?.kind === 'vital') return readVitals(source, mapping);
  if (mapping?.kind === 'frustration') {
    const event = buildEvent(source, mapping, 'frustration');
    const name = parseFrustration(event.name);
    return [name === undefined ? { ...event, kind: 'custom' } : { ...event, name }];
  }
  if (mapping !== undefined) return [buildEvent(source, mapping, mapping.kind)];
  return source.type === 'log' && source.name === ''
    ? [readPlainLog(source)]
    : [buildEvent(source, undefined, 'custom')];
};

const readPlainLog = (source: EventSource): RumEvent => {
  const event = buildEvent(source, undefined, 'log');
  return { ...event, name: truncateText((source.record as LogRecord).severity.toLowerCase(), rumLimits.name) };
};

const toMap = (attributes: readonly { readonly key: string; readonly text: string }[]): Map<string, string> => {
  const map = new Map<string, string>();
  for (const { key, text } of attributes) if (!map.has(key)) map.set(key, text);
  return map;
};
const noTimes: ReadonlyMap<string, number> = new Map();

/** Returns the events of a log record of a browser; none for parts of replays. */
export const readLogEvents = (record: LogRecord): RumEvent[] => {
  const attributes = toMap(record.attributes);
  if (replayKeys.some((key) => attributes.has(key))) return [];
  if (isFaroBody(record.body)) addFaroFields(record.body, attributes);
  const name = record.eventName || attributes.get('event.name') || '';
  return readMapped({ record, type: 'log', name, attributes, times: noTimes });
};

const exceptionMapping: EventMapping = {
  sdk: 'OpenTelemetry',
  match: { record: 'span' },
  kind: 'error',
  fields: { errorType: ['exception.type'], message: ['exception.message'], stack: ['exception.stacktrace'] },
};

const readTimes = (span: Span): ReadonlyMap<string, number> => {
  const times = new Map<string, number>();
  const startNs = span.timeNs;
  for (const { name, timeNs } of span.events) times.set(name, Number(timeNs - startNs) / 1e6);
  return times;
};

/** Returns the events of a span of a browser: what it is, and an error for each exception. */
export const readSpanEvents = (span: Span): RumEvent[] => {
  const attributes = toMap(span.attributes);
  const { name } = span;
  const times = name === 'documentLoad' ? readTimes(span) : noTimes;
  const events = readMapped({ record: span, type: 'span', name, attributes, times });
  const exceptions = span.getEventsNamed('exception');
  if (exceptions.length === 0) return events;
  const errors = exceptions.map((exception) =>
    buildEvent(
      {
        record: span,
        type: 'span',
        name: '',
        attributes: new Map([...attributes, ...toMap(exception.attributes)]),
        times,
      },
      exceptionMapping,
      'error',
    ),
  );
  return [...events.filter(({ kind }) => kind !== 'error' && kind !== 'custom'), ...errors];
};
