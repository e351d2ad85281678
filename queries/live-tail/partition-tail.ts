/** Reads a partition once for all its listeners. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bus, type BusRecord, countRecords, type PartitionFollower } from '../../schemas/ports/bus.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Partition } from '../../schemas/records/source.ts';
import type { Listener } from './listener.ts';
import { createYieldHooks, offerMatchingRecords, selectTargets } from './match-records.ts';
import type { TenantCpuTime } from './tenant-time.ts';

const retryMs = 1_000;

export interface PartitionTailDependencies {
  readonly bus: Pick<Bus, 'offsets'>;
  readonly log: Log;
  readonly cpuTime: TenantCpuTime;
  /** Opened on demand. */
  openFollower(): PartitionFollower;
}

/** Reads a partition while it has listeners. */
export class PartitionTail {
  readonly topicPartition: Partition;
  /** Messages before this offset have been delivered, or are being delivered, to the attached listeners. */
  nextOffset = 0;
  readonly #dependencies: PartitionTailDependencies;
  readonly #listeners = new Map<string, Set<Listener>>();
  #runPromise: Promise<void> | undefined;

  constructor(topicPartition: Partition, dependencies: PartitionTailDependencies) {
    this.topicPartition = topicPartition;
    this.#dependencies = dependencies;
  }

  /** Sets the end of the partition as the next offset, unless the partition is being read. */
  setEnd(end: number): void {
    if (this.#runPromise === undefined) this.nextOffset = end;
  }

  /** Attaches a listener, which then receives everything after its position. The position must be `nextOffset` or later. */
  attach(listener: Listener): void {
    const { tenantId } = listener.listenerFilter;
    const listeners = this.#listeners.get(tenantId) ?? new Set();
    this.#listeners.set(tenantId, listeners.add(listener));
    this.#runPromise ??= this.#run().finally(() => {
      this.#runPromise = undefined;
    });
  }

  detach(listener: Listener): void {
    const { tenantId } = listener.listenerFilter;
    const listeners = this.#listeners.get(tenantId);
    listeners?.delete(listener);
    if (listeners?.size === 0) this.#listeners.delete(tenantId);
  }

  async #run(): Promise<void> {
    const { topic, partition } = this.topicPartition;
    while (this.#listeners.size > 0)
      try {
        const fetchedMessages = await this.#dependencies.openFollower().next(topic, partition, this.nextOffset);
        // The follower was closed because there were no listeners.
        if (fetchedMessages === undefined) continue;
        try {
          for (const message of fetchedMessages.records) await this.#deliver(message);
        } finally {
          fetchedMessages.release();
        }
        this.#advance(fetchedMessages.next);
      } catch (error) {
        this.#dependencies.log.warn({ topic, partition, error }, 'a live tail cannot read the bus; trying again');
        await sleep(retryMs);
        await this.#skipToRetained().catch(() => undefined);
      }
  }

  /** Delivers a message. Listeners that attach in the meantime already have it, because `nextOffset` is beyond it. */
  async #deliver(message: BusRecord): Promise<void> {
    const { tenant = '' } = message.headers;
    const listeners = this.#listeners.get(tenant);
    this.nextOffset = message.offset + 1;
    if (listeners === undefined) return;
    const targets = selectTargets(message, listeners);
    if (targets.length === 0) return;
    const { cpuTime } = this.#dependencies;
    const { partition } = this.topicPartition;
    if (!cpuTime.hasTime(tenant)) {
      for (const target of targets) target.countSkipped(partition, message.offset, countRecords(message.headers));
      return;
    }
    await offerMatchingRecords(
      message,
      this.topicPartition,
      targets,
      createYieldHooks((ms) => cpuTime.spend(tenant, ms)),
    );
    for (const target of targets) target.markRead(partition, message.offset);
  }

  #advance(next: number): void {
    this.nextOffset = next;
    for (const listeners of this.#listeners.values())
      for (const listener of listeners) listener.markRead(this.topicPartition.partition, next - 1);
  }

  /**
   * If the position is no longer retained, all listeners continue at the first retained one and are notified of a gap.
   */
  async #skipToRetained(): Promise<void> {
    const { topic, partition } = this.topicPartition;
    const bounds = (await this.#dependencies.bus.offsets(topic)).find((each) => each.partition === partition);
    if (bounds === undefined || (this.nextOffset >= bounds.earliest && this.nextOffset <= bounds.end)) return;
    const retainedOffset = this.nextOffset < bounds.earliest ? bounds.earliest : bounds.end;
    this.nextOffset = retainedOffset;
    for (const listeners of this.#listeners.values())
      for (const listener of listeners) listener.skipTo(partition, { offset: retainedOffset, ordinal: 0 });
  }
}
