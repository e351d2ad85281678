/** Reads a partition once for all groups with nearby positions. */
import { type Budget, ReadingWindow, type WindowBatch, type WindowReader } from '../../runtime/reading-window.ts';
import { type BusRecord, countRecords, getDecompressedBytes } from '../../schemas/ports/bus.ts';
import type { BufferPool } from '../buffer-pool.ts';
import type { LostRange } from './lost-messages.ts';
import { BatchBuilder, PartitionReader, type ReadableLog } from './reader.ts';

/** Maximum bytes of a piece, unless a single record is larger. */
const maxBatchBytes = 4 * 1024 * 1024;
/**
 * Maximum number of open readers of a partition, so that groups at different positions do not reopen the file for each
 * piece.
 */
const maxReaders = 4;

interface SharedBatch extends WindowBatch {
  readonly records: readonly BusRecord[];
  /** The unreadable range; there are no records then. */
  readonly lost: LostRange | undefined;
  release(): void;
}

const countBytes = (records: readonly BusRecord[]): number =>
  records.reduce((sum, record) => sum + getDecompressedBytes(record), 0);

/** Reads the next records before an offset; returns the lost range if the reader cannot read any of them. */
const readNext = async (reader: PartitionReader, endOffset: number): Promise<SharedBatch | undefined> => {
  const first = reader.nextOffset;
  const some = new BatchBuilder({ maxRecords: Number.POSITIVE_INFINITY, maxBytes: maxBatchBytes, endOffset });
  const lost = await reader.readInto(some);
  const { records } = some;
  // Return the records that were read first; the next read finds the damage after them again.
  if (reader.nextOffset > first)
    return {
      first,
      next: reader.nextOffset,
      bytes: countBytes(records),
      records,
      lost: undefined,
      release: reader.handOver(),
    };
  if (lost === undefined) return undefined;
  await reader.seek(lost.to);
  return { first, next: lost.to, bytes: 0, records: [], lost, release: reader.handOver() };
};

/** A partition whose pieces are shared by all groups that reach them soon. */
export class SharedReading {
  readonly #log: ReadableLog;
  readonly #bufferPool: BufferPool;
  readonly window: ReadingWindow<SharedBatch>;
  /**
   * Each reader is at the end of its last piece; groups that fell behind use another reader. The most recently used
   * reader is last.
   */
  #readers: PartitionReader[] = [];
  #reading: Promise<void> | undefined;

  constructor(log: ReadableLog, bufferPool: BufferPool, budget: Budget) {
    this.#log = log;
    this.#bufferPool = bufferPool;
    this.window = new ReadingWindow<SharedBatch>(budget, (pieces) => {
      for (const { release } of pieces) release();
    });
  }

  /** Returns the piece that contains the offset, which is below the stable end; it is in use until `window.leave`. */
  async getBatchAt(offset: number): Promise<SharedBatch> {
    for (;;) {
      const batch = this.window.find(offset);
      if (batch !== undefined) {
        this.window.use(batch);
        return batch;
      }
      // One read at a time, so that pieces do not overlap. Read errors of another group are ignored here.
      if (this.#reading === undefined) await this.#begin(offset);
      else await this.#reading;
    }
  }

  /** Closes the readers when no group reads any more. */
  async close(): Promise<void> {
    this.window.releaseUnneeded();
    await this.#reading;
    if (this.window.readers.size > 0) return;
    this.window.releaseUnneeded();
    for (const reader of this.#readers.splice(0)) await reader.close();
  }

  #begin(offset: number): Promise<void> {
    const reading = this.#read(offset);
    this.#reading = reading
      .catch(() => undefined)
      .finally(() => {
        this.#reading = undefined;
      });
    return reading;
  }

  async #read(offset: number): Promise<void> {
    const reader = this.#getReader(offset);
    try {
      await reader.seek(offset);
      const piece = await readNext(reader, this.window.nextFrom(offset));
      if (piece !== undefined) this.window.add(piece);
    } catch (error) {
      // The next read opens a new reader, whatever this one failed on.
      this.#readers = this.#readers.filter((other) => other !== reader);
      await reader.close().catch(() => undefined);
      throw error;
    }
  }

