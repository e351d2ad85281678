/** Deliveries that may be attempted now, in memory: the first of each lane, in queue order. */
import { firstIndex } from '../../schemas/first-index.ts';

export interface Waiting {
  readonly key: string;
  readonly tenantId: string;
  readonly id: string;
  readonly lane: string;
  /** Orders deliveries within a lane. */
  readonly queuedAt: string;
  dueMs: number;
}

const inOrder = (left: Waiting, right: Waiting): number =>
  left.queuedAt < right.queuedAt || (left.queuedAt === right.queuedAt && left.id < right.id) ? -1 : 1;

/** Inserts a delivery at its position, which is nearly always the end. */
const insert = (lane: Waiting[], one: Waiting): void => {
  const last = lane.at(-1);
  const isLast = last === undefined || inOrder(last, one) < 0;
  const at = isLast ? lane.length : firstIndex(lane.length, (index) => inOrder(lane[index] as Waiting, one) >= 0);
  lane.splice(at, 0, one);
};

export class DeliveryQueue {
  readonly #waiting = new Map<string, Waiting>();
  readonly #lanes = new Map<string, Waiting[]>();
  /** The first of each lane, oldest first. Re-sorted on the next read if they changed. */
  #firsts: Waiting[] = [];
  #isSorted = true;

  set(one: Waiting): void {
    const known = this.#waiting.get(one.key);
    if (known !== undefined) {
      known.dueMs = one.dueMs;
      return;
    }
    this.#waiting.set(one.key, one);
    const lane = this.#lanes.get(one.lane) ?? [];
    insert(lane, one);
    this.#lanes.set(one.lane, lane);
    this.#isSorted = this.#isSorted && lane[0] !== one;
  }

  delete(key: string): void {
    const one = this.#waiting.get(key);
    if (one === undefined) return;
    this.#waiting.delete(key);
    const lane = this.#lanes.get(one.lane) ?? [];
    const at = lane.indexOf(one);
    if (at === 0) lane.shift();
    else lane.splice(at, 1);
    if (lane.length === 0) this.#lanes.delete(one.lane);
    this.#isSorted = this.#isSorted && at !== 0;
  }

  get(key: string): Waiting | undefined {
    return this.#waiting.get(key);
  }

  /** Yields the first delivery of each lane that is due, oldest first. */
  *due(nowMs: number): Generator<Waiting, void, undefined> {
    if (!this.#isSorted) {
      this.#firsts = Array.from(this.#lanes.values(), ([first]) => first as Waiting).sort(inOrder);
      this.#isSorted = true;
    }
    for (const first of this.#firsts) if (first.dueMs <= nowMs) yield first;
  }

  get size(): number {
    return this.#waiting.size;
  }
}
