/** `npm run check`: lint, types, unused code and architecture tests, two at a time. Prints the output of what fails. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { codeChecks } from './checks.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

const tasks = [
  ...codeChecks.map(({ title, script }) => ({ title, args: ['run', '--silent', script] })),
  { title: 'architecture tests pass', args: ['test', '--silent', '--', 'architecture'] },
];

/** Runs a script of npm; returns whether it succeeded, with its output. */
const run = (args: readonly string[]): Promise<{ readonly isOk: boolean; readonly output: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn('npm', args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    child.once('error', reject);
    child.once('close', (code) => resolve({ isOk: code === 0, output }));
  });

const startMs = Date.now();
const waiting = [...tasks];
let failures = 0;
const work = async (): Promise<void> => {
  for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
    const { isOk, output } = await run(task.args);
    if (!isOk) failures++;
    console.log(`${isOk ? 'ok' : 'NOT OK'} - ${task.title}${isOk ? '' : `\n${output}`}`);
  }
};
await Promise.all([work(), work()]);
console.log(`# ${Math.round((Date.now() - startMs) / 1000)} s, ${failures} of ${tasks.length} checks failed`);
process.exitCode = failures === 0 ? 0 : 1;
