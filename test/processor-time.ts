/** Processor time of this thread: it is the same however busy the machine is. */
import { getThreadCpuMs } from '../runtime/thread-time.ts';

/** Milliseconds that something takes. */
export const cpuMsOf = async (run: () => unknown): Promise<number> => {
  const before = getThreadCpuMs();
  await run();
  return getThreadCpuMs() - before;
};

/**
 * Milliseconds of the longest iteration of the event loop while something runs. What always takes long takes long in each
 * run, and a collection of garbage in some: the best of three runs counts, and the first below `limitMs`.
 */
export const longestTurnMsOf = async (run: () => Promise<unknown>, limitMs = 0): Promise<number> => {
  let minMs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3 && minMs >= limitMs; round++) minMs = Math.min(minMs, await measureLongestTurnMs(run));
  return minMs;
};

const measureLongestTurnMs = async (run: () => Promise<unknown>): Promise<number> => {
  let longestMs = 0;
  let before = getThreadCpuMs();
  const endTurn = (): void => {
    const now = getThreadCpuMs();
    longestMs = Math.max(longestMs, now - before);
    before = now;
    next = setImmediate(endTurn);
  };
  let next = setImmediate(endTurn);
  await run();
  clearImmediate(next);
  return longestMs;
};

/** Takes so many milliseconds. */
export const compute = (ms: number): void => {
  for (const endMs = getThreadCpuMs() + ms; getThreadCpuMs() < endMs; );
};
