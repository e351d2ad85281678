/** Kills sinks exactly between an insert and its commit, in both deployment forms. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { eventually } from '../waiting.ts';
import { nodeFlags, startOiq } from './oiq-process.ts';
import { Oracle } from './oracle.ts';

/** Records in each range that the crashing sinks store. */
export const rangeRecords = 1_000;

/** Returns the signal that ended the process. */
const crashingSinks = async (
  inserts: number,
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly signal: string | null; readonly code: number | null; readonly output: string }> => {
  const file = fileURLToPath(new URL('crashing-sinks.ts', import.meta.url));
  const child = spawn(process.execPath, [...nodeFlags, file, String(inserts)], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, UV_THREADPOOL_SIZE: '16', ...environment },
  });
  const end = (): void => void child.kill('SIGKILL');
  process.once('exit', end);
  let output = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  process.off('exit', end);
  return { signal, code, output };
};

/**
 * Fills the bus while no sink runs. Sinks then crash the given number of times, each after one more uncommitted range,
 * and finally a sink finishes. Returns what was sent.
 */
export const landWithCrashes = async (
  t: ExecutionContext,
  { environment, licenseKey }: { readonly environment: Readonly<Record<string, string>>; readonly licenseKey: string },
  crashes: number,
): Promise<Oracle> => {
  const dataDirectory = environment['OIQ_DATA_DIR'] ?? '';
  const receivers = await startOiq({ args: ['receivers'], dataDirectory, environment });
  const oracle = new Oracle({ otlp: () => receivers.otlp, licenseKey, recordsPerRequest: 200, connections: 4 });
  t.teardown(async () => {
    await receivers.kill();
    await oracle.close();
  });
  oracle.start();
  // One range for every crash, and one for the sink that finishes.
  await eventually('enough records on the bus', () => oracle.counts().acknowledged > rangeRecords * 5 * crashes);
  await oracle.stop();
  t.is(await receivers.stop(), 0, receivers.output());
  for (let round = 0; round < crashes; round++) {
    const { signal, code, output } = await crashingSinks(1 + (round % 2), environment);
    t.is(signal, 'SIGKILL', `crash ${round} exited with ${code} instead:\n${output}`);
  }
  const last = await crashingSinks(Number.POSITIVE_INFINITY, environment);
  t.is(last.code, 0, last.output);
  return oracle;
};
