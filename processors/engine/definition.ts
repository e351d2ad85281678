/** Definition of a processor: pure functions and their dependencies. `processors/example.md` has an example. */
import type { z } from 'zod';
import type { DocumentsById } from '../../runtime/resource-cache.ts';
import type { CollectionDefinition, StoredMetadata } from '../../schemas/ports/documents.ts';
import type { CompiledFilter, RecordFilter } from '../../schemas/records/record-filter.ts';
import type { Source } from '../../schemas/records/source.ts';
import type { DerivedTopic } from '../../schemas/topic.ts';
import type { RequiredEntitlement } from './entitlements.ts';
import type { Timer } from './timers.ts';

/** Topics that a processor emits to, by their names in its steps. */
export type Emits = Readonly<Record<string, DerivedTopic>>;
/** Collections that a processor follows, by their names in its steps. */
export type Follows = Readonly<Record<string, CollectionDefinition<object>>>;
type EmptyRecord = Readonly<Record<never, never>>;

/** Current size of a state. `evicted` counts since the state was opened. */
export interface StateSize {
  readonly entries: number;
  readonly bytes: number;
  readonly evicted: number;
}

/** Bytes, or chunks of them in order, so that large states need not be concatenated. */
export type SavedState = Uint8Array | readonly Uint8Array[];

/**
 * State of a processor for one tenant in one partition. The engine opens, saves and measures it, and never reads its
 * contents.
 */
export interface StateDefinition<State> {
  /** Increase it when `open` can no longer read the bytes of an older `save`. */
  readonly version: number;
  /**
   * Opens an empty state, or restores a state from the bytes of this version’s `save`. A restored state behaves exactly
   * like the saved one.
   */
  open(saved?: Uint8Array): State;
  /** Serializes the state. Equal states yield equal bytes. */
  save(state: State): SavedState;
  /** Returns the size. Called after every message, so it must be cheap. */
  size(state: State): StateSize;
  /** Converts the saved form of an older version; `undefined` if that is not possible. */
  upgrade?(saved: Uint8Array, version: number): Uint8Array | undefined;
  /**
   * Without an upgrade, the state begins empty. Messages that the bus received within this preceding time are stepped
   * again, without effects. Default 0.
   */
  readonly rebuildMs?: number;
}

/** Limits of a tenant, above which its messages are skipped for a while. */
export interface TenantLimits {
  /**
   * Maximum share of a thread, 0 to 1, over a minute in which other tenants wait; `Infinity` if the input is already
   * bounded. Default 0.5.
   */
  readonly threadShare: number;
  /** Maximum bytes of state in a partition. Default 64 MiB. */
  readonly stateBytes: number;
}

/** Input and actions of a step. Valid during the step. */
export interface Context<E extends Emits, F extends Follows, State> {
  readonly tenantId: string;
  /** State of the tenant in this partition. Steps change it in place. */
  readonly state: State;
  /** Emits a value of this tenant. Throws if the schema of the topic rejects the value. */
  readonly emit: { readonly [Name in keyof E]: (value: z.input<E[Name]['item']>) => void };
  /** Documents of the tenant by id, at one version for the whole batch. */
  readonly follows: {
    readonly [Name in keyof F]: F[Name] extends CollectionDefinition<infer Fields>
      ? DocumentsById<Fields & StoredMetadata>
      : never;
  };
  /**
   * Time of the bus: when it received the latest message of the partition. In a timer, the time of the call. Never
   * decreases.
   */
  readonly clockMs: number;
  /**
   * Records before the watermark are late; `-Infinity` at first. It is the latest record time before this message,
   * minus the lateness. A time more than 5 seconds after its reception does not move it. If the tenant sends nothing
   * for twice the lateness (at least 5 seconds), it follows the clock at that distance. Never decreases.
   */
  readonly watermarkMs: number;
  /**
   * Schedules one call of `timer` once the clock or the watermark reaches `dueMs`; `Infinity` cancels it. Another call
   * with the same kind and key replaces it.
   */
  setTimer(kind: Timer['kind'], dueMs: number, key?: string): void;
  /** Drops the item. A counter counts drops by reason, which is one short word. */
  drop(reason: string): void;
}

