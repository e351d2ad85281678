/** Live tail: provides each listener with the matching records that arrive on the bus. See the README. */

import { Semaphore } from '../../runtime/semaphore.ts';
import { computePartition } from '../../schemas/partition.ts';
import type { Bus, PartitionFollower } from '../../schemas/ports/bus.ts';
import type { Log } from '../../schemas/ports/log.ts';
import { buildTenantKeys } from '../../schemas/tenant-key.ts';
import { Listener, type ListenerFilter, type TailBatch } from './listener.ts';
import { getTailTopicName } from './match-records.ts';
import { PartitionTail } from './partition-tail.ts';
import { attachWithGap, catchUp, offerLastRecords } from './past-records.ts';
import type { Positions } from './positions.ts';
import { TenantCpuTime } from './tenant-time.ts';

/** Maximum number of waiting characters, for all listeners and for one. */
const maxWaitingCharacters = 64 * 1024 * 1024;
const maxWaitingPerListener = 1024 * 1024;
/** Maximum number of concurrent readers of the past. */
const maxPastReaders = 2;

/** Request of a listener. */
export interface ListenRequest extends ListenerFilter {
  /** Number of partitions over which the tenant's telemetry is spread. */
  readonly shards: number;
  /** Number of last records to start with. */
  readonly last: number;
  /** Positions to resume from; there are then no last records. */
  readonly resume?: Positions | undefined;
}

/** A connected listener. Data is pulled, not pushed. */
export interface OpenListener {
  readonly hasPendingData: boolean;
  /** Returns records of at most this many characters. */
  nextBatch(maxCharacters: number): TailBatch;
  /** Updates the number of partitions of the tenant's telemetry. */
  setShards(shards: number): void;
  close(): void;
}

/** Reads each partition once for all its listeners, and only while it has any. */
export interface LiveTail {
  /** Opens a listener. Rejects if the bus fails. */
  open(request: ListenRequest): Promise<OpenListener>;
  close(): Promise<void>;
}

/** Returns the partitions of a tenant's messages, including those from before it had shards. */
const listPartitions = (tenantId: string, shards: number, count: number): number[] => [
  ...new Set(buildTenantKeys(tenantId, shards).map((key) => computePartition(key, count))),
];

class BusLiveTail implements LiveTail {
  readonly #bus: Bus;
  readonly #log: Log;
  readonly #tailsByPartition = new Map<string, PartitionTail>();
  readonly #listeners = new Set<Listener>();
  readonly #cpuTime = new TenantCpuTime();
  readonly #slots = new Semaphore(maxPastReaders);
  #follower: PartitionFollower | undefined;

  constructor(bus: Bus, log: Log) {
    this.#bus = bus;
    this.#log = log;
  }

  async open({ shards, last: lastCount, resume, ...listenerFilter }: ListenRequest): Promise<OpenListener> {
    const topic = getTailTopicName(listenerFilter.filter.signal);
    const bounds = await this.#bus.offsets(topic);
    const listener = new Listener(listenerFilter, () => this.#maxWaitingPerListener());
    const tenantPartitions = listPartitions(listenerFilter.tenantId, shards, bounds.length);
    const partitions = tenantPartitions.map((partition) => {
      const { earliest = 0, end = 0 } = bounds[partition] ?? {};
      const tail = this.#getOrCreateTail(topic, partition);
      tail.setEnd(end);
      return { topicPartition: tail.topicPartition, tail, earliest, end: tail.nextOffset };
    });
    this.#listeners.add(listener);
    for (const { topicPartition, earliest, end } of partitions) {
      const startPosition = resume === undefined ? { offset: end, ordinal: 0 } : resume.get(topicPartition.partition);
      const maxEnd = Math.max(end, bounds[topicPartition.partition]?.end ?? 0);
      const isRetained =
        startPosition !== undefined && startPosition.offset >= earliest && startPosition.offset <= maxEnd;
      listener.setStart(topicPartition.partition, isRetained ? startPosition : { offset: end, ordinal: 0 });
      if (!isRetained) listener.markGap();
    }
    void this.#start(listener, partitions, resume === undefined ? lastCount : 0);
    return {
      get hasPendingData() {
        return listener.hasPendingData;
      },
      nextBatch: (maxCharacters) => listener.takeBatch(maxCharacters),
      setShards: (newShards) => {
        const addedPartitions = listPartitions(listenerFilter.tenantId, newShards, bounds.length).filter(
          (partition) => listener.position(partition) === undefined,
        );
        // After a failure, the next regular check of the listener's permissions tries again.
        if (addedPartitions.length > 0) this.#addPartitions(listener, topic, addedPartitions).catch(() => undefined);
      },
      close: () => this.#remove(listener),
    };
  }

  async close(): Promise<void> {
    for (const listener of [...this.#listeners]) this.#remove(listener);
    await this.#follower?.close();
  }

  #maxWaitingPerListener(): number {
    return Math.min(maxWaitingPerListener, maxWaitingCharacters / Math.max(1, this.#listeners.size));
  }

  #getOrCreateTail(topic: string, partition: number): PartitionTail {
    const key = `${topic}/${partition}`;
    const existing = this.#tailsByPartition.get(key);
    if (existing !== undefined) return existing;
    const tail = new PartitionTail(
      { topic, partition },
      {
        bus: this.#bus,
        log: this.#log,
        cpuTime: this.#cpuTime,
        openFollower: () => {
          this.#follower ??= this.#bus.createFollower();
          return this.#follower;
        },
      },
    );
    this.#tailsByPartition.set(key, tail);
    return tail;
  }

  async #start(
    listener: Listener,
    partitions: readonly (Parameters<typeof offerLastRecords>[2][number] & { readonly tail: PartitionTail })[],
    last: number,
  ): Promise<void> {
    const dependencies = { bus: this.#bus, slots: this.#slots };
    try {
      if (last > 0) await offerLastRecords(listener, last, partitions, dependencies);
    } catch (error) {
      this.#log.warn({ error }, 'the last records of a live tail could not be read');
      listener.markGap();
    }
    for (const { tail } of partitions)
      try {
        await catchUp(listener, tail, dependencies);
      } catch (error) {
        this.#log.warn({ error }, 'a live tail could not catch up');
        attachWithGap(listener, tail);
      }
    listener.becomeLive();
  }

  /** Adds partitions to a listener, read from their current ends on. Records that arrived just before are missed. */
  async #addPartitions(listener: Listener, topic: string, partitions: readonly number[]): Promise<void> {
    const bounds = await this.#bus.offsets(topic);
    for (const partition of partitions) {
      if (listener.isClosed || listener.position(partition) !== undefined) continue;
      const tail = this.#getOrCreateTail(topic, partition);
      tail.setEnd(bounds[partition]?.end ?? 0);
      listener.setStart(partition, { offset: tail.nextOffset, ordinal: 0 });
      attachWithGap(listener, tail);
    }
  }

  #remove(listener: Listener): void {
    listener.close();
    this.#listeners.delete(listener);
    for (const tail of this.#tailsByPartition.values()) tail.detach(listener);
    const { tenantId } = listener.listenerFilter;
    if (![...this.#listeners].some(({ listenerFilter }) => listenerFilter.tenantId === tenantId))
      this.#cpuTime.forget(tenantId);
    if (this.#listeners.size > 0) return;
    const follower = this.#follower;
    this.#follower = undefined;
    void follower?.close();
  }
}

/** Opens live tails over a bus. */
export const openLiveTail = ({ bus, log }: { readonly bus: Bus; readonly log: Log }): LiveTail =>
  new BusLiveTail(bus, log);
