/** One assigned partition: collects records into batches, claims the range of each batch, delivers it, commits. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Batch,
  type BusRecord,
  countRecords,
  getDecompressedBytes,
  type PartitionEvents,
} from '../../schemas/ports/bus.ts';
import type { Log } from '../../schemas/ports/log.ts';
import { describeFailure } from './failures.ts';
import type { FetchedBatch, Fetcher } from './fetcher.ts';
import { toBusRecord } from './wire.ts';

export interface BatchLimits {
  readonly maxRecords: number;
  readonly maxBytes: number;
  readonly maxWaitMs: number;
}

export interface PartitionStart {
  readonly topic: string;
  readonly partition: number;
  /** Next offset to consume. */
  readonly offset: number;
  /** Last offset of a range that was delivered to any member and not acknowledged. */
  readonly claimedOffset: number | undefined;
}

export interface PartitionPorts {
  readonly fetcher: Pick<Fetcher, 'fetch'>;
  readonly limits: BatchLimits;
  readonly log: Log;
  readonly events: PartitionEvents;
  /** Called when `events` rejected the assignment of the partition. */
  onAssignmentRejected(partition: string, error: unknown): void;
  onBatch(batch: Batch): Promise<void>;
  /** Commits an offset of this partition with metadata; rejects when the partition no longer belongs to this member. */
  commit(offset: number, metadata: string): Promise<void>;
}

const firstBackOffMs = 300;
const maxBackOffMs = 30_000;

/** Metadata of a commit: the end of the delivered range that begins at the committed offset. */
const encodeClaim = (last: number): string => JSON.stringify({ last });

/** Parses the metadata of a commit. Metadata of other tools means no claim. */
export const parseClaim = (metadata: string): number | undefined => {
  try {
    const { last } = JSON.parse(metadata) as { last?: unknown };
    return typeof last === 'number' ? last : undefined;
  } catch {
    return undefined;
  }
};

