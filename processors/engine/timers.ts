/** Timers of a tenant in one partition. */

export interface Timer {
  /** Whether `dueMs` is a time of the clock or of the record watermark. */
  readonly kind: 'clock' | 'watermark';
  readonly dueMs: number;
  readonly key: string;
}

interface Entry extends Timer {
  /** Whether another timer of the same kind and key replaced it. */
  isReplaced: boolean;
}

/** Compares timers by time, then kind, then key; negative if `left` is called first. */
const compareTimers = (left: Timer, right: Timer): number => {
  if (left.dueMs !== right.dueMs) return left.dueMs - right.dueMs;
  if (left.kind !== right.kind) return left.kind < right.kind ? -1 : 1;
  return left.key < right.key ? -1 : left.key > right.key ? 1 : 0;
};

/** Timers of one kind in a binary heap, earliest first. Replaced timers are removed when they reach the top. */
class TimerQueue {
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
    const previous = this.#byKey.get(key);
    if (previous !== undefined) previous.isReplaced = true;
    if (dueMs === Number.POSITIVE_INFINITY) {
      this.#byKey.delete(key);
      return;
    }
    const entry = { ...timer, isReplaced: false };
    this.#byKey.set(key, entry);
    if (this.#heap.length > 2 * this.#byKey.size + 64)
      this.#heap = this.#heap.filter(({ isReplaced }) => !isReplaced).sort(compareTimers);
    this.#push(entry);
  }

  first(): Timer | undefined {
    while (this.#heap[0]?.isReplaced === true) this.#shift();
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
    let index = heap.length;
    heap.push(entry);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const parentEntry = heap[parent] as Entry;
      if (compareTimers(parentEntry, entry) <= 0) break;
      heap[index] = parentEntry;
      index = parent;
    }
    heap[index] = entry;
  }

  #shift(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right !== undefined && compareTimers(right, heap[child] as Entry) < 0) child++;
      const smaller = heap[child] as Entry;
      if (compareTimers(last, smaller) <= 0) break;
      heap[index] = smaller;
      index = child;
    }
    heap[index] = last;
  }
}

export class Timers {
  readonly #queues = { clock: new TimerQueue(), watermark: new TimerQueue() };

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
    const nextClockTimer = clock.first();
    const nextWatermarkTimer = watermark.first();
    const dueClockTimer = nextClockTimer !== undefined && nextClockTimer.dueMs <= clockMs ? nextClockTimer : undefined;
    const dueWatermarkTimer =
      nextWatermarkTimer !== undefined && nextWatermarkTimer.dueMs <= watermarkMs ? nextWatermarkTimer : undefined;
    if (
      dueClockTimer !== undefined &&
      (dueWatermarkTimer === undefined || compareTimers(dueClockTimer, dueWatermarkTimer) < 0)
    ) {
      clock.removeFirst();
      return dueClockTimer;
    }
    if (dueWatermarkTimer !== undefined) watermark.removeFirst();
    return dueWatermarkTimer;
  }

  /** Returns all timers in due order. */
  list(): Timer[] {
    return [...this.#queues.clock.entries(), ...this.#queues.watermark.entries()].sort(compareTimers);
  }
}