export interface Definition<Item, E extends Emits, F extends Follows, State> {
  /** Plural name of the output. The consumer group is `processors.<name>`. */
  readonly name: string;
  readonly summary: string;
  readonly reads: Source<Item>;
  /**
   * Filter of items, checked for all processors at once; other items are not stepped. All items by default. For log
   * records only.
   */
  readonly recordFilter?: RecordFilter;
  readonly emits?: E;
  readonly follows?: F;
  /** Entitlement that the plan of a tenant needs. Messages of other tenants are skipped and counted. */
  readonly entitlement?: RequiredEntitlement;
  readonly state?: StateDefinition<State>;
  /**
   * Time after the latest record during which an earlier record still counts as on time. Default 60,000. Without it and
   * without `timer`, record times are not read, and there is no watermark.
   */
  readonly latenessMs?: number;
  readonly limits?: Partial<TenantLimits>;
  /**
   * Processes one item. Synchronous and pure: the result depends only on the item and the context. A `PermanentError`
   * (or any other error) sends the item to the tenant's dead letters. Other items continue, and effects before the
   * error remain.
   */
  step(item: Item, context: Context<E, F, State>): void;
  timer?(timer: Timer, context: Context<E, F, State>): void;
}

/** A processor without its author's type parameters, so that the registry is a plain array. */
export interface Processor {
  readonly name: string;
  readonly summary: string;
  readonly reads: Source<unknown>;
  /** Selects the items of a message to step; absent for all. */
  readonly itemFilter: CompiledFilter<unknown> | undefined;
  readonly emits: Emits;
  readonly follows: Follows;
  readonly entitlement: RequiredEntitlement | undefined;
  readonly state: StateDefinition<unknown>;
  readonly latenessMs: number;
  /** Whether the processor uses record times. */
  readonly readsTime: boolean;
  readonly limits: TenantLimits;
  step(item: unknown, context: Context<Emits, Follows, unknown>): void;
  timer?(timer: Timer, context: Context<Emits, Follows, unknown>): void;
}

const emptyStateDefinition: StateDefinition<unknown> = {
  version: 0,
  open: () => ({}),
  save: () => new Uint8Array(0),
  size: () => ({ entries: 0, bytes: 0, evicted: 0 }),
};

const defaultLimits: TenantLimits = { threadShare: 0.5, stateBytes: 64 * 1024 * 1024 };

/** Declares a processor. Throws if its name is not valid in the name of a consumer group. */
export const defineProcessor = <
  Item,
  E extends Emits = EmptyRecord,
  F extends Follows = EmptyRecord,
  State = EmptyRecord,
>(
  definition: Definition<Item, E, F, State>,
): Processor => {
  const { name, summary, reads, recordFilter, entitlement, latenessMs } = definition;
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name))
    throw new TypeError(`a processor cannot be named "${name}": use lower-case letters, digits and single hyphens`);
  if (recordFilter !== undefined && reads.compileFilter === undefined)
    throw new TypeError(`processor ${name} has a record filter, but its source cannot compile it`);
  // Safe, because the engine calls its steps only with items of its source and a context of its types.
  const untypedDefinition = definition as unknown as Processor;
  return {
    name,
    summary,
    reads,
    itemFilter: recordFilter === undefined ? undefined : untypedDefinition.reads.compileFilter?.(recordFilter),
    emits: definition.emits ?? {},
    follows: definition.follows ?? {},
    entitlement,
    state: untypedDefinition.state ?? emptyStateDefinition,
    latenessMs: latenessMs ?? 60_000,
    readsTime: latenessMs !== undefined || definition.timer !== undefined,
    limits: { ...defaultLimits, ...definition.limits },
    step: (item, context) => untypedDefinition.step(item, context),
    ...(definition.timer !== undefined && {
      timer: (timer: Timer, context) => untypedDefinition.timer?.(timer, context),
    }),
  };
};
