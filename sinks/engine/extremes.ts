/** Values that merge by a key, of which only the earliest and the latest in a batch are relevant. */

export interface ExtremesOptions<Value> {
  /** Values with the same key produce rows that merge into one. */
  keyOf(value: Value): string;
  /** A text that sorts by time. */
  timeOf(value: Value): string;
}

interface Span<Value> {
  first: Value;
  from: string;
  last: Value;
  to: string;
}

interface Noted<Value> {
  from: string;
  to: string;
  /** The latest value, whose row is still pending */
  later: Value | undefined;
}

export class Extremes<Value> {
  readonly #options: ExtremesOptions<Value>;
  readonly #batch = new Map<string, Noted<Value>>();

  constructor(options: ExtremesOptions<Value>) {
    this.#options = options;
  }

  /** Pushes the new earliest values of a message. If `push` throws, nothing of the message is recorded. */
  message(values: readonly Value[], push: (value: Value) => void): void {
    const spans = this.#spansOf(values);
    for (const [key, { first, from }] of spans) {
      const noted = this.#batch.get(key);
      if (noted === undefined || from < noted.from) push(first);
    }
    for (const [key, span] of spans) this.#note(key, span);
  }

  /** Ends a batch and pushes the latest values. */
  finish(push: (value: Value) => void): void {
    for (const { later } of this.#batch.values()) if (later !== undefined) push(later);
    this.#batch.clear();
  }

  #spansOf(values: readonly Value[]): ReadonlyMap<string, Span<Value>> {
    const { keyOf, timeOf } = this.#options;
    const spans = new Map<string, Span<Value>>();
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

  #note(key: string, { first, from, last, to }: Span<Value>): void {
    const noted = this.#batch.get(key);
    if (noted === undefined) {
      this.#batch.set(key, { from, to, later: last === first ? undefined : last });
      return;
    }
    if (from < noted.from) noted.from = from;
    if (to < noted.to) return;
    noted.to = to;
    noted.later = last;
  }
}
