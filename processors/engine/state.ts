/** Reusable state definitions. */
import type { z } from 'zod';
import { compileOnce } from '../../schemas/compile-once.ts';
import type { SavedState, StateDefinition, StateSize } from './definition.ts';
import { countSavedBytes, toChunks } from './task-snapshot.ts';

/** Returns the approximate memory of a value. Equal values have equal weights. */
export const estimateBytes = (value: unknown): number => {
  if (typeof value === 'string') return 16 + 2 * value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let weight = 32;
  if (Array.isArray(value)) for (const element of value) weight += 8 + estimateBytes(element);
  else for (const key in value) weight += 16 + estimateBytes((value as Record<string, unknown>)[key]);
  return weight;
};

const entryBytes = 64;

/**
 * Node of a ring in order of use. A map reordered by deleting and reinserting keys becomes slow, because it retains a
 * hole for each.
 */
class Entry<Value> {
  readonly key: string;
  value: Value;
  /** Weight of the value when it was weighed last. */
  bytes = 0;
  /** Whether the value was set since then. */
  isChanged = false;
  isRemoved = false;
  older: Entry<Value> = this;
  newer: Entry<Value> = this;

  constructor(key: string, value: Value) {
    this.key = key;
    this.value = value;
  }

  /** Inserts this entry directly before `entry` in order of use. */
  insertBefore(entry: Entry<Value>): void {
    this.older = entry.older;
    this.newer = entry;
    entry.older.newer = this;
    entry.older = this;
  }

  unlink(): void {
    this.older.newer = this.newer;
    this.newer.older = this.older;
  }
}

/** Values by key. Above the limit, the least recently used one is evicted. */
export class LruMap<Value> {
  readonly #entries = new Map<string, Entry<Value>>();
  /** Sentinel between the most and the least recently used entry. */
  readonly #sentinel = new Entry<Value | undefined>('', undefined) as Entry<Value>;
  readonly #maxEntries: number;
  readonly #weigh: (value: Value) => number;
  /** Entries to weigh: a value that is set for each record of a batch is weighed once. */
  #changed: Entry<Value>[] = [];
  #bytes = 0;
  #evicted = 0;

  constructor(maxEntries: number, weigh: (value: Value) => number = estimateBytes) {
    this.#maxEntries = maxEntries;
    this.#weigh = weigh;
  }

  /** Returns a value; counts as a use. */
  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#use(entry);
    return entry.value;
  }

  /** Sets a value, which is plain JSON. A value changed in place must be set again, or its weight is not updated. */
  set(key: string, value: Value): void {
    const existing = this.#entries.get(key);
    if (existing !== undefined) {
      existing.value = value;
      this.#markChanged(existing);
      this.#use(existing);
      return;
    }
    const entry = new Entry(key, value);
    this.#markChanged(entry);
    entry.insertBefore(this.#sentinel);
    this.#entries.set(key, entry);
    if (this.#entries.size <= this.#maxEntries) return;
    this.#remove(this.#sentinel.newer);
    this.#evicted++;
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#remove(entry);
  }

  /**
   * Yields entries, least recently used first, without counting as a use. The last yielded entry may be deleted
   * meanwhile.
   */
  *entries(): Generator<[key: string, value: Value], void, undefined> {
    for (let entry = this.#sentinel.newer; entry !== this.#sentinel; entry = entry.newer)
      yield [entry.key, entry.value];
  }

  /** Measures the entries that changed since the last call. */
  get size(): StateSize {
    for (const entry of this.#changed) {
      entry.isChanged = false;
      if (entry.isRemoved) continue;
      const bytes = entryBytes + 2 * entry.key.length + this.#weigh(entry.value);
      this.#bytes += bytes - entry.bytes;
      entry.bytes = bytes;
    }
    this.#changed = [];
    return { entries: this.#entries.size, bytes: this.#bytes, evicted: this.#evicted };
  }

  #markChanged(entry: Entry<Value>): void {
    if (entry.isChanged) return;
    entry.isChanged = true;
    this.#changed.push(entry);
  }

  #use(entry: Entry<Value>): void {
    if (entry.newer === this.#sentinel) return;
    entry.unlink();
    entry.insertBefore(this.#sentinel);
  }

  #remove(entry: Entry<Value>): void {
    entry.unlink();
    this.#entries.delete(entry.key);
    this.#bytes -= entry.bytes;
    entry.isRemoved = true;
  }
}

const parseJson = (bytes: Uint8Array): unknown =>
  JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));

interface KeyedStateOptions<Saved> {
  readonly version: number;
  readonly maxEntries: number;
  /** Validates each value read from a snapshot. */
  readonly schema?: z.ZodType<Saved>;
}

