/** Log sources and fields of processed records, each emitted once a day. */
import { z } from 'zod';
import type { SeenTelemetry } from '../../schemas/signals.ts';
import type { ValuePosition } from '../../subjects/detections/event.ts';
import type { EventKind } from '../../subjects/detections/log-sources.ts';
import type { StateDefinition } from '../engine/definition.ts';

const dayMs = 86_400_000;
/** Maximum number of event kinds per day, and of field names per kind, that are emitted. */
const maxKindsPerDay = 500;
const maxNames = 1_000;
/** Fields of the first records of a kind are all scanned; after this many, only each record at this interval is. */
const sampleAllUntil = 1_000;
const sampleEvery = 16;

const isSampled = (record: number): boolean => record <= sampleAllUntil || record % sampleEvery === 0;

const Saved = z.strictObject({
  day: z.int(),
  kinds: z.array(z.strictObject({ key: z.string(), records: z.int(), names: z.array(z.string()) })),
});

interface KindState {
  records: number;
  readonly names: Set<string>;
  /** Paths in events whose names are all known. */
  readonly knownPaths: WeakSet<readonly string[]>;
}

type NewTelemetry = Omit<SeenTelemetry, 'tenantId'>;

/** Returns field names of an event that are new for its kind. Returns none after the maximum number is reached. */
const collectNewNames = ({ names: known, knownPaths }: KindState, positions: readonly ValuePosition[]): string[] => {
  const newNames: string[] = [];
  for (let index = 0; index < positions.length; index++) {
    const { names } = positions[index] as ValuePosition;
    if (knownPaths.has(names)) continue;
    knownPaths.add(names);
    newNames.push(...names.filter((name) => !known.has(name)).slice(0, maxNames - known.size));
    for (const name of newNames) known.add(name);
  }
  return newNames;
};

export class DailyTelemetry {
  #day = 0;
  readonly #kinds = new Map<string, KindState>();
  #names = 0;

  /**
   * Counts a record if its fields need not be scanned. Returns false, without counting it, if they must be.
   */
  countUnsampled({ key }: EventKind, clockMs: number): boolean {
    this.#startDay(Math.floor(clockMs / dayMs));
    const kind = this.#kinds.get(key);
    if (kind === undefined) return this.#kinds.size >= maxKindsPerDay;
    if (isSampled(kind.records + 1)) return false;
    kind.records++;
    return true;
  }

  /**
   * Returns the log source and fields of an event, by the names of its values, that are new today; undefined for none.
   */
  observe(kind: EventKind, positions: readonly ValuePosition[], clockMs: number): NewTelemetry | undefined {
    this.#startDay(Math.floor(clockMs / dayMs));
    const existing = this.#kinds.get(kind.key);
    if (existing === undefined && this.#kinds.size >= maxKindsPerDay) return undefined;
    const current = existing ?? { records: 0, names: new Set(), knownPaths: new WeakSet() };
    if (existing === undefined) this.#kinds.set(kind.key, current);
    current.records++;
    if (!isSampled(current.records)) return undefined;
    const fields = collectNewNames(current, positions);
    this.#names += fields.length;
    if (existing !== undefined && fields.length === 0) return undefined;
    return {
      day: new Date(this.#day * dayMs).toISOString(),
      products: [...kind.products].sort(),
      services: [...kind.services].sort(),
      categories: [...(kind.categories ?? [])].sort(),
      knowsCategories: kind.categories !== undefined,
      fields,
    };
  }

  #startDay(day: number): void {
    if (day === this.#day) return;
    this.#day = day;
    this.#kinds.clear();
    this.#names = 0;
  }

  get entries(): number {
    return this.#kinds.size + this.#names;
  }

  save(): Uint8Array {
    const kinds = [...this.#kinds].map(([key, { records, names }]) => ({ key, records, names: [...names] }));
    return Buffer.from(JSON.stringify({ day: this.#day, kinds } satisfies z.input<typeof Saved>));
  }

  static restore(bytes: Uint8Array): DailyTelemetry {
    const { day, kinds } = Saved.parse(JSON.parse(Buffer.from(bytes).toString()));
    const restored = new DailyTelemetry();
    restored.#day = day;
    for (const { key, records, names } of kinds) {
      restored.#kinds.set(key, { records, names: new Set(names), knownPaths: new WeakSet() });
      restored.#names += names.length;
    }
    return restored;
  }
}

const entryBytes = 120;

export const seenTelemetryState: StateDefinition<DailyTelemetry> = {
  version: 1,
  open: (saved) => (saved === undefined ? new DailyTelemetry() : DailyTelemetry.restore(saved)),
  save: (state) => state.save(),
  size: ({ entries }) => ({ entries, bytes: entries * entryBytes, evicted: 0 }),
};
