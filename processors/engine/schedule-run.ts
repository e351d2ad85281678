/** Runs a schedule: this process is a member of its group, and owns the slots of its assigned partitions. */
import { setTimeout as sleep } from 'node:timers/promises';
import { toConsumerGroup } from '../../runtime/consumer-groups.ts';
import { throttleFailures } from '../../runtime/log-throttle.ts';
import { type ResourceCache, watchCollection } from '../../runtime/resource-cache.ts';
import { retryUntilAvailable } from '../../runtime/retry.ts';
import type { StateStore } from '../../runtime/states.ts';
import type { AssignedPartition, Bus, Producer } from '../../schemas/ports/bus.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import { ConflictError, type Feed } from '../../schemas/ports/documents.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';
import { maxStaleMs } from './configuration.ts';
import { DueTimer } from './due-polling.ts';
import { type FollowedEntitlement, followEntitlement } from './entitlements.ts';
import { type Schedule, type SchedulePorts, scheduleTopic } from './schedule.ts';
import { ScheduleItems } from './schedule-items.ts';
import { FairQueue } from './schedule-queue.ts';
import { type Overdue, Slot } from './schedule-slot.ts';
import { getNextDueMs, listSlots } from './schedule-times.ts';

export interface ScheduleRuntime {
  readonly bus: Pick<Bus, 'createConsumer' | 'offsets'>;
  readonly producer: Pick<Producer, 'publish'>;
  readonly states: Pick<StateStore, 'load' | 'save'>;
  readonly ports: SchedulePorts;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Minimum time between two checks for due work. Default 100. */
  readonly pollMs?: number;
}

export interface RunningSchedule {
  /** Saves completed runs, leaves the group, and then resolves `done`. */
  stop(): Promise<void>;
  /** Rejects if the schedule cannot continue and the process should exit. */
  readonly done: Promise<void>;
  /** Describes items that have been due for a long time and have not run; undefined for none. */
  degraded(): string | undefined;
}

const firstBackOffMs = 300;
const maxBackOffMs = 30_000;
/** Interval of checks for overdue items. */
const overdueMs = 5_000;
/** For short intervals, a long run is reported after this time at the latest. */
const maxLateMs = 110_000;

type Partition = Pick<AssignedPartition, 'topic' | 'partition'>;

/** Returns when the schedule first ran on any member. Items that already existed are not due before that time. */
const loadFirstRunTime = async (name: string, { states, clock }: ScheduleRuntime): Promise<number> => {
  const key = `schedules/${name}/since`;
  for (;;) {
    const saved = await states.load(key);
    if (saved !== undefined) return Number(Buffer.from(saved.bytes).toString('utf8'));
    try {
      await states.save(key, Buffer.from(String(clock.now())), undefined);
    } catch (error) {
      // Another member was first.
      if (!(error instanceof ConflictError)) throw error;
    }
  }
};

interface AssignedSlots {
  /** Slots of the partition, open or not. */
  readonly slots: readonly number[];
  /** Aborts when the partition is revoked. */
  readonly revoking: AbortController;
}

