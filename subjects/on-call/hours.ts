/** On-call hours of a person, including those at night and on weekends */
import type { TimeInterval } from '../../schemas/resources/alert-routing.ts';
import { intervalContains } from '../alerts/routing/times.ts';
import { findActiveSlices } from './restrictions.ts';
import type { OnCall } from './shifts.ts';
import { createReader, type TimeSlice } from './sorted-slices.ts';

/** Hours of one person in a range. An hour of a Saturday night counts in all three fields. */
export interface OnCallHours {
  readonly userId: string;
  readonly hours: number;
  /** Hours from 22:00 to 06:00 on the wall clock of the schedule */
  readonly nightHours: number;
  /** Hours on Saturdays and Sundays on the wall clock of the schedule */
  readonly weekendHours: number;
}

const nights: Omit<TimeInterval, 'location'> = {
  times: [
    { startTime: '00:00', endTime: '06:00' },
    { startTime: '22:00', endTime: '24:00' },
  ],
};
const weekends: Omit<TimeInterval, 'location'> = { weekdays: ['saturday', 'sunday'] };

/** Returns whether it is night on the wall clock of a time zone. */
export const isNightAt = (atMs: number, timeZone: string): boolean =>
  intervalContains({ ...nights, location: timeZone }, atMs);

/** Milliseconds. */
interface UserTotals {
  readonly all: number;
  readonly night: number;
  readonly weekend: number;
}

/** Returns the on-call hours of each user, from slices as `computeShifts` returns them. */
export const sumHoursByUser = (slices: readonly TimeSlice<OnCall>[], timeZone: string): OnCallHours[] => {
  const fromMs = slices[0]?.fromMs ?? 0;
  const toMs = slices.at(-1)?.toMs ?? fromMs;
  const activeSlices = [nights, weekends].map((each) =>
    findActiveSlices([{ ...each, location: timeZone }], fromMs, toMs),
  );
  const [readIsNight, readIsWeekend] = activeSlices.map((activeSlice) => createReader(activeSlice));
  const edges = new Set(activeSlices.flat().map((timeSlice) => timeSlice.fromMs));
  for (const slice of slices) edges.add(slice.fromMs);
  const starts = [...edges].sort((left, right) => left - right);
  const onCallAt = createReader(slices);
  const sums = new Map<string, UserTotals>();
  for (const [index, startMs] of starts.entries()) {
    const lengthMs = (starts[index + 1] ?? toMs) - startMs;
    const night = readIsNight?.(startMs) === true ? lengthMs : 0;
    const weekend = readIsWeekend?.(startMs) === true ? lengthMs : 0;
    for (const userId of onCallAt(startMs)?.userIds ?? []) {
      const sum = sums.get(userId) ?? { all: 0, night: 0, weekend: 0 };
      sums.set(userId, { all: sum.all + lengthMs, night: sum.night + night, weekend: sum.weekend + weekend });
    }
  }
  const hour = 3_600_000;
  return [...sums]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([userId, { all, night, weekend }]) => ({
      userId,
      hours: all / hour,
      nightHours: night / hour,
      weekendHours: weekend / hour,
    }));
};
