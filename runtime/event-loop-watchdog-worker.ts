/** Thread that watches the event loop of the main thread. Only another thread can inspect work that does not end. */
import { Session } from 'node:inspector/promises';
import { workerData } from 'node:worker_threads';
import { LoopBlockageDetector } from './event-loop-lag.ts';
import { inspectionFunctionName, type WatchdogOptions } from './event-loop-watchdog-messages.ts';

const { heartbeats, blockedMs, reportBeforeEndMs: repeatAfterMs } = workerData as WatchdogOptions;

/** Calls the probe within the running work. An inspector can interrupt it, even within a regular expression. */
const inspectLoop = async (heartbeat: bigint, silentMs: number): Promise<void> => {
  const session = new Session();
  session.connectToMainThread();
  try {
    const expression = `globalThis[Symbol.for('${inspectionFunctionName}')]?.(${heartbeat}n, ${Math.round(silentMs)})`;
    await session.post('Runtime.evaluate', { expression });
  } finally {
    session.disconnect();
  }
};

const detector = new LoopBlockageDetector({ blockedMs, reportBeforeEndMs: repeatAfterMs });

const checkHeartbeat = (): void => {
  const heartbeat = Atomics.load(heartbeats, 0);
  const { blockedForMs, waitMs } = detector.check(Number(process.hrtime.bigint()) / 1e6, Number(heartbeat) / 1e6);
  if (blockedForMs !== undefined) void inspectLoop(heartbeat, blockedForMs);
  setTimeout(checkHeartbeat, waitMs);
};

checkHeartbeat();
