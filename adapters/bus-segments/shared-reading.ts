/** One partition, read once for all groups that are in step. */
import { type Budget, ReadingWindow, type WindowPiece, type WindowReader } from '../../runtime/reading-window.ts';
import { type BusRecord, bytesIn, recordsIn } from '../../schemas/ports/bus.ts';
import type { Slabs } from '../slabs.ts';
import type { Lost } from './lost.ts';
import { Gathered, PartitionReader, type ReadableLog } from './reader.ts';

/** A piece has at most so many bytes, unless one record has more. */
const pieceBytes = 4 * 1024 * 1024;

interface Piece extends WindowPiece {
  readonly records: readonly BusRecord[];
  /** What cannot be read; then there are no records. */
  readonly lost: Lost | undefined;
  release(): void;
}

const bytesOf = (records: readonly BusRecord[]): number => records.reduce((sum, record) => sum + bytesIn(record), 0);

/** The next records of a reader, or what it cannot read. */
const nextPiece = async (reader: PartitionReader): Promise<Piece | undefined> => {
  const first = reader.next;
  const limits = { maxRecords: Number.POSITIVE_INFINITY, maxBytes: pieceBytes, before: Number.POSITIVE_INFINITY };
  const some = new Gathered(limits);
  const lost = await reader.take(some);
  const { records } = some;
  // What was read comes first: the damage behind it is found again.
  if (reader.next > first)
    return { first, next: reader.next, bytes: bytesOf(records), records, lost: undefined, release: reader.handOver() };
  if (lost === undefined) return undefined;
  await reader.seek(lost.to);
  return { first, next: lost.to, bytes: 0, records: [], lost, release: reader.handOver() };
};

/** A partition's front, where what one group reads is there for the others. */
export class SharedReading {
  readonly #log: ReadableLog;
  readonly #slabs: Slabs;
  readonly window: ReadingWindow<Piece>;
  #front: PartitionReader | undefined;
  #reading: Promise<void> | undefined;

  constructor(log: ReadableLog, slabs: Slabs, budget: Budget) {
    this.#log = log;
    this.#slabs = slabs;
    this.window = new ReadingWindow<Piece>(budget, (gone) => {
      for (const { release } of gone) release();
    });
  }

  /**
   * The piece that has the offset, which is below the stable end; it is in use until `window.leave`. `undefined` where the others have
   * passed it.
   */
  async at(offset: number): Promise<Piece | undefined> {
    for (;;) {
      const found = this.window.find(offset);
      if (found !== undefined) {
        this.window.use(found);
        return found;
      }
      if (this.#reading === undefined && this.#isPassed(offset)) return undefined;
      this.#reading ??= this.#read(offset).finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
  }

  /** No group reads any more. */
  async close(): Promise<void> {
    await this.#reading?.catch(() => undefined);
    if (this.window.readers.size > 0) return;
    this.window.clean();
    const front = this.#front;
    this.#front = undefined;
    await front?.close();
  }

  /** A group that reads alone is at the front wherever it goes. */
  #isPassed(offset: number): boolean {
    return this.window.readers.size > 1 && offset < (this.#front?.next ?? 0);
  }

  async #read(offset: number): Promise<void> {
    this.#front ??= new PartitionReader(this.#log, offset, this.#slabs);
    const front = this.#front;
    try {
      await front.seek(offset);
      const piece = await nextPiece(front);
      if (piece !== undefined) this.window.add(piece);
    } catch (error) {
      // The next one begins anew, wherever this one failed.
      this.#front = undefined;
      await front.close().catch(() => undefined);
      throw error;
    }
  }
}

/** One group's reading of a partition: with the others where it can, for itself where it has fallen behind. */
export class GroupReader implements WindowReader {
  readonly #log: ReadableLog;
  readonly #slabs: Slabs;
  readonly #shared: SharedReading;
  #next: number;
  #piece: Piece | undefined;
  /** Index of the next record in it. */
  #at = 0;
  /** Pieces that values may still be read from. */
  #left: Piece[] = [];
  /** Reads what the others have passed, and its memory that values may still be read from. */
  #own: PartitionReader | undefined;
  #ownMemory: (() => void)[] = [];

  constructor(log: ReadableLog, from: number, { slabs, shared }: { slabs: Slabs; shared: SharedReading }) {
    this.#log = log;
    this.#next = from;
    this.#slabs = slabs;
    this.#shared = shared;
    shared.window.readers.add(this);
  }

  /** Offset of the next record to be read. */
  get next(): number {
    return this.#next;
  }

  /** Nothing that was taken so far is read any more. */
  release(): void {
    for (const piece of this.#left.splice(0)) this.#shared.window.leave(piece);
    this.#shared.window.clean();
    for (const release of this.#ownMemory.splice(0)) release();
    this.#own?.release();
  }

  /** Goes on from another offset. */
  async seek(offset: number): Promise<void> {
    if (offset === this.#next) return;
    this.#leave();
    await this.#closeOwn();
    this.#next = offset;
  }

  async close(): Promise<void> {
    this.#leave();
    await this.#closeOwn();
    this.release();
    this.#shared.window.readers.delete(this);
    await this.#shared.close();
  }

  /**
   * Takes records until the gathering is closed or the stable end is reached. At bytes that cannot be read it stops
   * and returns what is lost; `seek` to its `to` continues behind them.
   */
  async take(into: Gathered): Promise<Lost | undefined> {
    for (;;) {
      const end = Math.min(this.#log.stableEnd, into.limits.before);
      if (into.closed || this.#next >= end) return undefined;
      const piece = this.#piece ?? (await this.#enter());
      if (piece?.lost !== undefined) return { ...piece.lost, from: this.#next };
      if (piece === undefined) {
        const lost = await this.#takeAlone(into);
        if (lost !== undefined) return lost;
      } else if (!this.#takeFrom(piece, into)) return undefined;
    }
  }

  /** `false` when nothing more of the piece is wanted. */
  #takeFrom({ records, next }: Piece, into: Gathered): boolean {
    for (let record = records[this.#at]; record !== undefined; record = records[this.#at]) {
      if (record.offset >= into.limits.before || into.closed || !into.takes(record.value.length)) return false;
      into.add(record, recordsIn(record.headers));
      this.#next = record.offset + 1;
      this.#at++;
    }
    this.#next = Math.min(next, into.limits.before);
    if (this.#next === next) this.#leave();
    return true;
  }

  /** The shared piece that has the next offset; `undefined` where others have passed it. */
  async #enter(): Promise<Piece | undefined> {
    const piece = await this.#shared.at(this.#next);
    if (piece === undefined) return undefined;
    await this.#closeOwn();
    this.#piece = piece;
    this.#at = piece.records.findIndex(({ offset }) => offset >= this.#next);
    if (this.#at < 0) this.#at = piece.records.length;
    return piece;
  }

  /** The values of the piece may still be read. */
  #leave(): void {
    if (this.#piece !== undefined) this.#left.push(this.#piece);
    this.#piece = undefined;
  }

  async #takeAlone(into: Gathered): Promise<Lost | undefined> {
    const own = this.#own ?? new PartitionReader(this.#log, this.#next, this.#slabs);
    this.#own = own;
    await own.seek(this.#next);
    const lost = await own.take(into);
    this.#next = own.next;
    return lost;
  }

  async #closeOwn(): Promise<void> {
    const own = this.#own;
    this.#own = undefined;
    if (own === undefined) return;
    await own.close();
    this.#ownMemory.push(own.handOver());
  }
}
