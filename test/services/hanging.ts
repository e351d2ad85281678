/** Stopping a process as a machine that hangs would: it keeps its connections, and answers nothing. */
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** Whether every thread stands still; `undefined` where the system does not say. The state follows the name in brackets. */
const isStopped = async (pid: number): Promise<boolean | undefined> => {
  const directory = `/proc/${pid}/task`;
  const threads = await readdir(directory).catch(() => undefined);
  if (threads === undefined) return undefined;
  // A thread may end meanwhile.
  const stats = await Promise.all(threads.map((id) => readFile(`${directory}/${id}/stat`, 'utf8').catch(() => ') T ')));
  return stats.every((stat) => /\) [TtZX] [^)]*$/.test(stat));
};

/** Resolves when it answers nothing any more: a stop takes effect a moment after its signal, on a busy machine a long one. */
export const hang = async (pid: number): Promise<void> => {
  process.kill(pid, 'SIGSTOP');
  for (;;) {
    const stopped = await isStopped(pid);
    if (stopped === undefined) await delay(200);
    if (stopped !== false) return;
    await delay(5);
  }
};

export const resume = (pid: number): void => void process.kill(pid, 'SIGCONT');
