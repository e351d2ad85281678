/** One partition of a processor on the main thread, where the results of its task take effect exactly once. */
import type { AssignedPartition, Batch } from '../../schemas/ports/bus.ts';
import { ConflictError } from '../../schemas/ports/documents.ts';
import type { BatchResult, TaskStatus } from './batch-result.ts';
import type { Processor } from './definition.ts';
import { countResult, logFailedTimers, type Origin, toDeadLetters } from './effects.ts';
import { loadTask, type Precaution, stateKey } from './load.ts';
import { readBounds } from './partition-bounds.ts';
import { type TaskHandle, TaskLostError } from './pool.ts';
import type { Runtime } from './runtime.ts';
import type { TenantFuse } from './tenant-fuse.ts';

/** Shared by the partitions of a processor. */
export interface ProcessorContext {
  readonly processor: Processor;
  readonly group: string;
  readonly runtime: Runtime;
  readonly fuse: TenantFuse;
  readonly buckets: number;
}

interface RunningTask {
  readonly task: TaskHandle;
  number: number;
  savedAtMs: number;
  /** Time (of `performance.now()`) before which no deferrable snapshot is saved. */
  snapshotPauseEndMs: number;
  /** Messages since the last snapshot, and whether the state has changed. */
  messages: number;
  isChanged: boolean;
}

/** Multiple of a snapshot's CPU time that passes before the next deferrable one: at most 5 % of the thread. */
const pauseFactor = 20;
/** Cheaper snapshots do not count, because ticks run once a second. */
const minSnapshotMs = 20;

/** Time for which a tenant that exceeded its limits is skipped. */
const limitMs = 60_000;

interface SteppedRange {
  readonly last: number;
  readonly result: BatchResult;
  /** Tenants over their limits, with the reason; `undefined` until that is decided, which happens once. */
  limited?: ReadonlyMap<string, string>;
}

export class PartitionRun {
  readonly #shared: ProcessorContext;
  readonly #origin: Origin;
  readonly #precautions: Precaution[] = [];
  /** Number of terminated threads, by the activity of this partition's task. */
  readonly #threadEnds = new Map<number, number>();
  #running: RunningTask | undefined;
  /** A range that was stepped but has not taken effect. */
  #pendingRange: SteppedRange | undefined;
  /** Next offset that is not acknowledged. */
  #committed: number;
  /** Whether the range was started: it will be redelivered, and must then meet the same state. */
  #isClaimed: boolean;
  #lastEnd = { offset: Number.NaN, sinceMs: 0 };
  #queue: Promise<unknown> = Promise.resolve();
  #isRevoked = false;

  constructor(shared: ProcessorContext, { topic, partition, committed, isClaimed }: AssignedPartition) {
    this.#shared = shared;
    this.#origin = { processor: shared.processor.name, group: shared.group, topic, partition };
    this.#committed = committed;
    this.#isClaimed = isClaimed;
  }

  get holding(): TaskStatus | undefined {
    return this.#running?.task.holding;
  }

  /** Loads the task. */
  load(): Promise<void> {
    return this.#enqueue(async () => void (await this.#ensureLoaded()));
  }

