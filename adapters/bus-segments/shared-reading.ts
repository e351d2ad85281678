/** Reads a partition once for all groups with nearby positions. */
import { type Budget, ReadingWindow, type WindowBatch, type WindowReader } from '../../runtime/reading-window.ts';
import { type BusRecord, countRecords, getDecompressedBytes } from '../../schemas/ports/bus.ts';
import type { BufferPool } from '../buffer-pool.ts';
import type { LostRange } from './lost-messages.ts';
import { BatchBuilder, PartitionReader, type ReadableLog } from './reader.ts';

/** Maximum bytes of a batch, unless a single record is larger. */
const maxBatchBytes = 4 * 1024 * 1024;
/**
 * Maximum number of open readers of a partition, so that groups at different positions do not reopen the file for each
 * batch.
 */
const maxReaders = 4;

interface SharedBatch extends WindowBatch {
  readonly records: readonly BusRecord[];
  /** The unreadable range, if any; the batch then has no records. */
  readonly lostRange: LostRange | undefined;
  release(): void;
}

const countBytes = (records: readonly BusRecord[]): number =>
  records.reduce((sum, record) => sum + getDecompressedBytes(record), 0);

/** Reads the next records before an offset; returns the lost range if the reader cannot read any of them. */
const readNext = async (reader: PartitionReader, endOffset: number): Promise<SharedBatch | undefined> => {
  const first = reader.nextOffset;
  const builder = new BatchBuilder({ maxRecords: Number.POSITIVE_INFINITY, maxBytes: maxBatchBytes, endOffset });
  const lostRange = await reader.readInto(builder);
  const { records } = builder;
  // Return the records that were read first; the next read finds the damage after them again.
  if (reader.nextOffset > first)
    return {
      first,
      next: reader.nextOffset,
      bytes: countBytes(records),
      records,
      lostRange: undefined,
      release: reader.handOver(),
    };
  if (lostRange === undefined) return undefined;
  await reader.seek(lostRange.to);
  return { first, next: lostRange.to, bytes: 0, records: [], lostRange, release: reader.handOver() };
};

/** Reads of one partition, shared by all groups that soon need the same batches. */
export class SharedReading {
  readonly #log: ReadableLog;
  readonly #bufferPool: BufferPool;
  readonly window: ReadingWindow<SharedBatch>;
  /**
   * Each reader is at the end of its last batch; groups that fell behind use another reader. The most recently used
   * reader is last.
   */
  #readers: PartitionReader[] = [];
  #reading: Promise<void> | undefined;

  constructor(log: ReadableLog, bufferPool: BufferPool, budget: Budget) {
    this.#log = log;
    this.#bufferPool = bufferPool;
    this.window = new ReadingWindow<SharedBatch>(budget, (batches) => {
      for (const { release } of batches) release();
    });
  }

