/** Deliveries that may be attempted now, in memory: the first of each lane, in queue order. */
import { findFirstIndex } from '../../schemas/first-index.ts';

export interface QueuedDelivery {
  readonly key: string;
  readonly tenantId: string;
  readonly id: string;
  readonly lane: string;
  /** Orders deliveries within a lane. */
  readonly queuedAt: string;
  dueMs: number;
}

const compareDeliveries = (left: QueuedDelivery, right: QueuedDelivery): number =>
  left.queuedAt < right.queuedAt || (left.queuedAt === right.queuedAt && left.id < right.id) ? -1 : 1;

/** Inserts a delivery at its position, which is nearly always the end. */
const insert = (lane: QueuedDelivery[], one: QueuedDelivery): void => {
  const last = lane.at(-1);
  const belongsAtEnd = last === undefined || compareDeliveries(last, one) < 0;
  const at = belongsAtEnd
    ? lane.length
    : findFirstIndex(lane.length, (index) => compareDeliveries(lane[index] as QueuedDelivery, one) >= 0);
  lane.splice(at, 0, one);
};

export class DeliveryQueue {
  readonly #deliveries = new Map<string, QueuedDelivery>();
  readonly #lanes = new Map<string, QueuedDelivery[]>();
  /** The first of each lane, oldest first. Re-sorted on the next read if they changed. */
  #firsts: QueuedDelivery[] = [];
  #isSorted = true;

  set(one: QueuedDelivery): void {
    const existing = this.#deliveries.get(one.key);
    if (existing !== undefined) {
      existing.dueMs = one.dueMs;
      return;
    }
    this.#deliveries.set(one.key, one);
    const lane = this.#lanes.get(one.lane) ?? [];
    insert(lane, one);
    this.#lanes.set(one.lane, lane);
    this.#isSorted = this.#isSorted && lane[0] !== one;
  }

  delete(key: string): void {
    const one = this.#deliveries.get(key);
    if (one === undefined) return;
    this.#deliveries.delete(key);
    const lane = this.#lanes.get(one.lane) ?? [];
    const at = lane.indexOf(one);
    if (at === 0) lane.shift();
    else lane.splice(at, 1);
    if (lane.length === 0) this.#lanes.delete(one.lane);
    this.#isSorted = this.#isSorted && at !== 0;
  }

  get(key: string): QueuedDelivery | undefined {
    return this.#deliveries.get(key);
  }

  /** Yields the first delivery of each lane that is due, oldest first. */
  *due(nowMs: number): Generator<QueuedDelivery, void, undefined> {
    if (!this.#isSorted) {
      this.#firsts = Array.from(this.#lanes.values(), ([first]) => first as QueuedDelivery).sort(compareDeliveries);
      this.#isSorted = true;
    }
    for (const first of this.#firsts) if (first.dueMs <= nowMs) yield first;
  }

  get size(): number {
    return this.#deliveries.size;
  }
}
