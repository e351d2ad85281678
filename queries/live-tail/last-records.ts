/** Last records that match a listener's filter, over all its partitions. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bus } from '../../schemas/ports/bus.ts';
import type { Partition } from '../../schemas/records/source.ts';
import type { ListenerFilter } from './listener.ts';
import { offerMatchingRecords, type RecordHooks, selectTargets, type Target } from './match-records.ts';
import type { RecordPosition } from './positions.ts';

/** Pause after each time slice of reading the past. */
export const longPauseMs = 20;
/** Number of messages of the first window of each partition; each next window is four times as large. */
const firstWindowMessages = 4;
/** Maximum number of messages searched per partition. */
const maxMessages = 2_000;
/** Number of bytes after which no further window is read. */
const maxBytes = 32 * 1024 * 1024;
/** Maximum number of characters of all records. */
const maxTotalCharacters = 4 * 1024 * 1024;

/**
 * Number of oldest messages of a window whose median time is the start of the window; one message is not sufficient,
 * because the clock of one receiver may be wrong.
 */
const medianSampleSize = 5;

/** A partition, its first retained offset, and the offset up to which stored messages are searched. */
export interface PartitionRange {
  readonly topicPartition: Partition;
  readonly earliest: number;
  readonly end: number;
}

export interface MatchedRecord {
  readonly text: string;
  readonly partition: number;
  readonly position: RecordPosition;
  /** Time at which the bus received its message. */
  readonly timestampMs: number;
}

/** Returns hooks with longer pauses between records than by default, which leave more time for other work. */
export const createLongPauseHooks = (): RecordHooks => ({
  addCpuTime: () => undefined,
  isPauseDue: () => false,
  pause: () => sleep(longPauseMs),
});

const compareByTime = (left: MatchedRecord, right: MatchedRecord): number =>
  left.timestampMs - right.timestampMs ||
  left.partition - right.partition ||
  left.position.offset - right.position.offset ||
  left.position.ordinal - right.position.ordinal;

/** The newest of the added records, oldest first. */
class NewestRecords {
  readonly #maxRecords: number;
  records: readonly MatchedRecord[] = [];
  /** Older records are not accepted. */
  sinceMs = Number.NEGATIVE_INFINITY;

  constructor(maxRecords: number) {
    this.#maxRecords = maxRecords;
  }

  add(newRecords: readonly MatchedRecord[]): void {
    const last = [...this.records, ...newRecords].sort(compareByTime).slice(-this.#maxRecords);
    let length = 0;
    const lastExceedingIndex = last.findLastIndex(({ text }) => {
      length += text.length;
      return length > maxTotalCharacters;
    });
    this.records = last.slice(Math.max(0, lastExceedingIndex));
    const [oldest] = this.records;
    if (oldest !== undefined && (lastExceedingIndex >= 0 || last.length === this.#maxRecords))
      this.sinceMs = oldest.timestampMs;
  }
}

const computeMedian = (values: readonly number[]): number | undefined =>
  values.toSorted((left, right) => left - right)[Math.floor((values.length - 1) / 2)];

/** Collects the matching records of messages. */
class RecordCollector implements Target {
  readonly listenerFilter: ListenerFilter;
  readonly records: MatchedRecord[] = [];
  timestampMs = 0;

  constructor(listenerFilter: ListenerFilter) {
    this.listenerFilter = listenerFilter;
  }

  position(): undefined {
    return undefined;
  }

  enqueue(text: string, partition: number, position: RecordPosition): void {
    this.records.push({ text, partition, position, timestampMs: this.timestampMs });
  }
}

/** A partition that is read backwards, window by window. */
class PartitionReader {
  readonly #partition: PartitionRange;
  readonly #bus: Pick<Bus, 'read'>;
  #from: number;
  #window = firstWindowMessages;
  /** Unread messages are not newer than this. */
  unreadBeforeMs = Number.POSITIVE_INFINITY;

  constructor(partition: PartitionRange, bus: Pick<Bus, 'read'>) {
    this.#partition = partition;
    this.#bus = bus;
    this.#from = partition.end;
  }

  /** Whether the partition has been read back to its start. */
  get isExhausted(): boolean {
    return this.#from <= this.#partition.earliest;
  }

  get isTooLong(): boolean {
    return this.#partition.end - this.#from >= maxMessages;
  }

  /** Reads the next window into `collector`. Returns the number of bytes, which should be less than `remainingBytes`. */
  async read(collector: RecordCollector, remainingBytes: number): Promise<number> {
    const { topicPartition, earliest, end } = this.#partition;
    const to = this.#from;
    const from = Math.max(earliest, to - this.#window, end - maxMessages);
    let bytes = 0;
    const times: number[] = [];
    for await (const message of this.#bus.read(topicPartition.topic, topicPartition.partition, from, to)) {
      bytes += message.value.length;
      if (times.length < medianSampleSize) times.push(message.timestampMs);
      collector.timestampMs = message.timestampMs;
      const targets = selectTargets(message, [collector]);
      if (targets.length > 0) await offerMatchingRecords(message, topicPartition, targets, createLongPauseHooks());
    }
    this.#from = from;
    this.unreadBeforeMs = computeMedian(times) ?? this.unreadBeforeMs;
    const bytesPerMessage = Math.max(1, bytes / Math.max(1, to - from));
    this.#window = Math.max(
      firstWindowMessages,
      Math.min(this.#window * 4, Math.floor((remainingBytes - bytes) / bytesPerMessage)),
    );
    return bytes;
  }
}

/**
 * Returns the last matching records of partitions by bus time, oldest first, without gaps since the first of them.
 * There are fewer than `maxRecords` if no more exist or the search would take too long. Stops when `isClosed`.
 *
 * The next window is read from the partition with the newest unread messages. A window is therefore not read if other
 * partitions have enough newer records.
 */
export const readLastRecords = async (
  {
    listenerFilter,
    maxRecords,
    isClosed,
  }: { readonly listenerFilter: ListenerFilter; readonly maxRecords: number; isClosed(): boolean },
  partitions: readonly PartitionRange[],
  bus: Pick<Bus, 'read'>,
): Promise<readonly MatchedRecord[]> => {
  const partitionReaders = partitions.map((partition) => new PartitionReader(partition, bus));
  const newest = new NewestRecords(maxRecords);
  for (let bytes = 0; ; ) {
    const remaining = partitionReaders.filter(({ isExhausted }) => !isExhausted);
    const readToMs = Math.max(...remaining.map((partitionReader) => partitionReader.unreadBeforeMs));
    const nextReader = remaining.find((partitionReader) => partitionReader.unreadBeforeMs === readToMs);
    if (nextReader === undefined) return newest.records;
    // The first window of each partition is read, however large it is.
    const exceedsLimits = nextReader.isTooLong || (bytes > maxBytes && readToMs < Number.POSITIVE_INFINITY);
    if (readToMs <= newest.sinceMs || exceedsLimits || isClosed())
      return newest.records.filter(({ timestampMs }) => timestampMs >= readToMs);
    const collector = new RecordCollector(listenerFilter);
    bytes += await nextReader.read(collector, maxBytes - bytes);
    newest.add(collector.records);
  }
};
