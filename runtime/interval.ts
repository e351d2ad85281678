/** Small periodic work. Work with the same interval shares a timer, so that an idle process wakes up rarely. */
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
 * Calls `work` every `ms` milliseconds, for the first time within `ms`. Returns a function that stops it. The work runs
 * under the name of the caller's work (`workNow`), does not prevent the process from exiting, and must not throw.
 */
export const runEvery = (ms: number, work: () => void): (() => void) => {
  const { timer, works } = running.get(ms) ?? begin(ms);
  const named = AsyncLocalStorage.bind(work);
  works.add(named);
  return () => {
    if (!works.delete(named) || works.size > 0) return;
    clearInterval(timer);
    running.delete(ms);
  };
};
