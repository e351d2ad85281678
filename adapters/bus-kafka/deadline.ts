/** Deadlines of requests to brokers, and checks whether another broker has become the leader. */
import { TimeoutError } from '../../runtime/timeout.ts';

/**
 * While a request waits, checks every `everyMs` whether another broker has taken over, and rejects if so. Failed checks
 * are ignored.
 */
export const rejectIfMoved = async <Value>(
  request: Promise<Value>,
  everyMs: number,
  hasMoved: () => Promise<boolean>,
): Promise<Value> => {
  const { promise: moved, reject } = Promise.withResolvers<never>();
  moved.catch(() => undefined);
  let isSettled = false;
  let timer: NodeJS.Timeout | undefined;
  const checkMoved = async (): Promise<void> => {
    if (await hasMoved().catch(() => false)) reject(new Error('another broker took over from the queried broker'));
    else if (!isSettled) scheduleCheck();
  };
  // No `AbortSignal`: aborting creates two errors with stacks for each request.
  const scheduleCheck = (): void => {
    timer = setTimeout(checkMoved, everyMs).unref();
  };
  scheduleCheck();
  try {
    return await Promise.race([request, moved]);
  } finally {
    isSettled = true;
    clearTimeout(timer);
  }
};

/** Rejects as soon as the signal aborts; the promise itself continues. */
export const rejectIfAborted = async <Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> => {
  promise.catch(() => undefined);
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(new Error('stopped'));
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
};

/**
 * Calls `onDue` whenever work has begun and not ended for `ms`. The timer keeps running when work ends and is reset
 * only when it fires, because a timer for each of many small requests would cost CPU.
 */
export const createWatchdog = (ms: number, onDue: () => void): { begin(): void; end(): void } => {
  let isSet = false;
  let startedAt: number | undefined;
  const startTimer = (delayMs: number): void => {
    isSet = true;
    setTimeout(check, delayMs).unref();
  };
  const check = (): void => {
    isSet = false;
    if (startedAt === undefined) return;
    const remainingMs = startedAt + ms - performance.now();
    if (remainingMs >= 1) {
      startTimer(remainingMs);
      return;
    }
    startedAt = performance.now();
    startTimer(ms);
    onDue();
  };
  return {
    begin() {
      startedAt = performance.now();
      if (!isSet) startTimer(ms);
    },
    end() {
      startedAt = undefined;
    },
  };
};

/** Returns a function that rejects with a `TimeoutError` if its promise takes longer than `ms`, without a timer per call. */
export const createDeadline = (ms: number): (<Value>(promise: Promise<Value>) => Promise<Value>) => {
  let rejectCurrent = (_: Error): void => undefined;
  const { begin, end } = createWatchdog(ms, () => rejectCurrent(new TimeoutError(ms)));
  return async (promise) => {
    promise.catch(() => undefined);
    const { promise: timedOut, reject } = Promise.withResolvers<never>();
    rejectCurrent = reject;
    begin();
    try {
      return await Promise.race([promise, timedOut]);
    } finally {
      end();
    }
  };
};
