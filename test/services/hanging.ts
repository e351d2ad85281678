/** Stops a process so that it seems to hang: its connections stay open, and it does not respond. */
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Whether all threads are stopped; undefined if the system does not report it. The state follows the name in
 * parentheses.
 */
const isStopped = async (pid: number): Promise<boolean | undefined> => {
  const directory = `/proc/${pid}/task`;
  const threads = await readdir(directory).catch(() => undefined);
  if (threads === undefined) return undefined;
  // A thread may end in the meantime.
  const stats = await Promise.all(threads.map((id) => readFile(`${directory}/${id}/stat`, 'utf8').catch(() => ') T ')));
  return stats.every((stat) => /\) [TtZX] [^)]*$/.test(stat));
};

/** Sends SIGSTOP, and resolves when all threads have stopped, which takes a while on a busy machine. */
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
