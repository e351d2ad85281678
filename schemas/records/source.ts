/** What a consumer reads of a topic: items, decoded from a message of the bus. */
import { decompress } from '../compression.ts';
import { PermanentError } from '../errors.ts';
import type { BusRecord } from '../ports/bus.ts';
import { WireCursor } from '../protobuf/cursor.ts';
import { decodeHeaders, maxMessageDecompressedBytes } from '../telemetry-message.ts';
import type { Signal } from '../telemetry-signals.ts';
import type { Topic } from '../topic.ts';
import type { Origin } from './origin.ts';
import type { Group, RecordView } from './record.ts';
import { checkRequest } from './sound.ts';

/** Where a message was read. */
export interface Partition {
  readonly topic: string;
  readonly partition: number;
}

/** What a consumer can ask for: which topics it lies in, and how a message becomes items. */
export interface Source<Item> {
  readonly topics: readonly Topic[];
  /**
   * The items of a message, in the order in which sinks number its rows. A message that sinks would send to the dead letter is a
   * `PermanentError` before the first item. The item may be one object that is moved (`RecordView`): it is valid until the next one is
   * asked for.
   */
  decode(message: BusRecord, from: Partition): Iterable<Item>;
  /** The time that an item is about, epoch milliseconds. Where it is absent, the time is when the bus took the message. */
  timeOf?(item: Item): number;
  /** When an item was received, epoch milliseconds; also when the bus took the message where it is absent. */
  receivedAtOf?(item: Item): number;
}

interface Opened {
  readonly origin: Origin;
  readonly body: Uint8Array;
}

/** The members of a message, each decompressed alone and checked. */
const open = (signal: Signal, { headers, value, offset }: BusRecord, { topic, partition }: Partition): Opened[] => {
  const { tenantId, projectId, encoding, members } = decodeHeaders(headers);
  let at = 0;
  let room = maxMessageDecompressedBytes;
  const opened = members.map(({ length, receivedAtMs }) => {
    if (!(length >= 0 && at + length <= value.length))
      throw new PermanentError('bad-headers', `a member of ${length} bytes passes the end of its message`);
    const body = decompress(encoding, value.subarray(at, at + length), room);
    checkRequest(signal, body);
    at += length;
    room -= body.length;
    return { origin: { tenantId, projectId, topic, partition, offset, receivedAtMs }, body };
  });
  if (at !== value.length)
    throw new PermanentError('bad-headers', `the members are ${at} bytes and the message is ${value.length}`);
  return opened;
};

/** The records of a message, in one view that is moved over them. */
function* records<View extends RecordView>(
  members: readonly Opened[],
  view: View,
  groupsOf: (body: Uint8Array) => Group[],
): Generator<View, void, undefined> {
  let ordinal = 0;
  for (const { origin, body } of members) {
    view.enter(origin, body);
    const cursor = new WireCursor(body);
    for (const group of groupsOf(body)) {
      view.group(group);
      const [start, end] = group.records;
      cursor.at = start;
      while (cursor.at < end) {
        const tag = cursor.varint();
        if (tag !== group.tag) {
          cursor.skip(tag, end);
          continue;
        }
        const stop = cursor.end(end);
        view.moveTo(cursor.at, stop, ordinal++);
        cursor.at = stop;
        yield view;
      }
    }
  }
}

/** A source of views over OTLP requests. */
export const telemetrySource = <View extends RecordView & { readonly timeMs: number }>(
  topic: Topic,
  signal: Signal,
  view: (origin: Origin) => View,
  groupsOf: (body: Uint8Array) => Group[],
): Source<View> => ({
  topics: [topic],
  decode(message, from) {
    const members = open(signal, message, from);
    const [first] = members;
    return first === undefined ? [] : records(members, view(first.origin), groupsOf);
  },
  timeOf: ({ timeMs }) => timeMs,
  receivedAtOf: ({ receivedAtMs }) => receivedAtMs,
});
