/** Tasks of one thread take turns: a slow one holds up no other, and those that read the same partition stay together. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { threadMs } from '../../runtime/thread-time.ts';
import { TimedSlice, type TimeSlice } from './time-slice.ts';

/** Of one task, before others have theirs. */
const sliceMs = 5;

/** A task, as the others that read its partition see it. */
export interface Reader {
  /** The same for all that read a partition. */
  readonly partition: string;
  /** Offset of the message that it steps, or of its next one. */
  readonly at: number;
  /** How many offsets the range in its hands has. */
  readonly span: number;
  /** Items that it ever stepped. */
  readonly items: number;
}

/** Others wait for one that takes less than this for an item: together they keep up with 40,000 a second. */
const maxItemMs = 0.025;
/** They wait for one that is at most so many ranges behind, each as long as the one in its hands. */
const maxRanges = 4;

interface Waiting {
  readonly task: number;
  readonly reader: Reader | undefined;
  /** Works until the turn is over; answers once all is done. */
  go(slice: TimeSlice): void;
}

/** What a task took. */
interface TaskUsage {
  /** Time of its turns, also of those that it gave away. */
  ms: number;
  /** CPU time and items of the turns that it had lately. */
  lateMs: number;
  lateItems: number;
}

/** One that goes, and the task whose turn it is. */
interface Next {
  readonly going: Waiting;
  readonly giver: number;
}

/** The one that waits longest of several. */
const minBy = (waiting: readonly Waiting[], of: (each: Waiting) => number): Waiting | undefined => {
  let found: Waiting | undefined;
  let min = Number.POSITIVE_INFINITY;
  for (const each of waiting) {
    const own = of(each);
    if (own >= min) continue;
    found = each;
    min = own;
  }
  return found;
};

/**
 * It is the turn of the task that has had the least time. One that was idle does not save its time up: it begins with the time of the one
 * that goes next. It gives its turn away to the one that is farthest behind it in its partition, unless that is slow or far away: what
 * tasks are apart is read, sent and opened more than once.
 */
export class SliceScheduler {
  readonly #usage = new Map<number, TaskUsage>();
  #waiting: Waiting[] = [];
  #isRunning = false;
  /** Time that the task had whose turn was last. */
  #floorMs = 0;

  /** Calls `work`, turn by turn, until it answers. Rejects with what it throws. */
  run<Result>(task: number, work: (slice: TimeSlice) => Result | undefined, reader?: Reader): Promise<Result> {
    const usage = this.#usage.get(task);
    if (usage === undefined) this.#usage.set(task, { ms: this.#floorMs, lateMs: 0, lateItems: 0 });
    else usage.ms = Math.max(this.#floorMs, usage.ms);
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const go = (slice: TimeSlice): void => {
      try {
        const result = work(slice);
        if (result === undefined) this.#waiting.push({ task, reader, go });
        else resolve(result);
      } catch (error) {
        reject(error);
      }
    };
    this.#waiting.push({ task, reader, go });
    if (!this.#isRunning) void this.#run();
    return promise;
  }

  /** The task is gone. */
  forget(task: number): void {
    this.#usage.delete(task);
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#go(next);
      // Replies leave, and calls of others come in.
      await yieldToEventLoop();
    }
    this.#isRunning = false;
  }

  #go({ going: { task, reader, go }, giver }: Next): void {
    const [began, beganCpu, items = 0] = [performance.now(), threadMs(), reader?.items];
    go(new TimedSlice(sliceMs));
    const given = this.#usage.get(giver);
    if (given !== undefined) given.ms += performance.now() - began;
    const usage = this.#usage.get(task);
    if (usage === undefined || reader === undefined) return;
    usage.lateMs = usage.lateMs / 2 + threadMs() - beganCpu;
    usage.lateItems = usage.lateItems / 2 + reader.items - items;
  }

  #next(): Next | undefined {
    const own = minBy(this.#waiting, ({ task }) => this.#usage.get(task)?.ms ?? 0);
    if (own === undefined) return undefined;
    this.#floorMs = Math.max(this.#floorMs, this.#usage.get(own.task)?.ms ?? 0);
    const behind = this.#waiting.filter((other) => this.#isAwaited(other, own));
    const going = minBy(behind, ({ reader }) => reader?.at ?? 0) ?? own;
    this.#waiting.splice(this.#waiting.indexOf(going), 1);
    return { going, giver: own.task };
  }

  /** Whether it is a little behind in the same partition, and comes on. */
  #isAwaited({ task, reader }: Waiting, { reader: own }: Waiting): boolean {
    if (own === undefined || reader?.partition !== own.partition) return false;
    const distance = own.at - reader.at;
    if (distance <= 0 || distance > maxRanges * reader.span) return false;
    const { lateMs = 0, lateItems = 0 } = this.#usage.get(task) ?? {};
    return lateMs <= maxItemMs * Math.max(1, lateItems);
  }
}
