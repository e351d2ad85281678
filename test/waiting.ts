/** How tests wait. Limits detect hangs, not slowness: they grow with the load of the machine. */
import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

/** Limit on a machine with a free core for each running process. */
export const patienceMs = 240_000;
/** The same for the content of a page that depends on nothing slow. */
export const pagePatienceMs = 20_000;

/** The longest pause between two checks. Many checks send requests to servers, for minutes, on a busy machine. */
const pauseMs = 250;

/**
 * Returns the factor by which this machine is slower than a quiet one: the number of runnable processes for each core.
 */
const stretch = (): number => Math.min(Math.max(1, (loadavg()[0] ?? 0) / availableParallelism()), 5);

/** Scales a duration on a quiet machine to the load of this one, in whole milliseconds. */
export const stretched = (ms: number): number => Math.ceil(ms * stretch());

/**
 * Polls a condition until it is true, with growing pauses. Rejects with the name of the condition if the condition is
 * not true within the limit.
 */
export const eventually = async (
  what: string,
  holds: () => boolean | Promise<boolean>,
  limitMs = patienceMs,
): Promise<void> => {
  let waited = 0;
  let checkedAt = performance.now();
  for (let pause = 1; !(await holds()); pause = Math.min(pause * 1.5, pauseMs)) {
    if (waited > limitMs) throw new Error(`waited in vain for: ${what}`);
    await delay(pause);
    const now = performance.now();
    waited += (now - checkedAt) / stretch();
    checkedAt = now;
  }
};
