/** SQLite files that are damaged or cannot be opened: which one, and what an operator can do. */

/** Malformed, or not a database at all. */
const damagedCodes: ReadonlySet<number> = new Set([11, 26]);

/** Names the file when it is damaged, with what helps. For the operator: it holds the path. */
export const damageOf = (path: string, remedy: string, error: unknown): Error | undefined => {
  const { errcode = 0, message } = error as Error & { errcode?: number };
  return damagedCodes.has(errcode & 0xff)
    ? new Error(`${path} is damaged (${message}). ${remedy}`, { cause: error })
    : undefined;
};

/** Opens the file; the error of one that cannot be opened names it. */
export const openingSqlite = <Opened>(path: string, remedy: string, open: () => Opened): Opened => {
  try {
    return open();
  } catch (cause) {
    const error = damageOf(path, remedy, cause);
    throw error ?? new Error(`${path} cannot be opened: ${(cause as Error).message}`, { cause });
  }
};
