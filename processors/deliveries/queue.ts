/** Which deliveries may be tried now, in memory: of each lane the first, in the order in which they were queued. */

export interface Waiting {
  readonly key: string;
  readonly tenantId: string;
  readonly id: string;
  readonly lane: string;
  /** Decides the order within a lane. */
  readonly queuedAt: string;
  dueMs: number;
}

const inOrder = (left: Waiting, right: Waiting): number =>
  left.queuedAt < right.queuedAt || (left.queuedAt === right.queuedAt && left.id < right.id) ? -1 : 1;

export class DeliveryQueue {
  readonly #waiting = new Map<string, Waiting>();
  readonly #lanes = new Map<string, Waiting[]>();

  set(one: Waiting): void {
    const known = this.#waiting.get(one.key);
    if (known !== undefined) {
      known.dueMs = one.dueMs;
      return;
    }
    this.#waiting.set(one.key, one);
    const lane = this.#lanes.get(one.lane) ?? [];
    lane.push(one);
    lane.sort(inOrder);
    this.#lanes.set(one.lane, lane);
  }

  delete(key: string): void {
    const one = this.#waiting.get(key);
    if (one === undefined) return;
    this.#waiting.delete(key);
    const lane = (this.#lanes.get(one.lane) ?? []).filter((each) => each !== one);
    if (lane.length > 0) this.#lanes.set(one.lane, lane);
    else this.#lanes.delete(one.lane);
  }

  get(key: string): Waiting | undefined {
    return this.#waiting.get(key);
  }

  /** The first of each lane that is due. */
  *due(nowMs: number): Generator<Waiting, void, undefined> {
    for (const [first] of this.#lanes.values()) if (first !== undefined && first.dueMs <= nowMs) yield first;
  }

  get size(): number {
    return this.#waiting.size;
  }
}
