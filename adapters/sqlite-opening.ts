/** Errors for SQLite files that are damaged or cannot be opened. They name the file and the remedy. */

/** Malformed, or not a database */
const damageErrorCodes: ReadonlySet<number> = new Set([11, 26]);

/** Returns an error with the file and a remedy if the file is damaged. For the operator: it contains the path. */
export const toDamageError = (path: string, remedy: string, error: unknown): Error | undefined => {
  const { errcode = 0, message } = error as Error & { errcode?: number };
  return damageErrorCodes.has(errcode & 0xff)
    ? new Error(`${path} is damaged (${message}). ${remedy}`, { cause: error })
    : undefined;
};

/** Opens the file. The error for a failure contains the path, and the remedy if the file is damaged. */
export const openSqlite = <Database>(path: string, remedy: string, open: () => Database): Database => {
  try {
    return open();
  } catch (cause) {
    const error = toDamageError(path, remedy, cause);
    throw error ?? new Error(`${path} cannot be opened: ${(cause as Error).message}`, { cause });
  }
};
