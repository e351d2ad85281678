/** Processor time of this thread: it is the same however busy the machine is. */
import { threadMs } from '../runtime/thread-time.ts';

/** Milliseconds that something takes. */
export const cpuMsOf = async (run: () => unknown): Promise<number> => {
  const before = threadMs();
  await run();
  return threadMs() - before;
};

/** Takes so many milliseconds. */
export const compute = (ms: number): void => {
  for (const endMs = threadMs() + ms; threadMs() < endMs; );
};
