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
import { workNow } from './current-work.ts';
import { type Probe, probeName, type WatchStart } from './event-loop-watchdog-messages.ts';

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

const defaultBlockedMs = 200;
const defaultLongMs = 5_000;
/** The same work is told at most once in so long. The metric counts all. */
const quietMs = 60_000;
const maxFrames = 8;
/** Lines of the stack that belong to the look itself: its title, the function, the inspector's expression. */
const probeFrames = 3;

const stackNow = (): string => {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = probeFrames + maxFrames;
  const { stack = '' } = new Error('look');
  Error.stackTraceLimit = stackTraceLimit;
  const ours = stack.split('\n').findIndex((line) => line.includes('<anonymous>:1:'));
  return stack
    .split('\n')
    .slice(ours + 1)
    .map((line) => line.trim().replace(/^at (?:async )?/, ''))
    .slice(0, maxFrames)
    .join(' < ');
};

const computedMs = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000;

/** Watches the loop of this thread, once in a process, until `stop`. */
export const watchLoop = ({ log, metrics, ...limits }: LoopWatchOptions): LoopWatch => {
  const { blockedMs = defaultBlockedMs, longMs = defaultLongMs } = limits;
  const heartbeatIntervalMs = blockedMs / 2;
  const heartbeats = new BigInt64Array(new SharedArrayBuffer(8));
  heartbeats[0] = process.hrtime.bigint();
  const reportedAt = new Map<string, number>();
  let seen: Seen | undefined;
  let heartbeatAt = performance.now();
  let cpu = process.threadCpuUsage();

  const probe: Probe = (heartbeat, silentMs) => {
    // What the thread saw has ended meanwhile.
    if (heartbeat !== Atomics.load(heartbeats, 0)) return;
    seen = { work: workNow() ?? 'unknown', stack: stackNow() };
    if (silentMs < longMs) return;
    reportedAt.delete(seen.work);
    log.warn({ ...seen, blockedMs: silentMs }, 'the event loop is blocked: this process answers nothing until it ends');
  };

  const ended = (forMs: number): void => {
    const { work, stack } = seen ?? { work: 'unknown', stack: '' };
    metrics.observe('oiq_event_loop_blocked_seconds', forMs / 1000, { work });
    if (heartbeatAt - (reportedAt.get(work) ?? Number.NEGATIVE_INFINITY) < quietMs) return;
    reportedAt.set(work, heartbeatAt);
    const cpuMs = Math.round(computedMs(process.threadCpuUsage(cpu)));
    log.warn({ work, blockedMs: Math.round(forMs), cpuMs, stack }, 'the event loop was blocked');
  };

  const timer = setInterval(() => {
    const now = performance.now();
    const lateMs = now - heartbeatAt - heartbeatIntervalMs;
    heartbeatAt = now;
    if (lateMs >= blockedMs) ended(lateMs);
    seen = undefined;
    cpu = process.threadCpuUsage();
    Atomics.store(heartbeats, 0, process.hrtime.bigint());
  }, heartbeatIntervalMs).unref();

  Reflect.set(globalThis, Symbol.for(probeName), probe);
  const thread = new Worker(new URL('./event-loop-watchdog-worker.ts', import.meta.url), {
    name: 'loop-watch',
    // It looks a little before, so that what is told has always been seen.
    workerData: { heartbeats, blockedMs: heartbeatIntervalMs + blockedMs * 0.75, longMs } satisfies WatchStart,
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
      Reflect.deleteProperty(globalThis, Symbol.for(probeName));
      await thread.terminate();
    },
  };
};
