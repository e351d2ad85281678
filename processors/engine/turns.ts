/** Tasks of one thread take turns: a slow one holds up no other. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TimedTurn, type Turn } from './turn.ts';

/** Of one task, before others have theirs. */
const turnMs = 5;

interface Waiting {
  readonly task: number;
  /** Works until the turn is over; answers once all is done. */
  go(turn: Turn): void;
}

/**
 * The task that has had the least time goes first. One that was idle does not save its time up: it begins with the time of the one that
 * goes next.
 */
export class Turns {
  readonly #spentMs = new Map<number, number>();
  #waiting: Waiting[] = [];
  #isRunning = false;
  /** Time that the task had which went last. */
  #floorMs = 0;

  /** Calls `work`, turn by turn, until it answers. Rejects with what it throws. */
  take<Result>(task: number, work: (turn: Turn) => Result | undefined): Promise<Result> {
    this.#spentMs.set(task, Math.max(this.#floorMs, this.#spentMs.get(task) ?? 0));
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const go = (turn: Turn): void => {
      try {
        const result = work(turn);
        if (result === undefined) this.#waiting.push({ task, go });
        else resolve(result);
      } catch (error) {
        reject(error);
      }
    };
    this.#waiting.push({ task, go });
    if (!this.#isRunning) void this.#run();
    return promise;
  }

  /** The task is gone. */
  forget(task: number): void {
    this.#spentMs.delete(task);
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const began = performance.now();
      next.go(new TimedTurn(turnMs));
      const spentMs = this.#spentMs.get(next.task);
      if (spentMs !== undefined) this.#spentMs.set(next.task, spentMs + performance.now() - began);
      // Replies leave, and calls of others come in.
      await nextTurn();
    }
    this.#isRunning = false;
  }

  /** Takes out the one that has had the least time, the one that waits longest of several. */
  #next(): Waiting | undefined {
    let found = -1;
    let least = Number.POSITIVE_INFINITY;
    for (const [index, { task }] of this.#waiting.entries()) {
      const spentMs = this.#spentMs.get(task) ?? 0;
      if (spentMs >= least) continue;
      found = index;
      least = spentMs;
    }
    if (found < 0) return undefined;
    this.#floorMs = Math.max(this.#floorMs, least);
    return this.#waiting.splice(found, 1)[0];
  }
}
