/** Small work at intervals. What is done equally often is done together, so that an idle process wakes up seldom. */
import { AsyncLocalStorage } from 'node:async_hooks';

interface SharedInterval {
  readonly timer: NodeJS.Timeout;
  readonly works: Set<() => void>;
}

const running = new Map<number, SharedInterval>();

const begin = (ms: number): SharedInterval => {
  const works = new Set<() => void>();
  const timer = setInterval(() => {
    for (const work of works) work();
  }, ms).unref();
  const interval = { timer, works };
  running.set(ms, interval);
  return interval;
};

/**
 * Calls `work` every so many milliseconds, the first time within that, until what is answered is called. It runs under the name of the work
 * that begins it (`workNow`), keeps no process alive, and must not throw.
 */
export const every = (ms: number, work: () => void): (() => void) => {
  const { timer, works } = running.get(ms) ?? begin(ms);
  const named = AsyncLocalStorage.bind(work);
  works.add(named);
  return () => {
    if (!works.delete(named) || works.size > 0) return;
    clearInterval(timer);
    running.delete(ms);
  };
};
