/**
 * Headless Chromium for walks through the page: the one of this machine, otherwise unpacked from Debian packages
 * without installing them.
 */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findChromium as programInPath } from '../../probes/browser/program.ts';
import { cacheDirectory, exclusively } from './services.ts';

const run = promisify(execFile);

/** The program in `TEST_CHROMIUM`, or the first in `PATH`. */
const ownPath = process.env['TEST_CHROMIUM'] ?? programInPath(undefined);

const packageName = 'chromium-headless-shell';
const home = join(cacheDirectory(), packageName);
const starter = join(home, 'start');

const isDebian = (): boolean =>
  existsSync('/etc/os-release') &&
  /^ID=debian$/m.test(readFileSync('/etc/os-release', 'utf8')) &&
  spawnSync('apt-get', ['--version']).status === 0;

/** Why no browser is available for tests; undefined if one is installed or can be unpacked. */
export const chromiumMissing: string | undefined =
  ownPath !== undefined || existsSync(starter) || isDebian()
    ? undefined
    : 'no Chromium is in the path, and this is no Debian to fetch it from: set TEST_CHROMIUM';

/** Start script that adds the unpacked libraries to the search path. */
const startOf = (root: string): string => `#!/bin/sh
for libraries in ${root}/usr/lib/*-linux-gnu; do
  LD_LIBRARY_PATH="$libraries:$libraries/pulseaudio\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
done
export LD_LIBRARY_PATH
exec ${root}/usr/lib/chromium/${packageName} "$@"
`;

/** Unpacks the packages that `apt-get install` would install, without root and without changing the machine. */
const unpack = async (): Promise<void> => {
  const created = `${home}.${process.pid}`;
  const packages = join(created, 'packages');
  await mkdir(packages, { recursive: true });
  // Only root can update package lists; otherwise use the existing ones.
  await run('apt-get', ['update', '-qq']).catch(() => undefined);
  const { stdout } = await run('apt-get', ['install', '--simulate', '--no-install-recommends', packageName]);
  const names = [...stdout.matchAll(/^Inst (\S+)/gm)].map(([, name = '']) => name);
  await run('apt-get', ['download', '-qq', ...names], { cwd: packages, maxBuffer: 16 * 1024 * 1024 });
  for (const file of await readdir(packages)) await run('dpkg-deb', ['--extract', join(packages, file), created]);
  await rm(packages, { recursive: true });
  await writeFile(join(created, 'start'), startOf(home));
  await chmod(join(created, 'start'), 0o755);
  await rm(home, { recursive: true, force: true });
  await rename(created, home);
};

/** Returns the path of the program. */
export const chromiumProgram = async (): Promise<string> => {
  if (ownPath !== undefined) return ownPath;
  await exclusively(packageName, async () => {
    if (!existsSync(starter)) await unpack();
  });
  return starter;
};
