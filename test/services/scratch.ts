/**
 * The temporary directory of tests. Suites spend much time on durable commits to disk, so tests write to a file system
 * in memory if it has enough space.
 */
import { accessSync, chmodSync, constants, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { alive } from './services.ts';

const memory = '/dev/shm';
const prefix = 'oiq-tests-';
/** Four times the observed usage of a run, most of which is the tree of the image. */
const roomNeeded = 4 * 2 ** 30;

/**
 * Returns the bytes available in memory; 0 if the file system is missing, not writable, or mounted without execution,
 * as in many containers.
 */
const roomInMemory = (): number => {
  try {
    accessSync(memory, constants.W_OK);
    const runsNothing = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .some((mount) => mount.split(' ')[1] === memory && mount.split(' ')[3]?.split(',').includes('noexec'));
    const { bavail, bsize } = statfsSync(memory);
    return runsNothing ? 0 : Math.min(bavail * bsize, freemem() / 2);
  } catch {
    return 0;
  }
};

/** Returns a directory for this process, in memory if it has enough space. Removes directories of killed processes. */
export const scratchDirectory = (): string => {
  const parent = roomInMemory() < roomNeeded ? tmpdir() : memory;
  for (const name of readdirSync(parent).filter((each) => each.startsWith(prefix)))
    if (!alive(Number.parseInt(name.slice(prefix.length), 10)))
      try {
        rmSync(join(parent, name), { recursive: true, force: true });
      } catch {
        // A killed test left a mounted directory, which only its owner can unmount.
      }
  const directory = mkdtempSync(join(parent, `${prefix}${process.pid}-`));
  // Same mode as the temporary directory, because processes of other users write here, too.
  chmodSync(directory, 0o1777);
  return directory;
};
