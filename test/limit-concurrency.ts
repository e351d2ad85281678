/** `test` for suites whose tests share one server. */
import ava, { type ExecutionContext } from 'ava';

/**
 * The number of tests of a file that run at once. With hundreds of concurrent requests, each waits for all others: on
 * a busy machine longer than the request timeouts of production.
 */
const maxRunning = 6;
let running = 0;
const waiting: (() => void)[] = [];

type Implementation = (t: ExecutionContext) => void | Promise<void>;

/** Ava's `test` with that limit. `serial` and hooks are unchanged. */
export const test = Object.assign(
  (title: string, implementation: Implementation): void => {
    ava(title, async (t) => {
      if (running < maxRunning) running++;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        await implementation(t);
      } finally {
        const next = waiting.shift();
        if (next === undefined) running--;
        else next();
      }
    });
  },
  { serial: ava.serial, skip: ava.skip, before: ava.before, after: ava.after },
);
