/** One process for each data directory. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

export interface DirectoryLock {
  release(): void;
}

/**
 * Takes the directory for this process, or rejects saying who has it. The lock is the operating system's, on a file that
 * SQLite holds: it ends with the process, however that ends.
 */
export const lockDirectory = async (directory: string, waitMs: number): Promise<DirectoryLock> => {
  const deadline = Date.now() + waitMs;
  const holder = join(directory, 'lock.pid');
  for (;;) {
    const database = new DatabaseSync(join(directory, 'lock.sqlite'));
    try {
      database.exec('BEGIN EXCLUSIVE');
      writeFileSync(holder, String(process.pid));
      return { release: () => database.close() };
    } catch (cause) {
      database.close();
      if (!/locked/.test(String(cause))) throw cause;
      if (Date.now() >= deadline)
        throw new Error(
          `the data directory ${directory} is in use by another process (${pidIn(holder)}): stop that one, or use another directory`,
          { cause },
        );
    }
    await sleep(50);
  }
};

const pidIn = (path: string): string => {
  try {
    return `pid ${readFileSync(path, 'utf8')}`;
  } catch {
    return 'of unknown pid';
  }
};
