/** A processor as its author writes it: pure functions and what they need. `README.md` of `processors/` shows one. */
import type { z } from 'zod';
import type { CollectionDefinition, Stored } from '../../schemas/ports/documents.ts';
import type { Source } from '../../schemas/records/source.ts';
import type { DerivedTopic } from '../../schemas/topics.ts';

/** Topics that a processor emits to, by the name that its steps call them. */
export type Emits = Readonly<Record<string, DerivedTopic>>;
/** Collections that a processor goes by, by the name that its steps call them. */
export type Follows = Readonly<Record<string, CollectionDefinition<object>>>;

/** What a processor keeps of one tenant in one partition. The engine opens, saves and weighs it, and never looks inside. */
export interface StateDefinition<State> {
  /** Raised when `open` can no longer read what an older `save` wrote. */
  readonly version: number;
  /** An empty one, or what `save` of this version wrote. */
  open(saved?: Uint8Array): State;
  save(state: State): Uint8Array;
  /** What it holds now. Asked after every message, so it must be cheap. `evicted` counts since `open`. */
  size(state: State): { readonly entries: number; readonly bytes: number; readonly evicted: number };
  /** Makes this version's form of what an older version saved; `undefined` when that is of no use. */
  upgrade?(saved: Uint8Array, version: number): Uint8Array | undefined;
  /** Without an upgrade the state begins empty, and what the bus took in this time before is stepped again, with no effects. Default 0. */
  readonly rebuildMs?: number;
}

export interface Timer {
  readonly kind: 'clock' | 'watermark';
  readonly dueMs: number;
  readonly key: string;
}

/** What a tenant may take, before its messages are passed by for a while. */
export interface TenantLimits {
  /** Share of a thread, 0 to 1, over a minute in which others wait. Default 0.5. */
  readonly threadShare: number;
  /** Bytes of state. Default 64 MiB. */
  readonly stateBytes: number;
}

/** What a step may look at and do. Valid during the step. */
export interface Context<E extends Emits, F extends Follows, State> {
  readonly tenantId: string;
  /** The tenant's, in this partition. Steps change it in place. */
  readonly state: State;
  /** Emits a value. A value that its topic's schema refuses throws. */
  readonly emit: { readonly [Name in keyof E]: (value: z.input<E[Name]['item']>) => void };
  /** The tenant's documents by id, of one version for the whole batch. */
  readonly follows: {
    readonly [Name in keyof F]: F[Name] extends CollectionDefinition<infer Fields>
      ? ReadonlyMap<string, Fields & Stored>
      : never;
  };
  /** Time of the bus: when the latest message of the partition was taken. In a timer, when it was called. Never goes back. */
  readonly clockMs: number;
  /** Records before it are late. It is the latest record's time minus the lateness; clocks that are ahead do not move it. Never goes back. */
  readonly watermarkMs: number;
  /** Asks for one call of `timer` once the clock or the watermark has reached `dueMs`. Another call of the same kind and key replaces it. */
  setTimer(kind: Timer['kind'], dueMs: number, key?: string): void;
  /** Leaves the item out on purpose; counted by the reason, one short word. */
  drop(reason: string): void;
}

export interface Definition<Item, E extends Emits, F extends Follows, State> {
  /** What it produces, plural. The consumer group is `processors.<name>`. */
  readonly name: string;
  readonly summary: string;
  readonly reads: Source<Item>;
  readonly emits?: E;
  readonly follows?: F;
  /** Tenants whose plan lacks it are passed by, and counted. */
  readonly entitlement?: string;
  readonly state?: StateDefinition<State>;
  /** How long after the latest record's time an earlier one is still on time. Default 60,000. */
  readonly latenessMs?: number;
  readonly limits?: Partial<TenantLimits>;
  /**
   * One item. Synchronous and pure: what it does follows from the item and the context alone. A `PermanentError` (or any other) sends
   * the item to the tenant's dead letter; other items go on.
   */
  step(item: Item, context: Context<E, F, State>): void;
  timer?(timer: Timer, context: Context<E, F, State>): void;
}
