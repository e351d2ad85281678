/** Name of a probe in its location. A restarted probe has the name of the one before it, and takes over its checks. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/** Maximum number of probes of one location on a machine that keep their names */
const maxSlots = 64;

/** Files of running probes of this process */
const claimedPaths = new Set<string>();

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

const openDirectory = (): string => {
  const { uid } = userInfo();
  const directory = join(tmpdir(), `oiq-probes-${uid}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (statSync(directory).uid !== uid) throw new Error(`${directory} belongs to another user`);
  return directory;
};

interface Slot {
  readonly pid: number;
  readonly id: string;
}

const readSlot = (path: string): Slot | undefined => {
  try {
    const [pid, id] = readFileSync(path, 'utf8').split(' ');
    return id !== undefined && /^[0-9a-f]{8}$/.test(id) ? { pid: Number(pid), id } : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

/** Claims the slot of a file; returns its id, or undefined if another probe has it. */
const claimSlot = (path: string): string | undefined => {
  const before = readSlot(path);
  const isTaken = before !== undefined && (before.pid === process.pid ? claimedPaths.has(path) : isRunning(before.pid));
  if (isTaken) return undefined;
  const id = before?.id ?? randomBytes(4).toString('hex');
  const ownPath = `${path}.${process.pid}`;
  writeFileSync(ownPath, `${process.pid} ${id}`, { mode: 0o600 });
  renameSync(ownPath, path);
  // Another process may have claimed it at the same time.
  if (readSlot(path)?.pid !== process.pid) return undefined;
  claimedPaths.add(path);
  return id;
};

const findId = (location: string): string => {
  const directory = openDirectory();
  const key = createHash('sha256').update(location).digest('hex').slice(0, 16);
  for (let slot = 0; slot < maxSlots; slot++) {
    const id = claimSlot(join(directory, `${key}-${slot}`));
    if (id !== undefined) return id;
  }
  throw new Error(`more than ${maxSlots} probes of a location run on this machine`);
};

/**
 * Returns a name for a probe. `location` identifies its location. Where no file can be written, each start has another
 * name, and the checks of the probe before it wait until that is missed.
 */
export const claimProbeName = (location: string): string => {
  try {
    return `${hostname()}:${findId(location)}`;
  } catch {
    return `${hostname()}:${randomBytes(4).toString('hex')}`;
  }
};
