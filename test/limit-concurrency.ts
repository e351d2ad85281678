/** `test` of suites that ask one server. */
import ava, { type ExecutionContext } from 'ava';

/**
 * So many of a file's tests run at once. Where hundreds ask one server together, each waits for all: on a busy machine longer than production
 * waits for an answer.
 */
const maxRunning = 6;
let running = 0;
const waiting: (() => void)[] = [];

type Implementation = (t: ExecutionContext) => void | Promise<void>;

/** Ava's `test` with that limit; what is serial, and what comes before and after, is ava's own. */
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
