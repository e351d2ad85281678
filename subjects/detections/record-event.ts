/** Converts log records to events: JSON in the body or in attributes, flat or nested, or key=value text */
import type { Attribute } from '../../schemas/records/attributes.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import { parseNestedJson } from '../../schemas/records/nested-values.ts';
import { type SigmaEvent, withoutEscapes } from './event.ts';
import { parseKeyValues } from './key-values.ts';

/** Values of a record, either streamed or stored */
export interface RecordValues {
  /** A text or a JSON value */
  readonly body: unknown;
  readonly attributes: Iterable<readonly [key: string, value: unknown]>;
  readonly resource: Iterable<readonly [key: string, value: unknown]>;
}

const addBody = (event: SigmaEvent, body: unknown): void => {
  if (typeof body === 'object' && body !== null) {
    event.addObject(body);
    return;
  }
  const text = withoutEscapes(String(body ?? ''));
  const object = parseNestedJson(text);
  if (object !== undefined) {
    event.addObject(object);
    return;
  }
  for (const [key, value] of parseKeyValues(text) ?? []) event.add(key, value);
  if (text !== '') event.add('body', text);
};

/** Fills an event. For values of the same name, the order is the body, the attributes, then the resource. */
export const fillEvent = (event: SigmaEvent, { body, attributes, resource }: RecordValues): SigmaEvent => {
  addBody(event, body);
  for (const [key, value] of attributes) event.addIfAbsent(key, value);
  for (const [key, value] of resource) event.addIfAbsent(key, value);
  return event;
};

const toAttributeValue = ({ text, type }: Attribute): unknown => {
  if (type === 'n') return null;
  return type === 'j' ? (parseNestedJson(text) ?? text) : text;
};

const toValues = (attributes: readonly Attribute[]): RecordValues['attributes'] =>
  attributes.map((attribute) => [attribute.key, toAttributeValue(attribute)] as const);

/** Cached by the attributes of a resource, which its records share */
const valuesByResource = new WeakMap<LogRecord['resourceAttributes'], RecordValues['resource']>();
/** Returns the values of a record's resource. */
export const getResourceValues = ({ resourceAttributes }: LogRecord): RecordValues['resource'] => {
  const cached = valuesByResource.get(resourceAttributes);
  if (cached !== undefined) return cached;
  const values = toValues([...resourceAttributes.values()]);
  valuesByResource.set(resourceAttributes, values);
  return values;
};

/** Returns the values of a streamed record. */
export const getRecordValues = (record: LogRecord): RecordValues => ({
  body: record.body,
  attributes: toValues(record.attributes),
  resource: getResourceValues(record),
});
