/**
 * Frees memory after a busy period. V8 collects garbage only while it allocates, so a thread that becomes idle would
 * retain the garbage.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { trackWork } from './current-work.ts';
import { runEvery } from './interval.ts';

const checkIntervalMs = 15_000;
/** A thread is idle if its loop is busy for less than this share of the time. */
const idleShare = 0.05;
/** Minimum growth that justifies a collection, which takes about a millisecond per megabyte in use. */
const minGrowthBytes = 16 * 1024 * 1024;

const measureHeapBytes = (): number => {
  const { total_heap_size: heap, external_memory: external } = getHeapStatistics();
  return heap + external;
};

/** Returns V8's `gc` function, which is exposed only with a flag. */
const createCollector = (): (() => void) => {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
};

/** A holder of reusable memory. */
export interface ReusableMemory {
  /** Releases the memory that is not in use. */
  release(): void;
}

const holders = new Set<WeakRef<ReusableMemory>>();

/** Registers a holder, whose unused memory is released once this thread is idle. Holds only a weak reference. */
export const releaseWhenIdle = (holder: ReusableMemory): void => void holders.add(new WeakRef(holder));

const releaseAll = (): void => {
  for (const reference of holders) {
    const holder = reference.deref();
    if (holder === undefined) holders.delete(reference);
    else holder.release();
  }
};

/** Returns a function that reports whether this thread's loop was idle since the previous call. */
const createIdleCheck = (): (() => boolean) => {
  let lastUtilization = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, lastUtilization);
    lastUtilization = now;
    return utilization < idleShare;
  };
};

/**
 * Collects this thread's garbage when the thread is idle and at least 16 MiB have accumulated. Call it once per thread.
 * Returns a function that stops it.
 */
export const collectWhenIdle = (isIdle: () => boolean = createIdleCheck()): (() => void) => {
  let bytesAfterLastCollection = 0;
  let collect: (() => void) | undefined;
  return runEvery(checkIntervalMs, () => {
    if (!isIdle() || measureHeapBytes() - bytesAfterLastCollection < minGrowthBytes) return;
    trackWork('collecting memory', () => {
      releaseAll();
      collect ??= createCollector();
      collect();
    });
    bytesAfterLastCollection = measureHeapBytes();
  });
};
