/** Packs the values that steps emit into messages. */
import { isUtf8 } from 'node:buffer';
import { compileOnce } from '../../schemas/compile-once.ts';
import { computePartition } from '../../schemas/partition.ts';
import type { Message } from '../../schemas/ports/bus.ts';
import type { DerivedTopic } from '../../schemas/topic.ts';

/** A message holds several values up to this number of bytes. */
const maxPackBytes = 256 * 1024;
const textEncoder = new TextEncoder();
/** Bytes of the topic's message limit reserved for key and headers. */
const headerBytes = 4 * 1024;
/** Maximum number of messages of one batch or tick. In a position, the last number is the tick times this, plus the part. */
const partsPerTick = 2 ** 20;

interface Pack {
  readonly topic: string;
  readonly tenantId: string;
  readonly key: string;
  readonly messagesOf: DerivedTopic['buildMessages'];
  values: string[];
  bytes: number;
}

/** A pack that accepts no more values, as bytes: strings would take twice the memory during a burst. */
interface FullPack extends Pick<Pack, 'topic' | 'tenantId' | 'key'>, Pick<Message, 'value' | 'headers'> {}

const openingBracket = '['.charCodeAt(0);
const comma = ','.charCodeAt(0);
const closingBracket = ']'.charCodeAt(0);

/** Returns JSON of an array of values. Each value is written directly into the buffer, which saves a copy of a joined string. */
const encodeArray = ({ values, bytes }: Pack): Uint8Array => {
  const array = Buffer.allocUnsafeSlow(bytes + 1);
  let offset = 0;
  for (const json of values) {
    array[offset] = offset === 0 ? openingBracket : comma;
    offset += 1 + array.write(json, offset + 1);
  }
  array[offset] = closingBracket;
  return new Uint8Array(array.buffer, 0, offset + 1);
};

const toFullPacks = (pack: Pack): FullPack[] => {
  const { topic, tenantId, key, values, messagesOf } = pack;
  const messages = messagesOf?.(JSON.parse(`[${values.join(',')}]`) as unknown[]) ?? [
    { value: encodeArray(pack), headers: { records: String(values.length) } },
  ];
  return messages.map((message) => ({ topic, tenantId, key, ...message }));
};

/** Identity of the messages of a batch or tick: equal for equal input, greater for later input. */
export interface EmissionPosition {
  readonly emitter: string;
  readonly tick: number;
}

/** A value that is ready to publish. */
export interface PreparedValue {
  readonly topic: string;
  readonly tenantId: string;
  readonly key: string;
  readonly json: string;
  readonly bytes: number;
  readonly messagesOf: DerivedTopic['buildMessages'];
}

/**
 * Prepares a value. Throws if the schema of the topic rejects it, if it belongs to another tenant, or if it is larger
 * than a message.
 */
export const prepareValue = (topic: DerivedTopic, tenantId: string, value: unknown): PreparedValue => {
  const parsed = compileOnce(topic.item).parse(value);
  const owner = topic.getTenant(parsed);
  if (owner !== tenantId)
    throw new Error(
      `a value on topic ${topic.name} names tenant ${owner}, but was created from records of ${tenantId}`,
    );
  const json = JSON.stringify(parsed);
  const bytes = Buffer.byteLength(json) + 1;
  const maxBytes = topic.maxMessageBytes - headerBytes;
  if (bytes > maxBytes)
    throw new Error(`a value of ${bytes} bytes exceeds the limit of ${maxBytes} bytes of topic ${topic.name}`);
  return { topic: topic.name, tenantId, key: topic.getKey(parsed), json, bytes, messagesOf: topic.buildMessages };
};

/**
 * A message in a snapshot, stored until its publication is confirmed. A value that is not text is in base64, which a
 * flag marks.
 */
export type SavedMessage = readonly [
  topic: string,
  key: string,
  value: string,
  headers: Message['headers'],
  encoding?: 'base64',
];

export const saveMessages = (messages: readonly Message[]): SavedMessage[] =>
  messages.map(({ topic, key, value, headers }) =>
    isUtf8(value)
      ? [topic, key, Buffer.from(value).toString('utf8'), headers]
      : [topic, key, Buffer.from(value).toString('base64'), headers, 'base64'],
  );

/** Restores messages. Each value has its own memory, which may be transferred to another thread. */
export const restoreMessages = (saved: readonly SavedMessage[]): Message[] =>
  saved.map(([topic, key, value, headers, encoding]) => ({
    topic,
    key,
    headers,
    value: encoding === 'base64' ? Uint8Array.from(Buffer.from(value, 'base64')) : textEncoder.encode(value),
  }));

/** Collects the emissions of one batch or tick. */
export class Emissions {
  readonly #packs = new Map<string, Pack>();
  readonly #buckets: number;
  #fullPacks: FullPack[] = [];
  /** Most values go to the same pack as the previous one. */
  #latest: Pack | undefined;

  /** `buckets`: number of message keys over which the values of a tenant are spread. */
  constructor(buckets: number) {
    this.#buckets = buckets;
  }

  /** Adds a value. */
  add(value: PreparedValue): void {
    const { json, bytes } = value;
    const pack = this.#getPack(value);
    if (pack.bytes > 0 && pack.bytes + bytes > maxPackBytes) {
      this.#fullPacks.push(...toFullPacks(pack));
      pack.values = [];
      pack.bytes = 0;
    }
    pack.values.push(json);
    pack.bytes += bytes;
  }

  /** Returns the messages, which belong after the offset `lastOffset`, and empties the collection. */
  drain(lastOffset: number, { emitter, tick }: EmissionPosition): Message[] {
    const packs = [...this.#fullPacks, ...[...this.#packs.values()].flatMap(toFullPacks)];
    this.#fullPacks = [];
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
        position: `${lastOffset}.${tick * partsPerTick + part}`,
      },
    }));
  }

  #getPack({ topic, tenantId, key, messagesOf }: PreparedValue): Pack {
    const bucket = key === '' || this.#buckets === 1 ? '' : `/${computePartition(key, this.#buckets)}`;
    const latest = this.#latest;
    if (bucket === '' && latest?.key === tenantId && latest.tenantId === tenantId && latest.topic === topic)
      return latest;
    const packKey = `${topic}\n${tenantId}${bucket}`;
    const pack = this.#packs.get(packKey) ?? {
      topic,
      tenantId,
      messagesOf,
      key: tenantId + bucket,
      values: [],
      bytes: 0,
    };
    this.#packs.set(packKey, pack);
    this.#latest = pack;
    return pack;
  }
}
