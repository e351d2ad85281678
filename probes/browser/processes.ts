/** The processes of a run of a browser, where the system has `/proc`. Elsewhere they end with the one that drives them. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

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

/** Its group; 0 of one that is dead. Fields are told from behind the name, which may have spaces and brackets. */
const groupOf = (pid: number): number => {
  const stat = readOf(pid, 'stat');
  const [state, , group = 0] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' || state === 'X' ? 0 : Number(group);
};

/** All that were started with something in the directory, and those of their groups; none of the group of this process. */
export const processesOf = (directory: string): readonly number[] => {
  const own = groupOf(process.pid);
  const groups = pids().map((pid) => ({ pid, group: groupOf(pid) }));
  const others = groups.filter(({ group }) => group !== own && group !== 0);
  const found = others.filter(({ pid }) => readOf(pid, 'cmdline').includes(`${directory}/`));
  const theirs = new Set(found.map(({ group }) => group));
  return others.filter(({ group }) => theirs.has(group)).map(({ pid }) => pid);
};

/** Bytes of their own: what they share with others, such as the program, is not theirs. */
export const memoryOf = (processes: readonly number[]): number =>
  processes.reduce((sum, pid) => {
    const kilobytes = [...readOf(pid, 'status').matchAll(/^Rss(?:Anon|Shmem):\s{0,99}(\d{1,15}) kB/gm)];
    return sum + kilobytes.reduce((own, [, size]) => own + Number(size) * 1024, 0);
  }, 0);

/** Between two looks, and how often it is looked: what was killed takes a moment to be gone. */
const checkIntervalMs = 20;
const maxChecks = 250;

/** False where none is left. */
const kill = (directory: string): boolean => {
  const left = processesOf(directory);
  for (const pid of left) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended by itself.
    }
  }
  return left.length > 0;
};

/** Ends them, and those that they start meanwhile. Resolves when none is left. */
export const killAll = async (directory: string): Promise<void> => {
  for (let attempt = 0; attempt < maxChecks && kill(directory); attempt++) await pause(checkIntervalMs);
};

/** The same in a process that exits, where nothing can be waited for. */
export const killAllNow = (directory: string): void => {
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (let attempt = 0; attempt < maxChecks && kill(directory); attempt++) Atomics.wait(never, 0, 0, checkIntervalMs);
};
