/** Directories of browser runs, and the removal of directories whose processes all died. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, renameSync } from 'node:fs';
import { lstat, readdir, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { killAll } from './processes.ts';

/** On a shared disk, a machine cannot check the processes of another one. */
const machine = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
const namePrefix = `oiq-browser-${machine}-`;
/** Prefix of directories whose process does not listen yet */
const newNamePrefix = `oiq-browser-new-${machine}-`;
/** Age after which a new directory counts as abandoned */
const maxNewAgeMs = 60_000;
/**
 * Socket in a directory. Its creator accepts connections there while it is alive, also from other containers, whose
 * process ids differ.
 */
const socketName = 'alive';

/** Returns a path for a new directory. */
export const createRunDirectoryPath = (): string => join(tmpdir(), `${namePrefix}${randomBytes(6).toString('hex')}`);

/**
 * Creates a directory for the lifetime of this process. The directory gets its final name once this process listens on
 * its socket.
 */
export const createRunDirectory = async (path: string): Promise<void> => {
  const temporaryPath = path.replace(namePrefix, newNamePrefix);
  mkdirSync(temporaryPath, { mode: 0o700 });
  const server = createServer((socket) => socket.on('error', () => undefined).destroy()).unref();
  // It accepts connections from here on; a failure is reported later.
  server.listen(join(temporaryPath, socketName));
  renameSync(temporaryPath, path);
  await once(server, 'listening');
};

/** Ends the processes that use a directory, and removes it. */
export const removeDirectory = async (path: string): Promise<void> => {
  await killAll(path);
  await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
};

const isCreatorAlive = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(join(path, socketName), () => resolve(true));
    // Other errors do not show whether the creator is alive.
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT'));
    socket.once('connect', () => socket.destroy());
  });

const isAbandoned = async (name: string): Promise<boolean> => {
  const path = join(tmpdir(), name);
  const stats = await lstat(path);
  if (!stats.isDirectory() || stats.uid !== process.getuid?.()) return false;
  return name.startsWith(newNamePrefix) ? Date.now() - stats.mtimeMs > maxNewAgeMs : !(await isCreatorAlive(path));
};

/** Removes the directories of dead runs, but not those of live runs, of other users, or of other machines. */
export const removeAbandoned = async (): Promise<void> => {
  const names = await readdir(tmpdir()).catch(() => []);
  const runDirectories = names.filter((name) => name.startsWith(namePrefix) || name.startsWith(newNamePrefix));
  await Promise.allSettled(
    runDirectories.map(async (name) => {
      if (await isAbandoned(name)) await removeDirectory(join(tmpdir(), name));
    }),
  );
};
