/**
 * Parses a saved due time and returns it in milliseconds. A due time further ahead than the maximum wait was written by
 * a wrong clock and counts as now. Otherwise the waiting work would be blocked until the clock catches up.
 */
export const parseSavedDueMs = (saved: string, nowMs: number, maxWaitMs: number): number => {
  const dueMs = Date.parse(saved);
  return dueMs > nowMs + maxWaitMs ? nowMs : dueMs;
};