  /** Returns the batch that contains the offset, which must be below the stable end. The batch is in use until `window.leave`. */
  async getBatchAt(offset: number): Promise<SharedBatch> {
    for (;;) {
      const batch = this.window.find(offset);
      if (batch !== undefined) {
        this.window.retain(batch);
        return batch;
      }
      // One read at a time, so that batches do not overlap. Read errors of another group are ignored here.
      if (this.#reading === undefined) await this.#startRead(offset);
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

  #startRead(offset: number): Promise<void> {
    const reader = this.#read(offset);
    this.#reading = reader
      .catch(() => undefined)
      .finally(() => {
        this.#reading = undefined;
      });
    return reader;
  }

  async #read(offset: number): Promise<void> {
    const reader = this.#getReader(offset);
    try {
      await reader.seek(offset);
      const batch = await readNext(reader, this.window.findNextOffset(offset));
      if (batch !== undefined) this.window.add(batch);
    } catch (error) {
      // The next read opens a new reader, whatever this one failed on.
      this.#readers = this.#readers.filter((other) => other !== reader);
      await reader.close().catch(() => undefined);
      throw error;
    }
  }

  /** Returns the reader at the offset, otherwise the least recently used one. */
  #getReader(offset: number): PartitionReader {
    const readerIndex = this.#readers.findIndex(({ nextOffset }) => nextOffset === offset);
    const isNew = readerIndex < 0 && this.#readers.length < maxReaders;
    const [reader = new PartitionReader(this.#log, offset, this.#bufferPool)] = isNew
      ? []
      : this.#readers.splice(Math.max(0, readerIndex), 1);
    this.#readers.push(reader);
    return reader;
  }
}

/** One group's reader of a partition. Groups that read the same records share the reads. */
export class GroupReader implements WindowReader {
  readonly #log: ReadableLog;
  readonly #sharedReading: SharedReading;
  #next: number;
  #batch: SharedBatch | undefined;
  /** Index of the next record in the batch */
  #recordIndex = 0;
  /** Batches whose values may still be in use */
  #usedBatches: SharedBatch[] = [];

  constructor(log: ReadableLog, from: number, shared: SharedReading) {
    this.#log = log;
    this.#next = from;
    this.#sharedReading = shared;
    shared.window.readers.add(this);
  }

  /** Offset of the next record to read */
  get next(): number {
    return this.#next;
  }

  /** Releases all records read so far. */
  release(): void {
    for (const batch of this.#usedBatches.splice(0)) this.#sharedReading.window.stopUsing(batch);
    this.#sharedReading.window.releaseUnneeded();
  }

  /** Retains the memory of the records read so far until the returned function is called, even after `release`. */
  retain(): () => void {
    const { window } = this.#sharedReading;
    const batches = this.#batch === undefined ? [...this.#usedBatches] : [...this.#usedBatches, this.#batch];
    for (const batch of batches) window.retain(batch);
    return () => {
      for (const batch of batches) window.stopUsing(batch);
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
    this.#sharedReading.window.readers.delete(this);
    await this.#sharedReading.close();
  }

  /**
   * Reads records until the batch is closed or the stable end is reached. Stops at unreadable bytes and returns the
   * lost range; `seek` to its `to` continues after it.
   */
  async readInto(builder: BatchBuilder): Promise<LostRange | undefined> {
    for (;;) {
      const end = Math.min(this.#log.stableEnd, builder.limits.endOffset);
      if (builder.isClosed || this.#next >= end) return undefined;
      const batch = this.#batch ?? (await this.#enterBatch());
      if (batch.lostRange !== undefined) return { ...batch.lostRange, from: this.#next };
      if (!this.#copyRecords(batch, builder)) return undefined;
    }
  }

  /** Returns `false` when the builder needs no more records of the batch. */
  #copyRecords({ records, next }: SharedBatch, builder: BatchBuilder): boolean {
    for (let record = records[this.#recordIndex]; record !== undefined; record = records[this.#recordIndex]) {
      if (record.offset >= builder.limits.endOffset || builder.isClosed || !builder.accepts(record.value.length))
        return false;
      builder.add(record, countRecords(record.headers));
      this.#next = record.offset + 1;
      this.#recordIndex++;
    }
    this.#next = Math.min(next, builder.limits.endOffset);
    if (this.#next === next) this.#leaveBatch();
    return true;
  }

  /** Returns the batch that contains the next offset. */
  async #enterBatch(): Promise<SharedBatch> {
    const batch = await this.#sharedReading.getBatchAt(this.#next);
    this.#batch = batch;
    this.#recordIndex = batch.records.findIndex(({ offset }) => offset >= this.#next);
    if (this.#recordIndex < 0) this.#recordIndex = batch.records.length;
    return batch;
  }

  /** Leaves the batch; its values may still be in use. */
  #leaveBatch(): void {
    if (this.#batch !== undefined) this.#usedBatches.push(this.#batch);
    this.#batch = undefined;
  }
}
