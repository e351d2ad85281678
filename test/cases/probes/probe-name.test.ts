/** The name of a probe: the same after a restart, and unique among running probes. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { claimProbeName } from '../../../probes/probe-name.ts';

const script = `
  const { claimProbeName } = await import(process.argv[1]);
  process.stdout.write(claimProbeName(process.argv[2]));
  if (process.argv[3] === 'stay') setInterval(() => undefined, 1000);`;
const program = fileURLToPath(new URL('../../../probes/probe-name.ts', import.meta.url));
const argumentsFor = (location: string, ...more: readonly string[]) => [
  ...process.execArgv,
  ...['--input-type=module', '--eval', script, program, location, ...more],
];

test('a probe that is killed and started again has its name; one that runs has another', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-probe-name-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  process.env['TMPDIR'] = directory;
  const location = `location ${process.pid} ${Date.now()}`;
  const child = spawn(process.execPath, argumentsFor(location, 'stay'), { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  const first = String((await once(child.stdout, 'data'))[0]);
  t.regex(first, /^[\w.-]+:[0-9a-f]{8}$/);
  const second = claimProbeName(location);
  t.not(second, first);
  const third = claimProbeName(location);
  t.false([first, second].includes(third));
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
  t.is(execFileSync(process.execPath, argumentsFor(location), { encoding: 'utf8' }), first);
  t.not(claimProbeName(`${location} of others`), first);
});
