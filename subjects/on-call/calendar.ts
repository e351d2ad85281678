/** Shifts as iCalendar (RFC 5545). Times are in UTC, which requires no time zone definition. */
import { createHash } from 'node:crypto';
import ical, { ICalCalendarMethod } from 'ical-generator';
import type { OnCall } from './shifts.ts';
import type { TimeSlice } from './sorted-slices.ts';

/** Returns a name on one line, because a carriage return in it would start a new line of the calendar. */
const toSingleLine = (text: string): string => text.replace(/\p{Cc}+/gu, ' ');

/** Options of a calendar */
export interface CalendarOptions {
  readonly name: string;
  /** Restricts the calendar to shifts of this user */
  readonly userId?: string;
  /** Returns the display name of a user. */
  getUserName(userId: string): string;
}

/** Shifts of a schedule */
export interface ScheduleShifts {
  readonly scheduleId: string;
  readonly name: string;
  /** Last change of the schedule */
  readonly changedMs: number;
  readonly slices: readonly TimeSlice<OnCall>[];
}

/** Refresh interval for clients that support it */
const refreshSeconds = 3600;

/**
 * Returns a calendar with one event per shift. The event's id is stable as long as the shift has the same start and
 * people. The same shifts give the same calendar, whenever it is read.
 */
export const createShiftsCalendar = (schedules: readonly ScheduleShifts[], options: CalendarOptions): string => {
  const calendar = ical({
    name: toSingleLine(options.name),
    prodId: { company: 'OIQ', product: 'On-call' },
    method: ICalCalendarMethod.PUBLISH,
    ttl: refreshSeconds,
  });
  const shifts = schedules.flatMap(({ slices, ...schedule }) => slices.map((slice) => ({ ...slice, schedule })));
  for (const { fromMs, toMs, value, schedule } of shifts) {
    const { userIds, layer, overrideId, reason } = value;
    if (reason !== undefined || (options.userId !== undefined && !userIds.includes(options.userId))) continue;
    const eventKey = JSON.stringify([schedule.scheduleId, fromMs, userIds, layer ?? null, overrideId ?? null]);
    calendar.createEvent({
      id: `${createHash('sha256').update(eventKey).digest('hex').slice(0, 32)}@oiq`,
      stamp: new Date(schedule.changedMs),
      start: new Date(fromMs),
      end: new Date(toMs),
      summary: toSingleLine(`On call: ${userIds.map((userId) => options.getUserName(userId)).join(', ')}`),
      description: toSingleLine(overrideId === undefined ? `${schedule.name}, ${layer}` : `${schedule.name}, override`),
    });
  }
  return calendar.toString();
};
