/** Tracks the work to which the current code belongs: an API operation, a job or a batch of a sink. */
import { AsyncLocalStorage } from 'node:async_hooks';

const workStorage = new AsyncLocalStorage<string>();

/**
 * Runs a function, and everything that it awaits, under a name. The name consists of a kind and the name declared for
 * that kind, such as `operation listLogs`. A call costs about 0.2 µs: use it once per request or batch, never once per
 * record.
 */
export const trackWork = <Result>(work: string, run: () => Result): Result => workStorage.run(work, run);

/**
 * Returns the name under which the caller runs. Shared work, such as a timer, has the name of the work that started it.
 */
export const getCurrentWork = (): string | undefined => workStorage.getStore();
