/** The allocator settings of the launcher: by default, a small block above large ones prevents their release. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const launcher = fileURLToPath(new URL('../../bin/node.mjs', import.meta.url));

/**
 * Allocates 50 buffers of 4 MiB with a small one after each, frees the large ones, and prints the growth and the
 * retained memory in MiB.
 */
const program = `
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = async () => {
  for (let times = 0; times < 3; times++) {
    runInNewContext('gc')();
    await sleep(20);
  }
};
const resident = () => Number(/RssAnon:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024;
// By default, the allocator retains blocks of a size after the first large one is freed.
let first = Buffer.alloc(24 * 1024 ** 2, 1);
first = undefined;
await collect();
const before = resident();
const large = [];
const small = [];
for (let count = 0; count < 50; count++) {
  large.push(Buffer.alloc(4 * 1024 ** 2, 1));
  small.push(Buffer.alloc(64 * 1024, 1));
}
const grown = resident() - before;
large.length = 0;
await collect();
console.log(JSON.stringify({ grown, kept: resident() - before, small: small.length }));
`;

(process.platform === 'linux' ? test : test.skip)('Large buffers go back to the machine when they are freed', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-memory-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, 'program.mjs');
  writeFileSync(file, program);
  const { grown, kept } = JSON.parse(execFileSync(process.execPath, [launcher, file], { encoding: 'utf8' }));
  t.true(grown >= 200, `it grew by ${grown} MiB`);
  t.true(kept < grown / 4, `${kept} of ${grown} MiB are kept`);
});
