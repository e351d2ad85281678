/** Runs a program of this folder that kills itself at a stage. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { nodeFlags } from './oiq-process.ts';

interface Ended {
  readonly signal: string | null;
  readonly code: number | null;
  readonly output: string;
  /** The last time that the process printed. */
  readonly atMs: number;
}

/** Runs the program until it exits or kills itself. */
export const runDying = async (
  t: ExecutionContext,
  program: string,
  ...args: readonly (string | number)[]
): Promise<Ended> => {
  const file = fileURLToPath(new URL(program, import.meta.url));
  const child = spawn(process.execPath, [...nodeFlags, file, ...args.map(String)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  let [output, times] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    times += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  return { code, signal, output, atMs: Number(times.trim().split('\n').at(-1)) };
};
