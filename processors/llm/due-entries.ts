/** Forgets traces and responses of models in turns: spans may be a minute late. */

/** Time after its last span during which an entry is remembered */
const rememberMs = 150_000;
const sweepMs = 10_000;

interface Entries<Entry> {
  entries(): Iterable<readonly [key: string, entry: Entry]>;
  delete(key: string): void;
}

/**
 * Returns the time at which an entry that changed now expires, rounded so that there is at most one timer per ten
 * seconds.
 */
export const computeDueMs = (clockMs: number): number => (Math.floor((clockMs + rememberMs) / sweepMs) + 1) * sweepMs;

/** Deletes the entries whose time has come. They are in the order in which they changed. */
export const deleteDueEntries = (state: Entries<{ readonly dueMs: number }>, clockMs: number): void => {
  for (const [key, { dueMs }] of state.entries()) {
    if (dueMs > clockMs) break;
    state.delete(key);
  }
};
