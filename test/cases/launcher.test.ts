/** The launcher of Node: how it forwards signals to its child process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const launcher = fileURLToPath(new URL('../../bin/node.mjs', import.meta.url));

/** Prints each signal, and ignores it. */
const program = `
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => console.log(signal));
setInterval(() => undefined, 1_000);
console.log('ready');
`;

test('signals are forwarded, and a signal at least a second later kills a process that does not exit', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'oiq-launcher-'));
  const file = join(directory, 'program.mjs');
  await writeFile(file, program);
  const child = spawn(process.execPath, [launcher, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(async () => {
    child.kill('SIGKILL');
    await rm(directory, { recursive: true });
  });
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string | undefined> => (await lines.next()).value;
  t.is(await nextLine(), 'ready');
  child.kill('SIGTERM');
  t.is(await nextLine(), 'SIGTERM');
  await delay(1_100);
  child.kill('SIGINT');
  t.deepEqual(await ended, [128 + 9, null]);
});
