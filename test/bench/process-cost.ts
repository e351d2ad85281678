/** What a process costs, from Linux' own accounting. */
import { readFileSync } from 'node:fs';

const ticksPerSecond = 100;

/** CPU-seconds (user and system, all threads) that a process used since its start. */
export const cpuSeconds = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
};

/** Resident memory now and at its peak, in MiB. */
export const memory = (pid: number): { rss: number; peak: number } => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const value = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0) / 1024;
  return { rss: value('VmRSS'), peak: value('VmHWM') };
};
