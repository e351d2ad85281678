/** States that authors need often. */
import type { z } from 'zod';
import { compiled } from '../../schemas/compiled.ts';
import type { SavedState, StateDefinition, StateSize } from './definition.ts';
import { piecesOf, savedBytes } from './task-snapshot.ts';

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

/** In a ring by use. A map that is put in order by taking keys out and in again becomes slow: it keeps a hole for each. */
class Entry<Value> {
  readonly key: string;
  value: Value;
  bytes: number;
  older: Entry<Value> = this;
  newer: Entry<Value> = this;

  constructor(key: string, value: Value, bytes: number) {
    this.key = key;
    this.value = value;
    this.bytes = bytes;
  }

  /** Makes it the one that was used before `entry`. */
  join(entry: Entry<Value>): void {
    this.older = entry.older;
    this.newer = entry;
    entry.older.newer = this;
    entry.older = this;
  }

  leave(): void {
    this.older.newer = this.newer;
    this.newer.older = this.older;
  }
}

/** Values by key. Where there are too many, the one that was used longest ago makes way. */
export class Keyed<Value> {
  readonly #entries = new Map<string, Entry<Value>>();
  /** Stands between the one that was used last and the one that was used longest ago. */
  readonly #ends = new Entry<Value | undefined>('', undefined, 0) as Entry<Value>;
  readonly #maxEntries: number;
  readonly #weigh: (value: Value) => number;
  #bytes = 0;
  #evicted = 0;

  constructor(maxEntries: number, weigh: (value: Value) => number = weightOf) {
    this.#maxEntries = maxEntries;
    this.#weigh = weigh;
  }

  /** Counts as a use. */
  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#use(entry);
    return entry.value;
  }

  /** Sets a value, which is plain JSON. One that is changed in place is set again, or it is not weighed. */
  set(key: string, value: Value): void {
    const bytes = entryBytes + 2 * key.length + this.#weigh(value);
    this.#bytes += bytes;
    const known = this.#entries.get(key);
    if (known !== undefined) {
      this.#bytes -= known.bytes;
      known.value = value;
      known.bytes = bytes;
      this.#use(known);
      return;
    }
    const entry = new Entry(key, value, bytes);
    entry.join(this.#ends);
    this.#entries.set(key, entry);
    if (this.#entries.size <= this.#maxEntries) return;
    this.#remove(this.#ends.newer);
    this.#evicted++;
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#remove(entry);
  }

  /** The least recently used first; no use of them. The one that was given last may be deleted meanwhile. */
  *entries(): Generator<[key: string, value: Value], void, undefined> {
    for (let entry = this.#ends.newer; entry !== this.#ends; entry = entry.newer) yield [entry.key, entry.value];
  }

  get size(): StateSize {
    return { entries: this.#entries.size, bytes: this.#bytes, evicted: this.#evicted };
  }

  #use(entry: Entry<Value>): void {
    if (entry.newer === this.#ends) return;
    entry.leave();
    entry.join(this.#ends);
  }

  #remove(entry: Entry<Value>): void {
    entry.leave();
    this.#entries.delete(entry.key);
    this.#bytes -= entry.bytes;
  }
}

const parsed = (bytes: Uint8Array): unknown =>
  JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));

interface KeyedDefinition<Saved> {
  readonly version: number;
  readonly maxEntries: number;
  /** Checks each value that is read from a snapshot. */
  readonly schema?: z.ZodType<Saved>;
}

/** Of values that are not kept as they are saved. */
export interface ValueForm<Value, Saved> {
  restore(saved: Saved): Value;
  /** JSON of what is saved. */
  json(value: Value): string;
  /** What `weightOf` answers of what is saved. */
  weigh(value: Value): number;
}

const savedEntries = <Saved>(saved: Uint8Array, schema: z.ZodType<Saved> | undefined): [string, Saved][] => {
  const entries = parsed(saved) as [string, Saved][];
  if (schema === undefined) return entries;
  const { parse } = compiled(schema);
  return entries.map(([key, value]) => [key, parse(value)]);
};

/** Texts of a list are joined up to this length. */
const pieceLength = 64 * 1024;

/** JSON of a list by the texts of its items. Those are garbage at once: where all are joined at the end, V8 copies them first. */
const savedList = <Item>(items: Iterable<Item>, textOf: (item: Item) => string): SavedState => {
  const pieces: Buffer[] = [];
  let piece = '[';
  let separator = '';
  for (const item of items) {
    piece += separator + textOf(item);
    separator = ',';
    if (piece.length < pieceLength) continue;
    pieces.push(Buffer.from(piece));
    piece = '';
  }
  pieces.push(Buffer.from(`${piece}]`));
  return pieces;
};

interface EntryForm<Value, Saved> extends Omit<ValueForm<Value, Saved>, 'json'> {
  /** JSON of a key and what is saved of its value. */
  entryJson(entry: readonly [key: string, value: Value]): string;
}

const stateOf = <Value, Saved>(
  { version, maxEntries, schema }: KeyedDefinition<Saved>,
  form: EntryForm<Value, Saved>,
): StateDefinition<Keyed<Value>> => ({
  version,
  open(saved) {
    const state = new Keyed<Value>(maxEntries, form.weigh);
    if (saved !== undefined)
      for (const [key, value] of savedEntries(saved, schema)) state.set(key, form.restore(value));
    return state;
  },
  save: (state) => savedList(state.entries(), form.entryJson),
  size: ({ size }) => size,
});

/** Values by key, at most `maxEntries`. */
export const keyedState = <Value>(definition: KeyedDefinition<Value>): StateDefinition<Keyed<Value>> =>
  // One JSON of both takes two thirds of what two take.
  stateOf<Value, Value>(definition, {
    restore: (value) => value,
    weigh: weightOf,
    entryJson: (entry) => JSON.stringify(entry),
  });

/** The same of values that are not kept as they are saved. */
export const formedState = <Value, Saved>({
  form,
  ...definition
}: KeyedDefinition<Saved> & { readonly form: ValueForm<Value, Saved> }): StateDefinition<Keyed<Value>> =>
  stateOf(definition, { ...form, entryJson: ([key, value]) => `[${JSON.stringify(key)},${form.json(value)}]` });

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
      for (const [index, each] of saved.entries()) lengths.writeUInt32LE(savedBytes(each), 4 * index);
      return [lengths, ...saved.flatMap(piecesOf)];
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
