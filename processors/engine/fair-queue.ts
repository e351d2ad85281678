/**
 * Shares a thread fairly between tasks: a slow task delays no other, and tasks of the same partition progress at the
 * same pace.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { getThreadCpuMs } from '../../runtime/thread-time.ts';
import { TimedSlice, type TimeSlice } from './time-slice.ts';

/** Length of a time slice of one task. */
const sliceMs = 5;

/** Progress of a task, for other readers of its partition. */
export interface PartitionReader {
  /** Equal for all readers of a partition. */
  readonly partition: string;
  /** Offset of the current message, or of the next one. */
  readonly offset: number;
  /** Number of offsets in the current range. */
  readonly rangeLength: number;
  /** Total number of items stepped. */
  readonly items: number;
}

/** Other tasks wait for a reader that takes less than this per item, so that all readers sustain 40,000 items a second. */
const maxItemMs = 0.025;
/** Others wait for a reader that is at most this many ranges behind, each as long as its current range. */
const maxRanges = 4;

interface WaitingTask {
  readonly task: number;
  readonly reader: PartitionReader | undefined;
  /** Works until the time slice is over; returns once all work is done. */
  runSlice(slice: TimeSlice): void;
}

/** Usage of a task. */
interface TaskUsage {
  /** Time of its slices, including slices it yielded. */
  ms: number;
  /** CPU time and items of its recent slices. */
  recentMs: number;
  recentItems: number;
}

/** The task to run, and the task that owns the time slice. */
interface Selection {
  readonly taskToRun: WaitingTask;
  readonly sliceOwner: number;
}

/** Returns the element with the smallest value; among equals, the one that waits longest. */
const minBy = (
  waiting: readonly WaitingTask[],
  getValue: (candidate: WaitingTask) => number,
): WaitingTask | undefined => {
  let best: WaitingTask | undefined;
  let min = Number.POSITIVE_INFINITY;
  for (const candidate of waiting) {
    const candidateValue = getValue(candidate);
    if (candidateValue >= min) continue;
    best = candidate;
    min = candidateValue;
  }
  return best;
};

/**
 * Runs the task that has had the least time. A task that was idle does not accumulate credit: it starts with the time
 * of the next task.
 *
 * The task yields its slice to the reader of its partition that is farthest behind, unless that reader is slow or too
 * far away. Readers at different offsets cause messages to be read, sent and decoded more than once.
 */
export class SliceScheduler {
  readonly #usage = new Map<number, TaskUsage>();
  #waiting: WaitingTask[] = [];
  #isRunning = false;
  /** Time of the task that had the last slice. */
  #floorMs = 0;

  /** Calls `work`, slice by slice, until it returns a result. Rejects with the error it throws. */
  run<Result>(task: number, work: (slice: TimeSlice) => Result | undefined, reader?: PartitionReader): Promise<Result> {
    const usage = this.#usage.get(task);
    if (usage === undefined) this.#usage.set(task, { ms: this.#floorMs, recentMs: 0, recentItems: 0 });
    else usage.ms = Math.max(this.#floorMs, usage.ms);
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const runSlice = (slice: TimeSlice): void => {
      try {
        const result = work(slice);
        if (result === undefined) this.#waiting.push({ task, reader, runSlice });
        else resolve(result);
      } catch (error) {
        reject(error);
      }
    };
    this.#waiting.push({ task, reader, runSlice });
    if (!this.#isRunning) void this.#run();
    return promise;
  }

  /** Removes a task that was closed. */
  removeTask(task: number): void {
    this.#usage.delete(task);
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let selection = this.#selectNext(); selection !== undefined; selection = this.#selectNext()) {
      this.#runSelected(selection);
      // Yields to the event loop, so that replies are sent and other calls arrive.
      await yieldToEventLoop();
    }
    this.#isRunning = false;
  }

  #runSelected({ taskToRun: { task, reader, runSlice }, sliceOwner }: Selection): void {
    const [began, beganCpu, items = 0] = [performance.now(), getThreadCpuMs(), reader?.items];
    runSlice(new TimedSlice(sliceMs));
    const ownerUsage = this.#usage.get(sliceOwner);
    if (ownerUsage !== undefined) ownerUsage.ms += performance.now() - began;
    const usage = this.#usage.get(task);
    if (usage === undefined || reader === undefined) return;
    usage.recentMs = usage.recentMs / 2 + getThreadCpuMs() - beganCpu;
    usage.recentItems = usage.recentItems / 2 + reader.items - items;
  }

  #selectNext(): Selection | undefined {
    const fairest = minBy(this.#waiting, ({ task }) => this.#usage.get(task)?.ms ?? 0);
    if (fairest === undefined) return undefined;
    this.#floorMs = Math.max(this.#floorMs, this.#usage.get(fairest.task)?.ms ?? 0);
    const slowerTasks = this.#waiting.filter((other) => this.#isAwaited(other, fairest));
    const taskToRun = minBy(slowerTasks, ({ reader }) => reader?.offset ?? 0) ?? fairest;
    this.#waiting.splice(this.#waiting.indexOf(taskToRun), 1);
    return { taskToRun, sliceOwner: fairest.task };
  }

  /** Returns whether the other task is slightly behind in the same partition and makes progress. */
  #isAwaited({ task, reader }: WaitingTask, { reader: owner }: WaitingTask): boolean {
    if (owner === undefined || reader?.partition !== owner.partition) return false;
    const distance = owner.offset - reader.offset;
    if (distance <= 0 || distance > maxRanges * reader.rangeLength) return false;
    const { recentMs = 0, recentItems = 0 } = this.#usage.get(task) ?? {};
    return recentMs <= maxItemMs * Math.max(1, recentItems);
  }
}
