/** The thread that watches the event loop of the main thread. It alone can look at work that does not end. */
import { Session } from 'node:inspector/promises';
import { workerData } from 'node:worker_threads';
import { lookName, type WatchStart } from './loop-watch-messages.ts';

const { beats, beatMs, blockedMs, longMs } = workerData as WatchStart;

/** Calls `look` within the work that is under way: an inspector interrupts it, also within a regular expression. */
const look = async (beat: number, silentMs: number): Promise<void> => {
  const session = new Session();
  session.connectToMainThread();
  try {
    const expression = `globalThis[Symbol.for('${lookName}')]?.(${beat}, ${silentMs})`;
    await session.post('Runtime.evaluate', { expression });
  } finally {
    session.disconnect();
  }
};

let beat = Atomics.load(beats, 0);
let sinceMs = performance.now();
let nextMs = blockedMs;
setInterval(() => {
  const seen = Atomics.load(beats, 0);
  const nowMs = performance.now();
  if (seen !== beat) {
    beat = seen;
    sinceMs = nowMs;
    nextMs = blockedMs;
  }
  const silentMs = Math.round(nowMs - sinceMs);
  if (silentMs < nextMs) return;
  nextMs = Math.max(longMs, 2 * nextMs);
  void look(beat, silentMs);
}, beatMs);
