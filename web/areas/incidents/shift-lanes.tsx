/** Week of a schedule: a lane for who is on call, and one for the rotation of each layer */
import type { ComponentChildren } from 'preact';
import { toWallDay } from '../../frame/calendar.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { displayClock, formatDay, formatShortTime } from '../../frame/format-time.ts';
import type { NamesById } from '../../frame/people.ts';
import { dayMs } from './calendar-days.ts';
import { describePeople } from './shift-calendar.tsx';

export interface LaneShift {
  readonly from: string;
  readonly to: string;
  readonly userIds: readonly string[];
  readonly overrideId: string | null;
}

export interface Lane {
  readonly title: string;
  readonly shifts: readonly LaneShift[];
}

const formatInstant = (text: string): string => {
  const ms = Date.parse(text);
  return `${formatDay(ms)} ${formatShortTime(ms)}`;
};

export const ShiftLanes = ({
  lanes,
  names,
  days,
  renderDay,
  onSelectDay,
}: {
  readonly lanes: readonly Lane[];
  readonly names: NamesById;
  readonly days: readonly number[];
  /** Heading of a day */
  readonly renderDay: (day: number) => ComponentChildren;
  readonly onSelectDay: (day: number) => void;
}) => {
  const firstDay = days[0] ?? 0;
  const lengthMs = days.length * dayMs;
  const nowMs = Date.now();
  /** Position of an instant in the week, from 0 to 1 */
  const findPosition = (ms: number): number =>
    Math.min(1, Math.max(0, (displayClock.getWallTime(ms) - firstDay) / lengthMs));
  const toPercent = (share: number): string => `${100 * share}%`;
  const isNowVisible = days.includes(toWallDay(nowMs));
  const renderShift = (shift: LaneShift): ComponentChildren => {
    const { from, to, overrideId } = shift;
    const left = findPosition(Date.parse(from));
    const width = findPosition(Date.parse(to)) - left;
    if (width <= 0) return null;
    const { name, colorClass } = describePeople(shift, names);
    const times = `${formatInstant(from)} – ${formatInstant(to)}`;
    return (
      <li key={from} class={`lane-shift ${colorClass}`} style={{ left: toPercent(left), width: toPercent(width) }}>
        <button
          type="button"
          data-tooltip={`${name}, ${times}${overrideId === null ? '' : ', override'}`}
          onClick={() => onSelectDay(Math.max(firstDay, toWallDay(Date.parse(from))))}
        >
          {renderText(name)}
          <span class="sr-only">
            {', '}
            {times}
          </span>
          {overrideId === null ? null : ' (override)'}
        </button>
      </li>
    );
  };
  return (
    <table class="shift-lanes">
      <caption class="sr-only">On-call calendar</caption>
      <thead>
        <tr>
          <td />
          {days.map((day) => (
            <th key={day} scope="col">
              {renderDay(day)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {lanes.map(({ title, shifts }) => (
          <tr key={title}>
            <th scope="row">
              <bdi>{renderText(title)}</bdi>
            </th>
            <td colSpan={days.length}>
              <ul>
                {shifts.map(renderShift)}
                {isNowVisible ? (
                  <li class="lane-now" style={{ left: toPercent(findPosition(nowMs)) }}>
                    <span class="sr-only">Now</span>
                  </li>
                ) : null}
              </ul>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
};
