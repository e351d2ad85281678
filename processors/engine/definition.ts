/** A processor as its author writes it: pure functions and what they need. `README.md` of `processors/` shows one. */
import type { z } from 'zod';
import type { DocumentsById } from '../../runtime/resource-cache.ts';
import type { CollectionDefinition, Stored } from '../../schemas/ports/documents.ts';
import type { CompiledFilter, RecordFilter } from '../../schemas/records/record-filter.ts';
import type { Source } from '../../schemas/records/source.ts';
import type { DerivedTopic } from '../../schemas/topic.ts';
import type { Timer } from './timers.ts';

/** Topics that a processor emits to, by the name that its steps call them. */
export type Emits = Readonly<Record<string, DerivedTopic>>;
/** Collections that a processor goes by, by the name that its steps call them. */
export type Follows = Readonly<Record<string, CollectionDefinition<object>>>;
type Nothing = Readonly<Record<never, never>>;

/** What a state holds now. `evicted` counts since it was opened. */
export interface StateSize {
  readonly entries: number;
  readonly bytes: number;
  readonly evicted: number;
}

/** Bytes, or pieces of them in their order: what is large need not be joined first. */
export type SavedState = Uint8Array | readonly Uint8Array[];

/** What a processor keeps of one tenant in one partition. The engine opens, saves and weighs it, and never looks inside. */
export interface StateDefinition<State> {
  /** Raised when `open` can no longer read what an older `save` wrote. */
  readonly version: number;
  /** An empty one, or what `save` of this version wrote. It then does what the saved one would have done. */
  open(saved?: Uint8Array): State;
  /** Equal states are saved as equal bytes. */
  save(state: State): SavedState;
  /** Asked after every message, so it must be cheap. */
  size(state: State): StateSize;
  /** Makes this version's form of what an older version saved; `undefined` when that is of no use. */
  upgrade?(saved: Uint8Array, version: number): Uint8Array | undefined;
  /** Without an upgrade the state begins empty, and what the bus took in this time before is stepped again, with no effects. Default 0. */
  readonly rebuildMs?: number;
}

/** What a tenant may take, before its messages are passed by for a while. */
export interface TenantLimits {
  /** Share of a thread, 0 to 1, over a minute in which others wait; `Infinity` where its input is bounded before. Default 0.5. */
  readonly threadShare: number;
  /** Bytes of state in a partition. Default 64 MiB. */
  readonly stateBytes: number;
}

/** What a step may look at and do. Valid during the step. */
export interface Context<E extends Emits, F extends Follows, State> {
  readonly tenantId: string;
  /** The tenant's, in this partition. Steps change it in place. */
  readonly state: State;
  /** Emits a value of this tenant. A value that its topic's schema refuses throws. */
  readonly emit: { readonly [Name in keyof E]: (value: z.input<E[Name]['item']>) => void };
  /** The tenant's documents by id, of one version for the whole batch. */
  readonly follows: {
    readonly [Name in keyof F]: F[Name] extends CollectionDefinition<infer Fields>
      ? DocumentsById<Fields & Stored>
      : never;
  };
  /** Time of the bus: when the latest message of the partition was taken. In a timer, when it was called. Never goes back. */
  readonly clockMs: number;
  /**
   * Records before it are late; `-Infinity` at first. It is the latest record's time before this message, minus the lateness. A time
   * that is more than 5 seconds after its reception does not move it. Where the tenant sends nothing for twice the lateness (5
   * seconds at least), it follows the clock at that distance. Never goes back.
   */
  readonly watermarkMs: number;
  /**
   * Asks for one call of `timer` once the clock or the watermark has reached `dueMs`; `Infinity` takes it back. Another call of the
   * same kind and key replaces it.
   */
  setTimer(kind: Timer['kind'], dueMs: number, key?: string): void;
  /** Leaves the item out on purpose; counted by the reason, one short word. */
  drop(reason: string): void;
}

export interface Definition<Item, E extends Emits, F extends Follows, State> {
  /** What it produces, plural. The consumer group is `processors.<name>`. */
  readonly name: string;
  readonly summary: string;
  readonly reads: Source<Item>;
  /** Which items it wants, checked for all processors at once; the others are not stepped. All without it. Of log records alone. */
  readonly recordFilter?: RecordFilter;
  readonly emits?: E;
  readonly follows?: F;
  /** Tenants whose plan lacks it are passed by, and counted. */
  readonly entitlement?: string;
  readonly state?: StateDefinition<State>;
  /**
   * How long after the latest record's time an earlier one is still on time. Default 60,000. Without it and without `timer` the
   * records' times are not read, and there is no watermark.
   */
  readonly latenessMs?: number;
  readonly limits?: Partial<TenantLimits>;
  /**
   * One item. Synchronous and pure: what it does follows from the item and the context alone. A `PermanentError` (or any other) sends
   * the item to the tenant's dead letter; other items go on, and what it did before stays.
   */
  step(item: Item, context: Context<E, F, State>): void;
  timer?(timer: Timer, context: Context<E, F, State>): void;
}

/** A processor with its author's types closed over, so that the registry is a plain array. */
export interface Processor {
  readonly name: string;
  readonly summary: string;
  readonly reads: Source<unknown>;
  /** Tells which items of a message it wants; all where it is absent. */
  readonly itemFilter: CompiledFilter<unknown> | undefined;
  readonly emits: Emits;
  readonly follows: Follows;
  readonly entitlement: string | undefined;
  readonly state: StateDefinition<unknown>;
  readonly latenessMs: number;
  /** Whether it goes by the records' times. */
  readonly readsTime: boolean;
  readonly limits: TenantLimits;
  step(item: unknown, context: Context<Emits, Follows, unknown>): void;
  timer?(timer: Timer, context: Context<Emits, Follows, unknown>): void;
}

const nothing: StateDefinition<unknown> = {
  version: 0,
  open: () => ({}),
  save: () => new Uint8Array(0),
  size: () => ({ entries: 0, bytes: 0, evicted: 0 }),
};

const defaultLimits: TenantLimits = { threadShare: 0.5, stateBytes: 64 * 1024 * 1024 };

/** Declares a processor. Throws when its name is none for a consumer group. */
export const defineProcessor = <Item, E extends Emits = Nothing, F extends Follows = Nothing, State = Nothing>(
  definition: Definition<Item, E, F, State>,
): Processor => {
  const { name, summary, reads, recordFilter, entitlement, latenessMs } = definition;
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name))
    throw new TypeError(`a processor cannot be called "${name}": use small letters, digits and single hyphens`);
  if (recordFilter !== undefined && reads.compileFilter === undefined)
    throw new TypeError(`processor ${name} cannot say what it wants: the items of its source are not checked for it`);
  // Its steps see the context that its own types describe, and items of its own source.
  const author = definition as unknown as Processor;
  return {
    name,
    summary,
    reads,
    itemFilter: recordFilter === undefined ? undefined : author.reads.compileFilter?.(recordFilter),
    emits: definition.emits ?? {},
    follows: definition.follows ?? {},
    entitlement,
    state: author.state ?? nothing,
    latenessMs: latenessMs ?? 60_000,
    readsTime: latenessMs !== undefined || definition.timer !== undefined,
    limits: { ...defaultLimits, ...definition.limits },
    step: (item, context) => author.step(item, context),
    ...(definition.timer !== undefined && { timer: (timer: Timer, context) => author.timer?.(timer, context) }),
  };
};
