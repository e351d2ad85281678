/** Form fields for recurring time intervals, as in Alertmanager */
import type { z } from 'zod';
import type { Restriction } from '../../schemas/resources/on-call-schedule.ts';
import { ListInput, TextInput } from './inputs.tsx';

export type Interval = z.input<typeof Restriction>;

const listFields = [
  ['Days of the week', 'weekdays', 'monday:friday, sunday'],
  ['Days of the month', 'daysOfMonth', '1:7, -1'],
  ['Months', 'months', 'january:march'],
  ['Years', 'years', '2026:2028'],
] as const;

type TimePeriod = NonNullable<Interval['times']>[number];

/** Parses a time period, for example `09:00-17:30`. */
const parsePeriod = (text: string): TimePeriod => {
  const [startTime = '', endTime = ''] = text.split('-').map((part) => part.trim());
  return { startTime, endTime };
};
const formatPeriod = ({ startTime, endTime }: TimePeriod): string => `${startTime}-${endTime}`;
const identity = (text: string): string => text;

/** Omits empty fields, because an interval without days includes all days. */
const removeEmptyFields = (interval: Interval): Interval =>
  Object.fromEntries(
    Object.entries(interval).filter(([, value]) => value !== '' && !(Array.isArray(value) && value.length === 0)),
  );

/** Formats an interval, for example `monday:friday 09:00-17:30 Europe/Zurich`. */
export const formatInterval = ({
  times = [],
  weekdays = [],
  daysOfMonth = [],
  months = [],
  years = [],
  location,
}: Interval) =>
  [
    ...[weekdays, daysOfMonth, months, years].map((ranges) => ranges.join(', ')),
    times.map(formatPeriod).join(', '),
    location ?? '',
  ]
    .filter((part) => part !== '')
    .join(' ');

export const IntervalListFields = ({
  title,
  value,
  zone,
  listPath,
  findProblem,
  onChange,
}: {
  /** Title of each interval, which its number follows */
  readonly title: string;
  readonly value: readonly Interval[];
  /** Time zone of a new interval */
  readonly zone?: string;
  /** Path of the list in the request body */
  readonly listPath: string;
  readonly findProblem: (path: string) => string | undefined;
  readonly onChange: (value: Interval[]) => void;
}) => {
  const changeInterval = (index: number, fields: Partial<Interval>): void =>
    onChange([...value].with(index, removeEmptyFields({ ...value[index], ...fields })));
  return (
    <>
      {value.map((interval, index) => {
        const path = `${listPath}.${index}`;
        return (
          <fieldset key={index}>
            <legend>
              {title} {index + 1}
            </legend>
            <ListInput
              label="Times of the day"
              hint="09:00-17:30, 22:00-24:00"
              value={interval.times ?? []}
              parseItem={parsePeriod}
              formatItem={formatPeriod}
              problem={findProblem(`${path}.times`)}
              onChange={(times) => changeInterval(index, { times: [...times] })}
            />
            {listFields.map(([label, fieldName, hint]) => (
              <ListInput
                key={fieldName}
                label={label}
                hint={hint}
                value={interval[fieldName] ?? []}
                parseItem={identity}
                formatItem={identity}
                problem={findProblem(`${path}.${fieldName}`)}
                onChange={(texts) => changeInterval(index, { [fieldName]: texts })}
              />
            ))}
            <TextInput
              label="Time zone of the hours"
              value={interval.location ?? ''}
              problem={findProblem(`${path}.location`)}
              onChange={(location) => changeInterval(index, { location })}
            />
            <button type="button" class="plain" onClick={() => onChange(value.toSpliced(index, 1))}>
              Remove interval {index + 1}
            </button>
          </fieldset>
        );
      })}
      <button
        type="button"
        class="plain"
        onClick={() => onChange([...value, zone === undefined ? {} : { location: zone }])}
      >
        Add active hours
      </button>
    </>
  );
};
