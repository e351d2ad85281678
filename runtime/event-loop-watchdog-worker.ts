/** Thread that watches the event loop of the main thread. Only another thread can inspect work that does not end. */
import { Session } from 'node:inspector/promises';
import { workerData } from 'node:worker_threads';
import { LoopSilence } from './event-loop-lag.ts';
import { probeName, type WatchStart } from './event-loop-watchdog-messages.ts';

const { heartbeats, blockedMs, reportBeforeEndMs: longMs } = workerData as WatchStart;

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

const silence = new LoopSilence({ blockedMs, reportBeforeEndMs: longMs });

const watch = (): void => {
  const heartbeat = Atomics.load(heartbeats, 0);
  const { silentMs, waitMs } = silence.at(Number(process.hrtime.bigint()) / 1e6, Number(heartbeat) / 1e6);
  if (silentMs !== undefined) void probe(heartbeat, silentMs);
  setTimeout(watch, waitMs);
};

watch();
