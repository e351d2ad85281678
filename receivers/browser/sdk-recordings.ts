/**
 * Recordings that SDKs send among their telemetry, with one event per item: as log records of the SDKs of HyperDX and
 * Splunk, in any order and in chunks, or as events of Grafana Faro.
 */
import { PermanentError } from '../../schemas/errors.ts';
import { readJsonText } from '../../schemas/otlp/json-text.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import { openLogsRequest } from '../../schemas/records/sources.ts';
import { sharedFields } from '../../subjects/rum/event-mapping.ts';
import type { BrowserContext, Translation } from '../engine/body-format.ts';
import {
  checkEvent,
  createFault,
  type EventPart,
  type JsonObject,
  joinPart,
  maxEventNumber,
  maxParts,
  type PublishedEvents,
  publishEvents,
  type RecordedDocument,
} from './replay-chunks.ts';

/** Reason of faults of bodies with recordings */
export const recordingReason = 'refused-recording';
/**
 * Returns whether the rejected body of an error may contain a recording, and must not be stored. Bodies above the size
 * limit are not parsed, so they may contain one.
 */
export const mayContainRecording = ({ reason }: PermanentError): boolean =>
  reason === recordingReason || reason === 'too-large';

/** Translates a body with recordings. Faults have the reason above. */
export const translateSensitive = <Result>(translate: () => Result): Result => {
  try {
    return translate();
  } catch (error) {
    if (!(error instanceof PermanentError) || mayContainRecording(error)) throw error;
    throw new PermanentError(recordingReason, error.message, { position: error.position, cause: error });
  }
};

const maxIdLength = 128;
const maxDepth = 5_000;

const isId = (text: string): boolean => text !== '' && text.length <= maxIdLength;

const parseNumber = (text: string, max: number): number | undefined => {
  const number = text === '' ? Number.NaN : Number(text);
  return Number.isInteger(number) && number >= 0 && number <= max ? number : undefined;
};

const parseEvent = (text: string): unknown => {
  let event: unknown;
  readJsonText(Buffer.from(text), (reader) => {
    reader.skipValue(maxDepth);
    event = JSON.parse(text);
  });
  return event;
};

/** An event of a recording, or a part of one, as an SDK sends it. */
export interface SentEvent {
  readonly document: RecordedDocument;
  /** Number of the event within its document, from 0 */
  readonly number: string;
  readonly part: { readonly part: string; readonly parts: string; readonly data: string };
}

type Recorded = PublishedEvents & Required<Pick<Translation, 'droppedRecordings' | 'sessions'>>;

interface Run {
  readonly first: number;
  readonly events: JsonObject[];
}

/** Collects the events of a body, and publishes them in the order of their numbers. */
export class RecordedEvents {
  readonly #browser: BrowserContext;
  readonly #documents = new Map<string, { document: RecordedDocument; events: Map<number, JsonObject> }>();
  #dropped = 0;

  constructor(browser: BrowserContext) {
    this.#browser = browser;
  }

  /** Adds an event. Drops and counts events without a number or session, and events that are not from rrweb. */
  add({ document, number: numberText, part }: SentEvent): void {
    try {
      const number = parseNumber(numberText, maxEventNumber);
      const isKnown = isId(document.sessionId) && isId(document.tabId);
      if (number === undefined || !isKnown) throw createFault('the event has no number, session or document');
      const event = this.#join(document, number, part);
      if (event === undefined) return;
      checkEvent(event, `event ${number}`);
      const key = JSON.stringify([document.sessionId, document.tabId]);
      const recorded = this.#documents.get(key) ?? { document, events: new Map<number, JsonObject>() };
      this.#documents.set(key, recorded);
      recorded.events.set(number, event);
    } catch (error) {
      this.#drop(error, 1);
    }
  }

