/** Shifts of a schedule as a calendar of two weeks */
import { toColorClass } from '../../frame/colors.ts';
import { formatNames, type NamesById } from '../../frame/people.ts';
import { renderText } from '../../frame/shown-text.tsx';
import { displayClock, formatDay, formatShortTime } from '../../frame/shown-time.ts';
import type { ShiftOrGap } from './shifts.ts';

const dayMs = 86_400_000;
const days = 14;
const daysPerWeek = 7;
const weekdayFormat = new Intl.DateTimeFormat('en', { weekday: 'short', timeZone: 'UTC' });

interface Day {
  readonly startMs: number;
  readonly endMs: number;
}

/** Returns the days from today on, in the time zone for display. A day with a clock change has 23 or 25 hours. */
const listDays = (nowMs: number): readonly Day[] => {
  const today = Math.floor(displayClock.getWallTime(nowMs) / dayMs) * dayMs;
  return Array.from({ length: days }, (_, index) => ({
    startMs: displayClock.getInstant(today + index * dayMs),
    endMs: displayClock.getInstant(today + (index + 1) * dayMs),
  }));
};

const ShiftOfDay = ({
  shift,
  day,
  names,
}: {
  readonly shift: ShiftOrGap;
  readonly day: Day;
  readonly names: NamesById;
}) => {
  const isGap = shift.userIds.length === 0;
  const name = isGap ? 'No one' : formatNames(shift.userIds, names);
  const fromMs = Date.parse(shift.from);
  const untilMs = Date.parse(shift.to);
  const times = [
    ...(fromMs > day.startMs ? [`from ${formatShortTime(fromMs)}`] : []),
    ...(untilMs < day.endMs ? [`until ${formatShortTime(untilMs)}`] : []),
  ].join(' ');
  return (
    <li class={isGap ? 'shift text-error' : `shift ${toColorClass(name)}`}>
      <b>{renderText(name)}</b> {times === '' ? 'all day' : times}
      {shift.overrideId === null ? '' : ' (override)'}
    </li>
  );
};

export const ShiftCalendar = ({
  shifts,
  names,
  nowMs = Date.now(),
}: {
  readonly shifts: readonly ShiftOrGap[];
  readonly names: NamesById;
  readonly nowMs?: number;
}) => {
  const shownDays = listDays(nowMs);
  const weeks = [shownDays.slice(0, daysPerWeek), shownDays.slice(daysPerWeek)];
  return (
    <table class="shift-calendar">
      <caption class="sr-only">On-call calendar</caption>
      <tbody>
        {weeks.map((week, index) => (
          <tr key={index}>
            {week.map((day) => (
              <td key={day.startMs}>
                <span class="soft">
                  {weekdayFormat.format(displayClock.getWallTime(day.startMs))} {formatDay(day.startMs)}
                </span>
                <ul>
                  {shifts
                    .filter(({ from, to }) => Date.parse(from) < day.endMs && Date.parse(to) > day.startMs)
                    .map((shift) => (
                      <ShiftOfDay key={shift.from} shift={shift} day={day} names={names} />
                    ))}
                </ul>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
};
