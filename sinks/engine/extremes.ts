/** Values that merge by a key, of which only the earliest and the latest in a batch are relevant. */

export interface ExtremesOptions<Value> {
  /** Values with the same key produce rows that merge into one. */
  getKey(value: Value): string;
  /** A text that sorts by time. */
  getTime(value: Value): string;
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
  readonly #rangesByKey = new Map<string, RecordedRange<Value>>();

  constructor(options: ExtremesOptions<Value>) {
    this.#options = options;
  }

  /** Pushes the new earliest values of a message. If `push` throws, nothing of the message is recorded. */
  addMessage(values: readonly Value[], push: (value: Value) => void): void {
    const ranges = this.#findRanges(values);
    for (const [key, { first, from }] of ranges) {
      const recordedRange = this.#rangesByKey.get(key);
      if (recordedRange === undefined || from < recordedRange.from) push(first);
    }
    for (const [key, range] of ranges) this.#record(key, range);
  }

  /** Ends a batch and pushes the latest values. */
  finish(push: (value: Value) => void): void {
    for (const { pendingLatest } of this.#rangesByKey.values()) if (pendingLatest !== undefined) push(pendingLatest);
    this.#rangesByKey.clear();
  }

  #findRanges(values: readonly Value[]): ReadonlyMap<string, ValueRange<Value>> {
    const { getKey, getTime } = this.#options;
    const ranges = new Map<string, ValueRange<Value>>();
    for (const value of values) {
      const key = getKey(value);
      const time = getTime(value);
      const range = ranges.get(key);
      if (range === undefined) {
        ranges.set(key, { first: value, from: time, last: value, to: time });
        continue;
      }
      if (time < range.from) {
        range.first = value;
        range.from = time;
      }
      if (time >= range.to) {
        range.last = value;
        range.to = time;
      }
    }
    return ranges;
  }

  #record(key: string, { first, from, last, to }: ValueRange<Value>): void {
    const recordedRange = this.#rangesByKey.get(key);
    if (recordedRange === undefined) {
      this.#rangesByKey.set(key, { from, to, pendingLatest: last === first ? undefined : last });
      return;
    }
    if (from < recordedRange.from) recordedRange.from = from;
    if (to < recordedRange.to) return;
    recordedRange.to = to;
    recordedRange.pendingLatest = last;
  }
}
