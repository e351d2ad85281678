/** Values that merge by a key, of which only the earliest and the latest in a batch are relevant. */

export interface ExtremesOptions<Value> {
  /** Values with the same key produce rows that merge into one. */
  keyOf(value: Value): string;
  /** A text that sorts by time. */
  timeOf(value: Value): string;
}

interface ValueRange<Value> {
  first: Value;
  from: string;
  last: Value;
  to: string;
}

interface RecordedRange<Value> {
  from: string;
  to: string;
  /** The latest value, whose row is still pending */
  pendingLatest: Value | undefined;
}

export class Extremes<Value> {
  readonly #options: ExtremesOptions<Value>;
  readonly #batch = new Map<string, RecordedRange<Value>>();

  constructor(options: ExtremesOptions<Value>) {
    this.#options = options;
  }

  /** Pushes the new earliest values of a message. If `push` throws, nothing of the message is recorded. */
  addMessage(values: readonly Value[], push: (value: Value) => void): void {
    const spans = this.#findRanges(values);
    for (const [key, { first, from }] of spans) {
      const noted = this.#batch.get(key);
      if (noted === undefined || from < noted.from) push(first);
    }
    for (const [key, span] of spans) this.#record(key, span);
  }

  /** Ends a batch and pushes the latest values. */
  finish(push: (value: Value) => void): void {
    for (const { pendingLatest } of this.#batch.values()) if (pendingLatest !== undefined) push(pendingLatest);
    this.#batch.clear();
  }

  #findRanges(values: readonly Value[]): ReadonlyMap<string, ValueRange<Value>> {
    const { keyOf, timeOf } = this.#options;
    const spans = new Map<string, ValueRange<Value>>();
    for (const value of values) {
      const key = keyOf(value);
      const time = timeOf(value);
      const span = spans.get(key);
      if (span === undefined) {
        spans.set(key, { first: value, from: time, last: value, to: time });
        continue;
      }
      if (time < span.from) {
        span.first = value;
        span.from = time;
      }
      if (time >= span.to) {
        span.last = value;
        span.to = time;
      }
    }
    return spans;
  }

  #record(key: string, { first, from, last, to }: ValueRange<Value>): void {
    const noted = this.#batch.get(key);
    if (noted === undefined) {
      this.#batch.set(key, { from, to, pendingLatest: last === first ? undefined : last });
      return;
    }
    if (from < noted.from) noted.from = from;
    if (to < noted.to) return;
    noted.to = to;
    noted.pendingLatest = last;
  }
}
