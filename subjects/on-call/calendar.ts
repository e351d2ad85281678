/** Shifts as iCalendar (RFC 5545). Times are UTC, which needs no definition of a time zone. */
import { createHash } from 'node:crypto';
import ical, { ICalCalendarMethod } from 'ical-generator';
import type { Piece } from './pieces.ts';
import type { OnCall } from './shifts.ts';

/** A name on one line: a lone carriage return in it would begin a line of the calendar. */
const line = (text: string): string => text.replace(/\p{Cc}+/gu, ' ');

/** What a calendar says besides shifts. */
export interface CalendarOf {
  readonly name: string;
  /** When it was made; clients show it as the last change. */
  readonly madeMs: number;
  /** Only shifts of this person. */
  readonly userId?: string;
  /** What a person is called. */
  nameOf(userId: string): string;
}

/** Who is on call in a schedule. */
export interface ScheduleShifts {
  readonly scheduleId: string;
  readonly name: string;
  readonly pieces: readonly Piece<OnCall>[];
}

/** How often clients that heed it ask again. */
const refreshSeconds = 3600;

/** One event a shift. Its id stays the same as long as the shift begins when it does and is of the same people. */
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
