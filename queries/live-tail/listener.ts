/**
 * A listener with its send queue and its positions. Memory is bounded: records that do not fit are dropped and
 * counted.
 */
import type { Filter } from './filter.ts';
import type { Positions, RecordPosition } from './positions.ts';

/** Filter of a listener. */
export interface ListenerFilter {
  readonly tenantId: string;
  /** Only records of this project. */
  readonly projectId?: string | undefined;
  readonly filter: Filter;
}

/** Next data to send. */
export interface TailBatch {
  /** JSON of each record, in reading order. */
  readonly records: readonly string[];
  /** Number of matching records since the last batch that were dropped because the queue was full. */
  readonly dropped: number;
  /** Number of records since the last batch that were not evaluated, to limit CPU time. */
  readonly skipped: number;
  /** Whether records may be missing before these, because they are no longer retained or there were too many. */
  readonly gap: boolean;
  /** Whether everything on the bus before the listener connected has been read. */
  readonly live: boolean;
  /** Positions after these records, for resumption. */
  readonly positions: Positions;
}

interface WaitingRecord {
  readonly text: string;
  readonly partition: number;
  readonly next: RecordPosition;
  /** Number of records dropped and skipped before it. */
  readonly dropped: number;
  readonly skipped: number;
}

/** Records with longer JSON are dropped, because their frame would delay all others. */
const maxRecordCharacters = 256 * 1024;

export class Listener {
  readonly listenerFilter: ListenerFilter;
  isLive = false;
  isClosed = false;
  #hasGap = false;
  #dropped = 0;
  #skipped = 0;
  #reportedDropped = 0;
  #reportedSkipped = 0;
  #hasUnreportedChange = false;
  /** Number of characters in the queue. Most characters are one byte. */
  #waitingCharacters = 0;
  #queue: WaitingRecord[] = [];
  readonly #maxWaitingCharacters: () => number;
  readonly #readPositions = new Map<number, RecordPosition>();
  readonly #sentPositions = new Map<number, RecordPosition>();
  #onDrained: (() => void) | undefined;

  /** `maxWaitingCharacters` returns the maximum number of characters in the queue. */
  constructor(listenerFilter: ListenerFilter, maxWaitingCharacters: () => number) {
    this.listenerFilter = listenerFilter;
    this.#maxWaitingCharacters = maxWaitingCharacters;
  }

  get waitingLength(): number {
    return this.#waitingCharacters;
  }

  /** Whether there is data to send. */
  get hasPendingData(): boolean {
    return this.#hasUnreportedChange || this.#queue.length > 0;
  }

  /** Whether more than half of the room is used. */
  get isFull(): boolean {
    return !this.isClosed && this.#waitingCharacters > this.#maxWaitingCharacters() / 2;
  }

  /** Returns its position in a partition. */
  position(partition: number): RecordPosition | undefined {
    return this.#readPositions.get(partition);
  }

  /** Sets the start position in a partition before the first record. */
  setStart(partition: number, position: RecordPosition): void {
    this.#readPositions.set(partition, position);
    this.#sentPositions.set(partition, position);
  }

  /** Continues at a position, skipping everything before it. */
  skipTo(partition: number, position: RecordPosition): void {
    this.#readPositions.set(partition, position);
    this.#hasGap = true;
    this.#hasUnreportedChange = true;
  }

  /** Adds a matching record. */
  enqueue(text: string, partition: number, { offset, ordinal }: RecordPosition): void {
    const next = { offset, ordinal: ordinal + 1 };
    this.#readPositions.set(partition, next);
    const hasRoom = this.#queue.length === 0 || this.#waitingCharacters + text.length <= this.#maxWaitingCharacters();
    if (text.length > maxRecordCharacters || !hasRoom) {
      this.#dropped++;
      this.#hasUnreportedChange = true;
      return;
    }
    this.#queue.push({ text, partition, next, dropped: this.#dropped, skipped: this.#skipped });
    this.#waitingCharacters += text.length;
  }

  /** Marks everything up to and including this message as read. */
  markRead(partition: number, offset: number): void {
    if ((this.#readPositions.get(partition)?.offset ?? 0) <= offset)
      this.#readPositions.set(partition, { offset: offset + 1, ordinal: 0 });
  }

  /** Counts the records of a message as skipped. */
  countSkipped(partition: number, offset: number, records: number): void {
    this.#skipped += records;
    this.#hasUnreportedChange = true;
    this.markRead(partition, offset);
  }

  /** Marks that records before the next ones may be missing. */
  markGap(): void {
    this.#hasGap = true;
    this.#hasUnreportedChange = true;
  }

  becomeLive(): void {
    this.isLive = true;
    this.#hasUnreportedChange = true;
  }

  /** Resolves once the queue has room again, or is closed. */
  async waitForRoom(): Promise<void> {
    while (this.isFull)
      await new Promise<void>((resolve) => {
        this.#onDrained = resolve;
      });
  }

  close(): void {
    this.isClosed = true;
    this.#queue = [];
    this.#waitingCharacters = 0;
    this.#onDrained?.();
  }

  /** Removes and returns records of at most this many characters, and at least one record if there is any. */
  takeBatch(maxCharacters: number): TailBatch {
    let length = 0;
    let count = 0;
    for (const { text } of this.#queue) {
      if (count > 0 && length + text.length > maxCharacters) break;
      length += text.length;
      count++;
    }
    const queuedRecords = this.#queue.splice(0, count);
    this.#waitingCharacters -= length;
    for (const { partition, next } of queuedRecords) this.#sentPositions.set(partition, next);
    const isDrained = this.#queue.length === 0;
    if (isDrained)
      for (const [partition, position] of this.#readPositions) this.#sentPositions.set(partition, position);
    const lastRecord = queuedRecords.at(-1);
    const dropped = isDrained ? this.#dropped : (lastRecord?.dropped ?? this.#reportedDropped);
    const skipped = isDrained ? this.#skipped : (lastRecord?.skipped ?? this.#reportedSkipped);
    const tailBatch = {
      records: queuedRecords.map(({ text }) => text),
      dropped: dropped - this.#reportedDropped,
      skipped: skipped - this.#reportedSkipped,
      gap: this.#hasGap,
      live: this.isLive && isDrained,
      positions: new Map(this.#sentPositions),
    };
    this.#reportedDropped = dropped;
    this.#reportedSkipped = skipped;
    this.#hasGap = false;
    if (isDrained) this.#hasUnreportedChange = false;
    this.#onDrained?.();
    return tailBatch;
  }
}
