/** Values of derived topics: JSON, validated by the schema of the topic. */
import type { z } from 'zod';
import { compileOnce } from '../compile-once.ts';
import { PermanentError } from '../errors.ts';
import type { DerivedTopic, Topic } from '../topic.ts';
import type { DecodedMessage } from './decoded-request.ts';
import type { Source } from './source.ts';

/** A topic of JSON values. */
export type ValueTopic<Value extends z.ZodType = z.ZodType> = Topic & { readonly value: Value };

/**
 * Parses the value of a message. Throws `PermanentError` for invalid JSON, and for a value that does not match the
 * schema.
 */
export const parseTopicValue = <Value extends z.ZodType>(
  topic: ValueTopic<Value>,
  bytes: Uint8Array,
): z.output<Value> => {
  let json: unknown;
  try {
    json = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  } catch (cause) {
    throw new PermanentError('bad-value', `the value on topic ${topic.name} is not JSON`, { cause });
  }
  const result = compileOnce(topic.value).safeParse(json);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const issuePath = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
  throw new PermanentError('bad-value', `the value does not match topic ${topic.name}: ${issuePath}${issue?.message}`);
};

const toDecodedMessage = <Item>(items: readonly Item[]): DecodedMessage<Item> => ({
  count: items.length,
  getItem: (ordinal) => items[ordinal] as Item,
});

/** Returns a source with one value per message. */
export const createMessageSource = <Value extends z.ZodType>(topic: ValueTopic<Value>): Source<z.output<Value>> => ({
  topics: [topic],
  decode: ({ value }) => toDecodedMessage([parseTopicValue(topic, value)]),
});

/** Returns a source of the individual values that processors emitted to a topic. */
export const createItemSource = <Item extends z.ZodType>(topic: DerivedTopic<Item>): Source<z.output<Item>> => ({
  topics: [topic],
  decode: ({ value }) => toDecodedMessage(parseTopicValue(topic, value)),
  ...(topic.getTimeMs !== undefined && { getTimeMs: topic.getTimeMs }),
});
