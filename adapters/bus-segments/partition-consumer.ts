/**
 * One partition for one group: forms batches, stores their ranges, and delivers them to the member that currently owns
 * the partition.
 */
import type { Batch, BusRecord, PartitionEvents } from '../../schemas/ports/bus.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { LostRange } from './lost-messages.ts';
import type { OffsetStore, Position } from './offset-store.ts';
import type { PartitionLog } from './partition.ts';
import { BatchBuilder } from './reader.ts';
import type { GroupReader } from './shared-reading.ts';

const minBackOffMs = 300;
const maxBackOffMs = 30_000;
/** How long an acknowledged range waits to be saved with others. */
const acknowledgedSaveDelayMs = 20;

/** The part of a group's member that a partition consumer uses. */
export interface Owner {
  readonly maxRecords: number;
  readonly maxBytes: number;
  readonly maxWaitMs: number;
  readonly events: PartitionEvents;
  onBatch(batch: Batch): Promise<void>;
  /** Registers that the member owns a partition until the promise resolves. */
  trackAssignment(assignment: Promise<void>): void;
}

/** An assignment of the partition that its owner has been notified of. */
interface Assignment {
  readonly owner: Owner;
  /** Lets `stop` of the owner continue. */
  end(): void;
}

export interface PartitionConsumerOptions {
  readonly group: string;
  readonly topic: string;
  readonly partition: number;
  readonly partitionLog: PartitionLog;
  readonly store: OffsetStore;
  readonly log: Log;
  /** Returns a reader from an offset on. */
  reader(from: number): GroupReader;
  /** Resolves when the dead letter for the unreadable records is durable. */
  putDeadLetter(lost: LostRange, consumer: PartitionConsumer): Promise<void>;
}

export class PartitionConsumer {
  readonly group: string;
  readonly topic: string;
  readonly partition: number;
  readonly #options: PartitionConsumerOptions;
  readonly #log: PartitionLog;
  /** The assigned owner of the partition, and the owner that was notified. */
  #owner: Owner | undefined;
  #announcedAssignment: Assignment | undefined;
  #isAbandoned = false;
  #isRunning = false;
  #reader: GroupReader | undefined;
  /** Totals of the log when the reader had read everything; `undefined` while the remaining amount is unknown. */
  #totalsWhenRead: { readonly bytes: number; readonly weight: number } | undefined;
  #failures = 0;
  #wake: (() => void) | undefined;
  /** The group's position while it is not saved: it is saved with the next claimed range, or soon after. */
  #acknowledgedOffset: number | undefined;
  #saving: Promise<void> = Promise.resolve();
  #saveError: unknown;