  publish(): Recorded {
    const sessions = new Set<string>();
    const published: PublishedEvents[] = [];
    for (const { document, events } of this.#documents.values()) {
      sessions.add(document.sessionId);
      for (const { first, events: consecutive } of listRuns(events))
        try {
          published.push(publishEvents(this.#browser, document, first, consecutive));
        } catch (error) {
          this.#drop(error, consecutive.length);
        }
    }
    return {
      publications: published.flatMap(({ publications }) => publications),
      publishedRecords: published.reduce((sum, { publishedRecords }) => sum + publishedRecords, 0),
      maskedValues: published.reduce((sum, { maskedValues }) => sum + maskedValues, 0),
      droppedRecordings: this.#dropped,
      sessions: [...sessions],
    };
  }

  #join(document: RecordedDocument, number: number, { part: partText, parts: partsText, data }: SentEvent['part']) {
    const parts = parseNumber(partsText, maxParts);
    if (parts === 1) return parseEvent(data);
    const part = parseNumber(partText, maxParts);
    if (part === undefined || parts === undefined || parts === 0) throw createFault('the part has no number');
    const eventPart: EventPart = { part, parts, data };
    return joinPart(this.#browser, document, number, eventPart);
  }

  #drop(error: unknown, count: number): void {
    if (!(error instanceof PermanentError)) throw error;
    this.#dropped += count;
  }
}

/** Returns the ranges of consecutive event numbers, in order. */
const listRuns = (events: ReadonlyMap<number, JsonObject>): Run[] => {
  const runs: Run[] = [];
  for (const [number, event] of [...events].toSorted(([left], [right]) => left - right)) {
    const run = runs.at(-1);
    if (run !== undefined && run.first + run.events.length === number) run.events.push(event);
    else runs.push({ first: number, events: [event] });
  }
  return runs;
};

/** Attributes of recordings of the SDKs of HyperDX and Splunk, and their prefix. */
export const recordingPrefix = 'rr-web.';
const recordKeys = {
  number: 'rr-web.event',
  part: 'rr-web.chunk',
  parts: 'rr-web.total-chunks',
} as const;
/** Resource attributes with the id of the page load */
const pageLoadKeys = ['rum.scriptInstance', 'splunk.scriptInstance'];

const readFirst = (record: LogRecord, keys: readonly string[]): string => {
  for (const key of keys) {
    const text = record.getAttribute(key) ?? record.getResourceAttribute(key);
    if (text !== undefined && text !== '') return text;
  }
  return '';
};

const toSentEvent = (record: LogRecord): SentEvent => {
  const { number, part, parts } = recordKeys;
  // These SDKs number events from 1.
  const eventNumber = Number(record.getAttribute(number)) - 1;
  return {
    document: { sessionId: readFirst(record, sharedFields.sessionId), tabId: readFirst(record, pageLoadKeys) },
    number: String(eventNumber),
    part: {
      part: record.getAttribute(part) ?? '',
      parts: record.getAttribute(parts) ?? '',
      data: record.body,
    },
  };
};

const checkService = (record: LogRecord, { application }: BrowserContext): void => {
  const service = record.getResourceAttribute('service.name');
  if (service === undefined || service === application) return;
  const message = `the resource has the service.name ${service.slice(0, 100)}, but the key is for ${application}`;
  throw createFault(message);
};

/**
 * Returns the recordings in a request of logs; undefined if it has none. These SDKs send recordings in requests of their
 * own. Throws `PermanentError` if other records are between them.
 */
export const readLogRecordings = (body: Buffer, browser: BrowserContext): Recorded | undefined => {
  if (!body.includes(recordingPrefix)) return undefined;
  return translateSensitive(() => {
    const records = openLogsRequest(body);
    const recorded = new RecordedEvents(browser);
    let others = 0;
    for (let index = 0; index < records.count; index++) {
      const record = records.getItem(index);
      if (record.getAttribute(recordKeys.number) === undefined) others++;
      else {
        checkService(record, browser);
        recorded.add(toSentEvent(record));
      }
    }
    if (others === records.count) return undefined;
    if (others > 0)
      throw createFault('the request has recordings and other log records: send them in separate requests');
    return recorded.publish();
  });
};
