/** What a busy minute leaves in memory: V8 collects garbage while it allocates, so a thread that has become idle would keep it. */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { trackWork } from './current-work.ts';
import { every } from './interval.ts';

const checkMs = 15_000;
/** A thread whose loop was busy for a smaller share of the time is idle. */
const idleShare = 0.05;
/** Less than this is not worth a collection, which takes about a millisecond for each megabyte that is in use. */
const minGrowthBytes = 16 * 1024 * 1024;

const heldBytes = (): number => {
  const { total_heap_size: heap, external_memory: external } = getHeapStatistics();
  return heap + external;
};

/** V8's own `gc`, which threads of a process have only if it is asked for. */
const collector = (): (() => void) => {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
};

/** What keeps memory to use it again. */
export interface Reused {
  /** Lets go of what nobody has at the moment. */
  release(): void;
}

const reused = new Set<WeakRef<Reused>>();

/** Has this thread, once it is idle, let go of what is kept to be used again. It keeps nothing alive. */
export const releaseWhenIdle = (holder: Reused): void => void reused.add(new WeakRef(holder));

const release = (): void => {
  for (const each of reused) {
    const holder = each.deref();
    if (holder === undefined) reused.delete(each);
    else holder.release();
  }
};

/** Whether this thread's loop was idle since it was asked last. */
const idleLoop = (): (() => boolean) => {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization < idleShare;
  };
};

/**
 * Collects this thread's garbage once it is idle, as often as 16 MiB have gathered meanwhile. It is called once in a thread, and answers
 * what ends it.
 */
export const collectWhenIdle = (isIdle: () => boolean = idleLoop()): (() => void) => {
  let before = 0;
  let collect: (() => void) | undefined;
  return every(checkMs, () => {
    if (!isIdle() || heldBytes() - before < minGrowthBytes) return;
    trackWork('collecting memory', () => {
      release();
      collect ??= collector();
      collect();
    });
    before = heldBytes();
  });
};
