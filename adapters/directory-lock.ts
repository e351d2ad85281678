/** Locks a directory for one process. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { DirectoryLockedError } from '../schemas/errors.ts';
import { toDamageError } from './sqlite-opening.ts';

export interface DirectoryLock {
  close(): Promise<void>;
}

/**
 * Locks the directory for this process. Waits up to `waitMs` for a process that is just stopping, then rejects with
 * `DirectoryLockedError`. The lock is an operating system lock, held through an exclusive SQLite transaction, so it is
 * released whenever the process ends.
 */
export const lockDirectory = async (directory: string, waitMs: number): Promise<DirectoryLock> => {
  const deadline = Date.now() + waitMs;
  const pidPath = join(directory, 'lock.pid');
  for (;;) {
    const path = join(directory, 'lock.sqlite');
    const database = new DatabaseSync(path, { timeout: 0 });
    try {
      database.exec('BEGIN EXCLUSIVE');
      writeFileSync(pidPath, String(process.pid));
      return { close: async () => database.close() };
    } catch (cause) {
      database.close();
      if (!/locked|busy/i.test(String(cause)))
        throw toDamageError(path, 'Remove it: it contains no data', cause) ?? cause;
      if (Date.now() >= deadline) throw new DirectoryLockedError(directory, describeHolder(pidPath), cause);
    }
    await delay(50);
  }
};

const describeHolder = (path: string): string => {
  try {
    return `pid ${readFileSync(path, 'utf8')}`;
  } catch {
    return 'of unknown pid';
  }
};