  constructor(options: PartitionConsumerOptions) {
    this.topic = options.topic;
    this.partition = options.partition;
    this.#options = options;
    this.group = options.group;
    this.#log = options.partitionLog;
    if (this.#position === undefined) options.store.save(this.#createPosition(this.#log.earliest, undefined));
  }

  get #position(): Pick<Position, 'committed' | 'claimed'> | undefined {
    if (this.#acknowledgedOffset !== undefined) return { committed: this.#acknowledgedOffset, claimed: undefined };
    const { store, group, topic, partition } = this.#options;
    return store.position(group, topic, partition);
  }

  /**
   * Assigns an owner. The current batch finishes with the present owner; the next batch goes to the new owner, or waits
   * for one.
   */
  assign(owner: Owner | undefined): void {
    if (owner === this.#owner) return;
    this.#owner = owner;
    this.#failures = 0;
    this.#wake?.();
    if (owner !== undefined && !this.#isRunning) void this.#run();
  }

  /** Revokes the partition without notifying its owner, like a crash. */
  abandon(): void {
    this.#isAbandoned = true;
    this.assign(undefined);
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#owner !== undefined || this.#announcedAssignment !== undefined) {
      if (this.#announcedAssignment !== undefined && this.#announcedAssignment.owner !== this.#owner)
        await this.#revoke(this.#announcedAssignment);
      else if (this.#owner !== undefined) await this.#runOnce(this.#owner);
    }
    const reader = this.#reader;
    this.#reader = undefined;
    this.#totalsWhenRead = undefined;
    await reader?.close().catch(() => undefined);
    this.#isRunning = false;
    // A new owner may have been assigned in the meantime.
    if (this.#owner !== undefined) void this.#run();
  }

  /**
   * Notifies the owner of the assignment until the owner accepts it. Returns `false` when the partition is assigned to
   * another owner in the meantime.
   */
  async #announceOwner(owner: Owner): Promise<boolean> {
    if (this.#announcedAssignment?.owner === owner) return true;
    const { promise, resolve } = Promise.withResolvers<void>();
    owner.trackAssignment(promise);
    this.#announcedAssignment = { owner, end: resolve };
    const { topic, partition } = this;
    while (this.#owner === owner) {
      const { committed = 0, claimed } = this.#position ?? {};
      try {
        await owner.events.onAssigned?.({ topic, partition, committed, isClaimed: claimed !== undefined });
        this.#failures = 0;
        break;
      } catch (error) {
        await this.#backOff(owner, error as Error, 'an assigned partition was rejected and is assigned again');
      }
    }
    return this.#owner === owner;
  }

  async #revoke({ owner, end }: Assignment): Promise<void> {
    const { group, topic, partition } = this.#options;
    await this.#awaitSave();
    try {
      if (!this.#isAbandoned) await owner.events.onRevoked?.({ topic, partition });
    } catch (error) {
      const cause = (error as Error).message;
      this.#options.log.warn({ group, topic, partition, cause }, 'the handler of a revoked partition failed');
    }
    this.#announcedAssignment = undefined;
    end();
  }

  /** Runs one batch, or an attempt at one. */
  async #runOnce(owner: Owner): Promise<void> {
    if (!(await this.#announceOwner(owner))) return;
    try {
      const records = await this.#nextBatch(owner);
      if (records === undefined || this.#owner !== owner) return;
      const { committed: first = 0, claimed } = this.#position ?? {};
      const last = claimed ?? records.at(-1)?.offset ?? first;
      if (claimed === undefined) await this.#save(first, last);
      // The next owner gets the same range.
      if (this.#owner !== owner) return;
      const { topic, partition } = this;
      const reader = this.#reader;
      const retention = reader === undefined ? {} : { retain: () => reader.retain() };
      await this.#deliver(owner, { topic, partition, first, last, records, ...retention });
      this.#failures = 0;
    } catch (error) {
      await this.#backOff(owner, error as Error, 'a batch failed and is retried');
    } finally {
      this.#reader?.release();
    }
  }

  async #deliver(owner: Owner, batch: Batch): Promise<void> {
    await owner.onBatch(batch);
    // Also acknowledge the records after the range that belong to no batch, for example those of aborted transactions.
    this.#acknowledge(Math.max(batch.last + 1, this.#reader?.next ?? 0));
  }

  /** Continues immediately: the position is saved with the next range, before that range is delivered. */
  #acknowledge(committed: number): void {
    this.#acknowledgedOffset = committed;
    this.#saving = this.#options.store
      .saveBatched(this.#createPosition(committed, undefined), acknowledgedSaveDelayMs)
      .catch((error) => {
        this.#saveError = error;
        this.#wake?.();
      });
  }

  /** Waits until the acknowledged position is saved, or resets the group to the last saved position. */
  async #awaitSave(): Promise<void> {
    await this.#saving;
    this.#acknowledgedOffset = undefined;
    this.#saveError = undefined;
  }

  #createPosition(committed: number, claimed: number | undefined): Position {
    const { group, topic, partition } = this.#options;
    return { group, topic, partition, committed, claimed };
  }

  async #save(committed: number, claimed: number | undefined): Promise<void> {
    await this.#options.store.saveBatched(this.#createPosition(committed, claimed));
    await this.#awaitSave();
  }

  async #backOff(owner: Owner, error: Error, message: string): Promise<void> {
    // The next attempt reads again from the saved beginning of the range.
    this.#totalsWhenRead = undefined;
    await this.#awaitSave();
    const waitMs = Math.min(maxBackOffMs, minBackOffMs * 2 ** this.#failures++);
    const { group, topic, partition } = this.#options;
    const { committed, claimed } = this.#position ?? {};
    this.#options.log.warn(
      { group, topic, partition, first: committed, last: claimed, waitMs, cause: error.message },
      message,
    );
    if (this.#owner === owner) await this.#sleep(waitMs);
  }

  /**
   * Returns the records of the next batch: the claimed range again, or new records. `undefined` when the partition is
   * assigned to another owner.
   */
  async #nextBatch(owner: Owner): Promise<BusRecord[] | undefined> {
    const { committed = 0, claimed } = this.#position ?? {};
    this.#reader ??= this.#options.reader(committed);
    const reader = this.#reader;
    if (reader.next !== committed) this.#totalsWhenRead = undefined;
    reader.seek(committed);
    if (claimed === undefined) return await this.#collectBatch(reader, owner);
    const limits = { maxRecords: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY, endOffset: claimed + 1 };
    const claimedBatch = new BatchBuilder(limits);
    for (let lost = await reader.readInto(claimedBatch); lost !== undefined; lost = await reader.readInto(claimedBatch))
      await this.#skipLostRange(reader, lost);
    return claimedBatch.records;
  }

  /** Moves the group past unreadable bytes once they are in the dead letter. */
  async #skipLostRange(reader: GroupReader, lost: LostRange): Promise<void> {
    await this.#options.putDeadLetter(lost, this);
    reader.seek(lost.to);
  }

  async #collectBatch(reader: GroupReader, owner: Owner): Promise<BusRecord[] | undefined> {
    const { maxRecords, maxBytes, maxWaitMs } = owner;
    const batch = new BatchBuilder({ maxRecords, maxBytes, endOffset: Number.POSITIVE_INFINITY });
    let deadline = Number.POSITIVE_INFINITY;
    while (this.#owner === owner) {
      const isReadable = reader.next < this.#log.stableEnd;
      const hasRecords = isReadable || batch.records.length > 0;
      deadline = hasRecords ? Math.min(deadline, performance.now() + maxWaitMs) : Number.POSITIVE_INFINITY;
      const isDue = performance.now() >= deadline;
      if (isReadable && (isDue || this.#hasEnough(batch))) await this.#readInto(reader, batch);
      else if (!isDue) await this.#waitForMore(reader, batch, deadline);
      if (batch.isClosed || (isDue && batch.records.length > 0)) return batch.records;
    }
    return undefined;
  }

  async #readInto(reader: GroupReader, batch: BatchBuilder): Promise<void> {
    const lost = await reader.readInto(batch);
    const isEmpty = batch.records.length === 0;
    if (lost !== undefined && isEmpty) await this.#skipLostRange(reader, lost);
    // Readable records form their own batch first.
    else if (lost !== undefined) batch.isClosed = true;
    const { writtenBytes, writtenWeight, end } = this.#log;
    this.#totalsWhenRead = reader.next === end ? { bytes: writtenBytes, weight: writtenWeight } : undefined;
    // Only records that belong to no batch were read, so the group moves past them.
    if (isEmpty && reader.next > (this.#position?.committed ?? 0)) await this.#save(reader.next, undefined);
  }

  /** Whether enough was written to fill the batch, or the written amount is unknown. */
  #hasEnough({ bytes, weight, limits }: BatchBuilder): boolean {
    if (this.#totalsWhenRead === undefined) return true;
    const { writtenBytes, writtenWeight } = this.#log;
    return (
      bytes + writtenBytes - this.#totalsWhenRead.bytes >= limits.maxBytes ||
      weight + writtenWeight - this.#totalsWhenRead.weight >= limits.maxRecords
    );
  }

  /** Waits for a first record, for a full batch, for the deadline or for another owner. */
  async #waitForMore(reader: GroupReader, batch: BatchBuilder, deadline: number): Promise<void> {
    // The acknowledged position could not be saved, so the records are delivered again.
    if (this.#saveError !== undefined) throw this.#saveError;
    const isIdle = deadline === Number.POSITIVE_INFINITY;
    const listener = () => {
      if (reader.next < this.#log.stableEnd && (isIdle || this.#hasEnough(batch))) this.#wake?.();
    };
    this.#log.listeners.add(listener);
    await this.#sleep(isIdle ? undefined : deadline - performance.now());
    this.#log.listeners.delete(listener);
  }

  /** Waits until `#wake`, or for this long. */
  async #sleep(ms: number | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = ms === undefined ? undefined : setTimeout(resolve, Math.max(0, ms));
    this.#wake = resolve;
    await promise;
    this.#wake = undefined;
    clearTimeout(timer);
  }
}
