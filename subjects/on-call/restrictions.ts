/** Periods in which time intervals of alert routing are active */
import { getWallClock } from '../../runtime/wall-clock.ts';
import { type TimeInterval, timeRanges } from '../../schemas/resources/alert-routing.ts';
import { intervalContains } from '../alerts/routing/times.ts';
import { splitRange, type TimeSlice } from './sorted-slices.ts';

const dayMs = 86_400_000;

/** Returns times at which an interval may begin or end: midnights, its own times, and clock changes. */
const findEdges = ({ times = [], location }: TimeInterval, fromMs: number, toMs: number): number[] => {
  const clock = getWallClock(location);
  const minutes = new Set([0]);
  for (const { startTime, endTime } of times) {
    for (const text of [startTime, endTime]) minutes.add(timeRanges.parseMinute(text) ?? 0);
  }
  const edges = [...clock.listOffsetChanges(fromMs, toMs)];
  const lastDay = Math.floor(clock.getWallTime(toMs) / dayMs) + 1;
  for (let day = Math.floor(clock.getWallTime(fromMs) / dayMs) - 1; day <= lastDay; day += 1) {
    for (const minute of minutes) edges.push(...clock.getInstants(day * dayMs + minute * 60_000));
  }
  return edges;
};

/** Splits a range into slices, with the value `true` where at least one interval is active. */
export const findActiveSlices = (
  intervals: readonly TimeInterval[],
  fromMs: number,
  toMs: number,
): TimeSlice<boolean>[] =>
  splitRange(
    { fromMs, toMs },
    intervals.flatMap((interval) => findEdges(interval, fromMs, toMs)),
    (atMs) => intervals.some((interval) => intervalContains(interval, atMs)),
    (left, right) => left === right,
  );
