/** Shifts as iCalendar (RFC 5545). Times are in UTC, which requires no time zone definition. */
import { createHash } from 'node:crypto';
import ical, { ICalCalendarMethod } from 'ical-generator';
import type { Piece } from './pieces.ts';
import type { OnCall } from './shifts.ts';

/** Returns a name on one line, because a carriage return in it would start a new line of the calendar. */
const line = (text: string): string => text.replace(/\p{Cc}+/gu, ' ');

/** Options of a calendar */
export interface CalendarOf {
  readonly name: string;
  /** Creation time, which clients display as the last change */
  readonly madeMs: number;
  /** Restricts the calendar to shifts of this user */
  readonly userId?: string;
  /** Returns the display name of a user. */
  nameOf(userId: string): string;
}

/** Shifts of a schedule */
export interface ScheduleShifts {
  readonly scheduleId: string;
  readonly name: string;
  readonly pieces: readonly Piece<OnCall>[];
}

/** Refresh interval for clients that support it */
const refreshSeconds = 3600;

/**
 * Returns a calendar with one event per shift. The event's id is stable as long as the shift has the same start and
 * people.
 */
export const shiftsCalendar = (schedules: readonly ScheduleShifts[], about: CalendarOf): string => {
  const calendar = ical({
    name: line(about.name),
    prodId: { company: 'OIQ', product: 'On-call' },
    method: ICalCalendarMethod.PUBLISH,
    ttl: refreshSeconds,
  });
  const shifts = schedules.flatMap(({ pieces, ...schedule }) => pieces.map((piece) => ({ ...piece, schedule })));
  for (const { fromMs, toMs, value, schedule } of shifts) {
    const { userIds, layer, overrideId, reason } = value;
    if (reason !== undefined || (about.userId !== undefined && !userIds.includes(about.userId))) continue;
    const what = JSON.stringify([schedule.scheduleId, fromMs, userIds, layer ?? null, overrideId ?? null]);
    calendar.createEvent({
      id: `${createHash('sha256').update(what).digest('hex').slice(0, 32)}@oiq`,
      stamp: new Date(about.madeMs),
      start: new Date(fromMs),
      end: new Date(toMs),
      summary: line(`On call: ${userIds.map((userId) => about.nameOf(userId)).join(', ')}`),
      description: line(overrideId === undefined ? `${schedule.name}, ${layer}` : `${schedule.name}, override`),
    });
  }
  return calendar.toString();
};
