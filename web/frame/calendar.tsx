/** Month in which a click selects a day, and a second click a range of days */
import { ChevronLeft, ChevronRight } from 'lucide';
import { useState } from 'preact/hooks';
import { IconButton } from '../components/button.tsx';
import { displayClock } from './format-time.ts';

const dayMs = 86_400_000;
const monthFormat = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });
const dayFormat = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' });
const weekdays = ['Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa', 'Su'];

/** Returns the start of a day of the time zone for display, as if it were UTC. */
export const toWallDay = (ms: number): number => Math.floor(displayClock.getWallTime(ms) / dayMs) * dayMs;

/** Returns the days of the month of a day, with those of the first week before it. */
export const listMonthDays = (wallDay: number): readonly number[] => {
  const date = new Date(wallDay);
  const first = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
  const next = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  const lead = (new Date(first).getUTCDay() + 6) % 7;
  const count = (next - first) / dayMs + lead;
  return Array.from({ length: count }, (_, index) => first + (index - lead) * dayMs);
};

export const Calendar = ({
  from,
  to,
  onSelect,
}: {
  /** Selected range, in epoch milliseconds */
  readonly from: number | undefined;
  readonly to: number | undefined;
  /** Called with the first and last millisecond of the selected days */
  readonly onSelect: (from: number, to: number) => void;
}) => {
  const today = toWallDay(Date.now());
  const [firstDay, lastDay] = [from, to].map((ms) => (ms === undefined ? today : toWallDay(ms))) as [number, number];
  const [shownDay, setShownDay] = useState(lastDay);
  const [anchor, setAnchor] = useState<number>();
  const days = listMonthDays(shownDay);
  const shift = (months: number): void => {
    const date = new Date(shownDay);
    setShownDay(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1));
  };
  const select = (day: number): void => {
    const [begin, end] = anchor === undefined ? [day, day] : [Math.min(anchor, day), Math.max(anchor, day)];
    setAnchor(anchor === undefined ? day : undefined);
    onSelect(displayClock.getInstant(begin), displayClock.getInstant(end + dayMs) - 1000);
  };
  return (
    <div>
      <div class="calendar-head">
        <IconButton label="Previous month" icon={ChevronLeft} onClick={() => shift(-1)} />
        <b aria-live="polite">{monthFormat.format(shownDay)}</b>
        <IconButton label="Next month" icon={ChevronRight} onClick={() => shift(1)} />
      </div>
      <div class="calendar">
        {weekdays.map((name) => (
          <span key={name} aria-hidden="true">
            {name}
          </span>
        ))}
        {days.map((day) =>
          new Date(day).getUTCMonth() === new Date(shownDay).getUTCMonth() ? (
            <button
              key={day}
              type="button"
              class={day > firstDay && day < lastDay ? 'within' : ''}
              aria-label={dayFormat.format(day)}
              aria-pressed={day === firstDay || day === lastDay}
              disabled={day > today}
              onClick={() => select(day)}
            >
              {new Date(day).getUTCDate()}
            </button>
          ) : (
            <i key={day} />
          ),
        )}
      </div>
    </div>
  );
};
