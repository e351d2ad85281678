/**
 * One slot of a schedule in its owning member: runs its items when they are due, saves the results, and publishes them.
 */
import { randomUUID } from 'node:crypto';
import { trackWork } from '../../runtime/current-work.ts';
import type { StateStore } from '../../runtime/states.ts';
import { rejectOnAbort, TimeoutError } from '../../runtime/timeout.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { Producer } from '../../schemas/ports/bus.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';
import type { Emits } from './definition.ts';
import { Emissions, type PreparedValue, prepareValue } from './emissions.ts';
import { MissedRuns } from './missed-runs.ts';
import type { Run, Schedule, SchedulePorts } from './schedule.ts';
import type { ScheduleItem } from './schedule-items.ts';
import type { FairQueue } from './schedule-queue.ts';
import { decodeSlot, encodeSlot, type SavedItem, upgradeState } from './schedule-snapshot.ts';
import { type Due, findDue, getNextDueMs, parseTenantId } from './schedule-times.ts';

export interface SlotOptions {
  /** Key of its snapshot. */
  readonly key: string;
  readonly schedule: Schedule;
  /** Current items by key. */
  readonly items: ReadonlyMap<string, ScheduleItem>;
  /** Items are not due before this time. */
  readonly sinceMs: number;
  readonly queue: FairQueue;
  /** Returns whether items of the tenant run. */
  readonly isEntitled: (tenantId: string) => boolean;
  readonly states: Pick<StateStore, 'load' | 'save'>;
  readonly producer: Pick<Producer, 'publish'>;
  readonly ports: SchedulePorts;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Called for each run that took too long; under load there are many. */
  readonly late: (item: string, error: Error) => void;
  /** Called when an item is due at a time that the last check did not return. */
  readonly due: (dueMs: number) => void;
}

/** A completed run waits this long for others of its slot, unless none is running. */
const saveDelayMs = 200;
/** Delay before the cleanup of a deleted item is retried. */
const cleanupRetryMs = 10_000;
/** Number of message keys over which the values of a tenant are spread. */
const keyBuckets = 16;

const getRunOutcome = (error: unknown, isWaiting: boolean): string => {
  if (isWaiting) return 'waits';
  return error instanceof TimeoutError ? 'late' : 'failure';
};

/**
 * Runs change the slot in memory. A save includes all runs completed so far; their values are published after it and
 * before the next save. A save is a compare-and-set. If a save or a publication fails, the slot has `failed`, and
 * unsaved runs count as not run. The next member that opens the slot first publishes the values of the last save.
 */
export class Slot {
  readonly #options: SlotOptions;
  readonly #items = new Map<string, SavedItem>();
  readonly #emissions = new Emissions(keyBuckets);
  /** Deleted items whose cleanup has not taken effect. */
  readonly #deletedItems = new Map<string, SavedItem>();
  /** Items that wait, run, or exceeded their time and have not ended. */
  readonly #busyKeys = new Set<string>();
  /** Items whose last run failed, with the due time of the first failure. */
  readonly #failing = new Map<string, number>();
  readonly #missedRuns = new MissedRuns();
  readonly #closing = new AbortController();
  readonly #failed = Promise.withResolvers<Error>();
  #emitter: string = randomUUID();
  #emitted = 0;
  /** Number of the snapshot. */
  #number: number | undefined;
  #isChanged = false;
  #saving: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;
  #nextDueMs = Number.NEGATIVE_INFINITY;
  #checkedAtMs = Number.NEGATIVE_INFINITY;

  private constructor(options: SlotOptions) {
    this.#options = options;
  }

  /** Loads the slot, and publishes the values of its last save. */
  static async open(options: SlotOptions): Promise<Slot> {
    const slot = new Slot(options);
    await slot.#load();
    return slot;
  }

  /** Resolves when the slot has failed; open it again then. */
  get failed(): Promise<Error> {
    return this.#failed.promise;
  }

