/** Promises that are not waited for forever. */

/** Something took longer than is waited for it. */
export class LateError extends Error {
  constructor(ms: number) {
    super(`no answer within ${ms} ms`);
  }
}

/** Rejects with a `LateError` when it takes too long; what it waited for goes on, and may fail unheard. */
export const within = async <Value>(ms: number, promise: Promise<Value>): Promise<Value> => {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new LateError(ms)), ms);
  promise.catch(() => undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
};

/** Resolves when it is done or `ms` are over, whichever comes first; rejects as it does. */
export const waitUpTo = async (ms: number, promise: Promise<unknown>): Promise<void> => {
  await within(ms, promise).catch((error: unknown) => {
    if (!(error instanceof LateError)) throw error;
  });
};

/** Rejects with the signal's reason when that comes first. */
export const orAborted = async <Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> => {
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
