/**
 * Names what blocks the event loop: while one piece of work does not end, the process receives and answers nothing.
 *
 * The loop notes the time 20 times a second. A thread sees that it stands still, and has an inspector call a function within the
 * work under way, which reads the name of that work (`work.ts`) and its stack. So it is named while it goes on, however long that takes.
 * Without a blockage that costs two timers, of which the thread's wakes it six times a second. The inspector is connected only to look.
 */
import { Worker } from 'node:worker_threads';
import type { Log } from '../schemas/ports/log.ts';
import type { Metrics } from '../schemas/ports/metrics.ts';
import { type Look, lookName, type WatchStart } from './loop-watch-messages.ts';
import { workNow } from './work.ts';

export interface LoopWatch {
  /** What was seen to block the loop since it last went on. */
  readonly blockedBy: string | undefined;
  stop(): Promise<void>;
}

export interface LoopWatchOptions {
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'observe'>;
  /** What takes longer is told. */
  readonly blockedMs?: number;
  /** What goes on for longer is told before its end, and again after twice as long. */
  readonly longMs?: number;
}

/** Work that was under way when the thread looked. */
interface Seen {
  readonly work: string;
  readonly stack: string;
}

const usualBlockedMs = 200;
const usualLongMs = 5_000;
/** The same work is told at most once in so long. The metric counts all. */
const quietMs = 60_000;
const mostFrames = 8;
/** Lines of the stack that belong to the look itself: its title, the function, the inspector's expression. */
const framesOfLook = 3;

const stackNow = (): string => {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = framesOfLook + mostFrames;
  const { stack = '' } = new Error('look');
  Error.stackTraceLimit = stackTraceLimit;
  const ours = stack.split('\n').findIndex((line) => line.includes('<anonymous>:1:'));
  return stack
    .split('\n')
    .slice(ours + 1)
    .map((line) => line.trim().replace(/^at (?:async )?/, ''))
    .slice(0, mostFrames)
    .join(' < ');
};

const computedMs = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000;

/** Watches the loop of this thread, once in a process, until `stop`. */
export const watchLoop = ({ log, metrics, ...limits }: LoopWatchOptions): LoopWatch => {
  const { blockedMs = usualBlockedMs, longMs = usualLongMs } = limits;
  const beatMs = blockedMs / 2;
  const beats = new BigInt64Array(new SharedArrayBuffer(8));
  beats[0] = process.hrtime.bigint();
  const toldAt = new Map<string, number>();
  let seen: Seen | undefined;
  let beatAt = performance.now();
  let cpu = process.threadCpuUsage();

  const look: Look = (beat, silentMs) => {
    // What the thread saw has ended meanwhile.
    if (beat !== Atomics.load(beats, 0)) return;
    seen = { work: workNow() ?? 'unknown', stack: stackNow() };
    if (silentMs < longMs) return;
    toldAt.delete(seen.work);
    log.warn({ ...seen, blockedMs: silentMs }, 'the event loop is blocked: this process answers nothing until it ends');
  };

  const ended = (forMs: number): void => {
    const { work, stack } = seen ?? { work: 'unknown', stack: '' };
    metrics.observe('oiq_event_loop_blocked_seconds', forMs / 1000, { work });
    if (beatAt - (toldAt.get(work) ?? Number.NEGATIVE_INFINITY) < quietMs) return;
    toldAt.set(work, beatAt);
    const cpuMs = Math.round(computedMs(process.threadCpuUsage(cpu)));
    log.warn({ work, blockedMs: Math.round(forMs), cpuMs, stack }, 'the event loop was blocked');
  };

  const timer = setInterval(() => {
    const now = performance.now();
    const lateMs = now - beatAt - beatMs;
    beatAt = now;
    if (lateMs >= blockedMs) ended(lateMs);
    seen = undefined;
    cpu = process.threadCpuUsage();
    Atomics.store(beats, 0, process.hrtime.bigint());
  }, beatMs).unref();

  Reflect.set(globalThis, Symbol.for(lookName), look);
  const thread = new Worker(new URL('./loop-watch-thread.ts', import.meta.url), {
    name: 'loop-watch',
    // It looks a little before, so that what is told has always been seen.
    workerData: { beats, blockedMs: beatMs + blockedMs * 0.75, longMs } satisfies WatchStart,
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 },
  });
  thread.on('error', (error) => log.warn({ error }, 'what blocks the event loop is counted, but cannot be named'));
  thread.unref();

  return {
    get blockedBy() {
      return seen?.work;
    },
    async stop() {
      clearInterval(timer);
      Reflect.deleteProperty(globalThis, Symbol.for(lookName));
      await thread.terminate();
    },
  };
};