class ScheduleRun {
  readonly #schedule: Schedule;
  readonly #runtime: ScheduleRuntime;
  readonly #items: ScheduleItems;
  readonly #queue: FairQueue;
  readonly #slots = new Map<number, Slot>();
  /** Slots of this member that are not open, and since when. */
  readonly #unopenedSinceMs = new Map<number, number>();
  /** Partitions of this member. */
  readonly #partitions = new Map<number, AssignedSlots>();
  readonly #reportLoadFailure = this.#failures(
    'slots could not be loaded; their items do not run until they are loaded',
  );
  readonly #reportLate = throttleFailures((error, items) =>
    this.#runtime.log.warn(
      { error, schedule: this.#schedule.name, items },
      'runs took too long; the next runs start at the next due times',
    ),
  );
  readonly #reportSaveFailure = this.#failures('slots could not be saved or published; they are reloaded');
  #entitlement: FollowedEntitlement | undefined;
  #dueTimer: DueTimer | undefined;
  #sinceMs = 0;
  #isStale = false;
  #overdueAtMs = Number.NEGATIVE_INFINITY;
  #degraded: string | undefined;

  constructor(schedule: Schedule, runtime: ScheduleRuntime) {
    this.#schedule = schedule;
    this.#runtime = runtime;
    this.#items = new ScheduleItems(schedule, runtime.log);
    this.#queue = new FairQueue(schedule.concurrency);
  }

  get degraded(): string | undefined {
    return this.#degraded;
  }

  /** Starts once the documents are loaded. Resolves after `consumer.stop()`, or earlier if `stopping` aborted. */
  async run(consumer: ReturnType<Bus['createConsumer']>, stopping: AbortSignal): Promise<void> {
    const opened: Pick<Feed, 'close'>[] = [];
    try {
      const resources = await this.#follow(opened, stopping).catch((error: unknown) => {
        if (!stopping.aborted) throw error;
      });
      if (resources !== undefined) await this.#consume(consumer, resources);
    } finally {
      await Promise.all(opened.map((resource) => resource.close()));
    }
  }

  /** Follows the documents of the schedule, which may be unavailable for a while. */
  async #follow(opened: Pick<Feed, 'close'>[], stopping: AbortSignal): Promise<ResourceCache<object>> {
    const { documents } = this.#runtime.ports;
    const { name } = this.#schedule;
    const reportUnavailable = throttleFailures((error) =>
      this.#runtime.log.warn({ error, schedule: name }, 'documents do not answer; the schedule starts when they do'),
    );
    const retryWhileUnavailable = <Result>(work: () => Promise<Result>): Promise<Result> =>
      retryUntilAvailable(work, { signal: stopping, onUnavailable: (error) => reportUnavailable(name, error) });
    this.#sinceMs = await retryWhileUnavailable(() => loadFirstRunTime(name, this.#runtime));
    this.#entitlement = await retryWhileUnavailable(() => followEntitlement(documents, this.#schedule.entitlement));
    opened.push(this.#entitlement);
    const resources = await retryWhileUnavailable(() =>
      watchCollection(documents, this.#schedule.collection, (change) => {
        const { slot, key } = this.#items.applyChange(change);
        this.#slots.get(slot)?.applyChange(key);
      }),
    );
    opened.push(resources);
    return resources;
  }

  async #consume(consumer: ReturnType<Bus['createConsumer']>, resources: ResourceCache<object>): Promise<void> {
    const { clock, pollMs = 100 } = this.#runtime;
    const dueTimer = new DueTimer({
      runDue: () => this.#runDue(resources),
      now: () => clock.now(),
      minIntervalMs: pollMs,
    });
    this.#dueTimer = dueTimer;
    try {
      await consumer.run([scheduleTopic(this.#schedule.name).name], async () => undefined, {
        onAssigned: (partition) => this.#assigned(partition),
        onRevoked: (partition) => this.#revoked(partition),
      });
    } finally {
      dueTimer.stop();
    }
  }

  /** Starts due work; returns the next due time. */
  #runDue(resources: ResourceCache<object>): number {
    const { clock, log } = this.#runtime;
    this.#reportOverdue(clock.now());
    const isStale = Math.max(resources.staleMs(), this.#entitlement?.staleMs() ?? 0) > maxStaleMs;
    if (isStale && !this.#isStale)
      log.warn(
        { schedule: this.#schedule.name },
        'changes of the documents are not known; nothing runs until they are',
      );
    this.#isStale = isStale;
    if (isStale) return Number.NEGATIVE_INFINITY;
    const nowMs = clock.now();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const slot of this.#slots.values()) nextMs = Math.min(nextMs, slot.runDue(nowMs));
    return nextMs;
  }

  /** Yields items that are due and have not run, including those of slots that are not open. */
  *#overdue(nowMs: number): Generator<Overdue, void, undefined> {
    for (const slot of this.#slots.values()) yield* slot.overdue(nowMs);
    for (const [slot, sinceMs] of this.#unopenedSinceMs)
      for (const item of this.#items.getItems(slot).values()) {
        const due = getNextDueMs(item.phase, item.everyMs, sinceMs);
        if (due <= nowMs) yield { item, forMs: nowMs - due };
      }
  }

  /** Reports overdue items: those not run for more than three intervals, and for clearly longer than a run may take. */
  #reportOverdue(nowMs: number): void {
    if (Math.abs(nowMs - this.#overdueAtMs) < overdueMs) return;
    this.#overdueAtMs = nowMs;
    const { name, budgetMs } = this.#schedule;
    let oldestMs = 0;
    let late = 0;
    let failing = 0;
    for (const { item, forMs, fails = false } of this.#overdue(nowMs)) {
      oldestMs = Math.max(oldestMs, forMs);
      if (forMs <= Math.max(3 * item.everyMs, Math.min(1.5 * budgetMs, maxLateMs))) continue;
      late++;
      if (fails) failing++;
    }
    this.#runtime.metrics.set('oiq_schedule_oldest_due_seconds', oldestMs / 1000, { schedule: name });
    this.#degraded =
      late === 0
        ? undefined
        : `${name}: ${late} have been due for more than three intervals,${failing > 0 ? ` ${failing} of them because their runs fail,` : ''} the oldest for ${Math.round(oldestMs / 1000)} seconds`;
  }

  async #assigned({ topic, partition }: Partition): Promise<void> {
    const { length } = await this.#runtime.bus.offsets(topic);
    const holding = { slots: listSlots(partition, length), revoking: new AbortController() };
    this.#partitions.set(partition, holding);
    for (const slot of holding.slots) this.#unopenedSinceMs.set(slot, this.#runtime.clock.now());
    await Promise.all(holding.slots.map((slot) => this.#open(slot, holding.revoking.signal)));
  }

  async #revoked({ partition }: Partition): Promise<void> {
    const { slots = [], revoking } = this.#partitions.get(partition) ?? {};
    this.#partitions.delete(partition);
    revoking?.abort();
    await Promise.all(
      slots.map(async (slot) => {
        const open = this.#slots.get(slot);
        this.#slots.delete(slot);
        this.#unopenedSinceMs.delete(slot);
        await open?.close();
      }),
    );
  }

  #failures(message: string) {
    return throttleFailures((error, slots) =>
      this.#runtime.log.warn({ error, schedule: this.#schedule.name, slots }, message),
    );
  }

  /** Opens a slot, with retries until it is revoked. Resolves after the first success or when it is revoked. */
  async #open(slot: number, revoked: AbortSignal, backOffMs = firstBackOffMs): Promise<void> {
    const { name } = this.#schedule;
    const retry = async (waitMs: number): Promise<void> => {
      await sleep(waitMs, undefined, { signal: revoked }).catch(() => undefined);
      if (!revoked.aborted) await this.#open(slot, revoked, Math.min(2 * waitMs, maxBackOffMs));
    };
    try {
      const opened = await Slot.open({
        ...this.#runtime,
        key: `schedules/${name}/${slot}`,
        schedule: this.#schedule,
        items: this.#items.getItems(slot),
        sinceMs: this.#sinceMs,
        queue: this.#queue,
        isEntitled: (tenantId) => this.#entitlement?.has(tenantId) === true,
        late: this.#reportLate,
        due: (dueMs) => this.#dueTimer?.addDueTime(dueMs),
      });
      if (revoked.aborted) return;
      this.#slots.set(slot, opened);
      this.#unopenedSinceMs.delete(slot);
      this.#dueTimer?.addDueTime(Number.NEGATIVE_INFINITY);
      void opened.failed.then((error) => {
        this.#slots.delete(slot);
        if (!revoked.aborted) this.#unopenedSinceMs.set(slot, this.#runtime.clock.now());
        this.#reportSaveFailure(String(slot), error);
        return retry(firstBackOffMs);
      });
    } catch (error) {
      this.#reportLoadFailure(String(slot), error);
      void retry(backOffMs);
    }
  }
}

/** Runs the schedule until `stop`. Members on other machines share its items. */
export const runSchedule = (schedule: Schedule, runtime: ScheduleRuntime): RunningSchedule => {
  const consumer = runtime.bus.createConsumer({ group: toConsumerGroup('processors', schedule.name) });
  const run = new ScheduleRun(schedule, runtime);
  const stopping = new AbortController();
  const done = run.run(consumer, stopping.signal);
  return {
    done,
    degraded: () => run.degraded,
    async stop() {
      stopping.abort();
      await consumer.stop();
      await done.catch(() => undefined);
    },
  };
};
