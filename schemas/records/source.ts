/** A consumer's source: items decoded from the messages of a topic. */
import { decompress } from '../compression.ts';
import { PermanentError } from '../errors.ts';
import { findFirstIndex } from '../first-index.ts';
import type { BusRecord } from '../ports/bus.ts';
import { WireCursor } from '../protobuf/cursor.ts';
import { decodeHeaders, maxMessageDecompressedBytes } from '../telemetry-message.ts';
import type { Topic } from '../topic.ts';
import type { DecodedMessage } from './decoded-request.ts';
import type { RecordOrigin } from './origin.ts';
import type { Group, RecordView } from './record.ts';
import type { CompiledFilter, RecordFilter } from './record-filter.ts';

/** Partition from which a message was read. */
export interface Partition {
  readonly topic: string;
  readonly partition: number;
}

/** A source for consumers: its topics, and how a message is decoded to items. */
export interface Source<Item> {
  readonly topics: readonly Topic[];
  /**
   * Decodes a message. Throws `PermanentError` for a message that sinks would send to the dead-letter topic. A
   * telemetry message is decompressed and validated once for all readers, and the result is cached for the life of the
   * message.
   */
  decode(message: BusRecord, from: Partition): DecodedMessage<Item>;
  /**
   * Returns the time of an item in epoch milliseconds. Without this method, the time is that of acceptance by the bus.
   */
  getTimeMs?(item: Item): number;
  /** Compiles a consumer's prefilter; absent if consumers read all items. */
  compileFilter?(filter: RecordFilter): CompiledFilter<Item>;
  /**
   * Returns the reception time of an item in epoch milliseconds. Without this method, the time is that of acceptance by
   * the bus.
   */
  getReceivedAtMs?(item: Item): number;
}

/** Iterates over the items of a message. */
export const iterateItems = <Item>(
  source: Pick<Source<Item>, 'decode'>,
  message: BusRecord,
  from: Partition,
): Iterable<Item> => iterateDecoded(source.decode(message, from));

function* iterateDecoded<Item>(opened: DecodedMessage<Item>): Generator<Item, void, undefined> {
  for (let ordinal = 0; ordinal < opened.count; ordinal++) yield opened.getItem(ordinal);
}

interface Member {
  readonly origin: RecordOrigin;
  readonly body: Uint8Array;
}

/** How to read a kind of records */
export interface RecordFormat<View> {
  readonly topic: Topic;
  /** Throws a `PermanentError` for a request that a sink would reject, regardless of the validation by the view. */
  validate(body: Uint8Array): void;
  findGroups(body: Uint8Array): Group[];
  /** Returns a view of a message with this many records. */
  createView(origin: RecordOrigin, count: number): View;
}

/** Decompresses and validates each member of a message separately. A member is one accepted request. */
const decodeMembers = (
  validate: (body: Uint8Array) => void,
  { headers, value, offset }: BusRecord,
  { topic, partition }: Partition,
): Member[] => {
  const { tenantId, projectId, encoding, members } = decodeHeaders(headers);
  let position = 0;
  let remainingBytes = maxMessageDecompressedBytes;
  const decodedMembers = members.map(({ length, receivedAtMs }) => {
    if (!(length >= 0 && position + length <= value.length))
      throw new PermanentError('bad-headers', `a member of ${length} bytes exceeds the end of its message`);
    const body = decompress(encoding, value.subarray(position, position + length), remainingBytes);
    validate(body);
    position += length;
    remainingBytes -= body.length;
    return { origin: { tenantId, projectId, topic, partition, offset, receivedAtMs }, body };
  });
  if (position !== value.length)
    throw new PermanentError('bad-headers', `the members are ${position} bytes and the message is ${value.length}`);
  return decodedMembers;
};

/** Range of the records of one group */
interface RecordRange {
  readonly member: Member;
  readonly group: Group;
  /** Ordinal of the first record, and of the record after the last. */
  readonly first: number;
  readonly endOrdinal: number;
}

/** Positions of the records in the message that is being decoded: start and end of each. The decoded message has a copy. */
const initialPositionCount = 16_384;
let recordPositions = new Int32Array(initialPositionCount);
let positionCount = 0;

const addPosition = (start: number, end: number): void => {
  if (positionCount === recordPositions.length) {
    const grownPositions = new Int32Array(2 * positionCount);
    grownPositions.set(recordPositions);
    recordPositions = grownPositions;
  }
  recordPositions[positionCount++] = start;
  recordPositions[positionCount++] = end;
};

