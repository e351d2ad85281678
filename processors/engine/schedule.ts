/** A schedule as its author writes it: work that time alone drives, for each of many things (rules, checks, reports). */
import type { z } from 'zod';
import type { PromqlReading } from '../../queries/promql/reading.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import type { CollectionDefinition, Documents, Stored } from '../../schemas/ports/documents.ts';
import { defineTopic, type Topic } from '../../schemas/topic.ts';
import type { Emits } from './definition.ts';

/** What a run may use beside its thing. */
export interface SchedulePorts {
  readonly columns: Columns;
  readonly documents: Documents;
  /** Evaluates PromQL; absent where it is not evaluated. */
  readonly promql?: PromqlReading | undefined;
}

/** What is kept of each thing between its runs: JSON. */
export interface ItemState<State> {
  /** Raised when `schema` can no longer read what an older version wrote. */
  readonly version: number;
  readonly schema: z.ZodType<State>;
  empty(): State;
  /** Makes this version's form of an older one; `undefined` when that is of no use: then it begins empty. */
  upgrade?(saved: unknown, version: number): State | undefined;
}

/** One run of one thing. */
export interface Run<State, E extends Emits> {
  readonly tenantId: string;
  /** For when it runs; the clock may be later. */
  readonly dueMs: number;
  /** Whether it is done again soon where it rejects with an `UnavailableError`: its due time is made up, and the next one has not come yet. */
  readonly mayWait: boolean;
  /** What the run before resolved to. Its own copy, made when it is first read: read it late where it is large. */
  readonly state: State;
  /** Emits a value of this tenant, if the run resolves. A value that its topic's schema refuses throws. */
  readonly emit: { readonly [Name in keyof E]: (value: z.input<E[Name]['item']>) => void };
  /** Aborts when the time is over, or another member has the thing. */
  readonly signal: AbortSignal;
  readonly ports: SchedulePorts;
}

/** What is left of a thing that was deleted. */
export type Left<State, E extends Emits> = Pick<Run<State, E>, 'tenantId' | 'state' | 'emit' | 'ports'> & {
  readonly nowMs: number;
};

/** When things of a tenant come due: so far apart, in that part of their interval. */
export type Moments = { readonly batchMs: number } & Pick<ScheduleDefinition<object, unknown, Emits>, 'within'>;

export interface ScheduleDefinition<Item extends object, State, E extends Emits> {
  /** What it does, plural. The consumer group is `processors.<name>`, its topic `schedule.<name>`. */
  readonly name: string;
  readonly summary: string;
  /** Things of tenants whose plan lacks it are not run: their due times pass, and are counted. */
  readonly entitlement?: string;
  /** One document is one thing. Changes act within a second. */
  readonly collection: CollectionDefinition<Item>;
  /** How often, a second at least; `undefined` for not now, which also ends its state. Due times are spread over the interval by the thing's id. */
  everyMs(item: Item & Stored): number | undefined;
  /**
   * Things of one tenant come due in the same moments, so far apart, so that their work can be done together. By default each has a time
   * of its own.
   */
  readonly batchMs?: number;
  /** With `batchMs`: which part of their interval things come due in, since the epoch; all of it by default. */
  readonly within?: { readonly fromMs: number; readonly toMs: number };
  /** In place of both where not all things have the same. */
  momentsOf?(item: Item & Stored): Moments;
  /**
   * Of due times that nobody ran, as no member was there or the work took longer: `skip` runs the latest only, `makeUp` the last so many,
   * in order. While a store is away, what is made up waits for it until the next due time comes. A thing that is new is due after it was last changed, and after the schedule first ran.
   */
  readonly missed: 'skip' | { readonly makeUp: number };
  readonly state: ItemState<State>;
  readonly emits: E;
  /** How long one run may take. Default 30,000. */
  readonly budgetMs?: number;
  /** Runs at once. Default 64 in a process, and 8 of a tenant. */
  readonly atOnce?: { readonly total: number; readonly perTenant: number };
  /**
   * Runs it, and resolves to the next state. State and emitted values take effect together and once, also when members crash; anything
   * else that it does may be done again. What rejects, or takes too long, has no effect: it is counted, and the thing runs again at its
   * next due time. Runs of one thing never overlap within a process.
   */
  run(item: Item & Stored, run: Run<State, E>): Promise<State>;
  /**
   * Called for a thing that was deleted after it had run, also where nothing ran meanwhile. What it emits takes effect once, together
   * with the end of the thing's state. When it rejects, it is called again later.
   */
  removed?(left: Left<State, E>): Promise<void>;
}

type OptionalPart = 'entitlement' | 'batchMs' | 'within' | 'momentsOf' | 'removed';

/** A schedule with its author's types closed over, so that the registry is a plain array. */
export type Schedule = Required<Omit<ScheduleDefinition<object, unknown, Emits>, OptionalPart>> &
  Pick<ScheduleDefinition<object, unknown, Emits>, OptionalPart>;

/** Deals the slots of a schedule to members. It needs no messages. */
export const scheduleTopic = (name: string): Topic =>
  defineTopic({ name: `schedule.${name}`, summary: `Deals ${name} to processors; holds nothing`, key: 'none' });

/** Declares a schedule. Throws when its name is none for a consumer group. */
export const defineSchedule = <Item extends object, State, E extends Emits>(
  definition: ScheduleDefinition<Item, State, E>,
): Schedule => {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(definition.name))
    throw new TypeError(
      `a schedule cannot be called "${definition.name}": use small letters, digits and single hyphens`,
    );
  const defaults = { budgetMs: 30_000, atOnce: { total: 64, perTenant: 8 } };
  // It runs with things and states of its own types only.
  return { ...defaults, ...definition } as unknown as Schedule;
};
