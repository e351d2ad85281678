/** Removes deleted values from the file and from its write-ahead log. A failure never prevents a start. */
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Log } from '../../schemas/ports/log.ts';

/** Version of a file whose deleted values are overwritten. */
const secureVersion = 1;
/** Version of a file whose rewrite has begun. It remains if the process ends meanwhile. */
const rewritingVersion = -1;

const consequence =
  'values that earlier versions deleted remain in the free space of the file: the next start tries to remove them';

const readNumber = (connection: DatabaseSync, name: string): number =>
  Number(connection.prepare(`PRAGMA ${name}`).get()?.[name]);

const getFreeBytes = (directory: string): number => {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
};

const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Rewrites the file. The temporary copy is in its directory, because others, such as `/tmp`, may be smaller. */
const rewrite = (connection: DatabaseSync, directory: string): void => {
  connection.exec(
    `PRAGMA user_version = ${rewritingVersion}; PRAGMA temp_store_directory = ${quoteText(directory)}; VACUUM; PRAGMA user_version = ${secureVersion};`,
  );
};

export interface DeletedBytesOptions {
  readonly path: string;
  readonly log: Log;
  /** Free bytes of the volume of a directory */
  readonly getFreeBytes?: ((directory: string) => number) | undefined;
}

/**
 * Removes values from the file that earlier versions deleted without overwriting them. Logs a warning if that is not
 * possible now, and then the next start tries again. A start after an interrupted attempt, which may have taken longer
 * than a startup probe allows, does not try.
 */
export const removeDeletedBytes = (
  connection: DatabaseSync,
  { path, log, getFreeBytes: getFree = getFreeBytes }: DeletedBytesOptions,
): void => {
  const version = readNumber(connection, 'user_version');
  if (version >= secureVersion) return;
  const directory = dirname(path);
  try {
    const fileBytes = readNumber(connection, 'page_count') * readNumber(connection, 'page_size');
    const freeBytes = getFree(directory);
    // A temporary copy, and the write-ahead log.
    const neededBytes = 2 * fileBytes;
    if (version === rewritingVersion) {
      connection.exec('PRAGMA user_version = 0');
      log.warn(
        { path, fileBytes },
        `the file was not rewritten, because the last attempt was interrupted; ${consequence}`,
      );
    } else if (fileBytes === 0) connection.exec(`PRAGMA user_version = ${secureVersion}`);
    else if (freeBytes < neededBytes)
      log.warn(
        { path, neededBytes, freeBytes },
        `the file was not rewritten, because its volume is too full; ${consequence}`,
      );
    else rewrite(connection, directory);
  } catch (error) {
    log.warn({ path, error }, `the file could not be rewritten; ${consequence}`);
    resetVersion(connection);
  } finally {
    connection.exec("PRAGMA temp_store_directory = ''");
  }
  emptyWriteAheadLog(connection);
};

const resetVersion = (connection: DatabaseSync): void => {
  try {
    if (readNumber(connection, 'user_version') === rewritingVersion) connection.exec('PRAGMA user_version = 0');
  } catch {
    // The next start does not try, and the one after it does.
  }
};

/**
 * Empties the write-ahead log, which contains earlier states of changed pages. Returns whether that was possible: it is
 * not while another connection uses the log, for which it does not wait.
 */
export const emptyWriteAheadLog = (connection: DatabaseSync): boolean => {
  const waitMs = readNumber(connection, 'busy_timeout');
  connection.exec('PRAGMA busy_timeout = 0');
  try {
    return connection.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] === 0;
  } catch {
    return false;
  } finally {
    connection.exec(`PRAGMA busy_timeout = ${waitMs}`);
  }
};
