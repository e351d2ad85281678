/** Thread that watches the event loop of the main thread. Only another thread can inspect work that does not end. */
import { Session } from 'node:inspector/promises';
import { workerData } from 'node:worker_threads';
import { LoopBlockageDetector } from './event-loop-lag.ts';
import { probeName, type WatchStart } from './event-loop-watchdog-messages.ts';

const { heartbeats, blockedMs, reportBeforeEndMs: repeatAfterMs } = workerData as WatchStart;

/** Calls the probe within the running work. An inspector can interrupt it, even within a regular expression. */
const probe = async (heartbeat: bigint, silentMs: number): Promise<void> => {
  const session = new Session();
  session.connectToMainThread();
  try {
    const expression = `globalThis[Symbol.for('${probeName}')]?.(${heartbeat}n, ${Math.round(silentMs)})`;
    await session.post('Runtime.evaluate', { expression });
  } finally {
    session.disconnect();
  }
};

const detector = new LoopBlockageDetector({ blockedMs, reportBeforeEndMs: repeatAfterMs });

const watch = (): void => {
  const heartbeat = Atomics.load(heartbeats, 0);
  const { blockedForMs, waitMs } = detector.check(Number(process.hrtime.bigint()) / 1e6, Number(heartbeat) / 1e6);
  if (blockedForMs !== undefined) void probe(heartbeat, blockedForMs);
  setTimeout(watch, waitMs);
};

watch();
