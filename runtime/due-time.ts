/**
 * A saved due time in milliseconds. One that lies further ahead than any wait was written by a clock that was wrong, and counts as now:
 * else what it holds back would stand still until the time has caught up.
 */
export const savedDueMs = (saved: string, nowMs: number, maxWaitMs: number): number => {
  const dueMs = Date.parse(saved);
  return dueMs > nowMs + maxWaitMs ? nowMs : dueMs;
};
