/** The thread that watches the event loop of the main thread. It alone can look at work that does not end. */
import { Session } from 'node:inspector/promises';
import { workerData } from 'node:worker_threads';
import { LoopSilence } from './loop-silence.ts';
import { lookName, type WatchStart } from './loop-watch-messages.ts';

const { beats, blockedMs, longMs } = workerData as WatchStart;

/** Calls `look` within the work that is under way: an inspector interrupts it, also within a regular expression. */
const look = async (beat: bigint, silentMs: number): Promise<void> => {
  const session = new Session();
  session.connectToMainThread();
  try {
    const expression = `globalThis[Symbol.for('${lookName}')]?.(${beat}n, ${Math.round(silentMs)})`;
    await session.post('Runtime.evaluate', { expression });
  } finally {
    session.disconnect();
  }
};

const silence = new LoopSilence({ blockedMs, longMs });

const watch = (): void => {
  const beat = Atomics.load(beats, 0);
  const { silentMs, waitMs } = silence.at(Number(process.hrtime.bigint()) / 1e6, Number(beat) / 1e6);
  if (silentMs !== undefined) void look(beat, silentMs);
  setTimeout(watch, waitMs);
};

watch();
