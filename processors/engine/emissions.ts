/** Values that steps emitted, packed into messages. */
import { isUtf8 } from 'node:buffer';
import { compiled } from '../../schemas/compiled.ts';
import { partitionOf } from '../../schemas/partition.ts';
import type { Message } from '../../schemas/ports/bus.ts';
import type { DerivedTopic } from '../../schemas/topic.ts';

/** A message holds several values up to this size. */
const packBytes = 256 * 1024;
const text = new TextEncoder();
/** What a message's key and headers take of the topic's limit. */
const headerBytes = 4 * 1024;
/** Packs of one batch. A position's part counts ticks above it. */
const partsPerTick = 2 ** 20;

interface Pack {
  readonly topic: string;
  readonly tenantId: string;
  readonly key: string;
  readonly messagesOf: DerivedTopic['messagesOf'];
  values: string[];
  bytes: number;
}

/** A pack to which nothing is added any more: bytes, as the texts of a storm would take twice the memory. */
interface FullPack extends Pick<Pack, 'topic' | 'tenantId' | 'key'>, Pick<Message, 'value' | 'headers'> {}

const opening = '['.charCodeAt(0);
const comma = ','.charCodeAt(0);
const closing = ']'.charCodeAt(0);

/** JSON of an array of values. Each is written where it lies: the text of all would be made only to be copied. */
const arrayOf = ({ values, bytes }: Pack): Uint8Array => {
  const array = Buffer.allocUnsafeSlow(bytes + 1);
  let at = 0;
  for (const json of values) {
    array[at] = at === 0 ? opening : comma;
    at += 1 + array.write(json, at + 1);
  }
  array[at] = closing;
  return new Uint8Array(array.buffer, 0, at + 1);
};

const filled = (pack: Pack): FullPack[] => {
  const { topic, tenantId, key, values, messagesOf } = pack;
  const messages = messagesOf?.(JSON.parse(`[${values.join(',')}]`) as unknown[]) ?? [
    { value: arrayOf(pack), headers: { records: String(values.length) } },
  ];
  return messages.map((message) => ({ topic, tenantId, key, ...message }));
};

/** What identifies the messages of a batch or tick: the same for the same input, greater for later input. */
export interface Place {
  readonly emitter: string;
  readonly tick: number;
}

/** A value that is ready to be published. */
export interface Emitted {
  readonly topic: string;
  readonly tenantId: string;
  readonly key: string;
  readonly json: string;
  readonly bytes: number;
  readonly messagesOf: DerivedTopic['messagesOf'];
}

/** Readies a value. Throws when the topic's schema refuses it, when it is another tenant's, or when it is larger than a message. */
export const emittedOf = (topic: DerivedTopic, tenantId: string, value: unknown): Emitted => {
  const checked = compiled(topic.item).parse(value);
  const owner = topic.tenantOf(checked);
  if (owner !== tenantId)
    throw new Error(`a value on topic ${topic.name} names tenant ${owner}, and was made of records of ${tenantId}`);
  const json = JSON.stringify(checked);
  const bytes = Buffer.byteLength(json) + 1;
  const maxBytes = topic.maxMessageBytes - headerBytes;
  if (bytes > maxBytes)
    throw new Error(`a value of ${bytes} bytes is above the ${maxBytes} that topic ${topic.name} takes`);
  return { topic: topic.name, tenantId, key: topic.keyOf(checked), json, bytes, messagesOf: topic.messagesOf };
};

/** A message as it lies in a snapshot, until it is certain that it was published. A value that is no text is in base64, which is then said. */
export type SavedMessage = readonly [
  topic: string,
  key: string,
  value: string,
  headers: Message['headers'],
  encoding?: 'base64',
];

export const savedMessages = (messages: readonly Message[]): SavedMessage[] =>
  messages.map(({ topic, key, value, headers }) =>
    isUtf8(value)
      ? [topic, key, Buffer.from(value).toString('utf8'), headers]
      : [topic, key, Buffer.from(value).toString('base64'), headers, 'base64'],
  );

/** Each value has memory of its own, which may be moved to another thread. */
export const restoredMessages = (saved: readonly SavedMessage[]): Message[] =>
  saved.map(([topic, key, value, headers, encoding]) => ({
    topic,
    key,
    headers,
    value: encoding === 'base64' ? Uint8Array.from(Buffer.from(value, 'base64')) : text.encode(value),
  }));

/** Collects what one batch or tick emits. */
export class Emissions {
  readonly #packs = new Map<string, Pack>();
  readonly #buckets: number;
  #full: FullPack[] = [];
  /** Most values follow one of their own kind. */
  #latest: Pack | undefined;

  /** `buckets`: over how many message keys the values of a tenant are spread. */
  constructor(buckets: number) {
    this.#buckets = buckets;
  }

  /** Takes a value. */
  add(value: Emitted): void {
    const { json, bytes } = value;
    const pack = this.#packOf(value);
    if (pack.bytes > 0 && pack.bytes + bytes > packBytes) {
      this.#full.push(...filled(pack));
      pack.values = [];
      pack.bytes = 0;
    }
    pack.values.push(json);
    pack.bytes += bytes;
  }

  /** The messages, which belong behind the offset `last`; it is then empty again. */
  drain(last: number, { emitter, tick }: Place): Message[] {
    const packs = [...this.#full, ...[...this.#packs.values()].flatMap(filled)];
    this.#full = [];
    this.#packs.clear();
    this.#latest = undefined;
    if (packs.length >= partsPerTick) throw new Error(`${packs.length} messages are more than a batch may emit`);
    return packs.map(({ topic, tenantId, key, value, headers }, part) => ({
      topic,
      key,
      value,
      headers: {
        ...headers,
        tenant: tenantId,
        emitter,
        position: `${last}.${tick * partsPerTick + part}`,
      },
    }));
  }

  #packOf({ topic, tenantId, key, messagesOf }: Emitted): Pack {
    const bucket = key === '' || this.#buckets === 1 ? '' : `/${partitionOf(key, this.#buckets)}`;
    const latest = this.#latest;
    if (bucket === '' && latest?.key === tenantId && latest.tenantId === tenantId && latest.topic === topic)
      return latest;
    const place = `${topic}\n${tenantId}${bucket}`;
    const pack = this.#packs.get(place) ?? {
      topic,
      tenantId,
      messagesOf,
      key: tenantId + bucket,
      values: [],
      bytes: 0,
    };
    this.#packs.set(place, pack);
    this.#latest = pack;
    return pack;
  }
}
