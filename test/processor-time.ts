/** Processor time of this thread: it is the same however busy the machine is. */
import { getThreadCpuMs } from '../runtime/thread-time.ts';

/** Milliseconds that something takes. */
export const cpuMsOf = async (run: () => unknown): Promise<number> => {
  const before = getThreadCpuMs();
  await run();
  return getThreadCpuMs() - before;
};

/** Takes so many milliseconds. */
export const compute = (ms: number): void => {
  for (const endMs = getThreadCpuMs() + ms; getThreadCpuMs() < endMs; );
};