  /** Starts due work; returns the next due time. */
  runDue(nowMs: number): number {
    // The clock was set back, so the stored times no longer apply.
    if (nowMs < this.#checkedAtMs) {
      this.#nextDueMs = Number.NEGATIVE_INFINITY;
      this.#missedRuns.clear();
    }
    this.#checkedAtMs = nowMs;
    if (this.#closing.signal.aborted) return Number.POSITIVE_INFINITY;
    if (nowMs >= this.#nextDueMs) this.#start(nowMs);
    return this.#nextDueMs;
  }

  #start(nowMs: number): void {
    this.#nextDueMs = Number.POSITIVE_INFINITY;
    const { missed } = this.#options.schedule;
    const maxRuns = missed === 'skip' ? 1 : Math.max(1, missed.catchUp);
    this.#resetFutureDueTimes(nowMs);
    for (const item of this.#options.items.values()) {
      if (this.#busyKeys.has(item.key)) continue;
      const retryAtMs = this.#missedRuns.getRetryTimeMs(item.key);
      if (nowMs < retryAtMs) {
        this.#nextDueMs = Math.min(this.#nextDueMs, retryAtMs);
        continue;
      }
      const due = findDue(nowMs, { ...item, afterMs: this.#getLastDueMs(item), maxRuns });
      if (due === undefined) this.#scheduleNext(item);
      else this.#enqueueRun(item, due);
    }
  }

  /** Yields items that are due and have not run, or whose runs fail, and for how long. */
  *overdue(nowMs: number): Generator<Overdue, void, undefined> {
    for (const item of this.#options.items.values()) {
      const failedMs = this.#failing.get(item.key);
      const due = failedMs ?? getNextDueMs(item.phase, item.everyMs, this.#getLastDueMs(item));
      if (due <= nowMs) yield { item, forMs: nowMs - due, fails: failedMs !== undefined };
    }
  }

  /** Handles a created, changed or deleted item. */
  applyChange(key: string): void {
    this.#nextDueMs = Number.NEGATIVE_INFINITY;
    this.#options.due(this.#nextDueMs);
    if (!this.#options.items.has(key)) this.#removeItem(key);
    const saved = this.#items.get(key);
    if (saved === undefined || saved.born === this.#options.items.get(key)?.document.createdAt) return;
    this.#items.delete(key);
    this.#cleanUpDeleted(key, saved);
  }

  /**
   * Ends running work, then saves and publishes completed runs. Never rejects: unsaved runs are repeated where the slot
   * is opened next.
   */
  async close(): Promise<void> {
    this.#end();
    await this.#saving;
    if (this.#isChanged) await this.#save().catch((error: unknown) => this.#fail(error));
  }

  async #load(): Promise<void> {
    const { states, key, schedule, items, producer } = this.#options;
    const snapshot = await states.load(key);
    if (snapshot === undefined) return;
    const { emitter, emitted, outbox, stateVersion, items: saved } = decodeSlot(snapshot.bytes);
    this.#number = snapshot.number;
    this.#emitter = emitter;
    this.#emitted = emitted;
    if (outbox.length > 0) await producer.publish(outbox);
    for (const [item, { born, dueMs, state }] of saved) {
      const savedItem = { born, dueMs, state: upgradeState(schedule, state, stateVersion) };
      if (items.get(item)?.document.createdAt === born) this.#items.set(item, savedItem);
      else this.#cleanUpDeleted(item, savedItem);
    }
  }

  #cleanUpDeleted(key: string, saved: SavedItem): void {
    const { schedule, queue, log } = this.#options;
    if (schedule.removed === undefined) return;
    this.#deletedItems.set(key, saved);
    const tenantId = parseTenantId(key);
    queue.add(tenantId, async () => {
      if (this.#closing.signal.aborted) return;
      try {
        const values = await this.#runCleanup(tenantId, saved);
        if (this.#closing.signal.aborted) return;
        for (const value of values) this.#emissions.add(value);
        this.#deletedItems.delete(key);
        this.#saveSoon();
      } catch (error) {
        log.warn(
          { error, schedule: schedule.name, tenantId },
          'deleted items could not be cleaned up; this is retried',
        );
        setTimeout(() => this.#cleanUpDeleted(key, saved), cleanupRetryMs).unref();
      }
    });
  }

  async #runCleanup(tenantId: string, { state }: SavedItem): Promise<readonly PreparedValue[]> {
    const { schedule, ports, clock } = this.#options;
    const { values, emit } = this.#createEmitter(tenantId);
    await schedule.removed?.({ tenantId, emit, ports, state: JSON.parse(state), nowMs: clock.now() });
    return values;
  }

  /** Returns the last completed due time of an item. */
  #getLastDueMs({ key, document }: ScheduleItem): number {
    return this.#items.get(key)?.dueMs ?? Math.max(Date.parse(document.updatedAt), this.#options.sinceMs);
  }

  #scheduleNext(item: ScheduleItem): void {
    const due = getNextDueMs(item.phase, item.everyMs, this.#getLastDueMs(item));
    this.#nextDueMs = Math.min(this.#nextDueMs, due, this.#options.clock.now() + item.everyMs);
  }

  /** Resets times more than an interval ahead to the current time, because a wrong clock wrote them. */
  #resetFutureDueTimes(nowMs: number): void {
    const { items, schedule, log } = this.#options;
    const futureItems = [...items.values()].filter(
      (item) => !this.#busyKeys.has(item.key) && this.#getLastDueMs(item) > nowMs + item.everyMs,
    );
    if (futureItems.length === 0) return;
    for (const item of futureItems) this.#skipDueTime(item, nowMs);
    log.warn(
      { schedule: schedule.name, items: futureItems.length },
      'due times were in the future; they are treated as now: compare the clocks of the processes',
    );
  }

  #enqueueRun({ key, tenantId }: ScheduleItem, due: Due): void {
    this.#busyKeys.add(key);
    this.#options.queue.add(tenantId, async () => {
      const item = this.#options.items.get(key);
      if (this.#closing.signal.aborted) return;
      if (item === undefined) this.#releaseItem(key);
      else if (this.#options.isEntitled(tenantId)) await this.#attempt(item, due);
      else this.#skipNotEntitled(item, due);
    });
  }

  /** Skips the due time without a run. */
  #skipNotEntitled(item: ScheduleItem, { dueMs, skipped }: Due): void {
    const { metrics, schedule } = this.#options;
    metrics.add('oiq_schedule_runs_total', 1 + skipped, { schedule: schedule.name, outcome: 'not-entitled' });
    this.#skipDueTime(item, dueMs);
    this.#releaseItem(item.key);
    this.#saveSoon();
  }

  /** Resolves when the item has run, or its time is over. */
  async #attempt(item: ScheduleItem, { dueMs, skipped }: Due): Promise<void> {
    const { clock, metrics, schedule } = this.#options;
    const labels = { schedule: schedule.name };
    const startMs = clock.now();
    if (skipped > 0) metrics.add('oiq_schedule_runs_total', skipped, { ...labels, outcome: 'skipped' });
    metrics.observe('oiq_schedule_delay_seconds', Math.max(0, startMs - dueMs) / 1000, labels);
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(new TimeoutError(schedule.budgetMs)), schedule.budgetMs);
    const signal = AbortSignal.any([timeout.signal, this.#closing.signal]);
    const canWait = schedule.missed !== 'skip' && this.#missedRuns.canWait(item, dueMs, startMs);
    const running = this.#run(item, { dueMs, canWait }, signal);
    let outcome = 'success';
    try {
      this.#complete(item, dueMs, await rejectOnAbort(running, signal));
    } catch (error) {
      const isWaiting = canWait && error instanceof UnavailableError;
      outcome = getRunOutcome(error, isWaiting);
      if (isWaiting) this.#missedRuns.addWaiting(item, startMs);
      else this.#recordFailure(item, dueMs, error);
    }
    clearTimeout(timer);
    const releaseItem = (): void => this.#releaseItem(item.key);
    void running.then(releaseItem, releaseItem);
    if (this.#closing.signal.aborted) return;
    metrics.add('oiq_schedule_runs_total', 1, { ...labels, outcome });
    metrics.observe('oiq_schedule_run_duration_seconds', (clock.now() - startMs) / 1000, labels);
    this.#saveSoon();
  }

  /** Marks a due time as failed. */
  #recordFailure(item: ScheduleItem, dueMs: number, error: unknown): void {
    this.#skipDueTime(item, dueMs);
    if (!this.#closing.signal.aborted) this.#reportFailure(item, error);
    this.#failing.set(item.key, this.#failing.get(item.key) ?? dueMs);
  }

  /**
   * Logs one line for each item whose runs begin to fail, and one for all that take too long, because there are many
   * under load.
   */
  #reportFailure({ key, tenantId, document }: ScheduleItem, error: unknown): void {
    const { schedule, log, late } = this.#options;
    if (error instanceof TimeoutError) late(key, error);
    else if (!this.#failing.has(key))
      log.warn(
        { error, schedule: schedule.name, tenantId, id: document.id },
        'a run failed; the next is at the next due time',
      );
  }

  async #run({ key, tenantId, document }: ScheduleItem, timing: RunTiming, signal: AbortSignal): Promise<RunResult> {
    const { schedule, ports } = this.#options;
    const { values, emit } = this.#createEmitter(tenantId);
    const saved = this.#items.get(key)?.state;
    let copy: { readonly state: unknown } | undefined;
    const run = {
      tenantId,
      emit,
      signal,
      ports,
      ...timing,
      get state() {
        copy ??= { state: saved === undefined ? schedule.state.empty() : JSON.parse(saved) };
        return copy.state;
      },
    };
    const next = await trackWork(`schedule ${schedule.name}`, () => schedule.run(document, run));
    return { state: JSON.stringify(schedule.state.schema.parse(next)), values };
  }

  /** Returns the values of a run, and the functions that emit them. */
  #createEmitter(tenantId: string) {
    const values: PreparedValue[] = [];
    const emit = Object.fromEntries(
      Object.entries(this.#options.schedule.emits).map(([name, topic]) => [
        name,
        (value: unknown) => void values.push(prepareValue(topic, tenantId, value)),
      ]),
    );
    return { values, emit };
  }

  #complete(item: ScheduleItem, dueMs: number, { state, values }: RunResult): void {
    if (!this.#isCurrent(item)) return;
    for (const value of values) this.#emissions.add(value);
    this.#items.set(item.key, { born: item.document.createdAt, dueMs, state });
    this.#failing.delete(item.key);
  }

  #skipDueTime(item: ScheduleItem, dueMs: number): void {
    if (!this.#isCurrent(item)) return;
    const state = this.#items.get(item.key)?.state ?? JSON.stringify(this.#options.schedule.state.empty());
    this.#items.set(item.key, { born: item.document.createdAt, dueMs, state });
  }

  /** Returns whether a run counts: the slot is open, and the item still exists. */
  #isCurrent({ key, document }: ScheduleItem): boolean {
    return !this.#closing.signal.aborted && this.#options.items.get(key)?.document.createdAt === document.createdAt;
  }

  #releaseItem(key: string): void {
    this.#busyKeys.delete(key);
    const item = this.#options.items.get(key);
    if (item === undefined) this.#removeItem(key);
    else this.#scheduleNext(item);
    this.#options.due(this.#nextDueMs);
    if (this.#busyKeys.size === 0) this.#onIdle?.();
  }

  #removeItem(key: string): void {
    this.#failing.delete(key);
    this.#missedRuns.removeItem(key);
  }