/** The records of a message: the position of each, and one reusable view. */
class OpenedRecords<View extends RecordView> implements DecodedMessage<View> {
  readonly count: number;
  readonly #view: View | undefined;
  readonly #ranges: RecordRange[] = [];
  /** Begin and end of each record in its member */
  readonly #positions: Int32Array;
  #currentRange: RecordRange | undefined;
  #currentOrdinal = -1;

  constructor(members: readonly Member[], { findGroups, createView }: RecordFormat<View>) {
    positionCount = 0;
    for (const member of members) for (const group of findGroups(member.body)) this.#findRecords(member, group);
    this.#positions = recordPositions.slice(0, positionCount);
    if (recordPositions.length > initialPositionCount) recordPositions = new Int32Array(initialPositionCount);
    this.count = positionCount / 2;
    const [first] = members;
    this.#view = first === undefined ? undefined : createView(first.origin, this.count);
    for (let ordinal = 0; ordinal < this.count; ordinal++) this.getItem(ordinal).validate();
  }

  getItem(ordinal: number): View {
    const view = this.#view;
    if (view === undefined || ordinal >= this.count) throw new RangeError(`the message has no record ${ordinal}`);
    // Preserves the located fields of this record.
    if (ordinal === this.#currentOrdinal) return view;
    this.#currentOrdinal = ordinal;
    const currentRange = this.#currentRange;
    if (currentRange === undefined || ordinal < currentRange.first || ordinal >= currentRange.endOrdinal)
      this.#enterRange(view, ordinal);
    view.moveTo(this.#positions[2 * ordinal] as number, this.#positions[2 * ordinal + 1] as number, ordinal);
    return view;
  }

  #findRecords(member: Member, group: Group): void {
    const cursor = new WireCursor(member.body);
    const [start, end] = group.records;
    const first = positionCount / 2;
    cursor.position = start;
    while (cursor.position < end) {
      const tag = cursor.readVarint();
      if (tag !== group.tag) {
        cursor.skip(tag, end);
        continue;
      }
      const stop = cursor.readEnd(end);
      addPosition(cursor.position, stop);
      cursor.position = stop;
    }
    const endOrdinal = positionCount / 2;
    if (endOrdinal > first) this.#ranges.push({ member, group, first, endOrdinal });
  }

  #enterRange(view: View, ordinal: number): void {
    const ranges = this.#ranges;
    const rangeIndex = findFirstIndex(ranges.length, (index) => ordinal < (ranges[index] as RecordRange).endOrdinal);
    const range = ranges[rangeIndex] as RecordRange;
    const { member, group } = range;
    this.#currentRange = range;
    view.enterMember(member.origin, member.body);
    view.enterGroup(group);
  }
}

const nowhere: RecordOrigin = { tenantId: '', projectId: '', topic: '', partition: 0, offset: 0, receivedAtMs: 0 };

/** Returns the records of a request that is in no message. Throws `PermanentError` if it is malformed. */
export const openRequest = <View extends RecordView>(
  format: RecordFormat<View>,
  body: Uint8Array,
): DecodedMessage<View> => {
  format.validate(body);
  return new OpenedRecords([{ origin: nowhere, body }], format);
};

/** Returns a source of views of OTLP requests. */
export const createTelemetrySource = <View extends RecordView & { readonly timeMs: number }>(
  format: RecordFormat<View>,
): Source<View> => {
  const decodedMessages = new WeakMap<BusRecord, DecodedMessage<View> | { readonly error: unknown }>();
  const decodeMessage = (message: BusRecord, from: Partition): DecodedMessage<View> | { readonly error: unknown } => {
    try {
      return new OpenedRecords(decodeMembers(format.validate, message, from), format);
    } catch (error) {
      return { error };
    }
  };
  return {
    topics: [format.topic],
    decode(message, from) {
      const decodedMessage = decodedMessages.get(message) ?? decodeMessage(message, from);
      decodedMessages.set(message, decodedMessage);
      if ('error' in decodedMessage) throw decodedMessage.error;
      return decodedMessage;
    },
    getTimeMs: ({ timeMs }) => timeMs,
    getReceivedAtMs: ({ receivedAtMs }) => receivedAtMs,
  };
};