  /**
   * Processes a batch. Resolves once the batch has taken effect. Rejects without an effect, or with one that the next
   * delivery repeats under the same ids.
   */
  processBatch(processBatch: Batch): Promise<void> {
    return this.#enqueue(async () => {
      this.#isClaimed = true;
      this.#shared.runtime.configuration.check(this.#shared.processor);
      await this.#runGuarded(() => this.#process(processBatch));
      this.#committed = processBatch.last + 1;
      this.#isClaimed = false;
      this.#lastEnd = { offset: Number.NaN, sinceMs: this.#shared.runtime.clock.now() };
    });
  }

  /** Runs due timers, if the partition is idle. */
  tick(): Promise<void> {
    if (!this.#mayTick()) return Promise.resolve();
    return this.#enqueue(async () => {
      // Another tick may have been running in the meantime.
      if (!this.#mayTick() || this.#isRevoked || !(await this.#isIdle())) return;
      this.#shared.runtime.configuration.check(this.#shared.processor);
      await this.#runGuarded(() => this.#tick());
    });
  }

  /** Each tick saves its emissions before they are published, so it waits for the pause after a snapshot. */
  #mayTick(): boolean {
    if (this.#isClaimed || performance.now() < (this.#running?.snapshotPauseEndMs ?? 0)) return false;
    return (this.holding?.nextTickMs ?? 0) <= this.#shared.runtime.clock.now();
  }

  /** Saves changes, and closes the task. */
  saveAndClose(): Promise<void> {
    return this.#enqueue(async () => {
      this.#isRevoked = true;
      const running = this.#running;
      try {
        // A range without effect is already in the task, and must not be in its snapshot.
        if (running?.isChanged === true && this.#pendingRange === undefined) await this.#save(running);
      } finally {
        await this.#closeTask();
      }
    });
  }

  #enqueue<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  async #closeTask(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    this.#pendingRange = undefined;
    await running?.task.close();
  }

  /** Runs work. After a failure of the task or its snapshot, another task is loaded. */
  async #runGuarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof TaskLostError) this.#recordThreadEnd(error);
      if (error instanceof TaskLostError || error instanceof ConflictError) await this.#closeTask();
      throw error;
    }
  }

  #recordThreadEnd({ activity, isSlow }: TaskLostError): void {
    const { log } = this.#shared.runtime;
    if (activity.kind === 'timers') {
      this.#precautions.push({ kind: 'limit', tenantId: activity.tenantId });
      log.error({ ...this.#origin, tenantId: activity.tenantId }, 'a timer did not end: its tenant is skipped');
    }
    if (activity.kind !== 'message') return;
    const endCount = (this.#threadEnds.get(activity.offset) ?? 0) + 1;
    this.#threadEnds.set(activity.offset, endCount);
    // Other tasks may have caused the thread to run out of memory.
    if (!isSlow && endCount < 2) return;
    this.#precautions.push({ kind: 'skip', offset: activity.offset });
    log.error(
      { ...this.#origin, offset: activity.offset },
      'a message crashed its thread: it is stored as a dead letter',
    );
  }

  async #ensureLoaded(): Promise<RunningTask> {
    if (this.#running !== undefined) return this.#running;
    const { processor, runtime, buckets } = this.#shared;
    runtime.configuration.check(processor);
    const { task, number } = await loadTask(processor, this.#origin, runtime, {
      committed: this.#committed,
      buckets,
      precautions: this.#precautions,
    });
    this.#precautions.length = 0;
    this.#running = { task, number, ...this.#resetAfterSave(task) };
    return this.#running;
  }

  async #process(batch: Batch): Promise<void> {
    const { records, last } = batch;
    const { runtime } = this.#shared;
    const running = await this.#ensureLoaded();
    this.#pendingRange ??= { last, result: await running.task.batch(batch) };
    const pendingRange = this.#pendingRange;
    if (pendingRange.last !== last)
      throw new Error(`a range up to ${last} arrived while one up to ${pendingRange.last} was open`);
    const { result } = pendingRange;
    pendingRange.limited ??= this.#findLimitedTenants(running, result);
    const messages = [...result.messages, ...toDeadLetters(this.#origin, records, result.poison)];
    if (messages.length > 0) await runtime.producer.publish(messages);
    running.messages += records.length;
    running.isChanged = true;
    for (const [tenantId, reason] of pendingRange.limited) await running.task.limit(tenantId, reason, limitMs);
    if (pendingRange.limited.size > 0 || this.#isSnapshotDue(running)) await this.#save(running);
    this.#pendingRange = undefined;
    countResult(runtime.metrics, this.#origin, result);
    logFailedTimers(runtime, this.#origin, result);
  }

  /**
   * Returns the tenants over their limits. The decision depends on more than the input, so it is saved before it takes
   * effect. Throws if several tenants have too many poison items.
   */
  #findLimitedTenants({ task }: RunningTask, { tenants }: BatchResult): ReadonlyMap<string, string> {
    const { processor, runtime, fuse } = this.#shared;
    const { threadShare, stateBytes } = processor.limits;
    const limited = new Map<string, string>();
    const poisonTenant = fuse.check(tenants);
    for (const { tenantId, ms, stateBytes: bytes } of tenants) {
      task.shares.add(processor.name, tenantId, ms, performance.now());
      if (task.shares.isOver(processor.name, tenantId, threadShare)) limited.set(tenantId, 'thread-time');
      if (bytes > stateBytes) limited.set(tenantId, 'state-size');
    }
    if (poisonTenant !== undefined) limited.set(poisonTenant, 'dead-letters');
    for (const [tenantId, reason] of limited)
      runtime.log.warn(
        { ...this.#origin, tenantId, reason, seconds: limitMs / 1_000 },
        'messages of a tenant are skipped',
      );
    return limited;
  }

  #isSnapshotDue({ savedAtMs, snapshotPauseEndMs, messages }: RunningTask): boolean {
    const { clock, intervals } = this.#shared.runtime;
    if (clock.now() - savedAtMs >= intervals.snapshotMs) return true;
    return messages >= intervals.snapshotMessages && performance.now() >= snapshotPauseEndMs;
  }

  #resetAfterSave({ snapshotMs }: TaskHandle): Omit<RunningTask, 'task' | 'number'> {
    const { clock, intervals } = this.#shared.runtime;
    const pauseMs = snapshotMs < minSnapshotMs ? 0 : Math.min(intervals.snapshotMs, pauseFactor * snapshotMs);
    return { savedAtMs: clock.now(), snapshotPauseEndMs: performance.now() + pauseMs, messages: 0, isChanged: false };
  }

  async #save(running: RunningTask): Promise<void> {
    const { states, metrics } = this.#shared.runtime;
    const { processor } = this.#origin;
    const countSnapshot = (outcome: string) => metrics.add('oiq_processor_snapshots_total', 1, { processor, outcome });
    const bytes = await running.task.snapshot();
    try {
      running.number = await states.save(stateKey(this.#origin), bytes, running.number);
    } catch (error) {
      countSnapshot(error instanceof ConflictError ? 'conflict' : 'failed');
      throw error;
    }
    countSnapshot('saved');
    Object.assign(running, this.#resetAfterSave(running.task));
  }

  /** Returns whether no messages wait in the partition, because wall-clock time must not overtake messages. */
  async #isIdle(): Promise<boolean> {
    const { runtime } = this.#shared;
    const { topic, partition } = this.#origin;
    const { task } = await this.#ensureLoaded();
    const nowMs = runtime.clock.now();
    if (task.holding.nextTickMs > nowMs) return false;
    const { end } = await readBounds(runtime.bus, topic, partition);
    if (end <= Math.max(task.holding.nextOffset, this.#committed)) return true;
    // The offset before the end may not be a message: it can be a transaction marker or damaged data.
    if (end !== this.#lastEnd.offset) this.#lastEnd = { offset: end, sinceMs: nowMs };
    return nowMs - this.#lastEnd.sinceMs >= runtime.intervals.idleAfterMs;
  }

  async #tick(): Promise<void> {
    const { runtime } = this.#shared;
    const running = await this.#ensureLoaded();
    try {
      const result = await running.task.tick(runtime.clock.now());
      if (result === undefined) return;
      await this.#save(running);
      if (result.messages.length > 0) {
        await runtime.producer.publish(result.messages);
        await running.task.published();
        running.isChanged = true;
      }
      countResult(runtime.metrics, this.#origin, result);
      logFailedTimers(runtime, this.#origin, result);
    } catch (error) {
      // The message is in the task and may be in the snapshot; only a reload shows whether it is.
      await this.#closeTask();
      throw error;
    }
  }
}
