import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';

/** The data directory is in use by another process. */
export class DirectoryLockedError extends Error {
  constructor(directory: string) {
    super(
      `the data directory ${directory} is in use by another running oiq: stop that one first, or give this one a directory of its own (OIQ_DATA_DIR)`,
    );
    this.name = 'DirectoryLockedError';
  }
}

const waitMs = 10_000;

/**
 * Makes this process the directory's only one. The lock is the operating system's, held through an exclusive SQLite
 * transaction, so that it ends with the process however that ends. A holder that is just stopping is waited for.
 */
export const lockDirectory = async (directory: string, patienceMs = waitMs): Promise<{ close(): Promise<void> }> => {
  const database = new DatabaseSync(join(directory, 'lock.sqlite'), { timeout: 0 });
  const deadline = Date.now() + patienceMs;
  for (;;) {
    try {
      database.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
      return {
        async close() {
          database.close();
        },
      };
    } catch (cause) {
      if (!(cause instanceof Error) || !/locked|busy/i.test(cause.message)) throw cause;
      if (Date.now() >= deadline) {
        database.close();
        throw new DirectoryLockedError(directory);
      }
      await delay(100);
    }
  }
};
