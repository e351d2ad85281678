/** The processes of a run of a browser, where the system has `/proc`. Elsewhere they end with the one that drives them. */
import { readdirSync, readFileSync } from 'node:fs';

/** A process that ended between two looks. */
const readOf = (pid: number, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
};

const pids = (): readonly number[] => {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d{1,10}$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
};

/** Its group: the third field behind the name, which may have spaces and brackets. */
const groupOf = (pid: number): number => {
  const stat = readOf(pid, 'stat');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2] ?? 0);
};

/** All that were started with a directory of the run, and those of their groups; none of the group of this process. */
export const processesOf = (directory: string): readonly number[] => {
  const own = groupOf(process.pid);
  const groups = pids().map((pid) => ({ pid, group: groupOf(pid) }));
  const others = groups.filter(({ group }) => group !== own && group !== 0);
  const found = others.filter(({ pid }) => readOf(pid, 'cmdline').includes(directory));
  const theirs = new Set(found.map(({ group }) => group));
  return others.filter(({ group }) => theirs.has(group)).map(({ pid }) => pid);
};

/** Bytes of their own: what they share with others, such as the program, is not theirs. */
export const memoryOf = (processes: readonly number[]): number =>
  processes.reduce((sum, pid) => {
    const kilobytes = [...readOf(pid, 'status').matchAll(/^Rss(?:Anon|Shmem):\s{0,99}(\d{1,15}) kB/gm)];
    return sum + kilobytes.reduce((own, [, size]) => own + Number(size) * 1024, 0);
  }, 0);

/** Ends them, and those that they start meanwhile. */
export const killAll = (directory: string): void => {
  for (let round = 0; round < 5; round++) {
    const left = processesOf(directory).filter((pid) => !/\) [ZX] /.test(readOf(pid, 'stat')));
    if (left.length === 0) return;
    for (const pid of left) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It ended by itself.
      }
    }
  }
};
