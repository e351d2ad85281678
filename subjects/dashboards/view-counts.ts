/** Counts the views of a dashboard by day. */
import type { DashboardOpenings } from '../../schemas/resources/dashboard.ts';

/** Number of counted days, including today. */
export const countedDays = 30;

const dayMs = 86_400_000;
const toIsoDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Returns the days that count at a time. */
const selectCountedDays = ({ days }: DashboardOpenings, nowMs: number): [day: string, times: number][] => {
  const firstDay = toIsoDay(nowMs - (countedDays - 1) * dayMs);
  return Object.entries(days).filter(([day]) => day >= firstDay);
};

/** Returns the counts with one more view. Removes days that no longer count. */
export const addView = (viewCounts: DashboardOpenings | undefined, nowMs: number): DashboardOpenings => {
  const days = Object.fromEntries(viewCounts === undefined ? [] : selectCountedDays(viewCounts, nowMs));
  const today = toIsoDay(nowMs);
  return { days: { ...days, [today]: (days[today] ?? 0) + 1 } };
};

export const countViews = (openings: DashboardOpenings | undefined, nowMs: number): number =>
  openings === undefined ? 0 : selectCountedDays(openings, nowMs).reduce((sum, [, count]) => sum + count, 0);
