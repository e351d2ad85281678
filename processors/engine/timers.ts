/** Timers of a tenant in one partition. */

export interface Timer {
  /** Whether `dueMs` is a time of the clock or of the record watermark. */
  readonly kind: 'clock' | 'watermark';
  readonly dueMs: number;
  readonly key: string;
}

interface Entry extends Timer {
  /** Whether another timer of the same kind and key replaced it. */
  replaced: boolean;
}

/** Compares timers by time, then kind, then key; negative if `left` is called first. */
const order = (left: Timer, right: Timer): number => {
  if (left.dueMs !== right.dueMs) return left.dueMs - right.dueMs;
  if (left.kind !== right.kind) return left.kind < right.kind ? -1 : 1;
  return left.key < right.key ? -1 : left.key > right.key ? 1 : 0;
};

/** Timers of one kind in a binary heap, earliest first. Replaced timers are removed when they reach the top. */
class Queue {
  #heap: Entry[] = [];
  readonly #byKey = new Map<string, Entry>();

  get size(): number {
    return this.#byKey.size;
  }

  entries(): Iterable<Timer> {
    return this.#byKey.values();
  }

  set(timer: Timer): void {
    const { key, dueMs } = timer;
    const former = this.#byKey.get(key);
    if (former !== undefined) former.replaced = true;
    if (dueMs === Number.POSITIVE_INFINITY) {
      this.#byKey.delete(key);
      return;
    }
    const entry = { ...timer, replaced: false };
    this.#byKey.set(key, entry);
    if (this.#heap.length > 2 * this.#byKey.size + 64)
      this.#heap = this.#heap.filter(({ replaced }) => !replaced).sort(order);
    this.#push(entry);
  }

  first(): Timer | undefined {
    while (this.#heap[0]?.replaced === true) this.#shift();
    return this.#heap[0];
  }

  /** Removes the result of `first`. */
  removeFirst(): void {
    const entry = this.#heap[0];
    if (entry === undefined) return;
    this.#shift();
    this.#byKey.delete(entry.key);
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(entry);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as Entry;
      if (order(above, entry) <= 0) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = entry;
  }

  #shift(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right !== undefined && order(right, heap[child] as Entry) < 0) child++;
      const smaller = heap[child] as Entry;
      if (order(last, smaller) <= 0) break;
      heap[at] = smaller;
      at = child;
    }
    heap[at] = last;
  }
}

export class Timers {
  readonly #queues = { clock: new Queue(), watermark: new Queue() };

  get size(): number {
    return this.#queues.clock.size + this.#queues.watermark.size;
  }

  /** Replaces the timer of this kind and key. A due time of `Infinity` removes it. */
  set(kind: Timer['kind'], dueMs: number, key: string): void {
    if (!(dueMs > Number.NEGATIVE_INFINITY)) throw new TypeError(`a timer cannot be due at ${dueMs}`);
    this.#queues[kind].set({ kind, dueMs, key });
  }

  /** Returns when the earliest timer of a kind is due; `Infinity` if there is none. */
  nextMs(kind: Timer['kind']): number {
    return this.#queues[kind].first()?.dueMs ?? Number.POSITIVE_INFINITY;
  }

  /** Removes and returns the first timer that is due. */
  removeDue(clockMs: number, watermarkMs: number): Timer | undefined {
    const { clock, watermark } = this.#queues;
    const byClock = clock.first();
    const byWatermark = watermark.first();
    const one = byClock !== undefined && byClock.dueMs <= clockMs ? byClock : undefined;
    const other = byWatermark !== undefined && byWatermark.dueMs <= watermarkMs ? byWatermark : undefined;
    if (one !== undefined && (other === undefined || order(one, other) < 0)) {
      clock.removeFirst();
      return one;
    }
    if (other !== undefined) watermark.removeFirst();
    return other;
  }

  /** Returns all timers in due order. */
  list(): Timer[] {
    return [...this.#queues.clock.entries(), ...this.#queues.watermark.entries()].sort(order);
  }
}
