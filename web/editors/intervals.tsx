/** Weekly or yearly time intervals */
import type { z } from 'zod';
import type { Restriction } from '../../schemas/resources/on-call-schedule.ts';
import { ListInput, TextInput } from './inputs.tsx';

export type Interval = z.input<typeof Restriction>;

const lists = [
  ['Days of the week', 'weekdays', 'monday:friday, sunday'],
  ['Days of the month', 'daysOfMonth', '1:7, -1'],
  ['Months', 'months', 'january:march'],
  ['Years', 'years', '2026:2028'],
] as const;

type Times = NonNullable<Interval['times']>[number];

/** `09:00-17:30` */
const timesIn = (text: string): Times => {
  const [startTime = '', endTime = ''] = text.split('-').map((part) => part.trim());
  return { startTime, endTime };
};
const shownTimes = ({ startTime, endTime }: Times): string => `${startTime}-${endTime}`;
const itself = (text: string): string => text;

/** Omits empty fields: an interval without days includes all days. */
const trimmed = (interval: Interval): Interval =>
  Object.fromEntries(
    Object.entries(interval).filter(([, value]) => value !== '' && !(Array.isArray(value) && value.length === 0)),
  );

/** Formats an interval: `monday:friday 09:00-17:30 Europe/Zurich`. */
export const shownInterval = ({
  times = [],
  weekdays = [],
  daysOfMonth = [],
  months = [],
  years = [],
  location,
}: Interval) =>
  [
    ...[weekdays, daysOfMonth, months, years].map((each) => each.join(', ')),
    times.map(shownTimes).join(', '),
    location ?? '',
  ]
    .filter((part) => part !== '')
    .join(' ');

export const Intervals = ({
  title,
  value,
  zone,
  at,
  wrong,
  onChange,
}: {
  /** Title of all intervals: `Only during` */
  readonly title: string;
  readonly value: readonly Interval[];
  /** Time zone of a new interval */
  readonly zone?: string;
  /** Path of the list */
  readonly at: string;
  readonly wrong: (path: string) => string | undefined;
  readonly onChange: (value: Interval[]) => void;
}) => {
  const set = (index: number, fields: Partial<Interval>): void =>
    onChange([...value].with(index, trimmed({ ...value[index], ...fields })));
  return (
    <>
      {value.map((interval, index) => {
        const path = `${at}.${index}`;
        return (
          <fieldset key={index}>
            <legend>
              {title} {index + 1}
            </legend>
            <ListInput
              label="Times of the day"
              hint="09:00-17:30, 22:00-24:00"
              value={interval.times ?? []}
              read={timesIn}
              write={shownTimes}
              problem={wrong(`${path}.times`)}
              onChange={(times) => set(index, { times: [...times] })}
            />
            {lists.map(([label, name, hint]) => (
              <ListInput
                key={name}
                label={label}
                hint={hint}
                value={interval[name] ?? []}
                read={itself}
                write={itself}
                problem={wrong(`${path}.${name}`)}
                onChange={(texts) => set(index, { [name]: texts })}
              />
            ))}
            <TextInput
              label="Time zone of the hours"
              value={interval.location ?? ''}
              problem={wrong(`${path}.location`)}
              onChange={(location) => set(index, { location })}
            />
            <button type="button" class="plain" onClick={() => onChange(value.toSpliced(index, 1))}>
              Exclude these hours
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
