/**
 * Reports which work blocks the event loop. While synchronous work runs, the process cannot receive requests or respond.
 *
 * The loop writes a heartbeat 10 times a second by default. When heartbeats stop, a thread uses an inspector to call a function
 * within the running work. The function reads the name of the work (`current-work.ts`) and its stack. Thus the log
 * contains the work while it is still running, however long it takes. Without blockages, the only cost is two timers, and
 * the timer of the thread fires six times a second. The inspector connects only for an inspection. The thread does not belong to a
 * `WorkerPool`, because it processes no requests.
 */
import { Worker } from 'node:worker_threads';
import type { Log } from '../schemas/ports/log.ts';
import type { Metrics } from '../schemas/ports/metrics.ts';
import { getCurrentWork } from './current-work.ts';
import { type InspectLoop, inspectionFunctionName, type WatchdogOptions } from './event-loop-watchdog-messages.ts';

export interface LoopWatch {
  /** Work that blocked the loop since its last heartbeat. */
  readonly blockedBy: string | undefined;
  stop(): Promise<void>;
}

export interface LoopWatchOptions {
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'observe'>;
  /** Blockages longer than this are reported. */
  readonly blockedMs?: number;
  /** Blockages longer than this are reported before they end, and again after twice that time. */
  readonly reportBeforeEndMs?: number;
}

/** Work that was running when the thread inspected the loop */
interface InspectedWork {
  readonly work: string;
  readonly stack: string;
}

/** Blockages in which the loop computed too little to be their cause */
interface Waits {
  count: number;
  longestMs: number;
  cpuMs: number;
  lastReportMs: number;
}

const defaultBlockedMs = 200;
/** With less CPU time than this share of `blockedMs`, the work of the loop is not the cause of a blockage. */
const minCpuShare = 0.25;
const defaultReportBeforeEndMs = 5_000;
/** Minimum interval between reports of the same work. The metric counts all blockages. */
const minReportIntervalMs = 60_000;
const maxFrames = 8;
/** Stack frames of the inspection itself: its title, the function and the inspector's expression. */
const inspectionFrames = 3;

const captureStack = (): string => {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = inspectionFrames + maxFrames;
  const { stack = '' } = new Error('inspection');
  Error.stackTraceLimit = stackTraceLimit;
  const inspectionFrameIndex = stack.split('\n').findIndex((line) => line.includes('<anonymous>:1:'));
  return stack
    .split('\n')
    .slice(inspectionFrameIndex + 1)
    .map((line) => line.trim().replace(/^at (?:async )?/, ''))
    .slice(0, maxFrames)
    .join(' < ');
};

const toCpuMs = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000;

/** Watches the event loop of this thread until `stop`. Call it once per process. */
export const watchLoop = ({ log, metrics, ...limits }: LoopWatchOptions): LoopWatch => {
  const { blockedMs = defaultBlockedMs, reportBeforeEndMs = defaultReportBeforeEndMs } = limits;
  const heartbeatIntervalMs = blockedMs / 2;
  const heartbeats = new BigInt64Array(new SharedArrayBuffer(8));
  heartbeats[0] = process.hrtime.bigint();
  const lastReportMs = new Map<string, number>();
  let inspectedWork: InspectedWork | undefined;
  let lastHeartbeatMs = performance.now();
  let cpuUsage = process.threadCpuUsage();

  const inspectLoop: InspectLoop = (heartbeat, silentMs) => {
    // The blockage that the thread detected has already ended.
    if (heartbeat !== Atomics.load(heartbeats, 0)) return;
    inspectedWork = { work: getCurrentWork() ?? 'unknown', stack: captureStack() };
    if (silentMs < reportBeforeEndMs) return;
    lastReportMs.delete(inspectedWork.work);
    log.warn(
      { ...inspectedWork, blockedMs: silentMs },
      'the event loop is blocked: this process handles no requests until the blockage ends',
    );
  };

  const waits: Waits = { count: 0, longestMs: 0, cpuMs: 0, lastReportMs: Number.NEGATIVE_INFINITY };

  /** The loop waited for the CPU or the disk, as on a busy machine: one line a minute counts this. */
  const reportWait = (blockageMs: number, cpuMs: number): void => {
    waits.count++;
    waits.longestMs = Math.max(waits.longestMs, Math.round(blockageMs));
    waits.cpuMs += cpuMs;
    if (lastHeartbeatMs - waits.lastReportMs < minReportIntervalMs) return;
    const { count, longestMs, cpuMs: totalCpuMs } = waits;
    log.warn(
      { count, longestMs, cpuMs: totalCpuMs },
      'the event loop was late, but did not compute: the machine is busy, or its disk is slow',
    );
    Object.assign(waits, { count: 0, longestMs: 0, cpuMs: 0, lastReportMs: lastHeartbeatMs });
  };

  const reportBlockage = (blockageMs: number): void => {
    const { work, stack } = inspectedWork ?? { work: 'unknown', stack: '' };
    metrics.observe('oiq_event_loop_blocked_seconds', blockageMs / 1000, { work });
    const cpuMs = Math.round(toCpuMs(process.threadCpuUsage(cpuUsage)));
    if (cpuMs < blockedMs * minCpuShare) {
      reportWait(blockageMs, cpuMs);
      return;
    }
    if (lastHeartbeatMs - (lastReportMs.get(work) ?? Number.NEGATIVE_INFINITY) < minReportIntervalMs) return;
    lastReportMs.set(work, lastHeartbeatMs);
    log.warn({ work, blockedMs: Math.round(blockageMs), cpuMs, stack }, 'the event loop was blocked');
  };

  const timer = setInterval(() => {
    const now = performance.now();
    const delayMs = now - lastHeartbeatMs - heartbeatIntervalMs;
    lastHeartbeatMs = now;
    if (delayMs >= blockedMs) reportBlockage(delayMs);
    inspectedWork = undefined;
    cpuUsage = process.threadCpuUsage();
    Atomics.store(heartbeats, 0, process.hrtime.bigint());
  }, heartbeatIntervalMs).unref();

  Reflect.set(globalThis, Symbol.for(inspectionFunctionName), inspectLoop);
  const thread = new Worker(new URL('./event-loop-watchdog-worker.ts', import.meta.url), {
    name: 'loop-watch',
    // The thread inspects slightly early, so that every reported blockage has been inspected.
    workerData: {
      heartbeats,
      blockedMs: heartbeatIntervalMs + blockedMs * 0.75,
      reportBeforeEndMs,
    } satisfies WatchdogOptions,
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 },
  });
  thread.on('error', (error) =>
    log.warn({ error }, 'blockages of the event loop are counted, but their cause cannot be determined'),
  );
  thread.unref();

  return {
    get blockedBy() {
      return inspectedWork?.work;
    },
    async stop() {
      clearInterval(timer);
      Reflect.deleteProperty(globalThis, Symbol.for(inspectionFunctionName));
      await thread.terminate();
    },
  };
};
