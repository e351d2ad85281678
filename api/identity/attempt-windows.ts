import type { Counters } from '../../schemas/ports/counters.ts';

interface AttemptWindow {
  readonly key: string;
  readonly limit: number;
  readonly windowMs: number;
}

/** Counts an attempt in each window. Call it before the attempt, so that concurrent attempts count too. */
export const countInWindows = async (counters: Counters, windows: readonly AttemptWindow[]) => {
  const results = await Promise.all(
    windows.map(async ({ key, limit, windowMs }) => ({
      key,
      windowMs,
      ...(await counters.spend(key, limit, windowMs, 1)),
    })),
  );
  return {
    /** Milliseconds until the exhausted windows restart */
    waitsMs: results.flatMap(({ granted, resetMs }) => (granted < 1 ? [resetMs] : [])),
    /** Removes the attempt from the count. */
    async undo(): Promise<void> {
      const countedResults = results.filter(({ granted }) => granted > 0);
      await Promise.all(
        countedResults.map(({ key, windowMs }) => counters.spend(key, Number.MAX_SAFE_INTEGER, windowMs, -1)),
      );
    },
  };
};
