/** Window of an SLO: a rolling number of days, or calendar periods */
import { ChoiceInput, NumberInput, TextInput, WallTimeInput } from '../../editors/inputs.tsx';
import type { WrittenQuery, WrongAt } from './calls.ts';

type Calendar = NonNullable<WrittenQuery['calendar']>;

const periods: Readonly<Record<Calendar['period'], string>> = {
  day: 'a day',
  week: 'a week',
  month: 'a month',
  quarter: 'a quarter',
  year: 'a year',
};
const lengths: Readonly<Record<Calendar['period'] | '', string>> = {
  '': 'rolling',
  day: 'each day',
  week: 'each week',
  month: 'each month',
  quarter: 'each quarter',
  year: 'each year',
};

/** Returns the calendar of a typed or stored query, whose form is known. */
export const calendarOf = (query: unknown): Calendar | undefined => (query as WrittenQuery | undefined)?.calendar;

/** Formats a window: `30 days`, or `a month`. */
export const shownWindow = ({
  windowDays = 30,
  query,
}: {
  readonly windowDays?: number | undefined;
  readonly query?: unknown;
}): string => {
  const calendar = calendarOf(query);
  if (calendar !== undefined) return periods[calendar.period];
  return windowDays === 1 ? 'a day, rolling' : `${windowDays} days`;
};

/** A Monday, and the first day of a month, quarter and year */
const firstDay = '2024-01-01T00:00';

export const WindowFields = ({
  days,
  calendar,
  wrong,
  onDays,
  onCalendar,
}: {
  readonly days: number;
  readonly calendar: Calendar | undefined;
  readonly wrong: WrongAt;
  readonly onDays: (days: number) => void;
  readonly onCalendar: (calendar: Calendar | undefined) => void;
}) => (
  <fieldset>
    <legend>SLO window</legend>
    <ChoiceInput
      label="Window type"
      options={lengths}
      value={calendar?.period ?? ''}
      problem={wrong('query.calendar.period')}
      onChange={(period) => {
        const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
        onCalendar(period === '' ? undefined : { startsAt: firstDay, timeZone, ...calendar, period });
      }}
    />
    {calendar === undefined ? (
      <NumberInput label="Days" value={days} problem={wrong('windowDays')} onChange={(value) => onDays(value ?? 0)} />
    ) : (
      <>
        <TextInput
          label="Time zone"
          maxLength={64}
          value={calendar.timeZone}
          problem={wrong('query.calendar.timeZone')}
          onChange={(timeZone) => onCalendar({ ...calendar, timeZone })}
        />
        <WallTimeInput
          label="Start of a period"
          value={calendar.startsAt}
          problem={wrong('query.calendar.startsAt')}
          onChange={(startsAt) => onCalendar({ ...calendar, startsAt })}
        />
      </>
    )}
  </fieldset>
);
