/** One listener: what waits to be sent to it, and where it stands. Its memory is bounded; what has no room is counted. */
import type { Filter } from './filter.ts';
import type { Place, Positions } from './positions.ts';

/** What a listener wants. */
export interface Wish {
  readonly tenantId: string;
  /** Only records of this project. */
  readonly projectId?: string | undefined;
  readonly filter: Filter;
}

/** What is to be sent next. */
export interface TailBatch {
  /** JSON of each record, in the order in which they were read. */
  readonly records: readonly string[];
  /** Wanted records that had no room, since the last time. */
  readonly dropped: number;
  /** Records that were not looked at, since the last time. */
  readonly skipped: number;
  /** Whether records may be missing before these: they are no longer kept, or are too many. */
  readonly gap: boolean;
  /** Whether everything that was on the bus before the listener came has been read. */
  readonly live: boolean;
  /** Where to go on after these. */
  readonly positions: Positions;
}

interface Waiting {
  readonly text: string;
  readonly partition: number;
  readonly next: Place;
  /** All that was dropped and skipped before it. */
  readonly dropped: number;
  readonly skipped: number;
}

/** A record whose JSON is longer is dropped: a frame of it would hold up all others. */
const maxRecordCharacters = 256 * 1024;

export class Listener {
  readonly wish: Wish;
  live = false;
  closed = false;
  #gap = false;
  #dropped = 0;
  #skipped = 0;
  #reportedDropped = 0;
  #reportedSkipped = 0;
  #isNews = false;
  /** Characters that wait. Texts are of one byte a character but for few. */
  #waitingLength = 0;
  #waiting: Waiting[] = [];
  readonly #roomOf: () => number;
  readonly #read = new Map<number, Place>();
  readonly #sent = new Map<number, Place>();
  #onRoom: (() => void) | undefined;

  /** `roomOf` says how many characters may wait. */
  constructor(wish: Wish, roomOf: () => number) {
    this.wish = wish;
    this.#roomOf = roomOf;
  }

  get waitingLength(): number {
    return this.#waitingLength;
  }

  /** Whether there is something to send. */
  get hasNews(): boolean {
    return this.#isNews || this.#waiting.length > 0;
  }

  /** Whether more than half of the room is taken. */
  get isFull(): boolean {
    return !this.closed && this.#waitingLength > this.#roomOf() / 2;
  }

  /** Where it stands in a partition. */
  position(partition: number): Place | undefined {
    return this.#read.get(partition);
  }

  /** Begins a partition at a place, before anything of it is told. */
  begin(partition: number, place: Place): void {
    this.#read.set(partition, place);
    this.#sent.set(partition, place);
  }

  /** Goes on at a place, whatever lies before. */
  jump(partition: number, place: Place): void {
    this.#read.set(partition, place);
    this.#gap = true;
    this.#isNews = true;
  }

  /** A wanted record. */
  offer(text: string, partition: number, { offset, ordinal }: Place): void {
    const next = { offset, ordinal: ordinal + 1 };
    this.#read.set(partition, next);
    const hasRoom = this.#waiting.length === 0 || this.#waitingLength + text.length <= this.#roomOf();
    if (text.length > maxRecordCharacters || !hasRoom) {
      this.#dropped++;
      this.#isNews = true;
      return;
    }
    this.#waiting.push({ text, partition, next, dropped: this.#dropped, skipped: this.#skipped });
    this.#waitingLength += text.length;
  }

  /** Everything up to and with this message was read. */
  passed(partition: number, offset: number): void {
    if ((this.#read.get(partition)?.offset ?? 0) <= offset)
      this.#read.set(partition, { offset: offset + 1, ordinal: 0 });
  }

  /** The records of a message are not looked at. */
  skip(partition: number, offset: number, records: number): void {
    this.#skipped += records;
    this.#isNews = true;
    this.passed(partition, offset);
  }

  /** Records before the ones that come may be missing. */
  markGap(): void {
    this.#gap = true;
    this.#isNews = true;
  }

  becomeLive(): void {
    this.live = true;
    this.#isNews = true;
  }

  /** Resolves once it is not full any more, or is closed. */
  async room(): Promise<void> {
    while (this.isFull)
      await new Promise<void>((resolve) => {
        this.#onRoom = resolve;
      });
  }

  close(): void {
    this.closed = true;
    this.#waiting = [];
    this.#waitingLength = 0;
    this.#onRoom?.();
  }

  /** Takes at most so many characters of records, and at least one record where one waits. */
  nextBatch(maxCharacters: number): TailBatch {
    let length = 0;
    let count = 0;
    for (const { text } of this.#waiting) {
      if (count > 0 && length + text.length > maxCharacters) break;
      length += text.length;
      count++;
    }
    const batch = this.#waiting.splice(0, count);
    this.#waitingLength -= length;
    for (const { partition, next } of batch) this.#sent.set(partition, next);
    const isDrained = this.#waiting.length === 0;
    if (isDrained) for (const [partition, place] of this.#read) this.#sent.set(partition, place);
    const last = batch.at(-1);
    const dropped = isDrained ? this.#dropped : (last?.dropped ?? this.#reportedDropped);
    const skipped = isDrained ? this.#skipped : (last?.skipped ?? this.#reportedSkipped);
    const answer = {
      records: batch.map(({ text }) => text),
      dropped: dropped - this.#reportedDropped,
      skipped: skipped - this.#reportedSkipped,
      gap: this.#gap,
      live: this.live && isDrained,
      positions: new Map(this.#sent),
    };
    this.#reportedDropped = dropped;
    this.#reportedSkipped = skipped;
    this.#gap = false;
    if (isDrained) this.#isNews = false;
    this.#onRoom?.();
    return answer;
  }
}
