/** Reads partitions outside any group, as they grow. */
import type { Fetched, Follower } from '../../schemas/ports/bus.ts';
import type { Log } from '../../schemas/ports/log.ts';
import { BufferPool } from '../buffer-pool.ts';
import { describeLost } from './lost-messages.ts';
import type { PartitionLog } from './partition.ts';
import { BatchBuilder, PartitionReader } from './reader.ts';

/** Maximum bytes of a piece, unless a single record is larger. */
const pieceBytes = 4 * 1024 * 1024;

export class SegmentsFollower implements Follower {
  readonly #partitionOf: (topic: string, partition: number) => PartitionLog;
  readonly #log: Log;
  readonly #readers = new Map<PartitionLog, PartitionReader>();
  readonly #bufferPool = new BufferPool();
  readonly #reading = new Set<Promise<unknown>>();
  readonly #wakes = new Set<() => void>();
  #closed = false;

  constructor(partitionOf: (topic: string, partition: number) => PartitionLog, log: Log) {
    this.#partitionOf = partitionOf;
    this.#log = log;
  }

  async next(topic: string, partition: number, offset: number): Promise<Fetched | undefined> {
    if (this.#closed) return undefined;
    const log = this.#partitionOf(topic, partition);
    const reading = this.#next(log, offset);
    this.#reading.add(reading);
    return reading.finally(() => this.#reading.delete(reading));
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const wake of this.#wakes) wake();
    await Promise.allSettled(this.#reading);
    await Promise.all([...this.#readers.values()].map((reader) => reader.close()));
    this.#readers.clear();
  }

  async #next(log: PartitionLog, offset: number): Promise<Fetched | undefined> {
    if (offset < log.earliest || offset > log.end)
      throw new Error(`${log.title}: offset ${offset} is not stored; offsets ${log.earliest} to ${log.end} are`);
    const reader = this.#readers.get(log) ?? new PartitionReader(log, offset, this.#bufferPool);
    this.#readers.set(log, reader);
    await reader.seek(offset);
    while (!this.#closed) {
      const some = new BatchBuilder({
        maxRecords: Number.POSITIVE_INFINITY,
        maxBytes: pieceBytes,
        before: Number.POSITIVE_INFINITY,
      });
      const lost = await reader.readInto(some).catch((error: unknown) => {
        // The next call opens a new reader, whatever this one failed on.
        this.#readers.delete(log);
        throw error;
      });
      if (lost !== undefined) {
        this.#log.warn({}, describeLost(log.title, lost));
        await reader.seek(lost.to);
      }
      const { next } = reader;
      if (next > offset) return { records: some.records, next, release: () => reader.release() };
      await this.#more(log, offset);
    }
    return undefined;
  }

  /** Waits until the partition has a record after the offset, or until `close`. */
  async #more(log: PartitionLog, offset: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = (): void => {
      if (this.#closed || log.stableEnd > offset) resolve();
    };
    log.listeners.add(check);
    this.#wakes.add(check);
    check();
    await promise;
    log.listeners.delete(check);
    this.#wakes.delete(check);
  }
}
