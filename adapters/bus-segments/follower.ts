/** Reads new records of partitions without a consumer group. */
import type { FetchedRecords, PartitionFollower } from '../../schemas/ports/bus.ts';
import type { Log } from '../../schemas/ports/log.ts';
import { BufferPool } from '../buffer-pool.ts';
import { describeLostRange } from './lost-messages.ts';
import type { PartitionLog } from './partition.ts';
import { BatchBuilder, PartitionReader } from './reader.ts';

/** Maximum bytes of a batch, unless a single record is larger. */
const maxBatchBytes = 4 * 1024 * 1024;

export class SegmentsFollower implements PartitionFollower {
  readonly #getPartition: (topic: string, partition: number) => PartitionLog;
  readonly #log: Log;
  readonly #readers = new Map<PartitionLog, PartitionReader>();
  readonly #bufferPool = new BufferPool();
  readonly #pendingReads = new Set<Promise<unknown>>();
  readonly #wakeCallbacks = new Set<() => void>();
  #isClosed = false;

  constructor(getPartition: (topic: string, partition: number) => PartitionLog, log: Log) {
    this.#getPartition = getPartition;
    this.#log = log;
  }

  async next(topic: string, partition: number, offset: number): Promise<FetchedRecords | undefined> {
    if (this.#isClosed) return undefined;
    const log = this.#getPartition(topic, partition);
    const reader = this.#readNext(log, offset);
    this.#pendingReads.add(reader);
    return reader.finally(() => this.#pendingReads.delete(reader));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const wake of this.#wakeCallbacks) wake();
    await Promise.allSettled(this.#pendingReads);
    await Promise.all([...this.#readers.values()].map((reader) => reader.close()));
    this.#readers.clear();
  }

  async #readNext(log: PartitionLog, offset: number): Promise<FetchedRecords | undefined> {
    if (offset < log.earliest || offset > log.end)
      throw new Error(`${log.title}: offset ${offset} is not stored; offsets ${log.earliest} to ${log.end} are`);
    const reader = this.#readers.get(log) ?? new PartitionReader(log, offset, this.#bufferPool);
    this.#readers.set(log, reader);
    await reader.seek(offset);
    while (!this.#isClosed) {
      const batch = new BatchBuilder({
        maxRecords: Number.POSITIVE_INFINITY,
        maxBytes: maxBatchBytes,
        endOffset: Number.POSITIVE_INFINITY,
      });
      const lostRange = await reader.readInto(batch).catch((error: unknown) => {
        // The next call opens a new reader after any failure.
        this.#readers.delete(log);
        throw error;
      });
      if (lostRange !== undefined) {
        this.#log.warn({}, describeLostRange(log.title, lostRange));
        await reader.seek(lostRange.to);
      }
      const { nextOffset } = reader;
      if (nextOffset > offset) return { records: batch.records, next: nextOffset, release: () => reader.release() };
      await this.#waitForMore(log, offset);
    }
    return undefined;
  }

  /** Waits until the partition has a record after the offset, or until `close`. */
  async #waitForMore(log: PartitionLog, offset: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = (): void => {
      if (this.#isClosed || log.stableEnd > offset) resolve();
    };
    log.listeners.add(check);
    this.#wakeCallbacks.add(check);
    check();
    await promise;
    log.listeners.delete(check);
    this.#wakeCallbacks.delete(check);
  }
}
