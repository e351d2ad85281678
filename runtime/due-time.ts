/**
 * Parses a saved due time and returns it in milliseconds. A due time that is later than the maximum wait was written
 * with a wrong clock and counts as now. Otherwise the waiting work would be blocked until the clock catches up.
 */
export const parseSavedDueMs = (savedDueAt: string, nowMs: number, maxWaitMs: number): number => {
  const dueMs = Date.parse(savedDueAt);
  return dueMs > nowMs + maxWaitMs ? nowMs : dueMs;
};
