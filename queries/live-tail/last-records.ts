/** Last records that match a listener's filter, over all its partitions. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bus } from '../../schemas/ports/bus.ts';
import type { Partition } from '../../schemas/records/source.ts';
import type { ListenerFilter } from './listener.ts';
import { type Between, match, type Target, targetsOf } from './matching.ts';
import type { RecordPosition } from './positions.ts';

/** Pause after each time slice of reading the past. */
export const restMs = 20;
/** Number of messages of the first window of each partition; each next window is four times as large. */
const firstWindow = 4;
/** Maximum number of messages searched per partition. */
const maxMessages = 2_000;
/** Number of bytes after which no further window is read. */
const maxBytes = 32 * 1024 * 1024;
/** Maximum number of characters of all records. */
const maxLength = 4 * 1024 * 1024;

/**
 * The start of a window is the median time of this many oldest messages, because the clock of one receiver may be
 * wrong.
 */
const oldestMessages = 5;

/** A partition, its retained range, and the offset before which the past ends. */
export interface PastPartition {
  readonly where: Partition;
  readonly earliest: number;
  readonly end: number;
}

export interface FoundRecord {
  readonly text: string;
  readonly partition: number;
  readonly place: RecordPosition;
  /** Time at which the bus received its message. */
  readonly timestampMs: number;
}

/** Returns pauses between records that yield to other work for longer. */
export const restful = (): Between => ({ spent: () => undefined, isDue: () => false, pause: () => sleep(restMs) });

const inOrder = (one: FoundRecord, other: FoundRecord): number =>
  one.timestampMs - other.timestampMs ||
  one.partition - other.partition ||
  one.place.offset - other.place.offset ||
  one.place.ordinal - other.place.ordinal;

/** The newest of the added records, oldest first. */
class Newest {
  readonly #maxRecords: number;
  records: readonly FoundRecord[] = [];
  /** Older records are not accepted. */
  sinceMs = Number.NEGATIVE_INFINITY;

  constructor(maxRecords: number) {
    this.#maxRecords = maxRecords;
  }

  add(found: readonly FoundRecord[]): void {
    const last = [...this.records, ...found].sort(inOrder).slice(-this.#maxRecords);
    let length = 0;
    const full = last.findLastIndex(({ text }) => {
      length += text.length;
      return length > maxLength;
    });
    this.records = last.slice(Math.max(0, full));
    const [oldest] = this.records;
    if (oldest !== undefined && (full >= 0 || last.length === this.#maxRecords)) this.sinceMs = oldest.timestampMs;
  }
}

const medianOf = (values: readonly number[]): number | undefined =>
  values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) / 2)];

/** Collects the matching records of messages. */
class Gathering implements Target {
  readonly wish: ListenerFilter;
  readonly found: FoundRecord[] = [];
  timestampMs = 0;

  constructor(wish: ListenerFilter) {
    this.wish = wish;
  }

  position(): undefined {
    return undefined;
  }

  offer(text: string, partition: number, place: RecordPosition): void {
    this.found.push({ text, partition, place, timestampMs: this.timestampMs });
  }
}

/** A partition that is read backwards, window by window. */
class Backwards {
  readonly #partition: PastPartition;
  readonly #bus: Pick<Bus, 'read'>;
  #from: number;
  #window = firstWindow;
  /** Unread messages are not newer than this. */
  readToMs = Number.POSITIVE_INFINITY;

  constructor(partition: PastPartition, bus: Pick<Bus, 'read'>) {
    this.#partition = partition;
    this.#bus = bus;
    this.#from = partition.end;
  }

  /** Whether the partition is read to its start. */
  get isRead(): boolean {
    return this.#from <= this.#partition.earliest;
  }

  get isTooLong(): boolean {
    return this.#partition.end - this.#from >= maxMessages;
  }

  /** Reads the next window into `gathering`. Returns the number of bytes, which should be less than `room`. */
  async read(gathering: Gathering, room: number): Promise<number> {
    const { where, earliest, end } = this.#partition;
    const to = this.#from;
    const from = Math.max(earliest, to - this.#window, end - maxMessages);
    let bytes = 0;
    const times: number[] = [];
    for await (const message of this.#bus.read(where.topic, where.partition, from, to)) {
      bytes += message.value.length;
      if (times.length < oldestMessages) times.push(message.timestampMs);
      gathering.timestampMs = message.timestampMs;
      const targets = targetsOf(message, [gathering]);
      if (targets.length > 0) await match(message, where, targets, restful());
    }
    this.#from = from;
    this.readToMs = medianOf(times) ?? this.readToMs;
    const perMessage = Math.max(1, bytes / Math.max(1, to - from));
    this.#window = Math.max(firstWindow, Math.min(this.#window * 4, Math.floor((room - bytes) / perMessage)));
    return bytes;
  }
}

/**
 * Returns the last matching records of partitions by bus time, oldest first. They are complete since the first of them;
 * there are fewer than `maxRecords` if no more exist or the search would take too long. Stops when `isClosed`.
 *
 * The partition with the latest unread time is read next, so that no window is read if the other partitions have enough
 * newer records.
 */
export const lastRecords = async (
  { wish, maxRecords, isClosed }: { readonly wish: ListenerFilter; readonly maxRecords: number; isClosed(): boolean },
  partitions: readonly PastPartition[],
  bus: Pick<Bus, 'read'>,
): Promise<readonly FoundRecord[]> => {
  const pasts = partitions.map((partition) => new Backwards(partition, bus));
  const newest = new Newest(maxRecords);
  for (let bytes = 0; ; ) {
    const remaining = pasts.filter(({ isRead }) => !isRead);
    const readToMs = Math.max(...remaining.map((past) => past.readToMs));
    const next = remaining.find((past) => past.readToMs === readToMs);
    if (next === undefined) return newest.records;
    // The first window of each partition is read, however large it is.
    const isTooMuch = next.isTooLong || (bytes > maxBytes && readToMs < Number.POSITIVE_INFINITY);
    if (readToMs <= newest.sinceMs || isTooMuch || isClosed())
      return newest.records.filter(({ timestampMs }) => timestampMs >= readToMs);
    const gathering = new Gathering(wish);
    bytes += await next.read(gathering, maxBytes - bytes);
    newest.add(gathering.found);
  }
};
