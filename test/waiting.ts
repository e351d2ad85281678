/** How tests wait. A limit here finds what hangs and judges no speed: a busy machine may take as much longer as it is busier. */
import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

/** On a machine that has a core for each process that wants to run. */
export const patienceMs = 240_000;
/** The same for what a page shows, which depends on nothing that takes longer. */
export const pagePatienceMs = 20_000;

/** The longest pause between two looks: many ask servers, for minutes, on a machine that has other things to do. */
const pauseMs = 250;

/** How many times longer things take here than on a quiet machine: the processes that want to run, for each core. */
const stretch = (): number => Math.min(Math.max(1, (loadavg()[0] ?? 0) / availableParallelism()), 5);

/** What takes so many milliseconds on a quiet machine may take so many on this one, in whole milliseconds. */
export const stretched = (ms: number): number => Math.ceil(ms * stretch());

/**
 * Resolves once it holds, which is looked at often at first and then less so; rejects, naming what it waited for, when
 * it does not within the limit on a quiet machine.
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