  #saveSoon(): void {
    this.#isChanged = true;
    this.#saving ??= this.#saveAll()
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#saving = undefined;
      });
  }

  async #saveAll(): Promise<void> {
    while (this.#isChanged && !this.#closing.signal.aborted) {
      await this.#waitForRuns();
      await this.#save();
    }
  }

  async #waitForRuns(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, saveDelayMs);
    this.#onIdle = resolve;
    await promise;
    this.#onIdle = undefined;
    clearTimeout(timer);
  }

  async #save(): Promise<void> {
    const { states, key, schedule, producer } = this.#options;
    this.#isChanged = false;
    const outbox = this.#emissions.drain(this.#emitted + 1, { emitter: this.#emitter, tick: 0 });
    if (outbox.length > 0) this.#emitted++;
    const bytes = encodeSlot({
      stateVersion: schedule.state.version,
      emitter: this.#emitter,
      emitted: this.#emitted,
      outbox,
      items: this.#deletedItems.size === 0 ? this.#items : new Map([...this.#deletedItems, ...this.#items]),
    });
    this.#number = await states.save(key, bytes, this.#number);
    if (outbox.length > 0) await producer.publish(outbox);
  }

  #end(): void {
    this.#closing.abort(new Error('the slot is closed'));
    this.#onIdle?.();
  }

  #fail(error: unknown): void {
    this.#isChanged = false;
    this.#end();
    this.#failed.resolve(error as Error);
  }
}

export interface Overdue {
  readonly item: Pick<ScheduleItem, 'everyMs'>;
  readonly forMs: number;
  /** Whether the item runs and its runs fail. */
  readonly fails?: boolean;
}

type RunTiming = Pick<Run<unknown, Emits>, 'dueMs' | 'canWait'>;

/** Result of a run. */
interface RunResult {
  readonly state: string;
  readonly values: readonly PreparedValue[];
}