  /** Returns the reader at the offset, otherwise the least recently used one. */
  #getReader(offset: number): PartitionReader {
    const found = this.#readers.findIndex(({ nextOffset }) => nextOffset === offset);
    const isNew = found < 0 && this.#readers.length < maxReaders;
    const [reader = new PartitionReader(this.#log, offset, this.#bufferPool)] = isNew
      ? []
      : this.#readers.splice(Math.max(0, found), 1);
    this.#readers.push(reader);
    return reader;
  }
}

/** One group's reader of a partition. Groups that read the same records share the reads. */
export class GroupReader implements WindowReader {
  readonly #log: ReadableLog;
  readonly #shared: SharedReading;
  #next: number;
  #piece: SharedBatch | undefined;
  /** Index of the next record in the piece */
  #recordIndex = 0;
  /** Pieces whose values may still be in use */
  #usedBatches: SharedBatch[] = [];

  constructor(log: ReadableLog, from: number, shared: SharedReading) {
    this.#log = log;
    this.#next = from;
    this.#shared = shared;
    shared.window.readers.add(this);
  }

  /** Offset of the next record to read */
  get next(): number {
    return this.#next;
  }

  /** Releases all records read so far. */
  release(): void {
    for (const piece of this.#usedBatches.splice(0)) this.#shared.window.leave(piece);
    this.#shared.window.releaseUnneeded();
  }

  /** Retains the memory of the records read so far until the returned function is called, even after `release`. */
  retain(): () => void {
    const { window } = this.#shared;
    const pieces = this.#piece === undefined ? [...this.#usedBatches] : [...this.#usedBatches, this.#piece];
    for (const piece of pieces) window.use(piece);
    return () => {
      for (const piece of pieces) window.leave(piece);
      window.releaseUnneeded();
    };
  }

  /** Continues from another offset. */
  seek(offset: number): void {
    if (offset === this.#next) return;
    this.#leaveBatch();
    this.#next = offset;
  }

  async close(): Promise<void> {
    this.#leaveBatch();
    this.release();
    this.#shared.window.readers.delete(this);
    await this.#shared.close();
  }

  /**
   * Reads records until the batch is closed or the stable end is reached. Stops at unreadable bytes and returns the
   * lost range; `seek` to its `to` continues after it.
   */
  async readInto(into: BatchBuilder): Promise<LostRange | undefined> {
    for (;;) {
      const end = Math.min(this.#log.stableEnd, into.limits.endOffset);
      if (into.isClosed || this.#next >= end) return undefined;
      const piece = this.#piece ?? (await this.#enterBatch());
      if (piece.lost !== undefined) return { ...piece.lost, from: this.#next };
      if (!this.#copyInto(piece, into)) return undefined;
    }
  }

  /** Returns `false` when the batch needs no more records of the piece. */
  #copyInto({ records, next }: SharedBatch, into: BatchBuilder): boolean {
    for (let record = records[this.#recordIndex]; record !== undefined; record = records[this.#recordIndex]) {
      if (record.offset >= into.limits.endOffset || into.isClosed || !into.accepts(record.value.length)) return false;
      into.add(record, countRecords(record.headers));
      this.#next = record.offset + 1;
      this.#recordIndex++;
    }
    this.#next = Math.min(next, into.limits.endOffset);
    if (this.#next === next) this.#leaveBatch();
    return true;
  }

  /** Returns the piece that contains the next offset. */
  async #enterBatch(): Promise<SharedBatch> {
    const piece = await this.#shared.getBatchAt(this.#next);
    this.#piece = piece;
    this.#recordIndex = piece.records.findIndex(({ offset }) => offset >= this.#next);
    if (this.#recordIndex < 0) this.#recordIndex = piece.records.length;
    return piece;
  }

  /** Leaves the piece; its values may still be in use. */
  #leaveBatch(): void {
    if (this.#piece !== undefined) this.#usedBatches.push(this.#piece);
    this.#piece = undefined;
  }
}
