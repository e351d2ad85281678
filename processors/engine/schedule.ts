/**
 * Definition of a schedule by its author: work driven by time alone, for each of many items (rules, checks, reports).
 */
import type { z } from 'zod';
import type { PromqlDependencies } from '../../queries/promql/query-reader.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import type { CollectionDefinition, Documents, StoredMetadata } from '../../schemas/ports/documents.ts';
import { defineTopic, type Topic } from '../../schemas/topic.ts';
import type { Emits } from './definition.ts';
import type { RequiredEntitlement } from './entitlements.ts';

/** Dependencies of a run. */
export interface SchedulePorts {
  readonly columns: Columns;
  readonly documents: Documents;
  /** Evaluates PromQL; absent if PromQL is not available. */
  readonly promql?: PromqlDependencies | undefined;
}

/** Definition of the JSON state of an item between runs. */
export interface ItemState<State> {
  /** Increased when `schema` can no longer read the state of an older version. */
  readonly version: number;
  readonly schema: z.ZodType<State>;
  empty(): State;
  /** Converts the state of an older version; `undefined` if that is not possible, and the state then begins empty. */
  upgrade?(saved: unknown, version: number): State | undefined;
}

/** One run of one item. */
export interface Run<State, E extends Emits> {
  readonly tenantId: string;
  /** Due time of the run; the clock may be later. */
  readonly dueMs: number;
  /**
   * Whether the run is retried soon if it rejects with an `UnavailableError`: true if the due time was missed and is
   * being caught up on, and the next due time has not passed yet.
   */
  readonly canWait: boolean;
  /** Result of the previous run. The copy is created on first access; read it late if it is large. */
  readonly state: State;
  /** Emits a value of this tenant, if the run resolves. Throws if the schema of the topic rejects the value. */
  readonly emit: { readonly [Name in keyof E]: (value: z.input<E[Name]['item']>) => void };
  /** Aborts when the time is over, or another member owns the item. */
  readonly signal: AbortSignal;
  readonly ports: SchedulePorts;
}

/** Remaining state of a deleted item. */
export type DeletedItem<State, E extends Emits> = Pick<Run<State, E>, 'tenantId' | 'state' | 'emit' | 'ports'> & {
  readonly nowMs: number;
};

/** Due times of a tenant's items: their spacing, and the part of the interval they are in. */
export type DueTiming = { readonly batchMs: number } & Pick<ScheduleDefinition<object, unknown, Emits>, 'within'>;

export interface ScheduleDefinition<Item extends object, State, E extends Emits> {
  /** Plural name of its work. The consumer group is `processors.<name>`, its topic `schedule.<name>`. */
  readonly name: string;
  readonly summary: string;
  /**
   * Entitlement that the plan of a tenant needs. Items of other tenants do not run; their due times are skipped and
   * counted.
   */
  readonly entitlement?: RequiredEntitlement;
  /** Collection with one document per item. Changes take effect within a second. */
  readonly collection: CollectionDefinition<Item>;
  /**
   * Returns the interval, at least a second; `undefined` to pause, which also ends the item's state. Due times are
   * spread over the interval by the item's id.
   */
  everyMs(item: Item & StoredMetadata): number | undefined;
  /**
   * Spacing of the due times that items of one tenant share, so that their work can be batched. By default each item
   * has its own time.
   */
  readonly batchMs?: number;
  /**
   * With `batchMs`: the part of the interval in which items are due, relative to the epoch. By default the entire
   * interval.
   */
  readonly within?: { readonly fromMs: number; readonly toMs: number };
  /** Replaces `batchMs` and `within` if they differ between items. */
  listDueTimes?(item: Item & StoredMetadata): DueTiming;
  /**
   * Handling of due times at which the item did not run, because no member was running or the work took longer: `skip`
   * runs only the latest, `catchUp` the last N in order. While a store is unavailable, runs that catch up wait for it
   * until the next due time. A new item is due after its last change, and after the schedule first ran.
   */
  readonly missed: 'skip' | { readonly catchUp: number };
  readonly state: ItemState<State>;
  readonly emits: E;
  /** Time limit of one run. Default 30,000. */
  readonly budgetMs?: number;
  /** Maximum number of concurrent runs. Default 64 in a process, and 8 per tenant. */
  readonly concurrency?: { readonly total: number; readonly perTenant: number };
  /**
   * Runs an item, and resolves to the next state. State and emitted values take effect atomically and once, also when
   * members crash; any other effect may be repeated. A run that rejects or takes too long has no effect: it is counted,
   * and the item runs again at its next due time. Runs of one item never overlap within a process.
   */
  run(item: Item & StoredMetadata, run: Run<State, E>): Promise<State>;
  /**
   * Called for an item that was deleted after it had run, also if it was deleted while no member was running. Its
   * emissions take effect once, atomically with the end of the item's state. If it rejects, it is called again later.
   */
  removed?(item: DeletedItem<State, E>): Promise<void>;
}

type OptionalProperty = 'entitlement' | 'batchMs' | 'within' | 'listDueTimes' | 'removed';

/** A schedule without its author's type parameters, so that the registry is a plain array. */
export type Schedule = Required<Omit<ScheduleDefinition<object, unknown, Emits>, OptionalProperty>> &
  Pick<ScheduleDefinition<object, unknown, Emits>, OptionalProperty>;

/** Topic that distributes the slots of a schedule to members. It needs no messages. */
export const scheduleTopic = (name: string): Topic =>
  defineTopic({
    name: `schedule.${name}`,
    summary: `Distributes ${name} to processors; holds no messages`,
    key: 'none',
  });

/** Declares a schedule. Throws if its name is not valid in the name of a consumer group. */
export const defineSchedule = <Item extends object, State, E extends Emits>(
  definition: ScheduleDefinition<Item, State, E>,
): Schedule => {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(definition.name))
    throw new TypeError(
      `a schedule cannot be named "${definition.name}": use lower-case letters, digits and single hyphens`,
    );
  const defaults = { budgetMs: 30_000, concurrency: { total: 64, perTenant: 8 } };
  // The engine calls it only with items and states of its own types.
  return { ...defaults, ...definition } as unknown as Schedule;
};
