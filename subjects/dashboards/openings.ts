/** How often a dashboard was opened, by day. */
import type { DashboardOpenings } from '../../schemas/resources/dashboard.ts';

/** How many days are counted, today included. */
export const countedDays = 30;

const dayMs = 86_400_000;
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Days that count at a time. */
const counted = ({ days }: DashboardOpenings, nowMs: number): [day: string, times: number][] => {
  const first = dayOf(nowMs - (countedDays - 1) * dayMs);
  return Object.entries(days).filter(([day]) => day >= first);
};

/** The counts with one opening more; days that no longer count are left out. */
export const openedOnceMore = (openings: DashboardOpenings | undefined, nowMs: number): DashboardOpenings => {
  const days = Object.fromEntries(openings === undefined ? [] : counted(openings, nowMs));
  const today = dayOf(nowMs);
  return { days: { ...days, [today]: (days[today] ?? 0) + 1 } };
};

export const timesOpened = (openings: DashboardOpenings | undefined, nowMs: number): number =>
  openings === undefined ? 0 : counted(openings, nowMs).reduce((sum, [, times]) => sum + times, 0);
