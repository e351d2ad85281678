/** Costs of a process from the accounting of Linux. */
import { readdirSync, readFileSync } from 'node:fs';

const ticksPerSecond = 100;

/** CPU-seconds (user and system, all threads) of a process since its start. */
export const cpuSeconds = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
};

/** CPU-seconds of running threads by name without digits. Threads that have exited are missing. */
export const threadSeconds = (pid: number): Map<string, number> => {
  const byName = new Map<string, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const path = `/proc/${pid}/task/${thread}`;
    try {
      const name = thread === String(pid) ? 'main' : readFileSync(`${path}/comm`, 'utf8').trim().replaceAll(/\d+/g, '');
      const seconds = Number(readFileSync(`${path}/schedstat`, 'utf8').split(' ')[0]) / 1e9;
      byName.set(name, (byName.get(name) ?? 0) + seconds);
    } catch {
      // The thread has exited.
    }
  }
  return byName;
};

/** Current and peak resident memory, in MiB. */
export const memory = (pid: number): { rss: number; peak: number } => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const value = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0) / 1024;
  return { rss: value('VmRSS'), peak: value('VmHWM') };
};
