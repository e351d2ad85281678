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
  open(message: BusRecord, from: Partition): DecodedMessage<Item>;
  /**
   * Returns the time of an item in epoch milliseconds. Without this method, the time is that of acceptance by the bus.
   */
  timeOf?(item: Item): number;
  /** Compiles a consumer's prefilter; absent if consumers read all items. */
  compileFilter?(filter: RecordFilter): CompiledFilter<Item>;
  /**
   * Returns the reception time of an item in epoch milliseconds. Without this method, the time is that of acceptance by
   * the bus.
   */
  receivedAtOf?(item: Item): number;
}

/** Iterates over the items of a message. */
export const iterateItems = <Item>(
  source: Pick<Source<Item>, 'open'>,
  message: BusRecord,
  from: Partition,
): Iterable<Item> => iterateDecoded(source.open(message, from));

function* iterateDecoded<Item>(opened: DecodedMessage<Item>): Generator<Item, void, undefined> {
  for (let ordinal = 0; ordinal < opened.count; ordinal++) yield opened.getItem(ordinal);
}

interface Member {
  readonly origin: RecordOrigin;
  readonly body: Uint8Array;
}

/** How to read a kind of records */
export interface RecordForm<View> {
  readonly topic: Topic;
  /** Throws a `PermanentError` for a request that a sink would refuse, regardless of the validation by the view. */
  check(body: Uint8Array): void;
  groupsOf(body: Uint8Array): Group[];
  /** Returns a view of a message with this many records. */
  view(origin: RecordOrigin, count: number): View;
}

/** Decompresses and validates each member of a message separately. A member is one admitted request. */
const decodeMembers = (
  check: (body: Uint8Array) => void,
  { headers, value, offset }: BusRecord,
  { topic, partition }: Partition,
): Member[] => {
  const { tenantId, projectId, encoding, members } = decodeHeaders(headers);
  let at = 0;
  let remainingBytes = maxMessageDecompressedBytes;
  const opened = members.map(({ length, receivedAtMs }) => {
    if (!(length >= 0 && at + length <= value.length))
      throw new PermanentError('bad-headers', `a member of ${length} bytes passes the end of its message`);
    const body = decompress(encoding, value.subarray(at, at + length), remainingBytes);
    check(body);
    at += length;
    remainingBytes -= body.length;
    return { origin: { tenantId, projectId, topic, partition, offset, receivedAtMs }, body };
  });
  if (at !== value.length)
    throw new PermanentError('bad-headers', `the members are ${at} bytes and the message is ${value.length}`);
  return opened;
};

/** Range of the records of one group */
interface RecordRange {
  readonly member: Member;
  readonly group: Group;
  /** Ordinal of the first record, and of the record after the last. */
  readonly first: number;
  readonly endOrdinal: number;
}

/** Positions of the records in the message being opened: begin and end of each. The opened message has a copy. */
const initialPlaces = 16_384;
let recordPositions = new Int32Array(initialPlaces);
let positionCount = 0;

const addPosition = (start: number, end: number): void => {
  if (positionCount === recordPositions.length) {
    const more = new Int32Array(2 * positionCount);
    more.set(recordPositions);
    recordPositions = more;
  }
  recordPositions[positionCount++] = start;
  recordPositions[positionCount++] = end;
};

/** The records of a message: the position of each, and one reusable view. */
class OpenedRecords<View extends RecordView> implements DecodedMessage<View> {
  readonly count: number;
  readonly #view: View | undefined;
  readonly #stretches: RecordRange[] = [];
  /** Begin and end of each record in its member */
  readonly #places: Int32Array;
  #currentRange: RecordRange | undefined;
  #at = -1;

  constructor(members: readonly Member[], { groupsOf, view }: RecordForm<View>) {
    positionCount = 0;
    for (const member of members) for (const group of groupsOf(member.body)) this.#findRecords(member, group);
    this.#places = recordPositions.slice(0, positionCount);
    if (recordPositions.length > initialPlaces) recordPositions = new Int32Array(initialPlaces);
    this.count = positionCount / 2;
    const [first] = members;
    this.#view = first === undefined ? undefined : view(first.origin, this.count);
    for (let ordinal = 0; ordinal < this.count; ordinal++) this.getItem(ordinal).check();
  }

  getItem(ordinal: number): View {
    const view = this.#view;
    if (view === undefined || ordinal >= this.count) throw new RangeError(`the message has no record ${ordinal}`);
    // Preserves the located fields of this record.
    if (ordinal === this.#at) return view;
    this.#at = ordinal;
    const stretch = this.#currentRange;
    if (stretch === undefined || ordinal < stretch.first || ordinal >= stretch.endOrdinal)
      this.#enterRange(view, ordinal);
    view.moveTo(this.#places[2 * ordinal] as number, this.#places[2 * ordinal + 1] as number, ordinal);
    return view;
  }

  #findRecords(member: Member, group: Group): void {
    const cursor = new WireCursor(member.body);
    const [start, end] = group.records;
    const first = positionCount / 2;
    cursor.at = start;
    while (cursor.at < end) {
      const tag = cursor.readVarint();
      if (tag !== group.tag) {
        cursor.skip(tag, end);
        continue;
      }
      const stop = cursor.readEnd(end);
      addPosition(cursor.at, stop);
      cursor.at = stop;
    }
    const endOrdinal = positionCount / 2;
    if (endOrdinal > first) this.#stretches.push({ member, group, first, endOrdinal });
  }

  #enterRange(view: View, ordinal: number): void {
    const stretches = this.#stretches;
    const found = findFirstIndex(stretches.length, (index) => ordinal < (stretches[index] as RecordRange).endOrdinal);
    const stretch = stretches[found] as RecordRange;
    const { member, group } = stretch;
    this.#currentRange = stretch;
    view.enterMember(member.origin, member.body);
    view.enterGroup(group);
  }
}

/** Returns a source of views of OTLP requests. */
export const telemetrySource = <View extends RecordView & { readonly timeMs: number }>(
  form: RecordForm<View>,
): Source<View> => {
  const openedMessages = new WeakMap<BusRecord, DecodedMessage<View> | { readonly error: unknown }>();
  const open = (message: BusRecord, from: Partition): DecodedMessage<View> | { readonly error: unknown } => {
    try {
      return new OpenedRecords(decodeMembers(form.check, message, from), form);
    } catch (error) {
      return { error };
    }
  };
  return {
    topics: [form.topic],
    open(message, from) {
      const opened = openedMessages.get(message) ?? open(message, from);
      openedMessages.set(message, opened);
      if ('error' in opened) throw opened.error;
      return opened;
    },
    timeOf: ({ timeMs }) => timeMs,
    receivedAtOf: ({ receivedAtMs }) => receivedAtMs,
  };
};
