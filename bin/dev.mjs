// `npm run dev`: starts the platform, and starts it again when a file of the code changes. The page is built anew at its first request.
import { spawn } from 'node:child_process';
import { watch } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folders = [
  'adapters',
  'api',
  'commands',
  'docs',
  'probes',
  'processors',
  'queries',
  'receivers',
  'runtime',
  'schemas',
  'sinks',
  'subjects',
  'web',
];
/** Editors write a file in several steps. */
const settleMs = 300;

let child;
let timer;
let isEnding = false;

const start = () => {
  child = spawn(process.execPath, [join(root, 'bin', 'node.mjs'), 'main.ts', 'start', ...process.argv.slice(2)], {
    cwd: root,
    stdio: 'inherit',
  });
  child.once('exit', (code) => {
    child = undefined;
    if (isEnding) process.exit(code ?? 0);
    if (timer === undefined) process.stderr.write('The process ended. It starts again at the next change.\n');
    else start();
    timer = undefined;
  });
};

const restart = (name) => {
  clearTimeout(timer);
  timer = setTimeout(() => {
    process.stderr.write(`${name} changed: restarting …\n`);
    if (child === undefined) {
      timer = undefined;
      start();
    } else child.kill('SIGTERM');
  }, settleMs);
};

for (const folder of folders)
  watch(join(root, folder), { recursive: true }, (_, name) => {
    if (name !== null && /\.(?:tsx?|css|md|json)$/.test(name)) restart(`${folder}/${name}`);
  });
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    isEnding = true;
    if (child === undefined) process.exit(0);
    child.kill('SIGTERM');
  });
start();
