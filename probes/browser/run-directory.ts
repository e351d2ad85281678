/** Directories of runs of browsers, and what a process that died left of its own. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { lstat, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
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

const removed = (path: string): Promise<void> =>
  rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });

export class RunDirectory {
  readonly path: string;
  readonly #server: Server;

  private constructor(path: string, server: Server) {
    this.path = path;
    this.#server = server;
  }

  static async make(): Promise<RunDirectory> {
    const made = await mkdtemp(join(tmpdir(), startOfNew));
    const server = createServer((socket) => socket.on('error', () => undefined).destroy()).unref();
    try {
      await once(server.listen(join(made, socketName)), 'listening');
      const path = join(tmpdir(), basename(made).replace(startOfNew, startOfNames));
      await rename(made, path);
      return new RunDirectory(path, server);
    } catch (error) {
      server.close();
      await removed(made);
      throw error;
    }
  }

  /** Ends the processes that were started with it as well. */
  async remove(): Promise<void> {
    await killAll(this.path);
    this.#server.close();
    await removed(this.path);
  }
}

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

/** Ends and removes what processes that died left; nothing of one that lives, of another user, or of another machine. */
export const removeLeft = async (): Promise<void> => {
  const names = await readdir(tmpdir()).catch(() => []);
  const own = names.filter((name) => name.startsWith(startOfNames) || name.startsWith(startOfNew));
  await Promise.allSettled(
    own.map(async (name) => {
      if (!(await isLeft(name))) return;
      await killAll(join(tmpdir(), name));
      await removed(join(tmpdir(), name));
    }),
  );
};
