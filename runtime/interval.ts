/** Small periodic work. Work with the same interval shares a timer, so that an idle process wakes up rarely. */
import { AsyncLocalStorage } from 'node:async_hooks';

interface SharedInterval {
  readonly timer: NodeJS.Timeout;
  readonly callbacks: Set<() => void>;
}

const intervals = new Map<number, SharedInterval>();

const startInterval = (ms: number): SharedInterval => {
  const callbacks = new Set<() => void>();
  const timer = setInterval(() => {
    for (const work of callbacks) work();
  }, ms).unref();
  const interval = { timer, callbacks };
  intervals.set(ms, interval);
  return interval;
};

/**
 * Calls `work` every `ms` milliseconds, for the first time within `ms`. Returns a function that stops it. The work runs
 * under the name of the caller's work (`getCurrentWork`), does not prevent the process from exiting, and must not throw.
 */
export const runEvery = (ms: number, work: () => void): (() => void) => {
  const { timer, callbacks } = intervals.get(ms) ?? startInterval(ms);
  const boundWork = AsyncLocalStorage.bind(work);
  callbacks.add(boundWork);
  return () => {
    if (!callbacks.delete(boundWork) || callbacks.size > 0) return;
    clearInterval(timer);
    intervals.delete(ms);
  };
};
