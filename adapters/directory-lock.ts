/** One process for each directory. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { DirectoryLockedError } from '../schemas/errors.ts';
import { damageOf } from './sqlite-opening.ts';

export interface DirectoryLock {
  close(): Promise<void>;
}

/**
 * Takes the directory for this process, or rejects with `DirectoryLockedError` when another has had it for `waitMs`: one
 * that is just stopping is waited for. The lock is the operating system's, held through an exclusive SQLite transaction,
 * so that it ends with the process however that ends.
 */
export const lockDirectory = async (directory: string, waitMs: number): Promise<DirectoryLock> => {
  const deadline = Date.now() + waitMs;
  const holder = join(directory, 'lock.pid');
  for (;;) {
    const path = join(directory, 'lock.sqlite');
    const database = new DatabaseSync(path, { timeout: 0 });
    try {
      database.exec('BEGIN EXCLUSIVE');
      writeFileSync(holder, String(process.pid));
      return { close: async () => database.close() };
    } catch (cause) {
      database.close();
      if (!/locked|busy/i.test(String(cause))) throw damageOf(path, 'Remove it: it holds nothing', cause) ?? cause;
      if (Date.now() >= deadline) throw new DirectoryLockedError(directory, pidIn(holder), cause);
    }
    await delay(50);
  }
};

const pidIn = (path: string): string => {
  try {
    return `pid ${readFileSync(path, 'utf8')}`;
  } catch {
    return 'of unknown pid';
  }
};
