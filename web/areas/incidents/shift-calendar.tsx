/** Shifts of a schedule by day, in weeks */
import type { ComponentChildren } from 'preact';
import { toWallDay } from '../../frame/calendar.tsx';
import { toColorClass } from '../../frame/colors.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatDay, formatShortTime } from '../../frame/format-time.ts';
import { formatNames, type NamesById } from '../../frame/people.ts';
import { daysPerWeek, findDayBounds } from './calendar-days.ts';
import { mergeSamePeople, type ShiftOrGap, selectShifts } from './shifts.ts';

export const weekdayFormat = new Intl.DateTimeFormat('en', { weekday: 'short', timeZone: 'UTC' });

/** Returns the name and color class of the people of a shift. A gap is an error unless it is over. */
export const describePeople = (
  { userIds, to }: { readonly userIds: readonly string[]; readonly to: string },
  names: NamesById,
): { readonly name: string; readonly colorClass: string } => {
  if (userIds.length === 0) return { name: 'No one', colorClass: Date.parse(to) > Date.now() ? 'text-error' : 'past' };
  const name = formatNames(userIds, names);
  return { name, colorClass: toColorClass(name) };
};

const ShiftOfDay = ({
  shift,
  day,
  names,
}: {
  readonly shift: ShiftOrGap;
  readonly day: number;
  readonly names: NamesById;
}) => {
  const { name, colorClass } = describePeople(shift, names);
  const { startMs, endMs } = findDayBounds(day);
  const fromMs = Date.parse(shift.from);
  const untilMs = Date.parse(shift.to);
  const times = [
    ...(fromMs > startMs ? [`from ${formatShortTime(fromMs)}`] : []),
    ...(untilMs < endMs ? [`until ${formatShortTime(untilMs)}`] : []),
  ].join(' ');
  return (
    <li class={`shift ${colorClass}`}>
      <b>{renderText(name)}</b> {times === '' ? 'all day' : times}
      {shift.overrideId === null ? '' : ' (override)'}
    </li>
  );
};

export const ShiftCalendar = ({
  shifts,
  names,
  days,
  renderDay = (day) => (
    <span class="soft">
      {weekdayFormat.format(day)} {formatDay(findDayBounds(day).startMs)}
    </span>
  ),
}: {
  readonly shifts: readonly ShiftOrGap[];
  readonly names: NamesById;
  /** Days of whole weeks */
  readonly days: readonly number[];
  /** Heading of a day */
  readonly renderDay?: (day: number) => ComponentChildren;
}) => {
  const today = toWallDay(Date.now());
  const mergedShifts = mergeSamePeople(shifts);
  const weeks = Array.from({ length: days.length / daysPerWeek }, (_, index) =>
    days.slice(index * daysPerWeek, (index + 1) * daysPerWeek),
  );
  return (
    <table class="shift-calendar">
      <caption class="sr-only">On-call calendar</caption>
      <tbody>
        {weeks.map((week) => (
          <tr key={week[0]}>
            {week.map((day) => (
              <td key={day} class={day === today ? 'today' : ''}>
                {renderDay(day)}
                <ul>
                  {selectShifts(mergedShifts, findDayBounds(day)).map((shift) => (
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
