/** The last records that a listener wants, over all its partitions. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bus } from '../../schemas/ports/bus.ts';
import type { Partition } from '../../schemas/records/source.ts';
import type { Wish } from './listener.ts';
import { type Between, match, type Target, targetsOf } from './matching.ts';
import type { Place } from './positions.ts';

/** Reading the past rests so long after each turn. */
export const restMs = 20;
/** Messages that are read first of each partition; then four times as many, and so on. */
const firstWindow = 4;
/** At most so many messages of a partition are searched. */
const maxMessages = 2_000;
/** No further window is read once so many bytes were. */
const maxBytes = 32 * 1024 * 1024;
/** Characters of all of them. */
const maxLength = 4 * 1024 * 1024;

/** A window goes back to the median time of so many of its oldest messages: the clock of one receiver may be wrong. */
const oldestMessages = 5;

/** A partition, what is kept of it, and the offset before which the past lies. */
export interface PastPartition {
  readonly where: Partition;
  readonly earliest: number;
  readonly end: number;
}

export interface FoundRecord {
  readonly text: string;
  readonly partition: number;
  readonly place: Place;
  /** When the bus took its message. */
  readonly timestampMs: number;
}

/** Lets others have their turn for longer. */
export const restful = (): Between => ({ spent: () => undefined, isDue: () => false, pause: () => sleep(restMs) });

const inOrder = (one: FoundRecord, other: FoundRecord): number =>
  one.timestampMs - other.timestampMs ||
  one.partition - other.partition ||
  one.place.offset - other.place.offset ||
  one.place.ordinal - other.place.ordinal;

/** The newest of the records that were added, oldest first. */
class Newest {
  readonly #maxRecords: number;
  records: readonly FoundRecord[] = [];
  /** What is added is not among them if it is older. */
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

/** Gathers the wanted records of messages. */
class Gathering implements Target {
  readonly wish: Wish;
  readonly found: FoundRecord[] = [];
  timestampMs = 0;

  constructor(wish: Wish) {
    this.wish = wish;
  }

  position(): undefined {
    return undefined;
  }

  offer(text: string, partition: number, place: Place): void {
    this.found.push({ text, partition, place, timestampMs: this.timestampMs });
  }
}

/** A partition that is read backwards, window by window. */
class Backwards {
  readonly #partition: PastPartition;
  readonly #bus: Pick<Bus, 'read'>;
  #from: number;
  #window = firstWindow;
  /** Messages that were not read are not newer. */
  readToMs = Number.POSITIVE_INFINITY;

  constructor(partition: PastPartition, bus: Pick<Bus, 'read'>) {
    this.#partition = partition;
    this.#bus = bus;
    this.#from = partition.end;
  }

  /** Whether there is nothing before what was read. */
  get isRead(): boolean {
    return this.#from <= this.#partition.earliest;
  }

  get isTooLong(): boolean {
    return this.#partition.end - this.#from >= maxMessages;
  }

  /** Gives the wanted records of the next window to `gathering`. Answers how many bytes it read; they should be fewer than `room`. */
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
 * The last records of partitions by the time at which the bus took them, oldest first: all that are wanted since the first of
 * them, and fewer than `most` where there are fewer, or where more would take too long to find. Stops when `isClosed`. The
 * partition that was read back the least far in time is read next, so that a window of one is not read where the other ones
 * have newer records enough.
 */
export const lastRecords = async (
  { wish, maxRecords, isClosed }: { readonly wish: Wish; readonly maxRecords: number; isClosed(): boolean },
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
    // The first window of each is read, however large it is.
    const isTooMuch = next.isTooLong || (bytes > maxBytes && readToMs < Number.POSITIVE_INFINITY);
    if (readToMs <= newest.sinceMs || isTooMuch || isClosed())
      return newest.records.filter(({ timestampMs }) => timestampMs >= readToMs);
    const gathering = new Gathering(wish);
    bytes += await next.read(gathering, maxBytes - bytes);
    newest.add(gathering.found);
  }
};
