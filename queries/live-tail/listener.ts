/** A listener: its send queue and its positions. Memory is bounded; records that do not fit are dropped and counted. */
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
  live = false;
  closed = false;
  #gap = false;
  #dropped = 0;
  #skipped = 0;
  #reportedDropped = 0;
  #reportedSkipped = 0;
  #hasUnreportedChange = false;
  /** Number of characters in the queue. Most characters are one byte. */
  #waitingCharacters = 0;
  #waiting: WaitingRecord[] = [];
  readonly #maxWaitingCharacters: () => number;
  readonly #readPositions = new Map<number, RecordPosition>();
  readonly #sentPositions = new Map<number, RecordPosition>();
  #onDrained: (() => void) | undefined;

  /** `maxWaitingCharacters` returns the maximum number of characters in the queue. */
  constructor(wish: ListenerFilter, maxWaitingCharacters: () => number) {
    this.listenerFilter = wish;
    this.#maxWaitingCharacters = maxWaitingCharacters;
  }

  get waitingLength(): number {
    return this.#waitingCharacters;
  }

  /** Whether there is data to send. */
  get hasPendingData(): boolean {
    return this.#hasUnreportedChange || this.#waiting.length > 0;
  }

  /** Whether more than half of the room is used. */
  get isFull(): boolean {
    return !this.closed && this.#waitingCharacters > this.#maxWaitingCharacters() / 2;
  }

  /** Returns its position in a partition. */
  position(partition: number): RecordPosition | undefined {
    return this.#readPositions.get(partition);
  }

  /** Sets the start position in a partition before the first record. */
  setStart(partition: number, place: RecordPosition): void {
    this.#readPositions.set(partition, place);
    this.#sentPositions.set(partition, place);
  }

  /** Continues at a position, skipping everything before it. */
  skipTo(partition: number, place: RecordPosition): void {
    this.#readPositions.set(partition, place);
    this.#gap = true;
    this.#hasUnreportedChange = true;
  }

  /** Adds a matching record. */
  enqueue(text: string, partition: number, { offset, ordinal }: RecordPosition): void {
    const next = { offset, ordinal: ordinal + 1 };
    this.#readPositions.set(partition, next);
    const hasRoom = this.#waiting.length === 0 || this.#waitingCharacters + text.length <= this.#maxWaitingCharacters();
    if (text.length > maxRecordCharacters || !hasRoom) {
      this.#dropped++;
      this.#hasUnreportedChange = true;
      return;
    }
    this.#waiting.push({ text, partition, next, dropped: this.#dropped, skipped: this.#skipped });
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
    this.#gap = true;
    this.#hasUnreportedChange = true;
  }

  becomeLive(): void {
    this.live = true;
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
    this.closed = true;
    this.#waiting = [];
    this.#waitingCharacters = 0;
    this.#onDrained?.();
  }

  /** Removes and returns records of at most this many characters, and at least one record if there is any. */
  nextBatch(maxCharacters: number): TailBatch {
    let length = 0;
    let count = 0;
    for (const { text } of this.#waiting) {
      if (count > 0 && length + text.length > maxCharacters) break;
      length += text.length;
      count++;
    }
    const batch = this.#waiting.splice(0, count);
    this.#waitingCharacters -= length;
    for (const { partition, next } of batch) this.#sentPositions.set(partition, next);
    const isDrained = this.#waiting.length === 0;
    if (isDrained) for (const [partition, place] of this.#readPositions) this.#sentPositions.set(partition, place);
    const last = batch.at(-1);
    const dropped = isDrained ? this.#dropped : (last?.dropped ?? this.#reportedDropped);
    const skipped = isDrained ? this.#skipped : (last?.skipped ?? this.#reportedSkipped);
    const answer = {
      records: batch.map(({ text }) => text),
      dropped: dropped - this.#reportedDropped,
      skipped: skipped - this.#reportedSkipped,
      gap: this.#gap,
      live: this.live && isDrained,
      positions: new Map(this.#sentPositions),
    };
    this.#reportedDropped = dropped;
    this.#reportedSkipped = skipped;
    this.#gap = false;
    if (isDrained) this.#hasUnreportedChange = false;
    this.#onDrained?.();
    return answer;
  }
}
