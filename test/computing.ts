/** How long test files computed: told by the process of each as it ends (`require` of ava), with the processes that it started. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The environment's variable that says in which file they tell it. */
export const computingVariable = 'TEST_COMPUTING';

const root = fileURLToPath(new URL('..', import.meta.url));
/** What `/proc` counts in. */
const ticksPerSecond = 100;

/** Seconds of this process and of those it started and saw end; without `/proc`, of this process alone. */
export const computedSeconds = (): number => {
  if (!existsSync('/proc/self/stat')) return (process.cpuUsage().user + process.cpuUsage().system) / 1e6;
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // After the name, which may hold anything: user, system, and the same of what ended.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15);
  return fields.reduce((sum, field) => sum + Number(field), 0) / ticksPerSecond;
};

/** What all cores did since the machine's start, by whatever process, and how long they were there. */
export const coresSpent = (): { readonly busyMs: number; readonly ms: number } => {
  const spent = cpus().map(({ times }) => ({ idle: times.idle, ms: Object.values(times).reduce((a, b) => a + b, 0) }));
  const ms = spent.reduce((sum, core) => sum + core.ms, 0);
  return { busyMs: ms - spent.reduce((sum, core) => sum + core.idle, 0), ms };
};

/** Files and their seconds, those that computed longest first. */
export const topFilesByCpu = (lines: string, count: number): string[] =>
  lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t'))
    .map(([seconds, file]) => ({ seconds: Number(seconds), file }))
    .toSorted((one, other) => other.seconds - one.seconds)
    .slice(0, count)
    .map(({ seconds, file }) => `${seconds.toFixed(1).padStart(6)} s  ${file}`);

/** Called by ava in the process of a test file, before that is loaded. */
const reportAtExit = async (): Promise<void> => {
  const outputFile = process.env[computingVariable];
  if (outputFile === undefined) return;
  // Runs of ava within a test count as part of it.
  delete process.env[computingVariable];
  const { default: test } = await import('ava');
  const file = relative(root, fileURLToPath(test.meta.file));
  process.once('exit', () => appendFileSync(outputFile, `${computedSeconds()}\t${file}\n`));
};

// biome-ignore lint/style/noDefaultExport: ava calls the default export of what it requires
export default reportAtExit;
