/** States that authors need often. */
import type { z } from 'zod';
import type { StateDefinition, StateSize } from './definition.ts';

/** What a value takes in memory, roughly. Equal values weigh the same. */
export const weightOf = (value: unknown): number => {
  if (typeof value === 'string') return 16 + 2 * value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let weight = 32;
  if (Array.isArray(value)) for (const each of value) weight += 8 + weightOf(each);
  else for (const key in value) weight += 16 + weightOf((value as Record<string, unknown>)[key]);
  return weight;
};

const entryBytes = 64;

interface Entry<Value> {
  readonly value: Value;
  readonly bytes: number;
}

/** Values by key. Where there are too many, the one that was used longest ago makes way. */
export class Keyed<Value> {
  /** The least recently used first. */
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #maxEntries: number;
  #bytes = 0;
  #evicted = 0;

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  /** Counts as a use. */
  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Sets a value, which is plain JSON. One that is changed in place is set again, or it is not weighed. */
  set(key: string, value: Value): void {
    this.delete(key);
    const bytes = entryBytes + 2 * key.length + weightOf(value);
    this.#entries.set(key, { value, bytes });
    this.#bytes += bytes;
    if (this.#entries.size <= this.#maxEntries) return;
    this.delete(this.#entries.keys().next().value ?? '');
    this.#evicted++;
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#bytes -= entry.bytes;
    this.#entries.delete(key);
  }

  /** The least recently used first; no use of them. */
  *entries(): Generator<[key: string, value: Value], void, undefined> {
    for (const [key, { value }] of this.#entries) yield [key, value];
  }

  get size(): StateSize {
    return { entries: this.#entries.size, bytes: this.#bytes, evicted: this.#evicted };
  }
}

const jsonOf = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));
const parsed = (bytes: Uint8Array): unknown =>
  JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));

/** Values by key, at most `maxEntries`. `schema` checks each value that is read from a snapshot. */
export const keyedState = <Value>({
  version,
  maxEntries,
  schema,
}: {
  readonly version: number;
  readonly maxEntries: number;
  readonly schema?: z.ZodType<Value>;
}): StateDefinition<Keyed<Value>> => ({
  version,
  open(saved) {
    const state = new Keyed<Value>(maxEntries);
    if (saved === undefined) return state;
    for (const [key, value] of parsed(saved) as [string, Value][])
      state.set(key, schema === undefined ? value : schema.parse(value));
    return state;
  },
  save: (state) => jsonOf([...state.entries()]),
  size: ({ size }) => size,
});

type Parts = Readonly<Record<string, StateDefinition<unknown>>>;
/** Several states, by the names of their definitions. */
export type Combined<P extends Parts> = {
  readonly [Name in keyof P]: P[Name] extends StateDefinition<infer State> ? State : never;
};

/** Several states side by side. `version` stands for all of them. */
export const combinedState = <P extends Parts>(version: number, parts: P): StateDefinition<Combined<P>> => {
  const all = Object.entries<StateDefinition<unknown>>(parts);
  const of = (state: Combined<P>, name: string): unknown => (state as Readonly<Record<string, unknown>>)[name];
  return {
    version,
    open(saved) {
      if (saved === undefined) return Object.fromEntries(all.map(([name, part]) => [name, part.open()])) as Combined<P>;
      const lengths = new DataView(saved.buffer, saved.byteOffset);
      let at = 4 * all.length;
      const opened = all.map(([name, part], index) => {
        const end = at + lengths.getUint32(4 * index, true);
        const state = part.open(saved.slice(at, end));
        at = end;
        return [name, state];
      });
      return Object.fromEntries(opened) as Combined<P>;
    },
    save(state) {
      const saved = all.map(([name, part]) => part.save(of(state, name)));
      const lengths = Buffer.alloc(4 * saved.length);
      for (const [index, { length }] of saved.entries()) lengths.writeUInt32LE(length, 4 * index);
      return Buffer.concat([lengths, ...saved]);
    },
    size(state) {
      const sum = { entries: 0, bytes: 0, evicted: 0 };
      for (const [name, part] of all) {
        const { entries, bytes, evicted } = part.size(of(state, name));
        sum.entries += entries;
        sum.bytes += bytes;
        sum.evicted += evicted;
      }
      return sum;
    },
  };
};
