/** Live tail: records from the bus as they arrive, for each listener. See the README. */

import { partitionOf } from '../../schemas/partition.ts';
import type { Bus, Follower } from '../../schemas/ports/bus.ts';
import type { Log } from '../../schemas/ports/log.ts';
import { tenantKeys } from '../../schemas/tenant-key.ts';
import { Listener, type ListenerFilter, type TailBatch } from './listener.ts';
import { topicOf } from './matching.ts';
import { PartitionTail } from './partition-tail.ts';
import { catchUp, giveUp, offerLastRecords } from './past.ts';
import type { Positions } from './positions.ts';
import { Slots } from './slots.ts';
import { TenantTime } from './tenant-time.ts';

/** Maximum number of waiting characters, for all listeners and for one. */
const maxWaitingCharacters = 64 * 1024 * 1024;
const maxWaitingPerListener = 1024 * 1024;
/** Maximum number of concurrent readers of the past. */
const readersOfThePast = 2;

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
export interface Listening {
  readonly hasNews: boolean;
  /** Returns records of at most this many characters. */
  nextBatch(maxCharacters: number): TailBatch;
  /** Updates the number of partitions of the tenant's telemetry. */
  spread(shards: number): void;
  close(): void;
}

/** Reads each partition once for all its listeners, and only while it has any. */
export interface LiveTail {
  /** Opens a listener. Rejects with errors of the bus. */
  open(request: ListenRequest): Promise<Listening>;
  close(): Promise<void>;
}

/** Returns the partitions of a tenant's messages, including those from before it had shards. */
const partitionsOf = (tenantId: string, shards: number, count: number): number[] => [
  ...new Set(tenantKeys(tenantId, shards).map((key) => partitionOf(key, count))),
];

class BusLiveTail implements LiveTail {
  readonly #bus: Bus;
  readonly #log: Log;
  readonly #tails = new Map<string, PartitionTail>();
  readonly #listeners = new Set<Listener>();
  readonly #time = new TenantTime();
  readonly #slots = new Slots(readersOfThePast);
  #follower: Follower | undefined;

  constructor(bus: Bus, log: Log) {
    this.#bus = bus;
    this.#log = log;
  }

  async open({ shards, last, resume, ...wish }: ListenRequest): Promise<Listening> {
    const topic = topicOf(wish.filter.signal);
    const bounds = await this.#bus.offsets(topic);
    const listener = new Listener(wish, () => this.#room());
    const mine = partitionsOf(wish.tenantId, shards, bounds.length);
    const partitions = mine.map((partition) => {
      const { earliest = 0, end = 0 } = bounds[partition] ?? {};
      const tail = this.#tail(topic, partition);
      tail.endsAt(end);
      return { where: tail.where, tail, earliest, end: tail.next };
    });
    this.#listeners.add(listener);
    for (const { where, earliest, end } of partitions) {
      const place = resume === undefined ? { offset: end, ordinal: 0 } : resume.get(where.partition);
      const last = Math.max(end, bounds[where.partition]?.end ?? 0);
      const isRetained = place !== undefined && place.offset >= earliest && place.offset <= last;
      listener.begin(where.partition, isRetained ? place : { offset: end, ordinal: 0 });
      if (!isRetained) listener.markGap();
    }
    void this.#begin(listener, partitions, resume === undefined ? last : 0);
    return {
      get hasNews() {
        return listener.hasNews;
      },
      nextBatch: (maxCharacters) => listener.nextBatch(maxCharacters),
      spread: (now) => {
        const added = partitionsOf(wish.tenantId, now, bounds.length).filter(
          (partition) => listener.position(partition) === undefined,
        );
        // A failure is retried when the permissions of the listener are checked.
        if (added.length > 0) this.#join(listener, topic, added).catch(() => undefined);
      },
      close: () => this.#leave(listener),
    };
  }

  async close(): Promise<void> {
    for (const listener of [...this.#listeners]) this.#leave(listener);
    await this.#follower?.close();
  }

  #room(): number {
    return Math.min(maxWaitingPerListener, maxWaitingCharacters / Math.max(1, this.#listeners.size));
  }

  #tail(topic: string, partition: number): PartitionTail {
    const key = `${topic}/${partition}`;
    const known = this.#tails.get(key);
    if (known !== undefined) return known;
    const made = new PartitionTail(
      { topic, partition },
      {
        bus: this.#bus,
        log: this.#log,
        time: this.#time,
        follower: () => {
          this.#follower ??= this.#bus.follower();
          return this.#follower;
        },
      },
    );
    this.#tails.set(key, made);
    return made;
  }

  async #begin(
    listener: Listener,
    partitions: readonly (Parameters<typeof offerLastRecords>[2][number] & { readonly tail: PartitionTail })[],
    last: number,
  ): Promise<void> {
    const ports = { bus: this.#bus, slots: this.#slots };
    try {
      if (last > 0) await offerLastRecords(listener, last, partitions, ports);
    } catch (error) {
      this.#log.warn({ error }, 'the last records of a live tail could not be read');
      listener.markGap();
    }
    for (const { tail } of partitions)
      try {
        await catchUp(listener, tail, ports);
      } catch (error) {
        this.#log.warn({ error }, 'a live tail could not catch up');
        giveUp(listener, tail);
      }
    listener.becomeLive();
  }

  /** Reads further partitions from their ends on. Records that arrived just before are missed. */
  async #join(listener: Listener, topic: string, partitions: readonly number[]): Promise<void> {
    const bounds = await this.#bus.offsets(topic);
    for (const partition of partitions) {
      if (listener.closed || listener.position(partition) !== undefined) continue;
      const tail = this.#tail(topic, partition);
      tail.endsAt(bounds[partition]?.end ?? 0);
      listener.begin(partition, { offset: tail.next, ordinal: 0 });
      giveUp(listener, tail);
    }
  }

  #leave(listener: Listener): void {
    listener.close();
    this.#listeners.delete(listener);
    for (const tail of this.#tails.values()) tail.detach(listener);
    const { tenantId } = listener.wish;
    if (![...this.#listeners].some(({ wish }) => wish.tenantId === tenantId)) this.#time.forget(tenantId);
    if (this.#listeners.size > 0) return;
    const follower = this.#follower;
    this.#follower = undefined;
    void follower?.close();
  }
}

/** Opens live tails over a bus. */
export const openLiveTail = ({ bus, log }: { readonly bus: Bus; readonly log: Log }): LiveTail =>
  new BusLiveTail(bus, log);
