/** Sends items in order to one path: bounded in memory, with retries, and before the page is left. */
import { guard } from './guard.ts';

const flushMs = 5_000;
const maxWaiting = 1_000;
const maxBatch = 100;
/** Browsers allow 64 KiB of requests that outlive their page. */
const maxBatchBytes = 48 * 1024;
const retryMs = 5_000;
const maxRetryMs = 300_000;

interface SenderOptions<Item> {
  readonly url: string;
  /** Returns the body of a request. */
  encode(items: readonly Item[]): object;
  /** The original function, so that requests of the script are not observed. */
  readonly fetch: typeof fetch;
  /** Number of items at which they are sent without a delay */
  readonly batch?: number;
}

export interface Sender<Item> {
  add(item: Item): void;
  /** Sends what waits. Requests may outlive the page. */
  flush(): void;
  /** While paused, items wait. */
  setPaused(isPaused: boolean): void;
  clear(): void;
  /** Number of items that were dropped because too many waited */
  readonly dropped: number;
}

const parseRetryMs = (response: Response, attempt: number): number => {
  const seconds = Number(response.headers.get('retry-after'));
  return seconds > 0 ? Math.min(seconds * 1_000, maxRetryMs) : Math.min(retryMs * 2 ** attempt, maxRetryMs);
};

export const createSender = <Item>({ url, encode, fetch, batch = maxBatch }: SenderOptions<Item>): Sender<Item> => {
  let waiting: Item[] = [];
  let isPaused = false;
  let dropped = 0;
  let attempt = 0;
  let notBefore = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const drop = (): void => {
    if (waiting.length <= maxWaiting) return;
    dropped += waiting.length - maxWaiting;
    waiting = waiting.slice(-maxWaiting);
  };
  const retry = (items: readonly Item[], delayMs: number): void => {
    attempt++;
    notBefore = Date.now() + delayMs;
    waiting = [...items, ...waiting];
    drop();
    schedule(delayMs);
  };
  const send = async (items: readonly Item[], body: string): Promise<void> => {
    try {
      const response = await fetch(url, {
        method: 'POST',
        // A type that needs no preflight. The receiver reads JSON.
        headers: { 'content-type': 'text/plain' },
        body,
        keepalive: body.length < maxBatchBytes,
        credentials: 'omit',
        referrerPolicy: 'origin',
      });
      if (response.status === 429 || response.status >= 500) retry(items, parseRetryMs(response, attempt));
      else attempt = 0;
    } catch {
      retry(items, Math.min(retryMs * 2 ** attempt, maxRetryMs));
    }
  };
  /** Sends a part of at most a batch; halves it while it is too large. */
  const sendBatch = (items: readonly Item[]): void => {
    const body = JSON.stringify(encode(items));
    const half = items.length >> 1;
    if (body.length < maxBatchBytes || half === 0) void send(items, body);
    else {
      sendBatch(items.slice(0, half));
      sendBatch(items.slice(half));
    }
  };
  const flush = guard((): void => {
    clearTimeout(timer);
    timer = undefined;
    if (isPaused) return;
    const waitMs = notBefore - Date.now();
    if (waitMs > 0) {
      schedule(waitMs);
      return;
    }
    while (waiting.length > 0) sendBatch(waiting.splice(0, maxBatch));
  });
  const schedule = (delayMs: number): void => {
    timer ??= setTimeout(flush, delayMs);
  };

  return {
    add(item) {
      waiting.push(item);
      drop();
      if (waiting.length >= batch) flush();
      else schedule(Math.max(flushMs, notBefore - Date.now()));
    },
    flush,
    setPaused(shouldPause) {
      isPaused = shouldPause;
    },
    clear() {
      waiting = [];
    },
    get dropped() {
      return dropped;
    },
  };
};
