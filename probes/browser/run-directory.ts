/** Directories of runs of browsers, and what of them is left where all died that should have removed them. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, renameSync } from 'node:fs';
import { lstat, readdir, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { killAll } from './processes.ts';

/** On a disk that machines share, nobody can tell who is alive on another. */
const machine = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
const startOfNames = `oiq-browser-${machine}-`;
/** Of those in which nobody listens yet. */
const startOfNew = `oiq-browser-new-${machine}-`;
/** After which a new one stays what it is. */
const newMs = 60_000;
/** In a directory: who made it answers there while it lives, also to other containers, whose processes have other numbers. */
const socketName = 'alive';

/** Where one may be made. */
export const placeForRun = (): string => join(tmpdir(), `${startOfNames}${randomBytes(6).toString('hex')}`);

/** Makes it, for as long as this process lives. It has its name when this process answers in it. */
export const makeDirectory = async (path: string): Promise<void> => {
  const made = path.replace(startOfNames, startOfNew);
  mkdirSync(made, { mode: 0o700 });
  const server = createServer((socket) => socket.on('error', () => undefined).destroy()).unref();
  // It can be connected to from here on; that it failed is told later.
  server.listen(join(made, socketName));
  renameSync(made, path);
  await once(server, 'listening');
};

/** Ends what was started with a directory, and removes it. */
export const removeDirectory = async (path: string): Promise<void> => {
  await killAll(path);
  await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
};

const isListened = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(join(path, socketName), () => resolve(true));
    // Whatever else is wrong says nothing of who made it.
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT'));
    socket.once('connect', () => socket.destroy());
  });

const isLeft = async (name: string): Promise<boolean> => {
  const path = join(tmpdir(), name);
  const found = await lstat(path);
  if (!found.isDirectory() || found.uid !== process.getuid?.()) return false;
  return name.startsWith(startOfNew) ? Date.now() - found.mtimeMs > newMs : !(await isListened(path));
};

/** The same with what is left of runs that died; nothing of one that lives, of another user, or of another machine. */
export const removeLeft = async (): Promise<void> => {
  const names = await readdir(tmpdir()).catch(() => []);
  const own = names.filter((name) => name.startsWith(startOfNames) || name.startsWith(startOfNew));
  await Promise.allSettled(
    own.map(async (name) => {
      if (await isLeft(name)) await removeDirectory(join(tmpdir(), name));
    }),
  );
};
