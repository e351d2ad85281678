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
  readonly claimed: number | undefined;
}

export interface PartitionPorts {
  readonly fetcher: Pick<Fetcher, 'fetch'>;
  readonly limits: BatchLimits;
  readonly log: Log;
  readonly events: PartitionEvents;
  /** Called when `events` rejected the assignment of the partition. */
  rejected(partition: string, error: unknown): void;
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

/** Calls until the call resolves, with a back-off between attempts. Returns `false` when the signal aborts first. */
const retryUntilAcknowledged = async (
  call: () => Promise<void>,
  rejected: (error: unknown) => void,
  signal: AbortSignal,
): Promise<boolean> => {
  for (let backOffMs = firstBackOffMs; ; backOffMs = Math.min(2 * backOffMs, maxBackOffMs)) {
    try {
      await call();
      return true;
    } catch (error) {
      rejected(error);
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
  /** Pieces with records in the queue or in the current batch, in order. */
  readonly #unreleased: { readonly last: number; release(): void }[] = [];
  /** Next offset to fetch. */
  #fetchFrom: number;
  /** The fetch in progress */
  #fetching: Promise<void> | undefined;
  /** Why records beyond the queue are unreadable */
  #damage: unknown;
  #claimed: number | undefined;
  /** Next offset to consume, and the claim in the group's commit for it. */
  #position: number;
  #committed: number;

  constructor(start: PartitionStart, ports: PartitionPorts) {
    this.#start = start;
    this.#ports = ports;
    this.#fetchFrom = start.offset;
    this.#position = start.offset;
    this.#committed = start.offset;
    this.#claimed = start.claimed;
  }

  /**
   * Runs until the signal aborts. The current batch is finished and committed, and the partition revoked, before this
   * settles. Rejects when it cannot continue.
   */
  async run(signal: AbortSignal): Promise<void> {
    try {
      if (await this.#assign(signal)) await this.#consume(signal);
    } finally {
      await this.#revoke();
    }
  }

  #assign(signal: AbortSignal): Promise<boolean> {
    const { topic, partition, offset: committed, claimed } = this.#start;
    const { events, rejected } = this.#ports;
    return retryUntilAcknowledged(
      async () => events.assigned?.({ topic, partition, committed, claimed: claimed !== undefined }),
      (error) => rejected(`${topic}/${partition}`, error),
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
    if (this.#claimed === undefined) await this.#commit(this.#position, encodeClaim(last));
    this.#claimed ??= last;
    if (signal.aborted) return false;
    if (!(await this.#deliver({ topic, partition, first, last, records }, signal))) return false;
    this.#release(last);
    const next = this.#queue.length === 0 && this.#fetchFrom > this.#claimed ? this.#fetchFrom : this.#claimed + 1;
    this.#claimed = undefined;
    this.#position = next;
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
    this.#claimed = undefined;
    this.#position = this.#queue[0]?.offset ?? this.#fetchFrom;
    if (this.#position > this.#committed) await this.#commit(this.#position, '');
  }

  async #commit(offset: number, metadata: string): Promise<void> {
    await this.#ports.commit(offset, metadata);
    this.#committed = offset;
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
      if (batch.length > 0 && this.#claimed === undefined && deadline === undefined) {
        deadline = sleep(this.#ports.limits.maxWaitMs, 'late' as const, { signal: timer.signal });
        deadline.catch(() => undefined);
      }
      // The fetcher closes when the signal aborts, which ends the fetch.
      const outcome = await (deadline === undefined ? this.#fetch() : Promise.race([this.#fetch(), deadline]));
      if (signal.aborted || outcome === 'late') break;
    }
    timer.abort();
    if (signal.aborted) return undefined;
    // Fetch the next piece while this batch is processed.
    if (this.#queuedBytes < this.#ports.limits.maxBytes / 2) void this.#fetch();
    return batch;
  }

  /** Whether to deliver the batch, or to move the position, without waiting for more. */
  #isComplete(batch: BusRecord[], size: { records: number; bytes: number }): boolean {
    if (this.#fill(batch, size)) return true;
    if (this.#damage !== undefined) {
      if (batch.length > 0 && this.#claimed === undefined) return true;
      throw this.#damage;
    }
    return (
      batch.length === 0 && this.#fetchFrom > (this.#claimed ?? this.#position - 1) && this.#fetchFrom > this.#position
    );
  }

  /**
   * Moves records from the queue to the batch; returns `true` when the batch is full. A batch that repeats a claimed
   * range always has all records of that range.
   */
  #fill(batch: BusRecord[], size: { records: number; bytes: number }): boolean {
    const { maxRecords, maxBytes } = this.#ports.limits;
    for (let record = this.#queue[0]; record !== undefined; record = this.#queue[0]) {
      const isPastLimit =
        this.#claimed === undefined
          ? batch.length > 0 && size.bytes + record.value.length > maxBytes
          : record.offset > this.#claimed;
      if (isPastLimit) return batch.length > 0;
      this.#queue.shift();
      this.#queuedBytes -= record.value.length;
      batch.push(record);
      size.records += countRecords(record.headers);
      size.bytes += getDecompressedBytes(record);
      if (this.#claimed === undefined && (size.records >= maxRecords || size.bytes >= maxBytes)) return true;
    }
    return this.#claimed !== undefined && batch.length > 0 && this.#fetchFrom > this.#claimed;
  }

  /** Fetches the next piece into the queue. One fetch runs at a time; it never rejects. */
  #fetch(): Promise<void> {
    if (this.#damage !== undefined) return Promise.resolve();
    this.#fetching ??= this.#fetchIntoQueue().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #fetchIntoQueue(): Promise<void> {
    const { topic, partition } = this.#start;
    try {
      const piece = await this.#ports.fetcher.fetch(topic, partition, this.#fetchFrom);
      if (piece !== undefined) this.#accept(piece);
    } catch (error) {
      this.#damage = error;
    }
  }

  /** Releases the memory of pieces that end at or before `last`. */
  #release(last: number): void {
    while (this.#unreleased[0] !== undefined && this.#unreleased[0].last <= last) this.#unreleased.shift()?.release();
  }

  #accept({ records, next, release }: FetchedBatch): void {
    const { topic, partition } = this.#start;
    this.#unreleased.push({ last: records.at(-1)?.offset ?? -1, release });
    for (const { offset, timestampMs, record } of records) {
      const read = toBusRecord(topic, partition, offset, timestampMs, record);
      this.#queue.push(read);
      this.#queuedBytes += read.value.length;
      this.#fetchFrom = offset + 1;
    }
    this.#fetchFrom = next;
  }
}
