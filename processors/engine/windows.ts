/** Windows of equal length over record times. Each window closes once, when the watermark passes its end. */
import type { z } from 'zod';
import type { Context, Emits, Follows, StateDefinition, StateSize } from './definition.ts';
import { estimateBytes } from './state.ts';

/** Value of a key in one closed window. */
export interface ClosedWindow<Value> {
  readonly key: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly value: Value;
}

const entryBytes = 64;

interface Entry<Value> {
  value: Value;
  bytes: number;
}

export class Windows<Value> {
  readonly #byStart = new Map<number, Map<string, Entry<Value>>>();
  readonly #lengthMs: number;
  readonly #maxEntries: number;
  #entries = 0;
  #bytes = 0;

  constructor(lengthMs: number, maxEntries: number) {
    this.#lengthMs = lengthMs;
    this.#maxEntries = maxEntries;
  }

  /**
   * Updates the value of a key in the window of `timeMs`. When the window is over, the processor's `timer` is called
   * and should emit the result of `removeClosed`.
   *
   * Returns false and drops the item if the window is over (`late`), or if the key is new and there are too many
   * (`too-many-keys`).
   */
  add(
    context: Pick<Context<Emits, Follows, unknown>, 'watermarkMs' | 'setTimer' | 'drop'>,
    timeMs: number,
    key: string,
    update: (value: Value | undefined) => Value,
  ): boolean {
    const startMs = Math.floor(timeMs / this.#lengthMs) * this.#lengthMs;
    const endMs = startMs + this.#lengthMs;
    if (endMs <= context.watermarkMs) {
      context.drop('late');
      return false;
    }
    const entries = this.#byStart.get(startMs) ?? new Map<string, Entry<Value>>();
    const entry = entries.get(key);
    if (entry === undefined && this.#entries >= this.#maxEntries) {
      context.drop('too-many-keys');
      return false;
    }
    if (entries.size === 0) {
      this.#byStart.set(startMs, entries);
      context.setTimer('watermark', endMs, String(endMs));
    }
    this.restoreValue(startMs, key, update(entry?.value));
    return true;
  }

  /** Removes and returns closed windows, earliest first, with keys in order of arrival. */
  removeClosed(watermarkMs: number): ClosedWindow<Value>[] {
    const closedStarts = [...this.#byStart.keys()].filter((startMs) => startMs + this.#lengthMs <= watermarkMs);
    return closedStarts
      .sort((left, right) => left - right)
      .flatMap((startMs) => {
        const entries = this.#byStart.get(startMs) ?? new Map<string, Entry<Value>>();
        this.#byStart.delete(startMs);
        this.#entries -= entries.size;
        return [...entries].map(([key, { value, bytes }]) => {
          this.#bytes -= bytes;
          return { key, startMs, endMs: startMs + this.#lengthMs, value };
        });
      });
  }

  /** Restores a saved value. */
  restoreValue(startMs: number, key: string, value: Value): void {
    const entries = this.#byStart.get(startMs) ?? new Map<string, Entry<Value>>();
    this.#byStart.set(startMs, entries);
    const bytes = entryBytes + 2 * key.length + estimateBytes(value);
    const entry = entries.get(key);
    if (entry === undefined) {
      entries.set(key, { value, bytes });
      this.#entries++;
      this.#bytes += bytes;
    } else {
      this.#bytes += bytes - entry.bytes;
      entry.value = value;
      entry.bytes = bytes;
    }
  }

  serialize(): [startMs: number, entries: [key: string, value: Value][]][] {
    return [...this.#byStart].map(([startMs, entries]) => [
      startMs,
      [...entries].map(([key, { value }]): [string, Value] => [key, value]),
    ]);
  }

  get size(): StateSize {
    return { entries: this.#entries, bytes: this.#bytes, evicted: 0 };
  }
}

/**
 * State of windows of `lengthMs`, aligned to the epoch, with at most `maxEntries` keys over all of them. Values are
 * plain JSON.
 */
export const windowedState = <Value>({
  version,
  lengthMs,
  maxEntries,
  schema,
}: {
  readonly version: number;
  readonly lengthMs: number;
  readonly maxEntries: number;
  /** Validates each value read from a snapshot. */
  readonly schema?: z.ZodType<Value>;
}): StateDefinition<Windows<Value>> => ({
  version,
  open(saved) {
    const state = new Windows<Value>(lengthMs, maxEntries);
    if (saved === undefined) return state;
    const windows = JSON.parse(Buffer.from(saved).toString('utf8')) as ReturnType<Windows<Value>['serialize']>;
    for (const [startMs, entries] of windows) {
      for (const [key, value] of entries)
        state.restoreValue(startMs, key, schema === undefined ? value : schema.parse(value));
    }
    return state;
  },
  save: (state) => Buffer.from(JSON.stringify(state.serialize())),
  size: ({ size }) => size,
});
