/** The processes of a browser run, on systems with `/proc`. Elsewhere they end with their driver process. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** Empty for a process that ended in the meantime. */
const readProcessFile = (pid: number, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
};

const listPids = (): readonly number[] => {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d{1,10}$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
};

/** Process group; 0 for a dead process. Fields are parsed after the name, which may contain spaces and brackets. */
const readProcessGroup = (pid: number): number => {
  const stat = readProcessFile(pid, 'stat');
  const [state, , group = 0] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' || state === 'X' ? 0 : Number(group);
};

/**
 * All processes with the directory in their command line, and those of their groups; none of this process's own group.
 */
export const findProcesses = (directory: string): readonly number[] => {
  const ownGroup = readProcessGroup(process.pid);
  const groups = listPids().map((pid) => ({ pid, group: readProcessGroup(pid) }));
  const otherProcesses = groups.filter(({ group }) => group !== ownGroup && group !== 0);
  const matchingProcesses = otherProcesses.filter(({ pid }) =>
    readProcessFile(pid, 'cmdline').includes(`${directory}/`),
  );
  const runGroups = new Set(matchingProcesses.map(({ group }) => group));
  return otherProcesses.filter(({ group }) => runGroups.has(group)).map(({ pid }) => pid);
};

/** Private memory in bytes: memory that is shared with others, such as the program, does not count. */
export const sumPrivateMemoryBytes = (processes: readonly number[]): number =>
  processes.reduce((sum, pid) => {
    const kilobytes = [...readProcessFile(pid, 'status').matchAll(/^Rss(?:Anon|Shmem):\s{0,99}(\d{1,15}) kB/gm)];
    return sum + kilobytes.reduce((processBytes, [, size]) => processBytes + Number(size) * 1024, 0);
  }, 0);

/** Interval and number of checks: killed processes take a moment to end. */
const checkIntervalMs = 20;
const maxChecks = 250;

/** Kills the processes that exist now. Returns false if none was left. */
const killOnce = (directory: string): boolean => {
  const remaining = findProcesses(directory);
  for (const pid of remaining) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended by itself.
    }
  }
  return remaining.length > 0;
};

/** Kills the processes, and those that they start in the meantime. Resolves when none is left. */
export const killAll = async (directory: string): Promise<void> => {
  for (let attempt = 0; attempt < maxChecks && killOnce(directory); attempt++) await pause(checkIntervalMs);
};

/** The synchronous form for a process that exits and cannot wait. */
export const killAllNow = (directory: string): void => {
  const neverNotified = new Int32Array(new SharedArrayBuffer(4));
  for (let attempt = 0; attempt < maxChecks && killOnce(directory); attempt++)
    Atomics.wait(neverNotified, 0, 0, checkIntervalMs);
};
