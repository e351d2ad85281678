/** Promises that are not waited for forever. */

/** Rejects when it takes too long; what it waited for goes on. */
export const within = async <Value>(ms: number, promise: Promise<Value>): Promise<Value> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  promise.catch(() => undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
};

/**
 * As `within`, for one promise after the other. Its timer is left as it is when an answer comes and set anew only when it
 * fires, since one for each of many small requests shows in what they cost.
 */
export const patience = (ms: number): (<Value>(promise: Promise<Value>) => Promise<Value>) => {
  let isSet = false;
  let current: { readonly dueAt: number; readonly reject: (error: Error) => void } | undefined;
  const set = (delayMs: number): void => {
    isSet = true;
    setTimeout(check, delayMs).unref();
  };
  const check = (): void => {
    isSet = false;
    if (current === undefined) return;
    const left = current.dueAt - performance.now();
    if (left < 1) current.reject(new Error(`no answer within ${ms} ms`));
    else set(left);
  };
  return async (promise) => {
    promise.catch(() => undefined);
    const { promise: late, reject } = Promise.withResolvers<never>();
    current = { dueAt: performance.now() + ms, reject };
    if (!isSet) set(ms);
    try {
      return await Promise.race([promise, late]);
    } finally {
      current = undefined;
    }
  };
};
