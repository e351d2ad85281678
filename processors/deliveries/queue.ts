/** Deliveries that may be attempted now, in memory: the first of each lane, in queue order. */
import { findFirstIndex } from '../../schemas/first-index.ts';

export interface QueuedDelivery {
  readonly key: string;
  readonly tenantId: string;
  readonly id: string;
  readonly lane: string;
  /** The tenant and the destination (`subjects/notification-channels/outage.ts`). */
  readonly destination: string;
  /** Orders deliveries within a lane. */
  readonly queuedAt: string;
  dueMs: number;
}

const compareDeliveries = (left: QueuedDelivery, right: QueuedDelivery): number =>
  left.queuedAt < right.queuedAt || (left.queuedAt === right.queuedAt && left.id < right.id) ? -1 : 1;

/** Inserts a delivery at its position, which is nearly always the end. */
const insertDelivery = (lane: QueuedDelivery[], delivery: QueuedDelivery): void => {
  const last = lane.at(-1);
  const belongsAtEnd = last === undefined || compareDeliveries(last, delivery) < 0;
  const position = belongsAtEnd
    ? lane.length
    : findFirstIndex(lane.length, (index) => compareDeliveries(lane[index] as QueuedDelivery, delivery) >= 0);
  lane.splice(position, 0, delivery);
};

export class DeliveryQueue {
  readonly #deliveries = new Map<string, QueuedDelivery>();
  readonly #lanes = new Map<string, QueuedDelivery[]>();
  /** The first of each lane, oldest first. Re-sorted on the next read if they changed. */
  #laneHeads: QueuedDelivery[] = [];
  #isSorted = true;

  set(delivery: QueuedDelivery): void {
    const existing = this.#deliveries.get(delivery.key);
    if (existing !== undefined) {
      existing.dueMs = delivery.dueMs;
      return;
    }
    this.#deliveries.set(delivery.key, delivery);
    const lane = this.#lanes.get(delivery.lane) ?? [];
    insertDelivery(lane, delivery);
    this.#lanes.set(delivery.lane, lane);
    this.#isSorted = this.#isSorted && lane[0] !== delivery;
  }

  delete(key: string): void {
    const delivery = this.#deliveries.get(key);
    if (delivery === undefined) return;
    this.#deliveries.delete(key);
    const lane = this.#lanes.get(delivery.lane) ?? [];
    const position = lane.indexOf(delivery);
    if (position === 0) lane.shift();
    else lane.splice(position, 1);
    if (lane.length === 0) this.#lanes.delete(delivery.lane);
    this.#isSorted = this.#isSorted && position !== 0;
  }

  get(key: string): QueuedDelivery | undefined {
    return this.#deliveries.get(key);
  }

  /** Yields the first delivery of each lane that is due, oldest first. */
  *due(nowMs: number): Generator<QueuedDelivery, void, undefined> {
    if (!this.#isSorted) {
      this.#laneHeads = Array.from(this.#lanes.values(), ([first]) => first as QueuedDelivery).sort(compareDeliveries);
      this.#isSorted = true;
    }
    for (const first of this.#laneHeads) if (first.dueMs <= nowMs) yield first;
  }

  get size(): number {
    return this.#deliveries.size;
  }
}
