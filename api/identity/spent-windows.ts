import type { Counters } from '../../schemas/ports/counters.ts';

interface Window {
  readonly key: string;
  readonly limit: number;
  readonly windowMs: number;
}

/** Counts one try in each window. Call it before the try, so that many at once count too. */
export const spendWindows = async (counters: Counters, windows: readonly Window[]) => {
  const spent = await Promise.all(
    windows.map(async ({ key, limit, windowMs }) => ({
      key,
      windowMs,
      ...(await counters.spend(key, limit, windowMs, 1)),
    })),
  );
  return {
    /** Milliseconds until the windows that are used up begin anew. */
    waitsMs: spent.flatMap(({ granted, resetMs }) => (granted < 1 ? [resetMs] : [])),
    /** Takes the try out of the count again. */
    async giveBack(): Promise<void> {
      const counted = spent.filter(({ granted }) => granted > 0);
      await Promise.all(counted.map(({ key, windowMs }) => counters.spend(key, Number.MAX_SAFE_INTEGER, windowMs, -1)));
    },
  };
};
