/** Promises with a timeout. */

/** An operation exceeded its timeout. */
export class TimeoutError extends Error {
  constructor(ms: number) {
    super(`no response within ${ms} ms`);
  }
}

/** Rejects with a `TimeoutError` after the timeout. The operation continues, and its later failure is ignored. */
export const withTimeout = async <Value>(ms: number, promise: Promise<Value>): Promise<Value> => {
  const { promise: timedOut, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new TimeoutError(ms)), ms);
  promise.catch(() => undefined);
  try {
    return await Promise.race([promise, timedOut]);
  } finally {
    clearTimeout(timer);
  }
};

/** Resolves when the promise resolves or after `ms`, whichever is first. Rejects if the promise rejects first. */
export const waitUpTo = async (ms: number, promise: Promise<unknown>): Promise<void> => {
  await withTimeout(ms, promise).catch((error: unknown) => {
    if (!(error instanceof TimeoutError)) throw error;
  });
};

/** Rejects with the signal's reason if the signal aborts first. */
export const rejectOnAbort = async <Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> => {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const listener = (): void => reject(signal.reason as Error);
  if (signal.aborted) listener();
  signal.addEventListener('abort', listener);
  promise.catch(() => undefined);
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', listener);
  }
};
