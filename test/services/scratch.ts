/**
 * Where tests write. Suites wait long for the disk, at each commit that must be durable: where there is room they write to
 * memory, which is a file system like another.
 */
import { accessSync, chmodSync, constants, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { alive } from './services.ts';

const memory = '/dev/shm';
const prefix = 'oiq-tests-';
/** Four times what a run was seen to hold: most of that is the tree of the image. */
const roomNeeded = 4 * 2 ** 30;

/** Bytes that tests may write there; 0 where it is not there, is not ours to write, or runs no programs, as in many containers. */
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

/** A directory for this process, in memory where there is room, without what earlier ones left there that were killed. */
export const scratchDirectory = (): string => {
  const parent = roomInMemory() < roomNeeded ? tmpdir() : memory;
  for (const name of readdirSync(parent).filter((each) => each.startsWith(prefix)))
    if (!alive(Number.parseInt(name.slice(prefix.length), 10)))
      try {
        rmSync(join(parent, name), { recursive: true, force: true });
      } catch {
        // A test that was killed left a mounted directory, which only its owner can unmount.
      }
  const directory = mkdtempSync(join(parent, `${prefix}${process.pid}-`));
  // As the temporary directory: what runs as another user writes there, too.
  chmodSync(directory, 0o1777);
  return directory;
};
