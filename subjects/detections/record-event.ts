/** Log records as events: JSON in the body or in attributes, flat or nested, or key=value text. */
import type { Attribute } from '../../schemas/records/attributes.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import type { SigmaEvent } from './event.ts';

/** What there is to a record, whether it passes by or was stored. */
export interface RecordValues {
  /** A text, or what JSON holds. */
  readonly body: unknown;
  readonly attributes: Iterable<readonly [key: string, value: unknown]>;
  readonly resource: Iterable<readonly [key: string, value: unknown]>;
}

const pair = /(?<![\w.-])([A-Za-z_][\w.-]{0,63})=(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s"',;]*))/g;
const leastPairs = 2;
const mostPairs = 200;

/** `type=EXECVE argc=2 a0="cat"`: pairs of a text that has some. */
export const keyValues = (text: string): Map<string, string> | undefined => {
  if (!text.includes('=')) return undefined;
  const pairs = new Map<string, string>();
  for (const [, key = '', quoted, single, plain] of text.matchAll(pair)) {
    if (!pairs.has(key)) pairs.set(key, quoted?.replaceAll(/\\(["\\])/g, '$1') ?? single ?? plain ?? '');
    if (pairs.size >= mostPairs) break;
  }
  return pairs.size < leastPairs ? undefined : pairs;
};

const jsonOf = (text: string): object | undefined => {
  const begins = text.trimStart()[0];
  if (begins !== '{' && begins !== '[') return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
};

const addBody = (event: SigmaEvent, body: unknown): void => {
  if (typeof body === 'object' && body !== null) {
    event.addObject(body);
    return;
  }
  const text = String(body ?? '');
  const object = jsonOf(text);
  if (object !== undefined) {
    event.addObject(object);
    return;
  }
  for (const [key, value] of keyValues(text) ?? []) event.add(key, value);
  if (text !== '') event.add('body', text);
};

/** Fills an event. Of several values of one name, that of the body comes first, then attributes, then the resource. */
export const fillEvent = (event: SigmaEvent, { body, attributes, resource }: RecordValues): SigmaEvent => {
  addBody(event, body);
  for (const [key, value] of attributes) if (!event.has(key)) event.add(key, value);
  for (const [key, value] of resource) if (!event.has(key)) event.add(key, value);
  return event;
};

const attributeValue = ({ text, type }: Attribute): unknown => {
  if (type === 'n') return null;
  return type === 'j' ? (jsonOf(text) ?? text) : text;
};

/** What a record that passes by holds. */
export const valuesOfRecord = (record: LogRecord): RecordValues => ({
  body: record.body,
  attributes: record.attributes.map((attribute) => [attribute.key, attributeValue(attribute)]),
  resource: [...record.resourceAttributes].map(([key, attribute]) => [key, attributeValue(attribute)]),
});

/** As `GET /api/logs/{id}` knows the record. */
export const recordIdOf = ({ timeNs, place: { partition, offset, ordinal } }: LogRecord): string =>
  `${timeNs}-${partition}-${offset}-${ordinal}`;
