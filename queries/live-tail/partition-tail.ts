/** A partition, read once for all its listeners. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bus, type BusRecord, type Follower, recordsIn } from '../../schemas/ports/bus.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Partition } from '../../schemas/records/source.ts';
import type { Listener } from './listener.ts';
import { match, targetsOf, yieldBetweenRecords } from './matching.ts';
import type { TenantTime } from './tenant-time.ts';

const retryMs = 1_000;

export interface PartitionTailPorts {
  readonly bus: Pick<Bus, 'offsets'>;
  readonly log: Log;
  readonly time: TenantTime;
  /** Opened on demand. */
  follower(): Follower;
}

/** Reads while there are listeners. */
export class PartitionTail {
  readonly where: Partition;
  /** Messages before this offset are already given, or being given, to the attached listeners. */
  next = 0;
  readonly #ports: PartitionTailPorts;
  readonly #listeners = new Map<string, Set<Listener>>();
  #running: Promise<void> | undefined;

  constructor(where: Partition, ports: PartitionTailPorts) {
    this.where = where;
    this.#ports = ports;
  }

  /** Sets the end of the partition, which is used while nobody reads it. */
  endsAt(end: number): void {
    if (this.#running === undefined) this.next = end;
  }

  /** Attaches a listener, which from now on receives everything after its position. Its position is `next` or later. */
  attach(listener: Listener): void {
    const { tenantId } = listener.wish;
    const listeners = this.#listeners.get(tenantId) ?? new Set();
    this.#listeners.set(tenantId, listeners.add(listener));
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  detach(listener: Listener): void {
    const { tenantId } = listener.wish;
    const listeners = this.#listeners.get(tenantId);
    listeners?.delete(listener);
    if (listeners?.size === 0) this.#listeners.delete(tenantId);
  }

  async #run(): Promise<void> {
    const { topic, partition } = this.where;
    while (this.#listeners.size > 0)
      try {
        const piece = await this.#ports.follower().next(topic, partition, this.next);
        // The follower was closed because there were no listeners.
        if (piece === undefined) continue;
        try {
          for (const message of piece.records) await this.#give(message);
        } finally {
          piece.release();
        }
        this.#moveTo(piece.next);
      } catch (error) {
        this.#ports.log.warn({ topic, partition, error }, 'a live tail cannot read the bus; trying again');
        await sleep(retryMs);
        await this.#findPlace().catch(() => undefined);
      }
  }

  /** Listeners attached while this waits have the message already: `next` is beyond it. */
  async #give(message: BusRecord): Promise<void> {
    const { tenant = '' } = message.headers;
    const listeners = this.#listeners.get(tenant);
    this.next = message.offset + 1;
    if (listeners === undefined) return;
    const targets = targetsOf(message, listeners);
    if (targets.length === 0) return;
    const { time } = this.#ports;
    const { partition } = this.where;
    if (!time.hasTime(tenant)) {
      for (const target of targets) target.skip(partition, message.offset, recordsIn(message.headers));
      return;
    }
    await match(
      message,
      this.where,
      targets,
      yieldBetweenRecords((ms) => time.spend(tenant, ms)),
    );
    for (const target of targets) target.passed(partition, message.offset);
  }

  #moveTo(next: number): void {
    this.next = next;
    for (const listeners of this.#listeners.values())
      for (const listener of listeners) listener.passed(this.where.partition, next - 1);
  }

  /**
   * If the position is no longer retained, all listeners continue at the first retained one and are notified of a gap.
   */
  async #findPlace(): Promise<void> {
    const { topic, partition } = this.where;
    const bounds = (await this.#ports.bus.offsets(topic)).find((each) => each.partition === partition);
    if (bounds === undefined || (this.next >= bounds.earliest && this.next <= bounds.end)) return;
    const place = this.next < bounds.earliest ? bounds.earliest : bounds.end;
    this.next = place;
    for (const listeners of this.#listeners.values())
      for (const listener of listeners) listener.jump(partition, { offset: place, ordinal: 0 });
  }
}