/** Repeats a call until it resolves, with a back-off between attempts. Returns `false` if the signal aborts first. */
const retryUntilAcknowledged = async (
  attempt: () => Promise<void>,
  onRejected: (error: unknown) => void,
  signal: AbortSignal,
): Promise<boolean> => {
  for (let backOffMs = firstBackOffMs; ; backOffMs = Math.min(2 * backOffMs, maxBackOffMs)) {
    try {
      await attempt();
      return true;
    } catch (error) {
      onRejected(error);
    }
    await sleep(backOffMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return false;
  }
};

export class PartitionLoop {
  readonly #start: PartitionStart;
  readonly #ports: PartitionPorts;
  /** Fetched records that are not in a batch yet. */
  readonly #queue: BusRecord[] = [];
  #queuedBytes = 0;
  /** Fetched batches with records in the queue or in the current batch, in order. */
  readonly #unreleasedFetches: { readonly last: number; release(): void }[] = [];
  /** Next offset to fetch. */
  #nextFetchOffset: number;
  /** The fetch in progress */
  #currentFetch: Promise<void> | undefined;
  /** Error of the last fetch: the records beyond the queue are unreadable */
  #fetchError: unknown;
  #claimedOffset: number | undefined;
  /** Next offset to consume, and the claim in the group's commit for it. */
  #nextOffset: number;
  #committedOffset: number;

  constructor(start: PartitionStart, ports: PartitionPorts) {
    this.#start = start;
    this.#ports = ports;
    this.#nextFetchOffset = start.offset;
    this.#nextOffset = start.offset;
    this.#committedOffset = start.offset;
    this.#claimedOffset = start.claimedOffset;
  }

  /**
   * Runs until the signal aborts. Before it settles, it finishes and commits the current batch, and revokes the partition.
   * Rejects when it cannot continue.
   */
  async run(signal: AbortSignal): Promise<void> {
    try {
      if (await this.#assign(signal)) await this.#consume(signal);
    } finally {
      await this.#revoke();
    }
  }

  #assign(signal: AbortSignal): Promise<boolean> {
    const { topic, partition, offset: committed, claimedOffset } = this.#start;
    const { events, onAssignmentRejected } = this.#ports;
    return retryUntilAcknowledged(
      async () => events.onAssigned?.({ topic, partition, committed, isClaimed: claimedOffset !== undefined }),
      (error) => onAssignmentRejected(`${topic}/${partition}`, error),
      signal,
    );
  }

  async #revoke(): Promise<void> {
    const { topic, partition } = this.#start;
    const { events, log } = this.#ports;
    try {
      await events.onRevoked?.({ topic, partition });
    } catch (error) {
      log.warn({ topic, partition, reason: describeFailure(error) }, 'the handler of a revoked partition failed');
    }
  }

  async #consume(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const records = await this.#collectBatch(signal);
      if (records === undefined) return;
      if (records.length === 0) {
        await this.#skipInvisible();
        continue;
      }
      if (!(await this.#processBatch(records, signal))) return;
    }
  }

  /**
   * Claims the range, delivers it until it is acknowledged, and commits. Returns `false` when the signal aborted first.
   */
  async #processBatch(records: readonly BusRecord[], signal: AbortSignal): Promise<boolean> {
    const { topic, partition } = this.#start;
    const first = records[0]?.offset ?? 0;
    const last = records.at(-1)?.offset ?? 0;
    if (this.#claimedOffset === undefined) await this.#commit(this.#nextOffset, encodeClaim(last));
    this.#claimedOffset ??= last;
    if (signal.aborted) return false;
    if (!(await this.#deliver({ topic, partition, first, last, records }, signal))) return false;
    this.#release(last);
    const next =
      this.#queue.length === 0 && this.#nextFetchOffset > this.#claimedOffset
        ? this.#nextFetchOffset
        : this.#claimedOffset + 1;
    this.#claimedOffset = undefined;
    this.#nextOffset = next;
    await this.#commit(next, '');
    return true;
  }

  #deliver(batch: Batch, signal: AbortSignal): Promise<boolean> {
    const { topic, partition, first, last } = batch;
    const { onBatch, log } = this.#ports;
    return retryUntilAcknowledged(
      () => onBatch(batch),
      (error) => log.warn({ topic, partition, first, last, reason: describeFailure(error) }, 'a batch was rejected'),
      signal,
    );
  }

  /** Skips control records and aborted transactions; otherwise lag would never reach 0. */
  async #skipInvisible(): Promise<void> {
    this.#claimedOffset = undefined;
    this.#nextOffset = this.#queue[0]?.offset ?? this.#nextFetchOffset;
    if (this.#nextOffset > this.#committedOffset) await this.#commit(this.#nextOffset, '');
  }

  async #commit(offset: number, metadata: string): Promise<void> {
    await this.#ports.commit(offset, metadata);
    this.#committedOffset = offset;
  }

  /**
   * Returns the next batch; an empty one when only control records arrived, `undefined` when the signal aborts first.
   */
  async #collectBatch(signal: AbortSignal): Promise<BusRecord[] | undefined> {
    const batch: BusRecord[] = [];
    const size = { records: 0, bytes: 0 };
    let deadline: Promise<'late'> | undefined;
    const timer = new AbortController();
    while (!this.#isComplete(batch, size)) {
      if (batch.length > 0 && this.#claimedOffset === undefined && deadline === undefined) {
        deadline = sleep(this.#ports.limits.maxWaitMs, 'late' as const, { signal: timer.signal });
        deadline.catch(() => undefined);
      }
      // The fetcher closes when the signal aborts, which ends the fetch.
      const outcome = await (deadline === undefined ? this.#fetch() : Promise.race([this.#fetch(), deadline]));
      if (signal.aborted || outcome === 'late') break;
    }
    timer.abort();
    if (signal.aborted) return undefined;
    // Fetches the next records while this batch is processed.
    if (this.#queuedBytes < this.#ports.limits.maxBytes / 2) void this.#fetch();
    return batch;
  }

  /** Returns whether to deliver the batch, or to advance the position, without waiting for more records. */
  #isComplete(batch: BusRecord[], size: { records: number; bytes: number }): boolean {
    if (this.#fillBatch(batch, size)) return true;
    if (this.#fetchError !== undefined) {
      if (batch.length > 0 && this.#claimedOffset === undefined) return true;
      throw this.#fetchError;
    }
    return (
      batch.length === 0 &&
      this.#nextFetchOffset > (this.#claimedOffset ?? this.#nextOffset - 1) &&
      this.#nextFetchOffset > this.#nextOffset
    );
  }

  /**
   * Moves records from the queue to the batch; returns `true` when the batch is full. A batch that repeats a claimed
   * range always has all records of that range.
   */
  #fillBatch(batch: BusRecord[], size: { records: number; bytes: number }): boolean {
    const { maxRecords, maxBytes } = this.#ports.limits;
    for (let record = this.#queue[0]; record !== undefined; record = this.#queue[0]) {
      const isPastLimit =
        this.#claimedOffset === undefined
          ? batch.length > 0 && size.bytes + record.value.length > maxBytes
          : record.offset > this.#claimedOffset;
      if (isPastLimit) return batch.length > 0;
      this.#queue.shift();
      this.#queuedBytes -= record.value.length;
      batch.push(record);
      size.records += countRecords(record.headers);
      size.bytes += getDecompressedBytes(record);
      if (this.#claimedOffset === undefined && (size.records >= maxRecords || size.bytes >= maxBytes)) return true;
    }
    return this.#claimedOffset !== undefined && batch.length > 0 && this.#nextFetchOffset > this.#claimedOffset;
  }

  /** Fetches the next records into the queue. One fetch runs at a time; it never rejects. */
  #fetch(): Promise<void> {
    if (this.#fetchError !== undefined) return Promise.resolve();
    this.#currentFetch ??= this.#fetchIntoQueue().finally(() => {
      this.#currentFetch = undefined;
    });
    return this.#currentFetch;
  }

  async #fetchIntoQueue(): Promise<void> {
    const { topic, partition } = this.#start;
    try {
      const fetchedBatch = await this.#ports.fetcher.fetch(topic, partition, this.#nextFetchOffset);
      if (fetchedBatch !== undefined) this.#accept(fetchedBatch);
    } catch (error) {
      this.#fetchError = error;
    }
  }

  /** Releases the memory of fetched batches that end at or before `last`. */
  #release(last: number): void {
    while (this.#unreleasedFetches[0] !== undefined && this.#unreleasedFetches[0].last <= last)
      this.#unreleasedFetches.shift()?.release();
  }

  #accept({ records, next, release }: FetchedBatch): void {
    const { topic, partition } = this.#start;
    this.#unreleasedFetches.push({ last: records.at(-1)?.offset ?? -1, release });
    for (const { offset, timestampMs, record } of records) {
      const busRecord = toBusRecord(topic, partition, offset, timestampMs, record);
      this.#queue.push(busRecord);
      this.#queuedBytes += busRecord.value.length;
      this.#nextFetchOffset = offset + 1;
    }
    this.#nextFetchOffset = next;
  }
}
