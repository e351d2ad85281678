/**
 * Native blocks as files for the engine to read: in memory if the machine has /dev/shm, otherwise in the data
 * directory.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** The engine's `file()` interprets these characters as patterns. */
const patternCharacters = /[*?{}[\]]/;

/** Removes files of a crashed process whose names begin with `prefix`. Returns false if the directory cannot be used. */
const removeLeftovers = (directory: string, prefix: string): boolean => {
  if (patternCharacters.test(directory)) return false;
  try {
    for (const name of readdirSync(directory))
      if (name.startsWith(prefix)) rmSync(join(directory, name), { recursive: true, force: true });
    return true;
  } catch {
    return false;
  }
};

const writeChunks = async (path: string, chunks: readonly Uint8Array[]): Promise<void> => {
  let size = 0;
  for (const chunk of chunks) size += chunk.length;
  const file = await open(path, 'wx', 0o600);
  try {
    const { bytesWritten } = await file.writev(chunks);
    if (bytesWritten !== size) throw new Error(`only ${bytesWritten} of ${size} bytes were written to ${path}`);
  } finally {
    await file.close();
  }
};

/** Writes blocks to files that exist only during their use. */
export class NativeFiles {
  readonly #directories: readonly string[];
  /**
   * Files of a data directory have its prefix and no directory of their own in memory, so a killed process leaves no
   * directory there that nothing would remove.
   */
  readonly #prefix: string;

  /**
   * Call it with the data directory locked, because it removes files of a crashed process. `memoryDirectory` is tried
   * first; it may be missing, or too small for a block (64 MB in a container).
   */
  constructor(dataDirectory: string, memoryDirectory = '/dev/shm') {
    this.#prefix = `oiq-blocks-${createHash('sha256').update(resolve(dataDirectory)).digest('hex').slice(0, 16)}`;
    const diskDirectory = join(resolve(dataDirectory), 'blocks');
    mkdirSync(diskDirectory, { recursive: true, mode: 0o700 });
    this.#directories = [memoryDirectory, diskDirectory].filter((directory) =>
      removeLeftovers(directory, this.#prefix),
    );
    if (this.#directories.length === 0)
      throw new Error(
        `cannot write blocks to ${memoryDirectory} or ${dataDirectory}: choose a writable directory without any of *?{}[]`,
      );
  }

  /** Calls `use` with the path of a file that contains the chunks, and always removes the file. */
  async withFile<Result>(chunks: readonly Uint8Array[], use: (path: string) => Promise<Result>): Promise<Result> {
    const path = await this.#writeFile(chunks);
    try {
      return await use(path);
    } finally {
      await rm(path, { force: true });
    }
  }

  async #writeFile(chunks: readonly Uint8Array[]): Promise<string> {
    let failure: unknown;
    for (const directory of this.#directories) {
      const path = join(directory, `${this.#prefix}-${randomUUID()}.native`);
      try {
        await writeChunks(path, chunks);
        return path;
      } catch (error) {
        failure = error;
        await rm(path, { force: true });
      }
    }
    throw failure;
  }
}
