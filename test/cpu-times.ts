/**
 * CPU time of test files. The process of each file reports it at its exit (`require` of ava), including its child
 * processes.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Environment variable with the path of the file that collects the reports. */
export const computingVariable = 'TEST_COMPUTING';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Unit of CPU times in `/proc`. */
const ticksPerSecond = 100;

/** Returns the CPU seconds of this process and of its ended child processes; without `/proc`, of this process alone. */
export const computedSeconds = (): number => {
  if (!existsSync('/proc/self/stat')) return (process.cpuUsage().user + process.cpuUsage().system) / 1e6;
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // Fields after the process name, which may contain any character: user and system time, then the same of ended child
  // processes.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15);
  return fields.reduce((sum, field) => sum + Number(field), 0) / ticksPerSecond;
};

/** Returns the busy and the total time of all cores since the machine started, in milliseconds. */
export const coresSpent = (): { readonly busyMs: number; readonly ms: number } => {
  const spent = cpus().map(({ times }) => ({ idle: times.idle, ms: Object.values(times).reduce((a, b) => a + b, 0) }));
  const ms = spent.reduce((sum, core) => sum + core.ms, 0);
  return { busyMs: ms - spent.reduce((sum, core) => sum + core.idle, 0), ms };
};

/** Returns files with their CPU seconds, in descending order. */
export const topFilesByCpu = (lines: string, count: number): string[] =>
  lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t'))
    .map(([seconds, file]) => ({ seconds: Number(seconds), file }))
    .toSorted((one, other) => other.seconds - one.seconds)
    .slice(0, count)
    .map(({ seconds, file }) => `${seconds.toFixed(1).padStart(6)} s  ${file}`);

/** Called by ava in the process of a test file, before the file is loaded. */
const reportAtExit = async (): Promise<void> => {
  const outputFile = process.env[computingVariable];
  if (outputFile === undefined) return;
  // A nested ava run counts as part of its test.
  delete process.env[computingVariable];
  const { default: test } = await import('ava');
  const file = relative(root, fileURLToPath(test.meta.file));
  process.once('exit', () => appendFileSync(outputFile, `${computedSeconds()}\t${file}\n`));
};

// biome-ignore lint/style/noDefaultExport: ava calls the default export of what it requires
export default reportAtExit;
