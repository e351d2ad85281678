/** Format of our browser script: requests that contain only rrweb recordings. */
import { readJsonText } from '../../schemas/otlp/json-text.ts';
import type { BodyFormat, BrowserContext } from '../engine/body-format.ts';
import { requireBrowser } from './body-formats.ts';
import {
  checkEvent,
  createFault,
  type EventPart,
  type JsonObject,
  joinPart,
  maxEventNumber,
  maxParts,
  publishEvents,
  type RecordedDocument,
} from './replay-chunks.ts';

const maxIdLength = 128;
const maxEvents = 100_000;

const readId = (value: unknown, name: string): string => {
  if (typeof value === 'string' && value !== '' && value.length <= maxIdLength) return value;
  throw createFault(`${name} must be a text of 1 to ${maxIdLength} characters`);
};

const readPart = ({ part, parts, data }: JsonObject): EventPart => {
  if (typeof part !== 'number' || !Number.isInteger(part) || part < 0 || part > maxParts)
    throw createFault(`part must be an integer up to ${maxParts}`);
  if (typeof parts !== 'number' || !Number.isInteger(parts) || parts < 1 || parts > maxParts)
    throw createFault(`parts must be an integer from 1 to ${maxParts}`);
  if (typeof data !== 'string') throw createFault('data must be a part of the JSON of an event, as a text');
  return { part, parts, data };
};

interface Recording {
  readonly document: RecordedDocument;
  readonly first: number;
  readonly events: JsonObject[];
}

/**
 * Joins events that were sent in parts. If the other parts of the last event follow in later requests, the event is
 * not returned yet.
 */
const joinParts = (
  browser: BrowserContext,
  { document, first }: Omit<Recording, 'events'>,
  values: readonly unknown[],
): unknown[] => {
  const joined: unknown[] = [];
  for (const value of values) {
    if (typeof value !== 'object' || value === null || !('parts' in value)) joined.push(value);
    else {
      const event = joinPart(browser, document, first + joined.length, readPart(value as JsonObject));
      if (event !== undefined) joined.push(event);
    }
  }
  return joined;
};

const readEvents = (value: unknown): JsonObject[] => {
  if (!Array.isArray(value)) throw createFault('events must be an array of rrweb events');
  if (value.length > maxEvents) throw createFault(`there are more than ${maxEvents} events`, 'too-many');
  for (const [index, event] of value.entries()) checkEvent(event, `events[${index}]`);
  return value as JsonObject[];
};

const parseBody = (body: Buffer): JsonObject => {
  let parsed: unknown;
  readJsonText(body, (reader) => {
    reader.skipValue(5_000);
    parsed = JSON.parse(body.toString('utf8'));
  });
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw createFault('expected an object with session, tab, first and events');
  return parsed as JsonObject;
};

/** Returns the events of a body, which may be a part of one event. */
const readRecording = (browser: BrowserContext, given: JsonObject): Recording => {
  const { session, tab, first } = given;
  const document = { sessionId: readId(session, 'session'), tabId: readId(tab, 'tab') };
  if (typeof first !== 'number' || !Number.isInteger(first) || first < 0 || first > maxEventNumber - maxEvents)
    throw createFault('first must be the number of the first event, from 0');
  const values = 'parts' in given ? [given] : given['events'];
  const joined = Array.isArray(values) ? joinParts(browser, { document, first }, values) : values;
  return { document, first, events: readEvents(joined) };
};

export const replayFormat: BodyFormat = {
  name: 'rum-replay',
  messageFormat: 'otlp',
  isCostly: true,
  isSensitive: () => true,
  translate(body, _signal, _times, context) {
    const browser = requireBrowser(context);
    const { document, first, events } = readRecording(browser, parseBody(body));
    const sessions = [document.sessionId];
    if (events.length === 0) return { body: Buffer.alloc(0), sessions, rejected: undefined };
    const published = publishEvents(browser, document, first, events);
    return { body: Buffer.alloc(0), ...published, sessions, rejected: undefined };
  },
};