/** Conversion of values whose saved form differs from the form in memory. */
export interface ValueCodec<Value, Saved> {
  restore(saved: Saved): Value;
  /** Returns JSON of the saved form. */
  json(value: Value): string;
  /** Returns the result of `estimateBytes` for the saved form. */
  weigh(value: Value): number;
}

const decodeEntries = <Saved>(saved: Uint8Array, schema: z.ZodType<Saved> | undefined): [string, Saved][] => {
  const entries = parseJson(saved) as [string, Saved][];
  if (schema === undefined) return entries;
  const { parse } = compileOnce(schema);
  return entries.map(([key, value]) => [key, parse(value)]);
};

/** Strings of a list are joined up to this length. */
const chunkLength = 64 * 1024;

/**
 * Returns JSON of a list from the strings of its items. The strings become garbage immediately; if all were joined at
 * the end, V8 would copy them first.
 */
const encodeList = <Item>(items: Iterable<Item>, toText: (item: Item) => string): SavedState => {
  const chunks: Buffer[] = [];
  let chunk = '[';
  let separator = '';
  for (const item of items) {
    chunk += separator + toText(item);
    separator = ',';
    if (chunk.length < chunkLength) continue;
    chunks.push(Buffer.from(chunk));
    chunk = '';
  }
  chunks.push(Buffer.from(`${chunk}]`));
  return chunks;
};

interface EntryForm<Value, Saved> extends Omit<ValueCodec<Value, Saved>, 'json'> {
  /** Returns JSON of a key and the saved form of its value. */
  entryJson(entry: readonly [key: string, value: Value]): string;
}

const createKeyedState = <Value, Saved>(
  { version, maxEntries, schema }: KeyedStateOptions<Saved>,
  codec: EntryForm<Value, Saved>,
): StateDefinition<LruMap<Value>> => ({
  version,
  open(saved) {
    const state = new LruMap<Value>(maxEntries, codec.weigh);
    if (saved !== undefined)
      for (const [key, value] of decodeEntries(saved, schema)) state.set(key, codec.restore(value));
    return state;
  },
  save: (state) => encodeList(state.entries(), codec.entryJson),
  size: ({ size }) => size,
});

/** State of values by key, at most `maxEntries`. */
export const keyedState = <Value>(definition: KeyedStateOptions<Value>): StateDefinition<LruMap<Value>> =>
  // One JSON call for both takes two thirds of the time of two calls.
  createKeyedState<Value, Value>(definition, {
    restore: (value) => value,
    weigh: estimateBytes,
    entryJson: (entry) => JSON.stringify(entry),
  });

/** As `keyedState`, for values whose saved form differs from the form in memory. */
export const codedState = <Value, Saved>({
  form: codec,
  ...definition
}: KeyedStateOptions<Saved> & { readonly form: ValueCodec<Value, Saved> }): StateDefinition<LruMap<Value>> =>
  createKeyedState(definition, {
    ...codec,
    entryJson: ([key, value]) => `[${JSON.stringify(key)},${codec.json(value)}]`,
  });

type Parts = Readonly<Record<string, StateDefinition<unknown>>>;
/** Several states, by the names of their definitions. */
export type Combined<P extends Parts> = {
  readonly [Name in keyof P]: P[Name] extends StateDefinition<infer State> ? State : never;
};

/** Combines several states. `version` applies to all of them. */
export const combinedState = <P extends Parts>(version: number, parts: P): StateDefinition<Combined<P>> => {
  const partEntries = Object.entries<StateDefinition<unknown>>(parts);
  const getPartState = (state: Combined<P>, name: string): unknown =>
    (state as Readonly<Record<string, unknown>>)[name];
  return {
    version,
    open(saved) {
      if (saved === undefined)
        return Object.fromEntries(partEntries.map(([name, part]) => [name, part.open()])) as Combined<P>;
      const lengths = new DataView(saved.buffer, saved.byteOffset);
      let offset = 4 * partEntries.length;
      const states = partEntries.map(([name, part], index) => {
        const end = offset + lengths.getUint32(4 * index, true);
        const state = part.open(saved.slice(offset, end));
        offset = end;
        return [name, state];
      });
      return Object.fromEntries(states) as Combined<P>;
    },
    save(state) {
      const saved = partEntries.map(([name, part]) => part.save(getPartState(state, name)));
      const lengths = Buffer.alloc(4 * saved.length);
      for (const [index, savedPart] of saved.entries()) lengths.writeUInt32LE(countSavedBytes(savedPart), 4 * index);
      return [lengths, ...saved.flatMap(toChunks)];
    },
    size(state) {
      const sum = { entries: 0, bytes: 0, evicted: 0 };
      for (const [name, part] of partEntries) {
        const { entries, bytes, evicted } = part.size(getPartState(state, name));
        sum.entries += entries;
        sum.bytes += bytes;
        sum.evicted += evicted;
      }
      return sum;
    },
  };
};
