/** Form fields for the window of an SLO: rolling days or calendar periods */
import { LocalTimeInput, NumberInput, RecordSelectInput, TextInput } from '../../editors/inputs.tsx';
import type { FindProblem, SloQueryInput } from './calls.ts';

type Calendar = NonNullable<SloQueryInput['calendar']>;

const periodNames: Readonly<Record<Calendar['period'], string>> = {
  day: 'a day',
  week: 'a week',
  month: 'a month',
  quarter: 'a quarter',
  year: 'a year',
};
const windowTitles: Readonly<Record<Calendar['period'] | '', string>> = {
  '': 'Rolling',
  day: 'Calendar day',
  week: 'Calendar week',
  month: 'Calendar month',
  quarter: 'Calendar quarter',
  year: 'Calendar year',
};

/** Returns the calendar of an SLO query, which the API declares as unknown. */
export const readCalendar = (query: unknown): Calendar | undefined => (query as SloQueryInput | undefined)?.calendar;

/** Formats a window, for example `30 days` or `a month`. */
export const formatWindow = ({
  windowDays = 30,
  query,
}: {
  readonly windowDays?: number | undefined;
  readonly query?: unknown;
}): string => {
  const calendar = readCalendar(query);
  if (calendar !== undefined) return periodNames[calendar.period];
  return windowDays === 1 ? '1 day' : `${windowDays} days`;
};

/** A Monday, and the first day of a month, quarter and year */
const firstDay = '2024-01-01T00:00';

export const WindowFields = ({
  days,
  calendar,
  findProblem,
  onDaysChange,
  onCalendarChange,
}: {
  readonly days: number;
  readonly calendar: Calendar | undefined;
  readonly findProblem: FindProblem;
  readonly onDaysChange: (days: number) => void;
  readonly onCalendarChange: (calendar: Calendar | undefined) => void;
}) => (
  <fieldset>
    <legend>SLO window</legend>
    <RecordSelectInput
      label="Window type"
      options={windowTitles}
      value={calendar?.period ?? ''}
      problem={findProblem('query.calendar.period')}
      onChange={(period) => {
        const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
        onCalendarChange(period === '' ? undefined : { startsAt: firstDay, timeZone, ...calendar, period });
      }}
    />
    {calendar === undefined ? (
      <NumberInput
        label="Days"
        value={days}
        problem={findProblem('windowDays')}
        onChange={(value) => onDaysChange(value ?? 0)}
      />
    ) : (
      <>
        <TextInput
          label="Time zone"
          maxLength={64}
          value={calendar.timeZone}
          problem={findProblem('query.calendar.timeZone')}
          onChange={(timeZone) => onCalendarChange({ ...calendar, timeZone })}
        />
        <LocalTimeInput
          label="Start of the first period"
          value={calendar.startsAt}
          problem={findProblem('query.calendar.startsAt')}
          onChange={(startsAt) => onCalendarChange({ ...calendar, startsAt })}
        />
      </>
    )}
  </fieldset>
);
