/** Recurring windows: RFC 5545 rules in local time, across clock changes. */
import test from 'ava';
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { findOccurrences, parseRecurrence, RecurrenceError } from '../../../subjects/maintenance-windows/recurrence.ts';

const begins = (rule: string, startsAt: string, from: string, to: string, timeZone = 'UTC'): string[] =>
  findOccurrences(
    parseRecurrence(rule),
    { startsAt, timeZone, durationMs: 1 },
    { fromMs: Date.parse(from), toMs: Date.parse(to) },
  ).map(({ fromMs }) => new Date(fromMs).toISOString().slice(0, 16));

const year = ['2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z'] as const;

test('an occurrence in the skipped hour uses the offset before the change, and no week is lost', (t) => {
  const span = ['2026-03-21T00:00:00Z', '2026-04-06T00:00:00Z'] as const;
  t.deepEqual(begins('FREQ=WEEKLY', '2026-03-22T02:30', ...span, 'Europe/Berlin'), [
    ...['2026-03-22T01:30', '2026-03-29T01:30', '2026-04-05T00:30'],
  ]);
  t.deepEqual(
    begins('FREQ=DAILY', '2026-10-24T02:30', '2026-10-24T00:00:00Z', '2026-10-27T00:00:00Z', 'Europe/Berlin'),
    [...['2026-10-24T00:30', '2026-10-25T00:30', '2026-10-26T01:30']],
  );
});

test('months, ordinals, negative days, counts and ends follow RFC 5545', (t) => {
  t.deepEqual(begins('FREQ=MONTHLY;BYDAY=2TU;COUNT=3', '2026-01-01T09:00', ...year), [
    ...['2026-01-13T09:00', '2026-02-10T09:00', '2026-03-10T09:00'],
  ]);
  t.deepEqual(begins('FREQ=MONTHLY;BYMONTHDAY=-1;UNTIL=20260331T090000Z', '2026-01-01T09:00', ...year), [
    ...['2026-01-31T09:00', '2026-02-28T09:00', '2026-03-31T09:00'],
  ]);
  t.deepEqual(begins('FREQ=MONTHLY;BYMONTHDAY=31;COUNT=3', '2026-01-01T09:00', ...year), [
    ...['2026-01-31T09:00', '2026-03-31T09:00', '2026-05-31T09:00'],
  ]);
  // The example of RFC 5545: with another first day of the week, every other week selects other days.
  const example = [
    'FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU',
    '1997-08-05T09:00',
    '1997-01-01T00:00:00Z',
    '1998-01-01T00:00:00Z',
  ] as const;
  t.deepEqual(begins(`${example[0]};WKST=MO`, example[1], example[2], example[3]), [
    ...['1997-08-05T09:00', '1997-08-10T09:00', '1997-08-19T09:00', '1997-08-24T09:00'],
  ]);
  t.deepEqual(begins(`${example[0]};WKST=SU`, example[1], example[2], example[3]), [
    ...['1997-08-05T09:00', '1997-08-17T09:00', '1997-08-19T09:00', '1997-08-31T09:00'],
  ]);
  t.deepEqual(begins('FREQ=YEARLY;BYMONTH=3,11;BYDAY=-1SU', '2026-01-01T00:00', ...year), [
    '2026-03-29T00:00',
    '2026-11-29T00:00',
  ]);
});

test('a window that starts before a range and is still active is in the range', (t) => {
  const of = { startsAt: '2026-01-04T22:00', timeZone: 'UTC', durationMs: 4 * 3_600_000 };
  const at = Date.parse('2026-06-08T01:00:00Z');
  t.deepEqual(findOccurrences(parseRecurrence('FREQ=WEEKLY;BYDAY=SU'), of, { fromMs: at, toMs: at + 1 }), [
    { fromMs: Date.parse('2026-06-07T22:00:00Z'), toMs: Date.parse('2026-06-08T02:00:00Z') },
  ]);
});

test('a recurrence rule that cannot be parsed is rejected with its invalid part', (t) => {
  const wrong: readonly (readonly [rule: string, message: RegExp])[] = [
    ['BYDAY=MO', /^FREQ is missing/],
    ['FREQ=SECONDLY', /^FREQ=SECONDLY is not supported/],
    ['FREQ=DAILY;BYSETPOS=1', /^BYSETPOS is not supported/],
    ['FREQ=DAILY;constructor=1', /^CONSTRUCTOR is not supported/],
    ['FREQ=DAILY;COUNT=0', /^COUNT=0 is out of range/],
    ['FREQ=DAILY;COUNT=2;UNTIL=20260101', /mutually exclusive/],
    ['FREQ=DAILY;UNTIL=20260230', /^UNTIL=20260230 is not a date/],
    ['FREQ=DAILY;BYDAY=2MO', /^BYDAY with a number/],
    ['FREQ=MONTHLY;BYDAY=0MO', /^BYDAY=0 is out of range/],
    ['FREQ=WEEKLY;BYDAY=XX', /^BYDAY: XX is not a weekday/],
    ['FREQ=DAILY;FREQ=DAILY', /^FREQ occurs twice/],
    ['', /^an empty part is not supported/],
  ];
  for (const [rule, message] of wrong) t.throws(() => parseRecurrence(rule), { instanceOf: RecurrenceError, message });
});

test('windows match a day-by-day reference implementation', (t) => {
  const names = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];
  const property = fc.property(
    fc.constantFrom('Europe/Berlin', 'Australia/Lord_Howe', 'America/St_Johns', 'Asia/Kolkata', 'Antarctica/Troll'),
    fc.constantFrom('DAILY', 'WEEKLY', 'MONTHLY'),
    fc.integer({ min: 1, max: 4 }),
    fc.subarray(names),
    fc.integer({ min: 0, max: 300 }),
    fc.integer({ min: 0, max: 23 }),
    (timeZone, frequency, interval, days, offset, hour) => {
      const first = Temporal.PlainDate.from('2026-01-01').add({ days: offset });
      const startsAt = `${first}T${String(hour).padStart(2, '0')}:30`;
      const expected: string[] = [];
      for (let day = first; Temporal.PlainDate.compare(day, '2028-01-01') < 0; day = day.add({ days: 1 })) {
        const monday = (date: Temporal.PlainDate) => date.subtract({ days: date.dayOfWeek - 1 });
        const distance =
          {
            DAILY: day.since(first).days,
            WEEKLY: monday(day).since(monday(first)).days / 7,
            MONTHLY: (day.year - first.year) * 12 + day.month - first.month,
          }[frequency] ?? 0;
        const open = { DAILY: true, WEEKLY: day.dayOfWeek === first.dayOfWeek, MONTHLY: day.day === first.day }[
          frequency
        ];
        const isDay = days.length > 0 ? days.includes(names[day.dayOfWeek - 1] ?? '') : open;
        if (distance % interval !== 0 || isDay !== true) continue;
        const at = day.toPlainDateTime(`${String(hour).padStart(2, '0')}:30`).toZonedDateTime(timeZone);
        expected.push(at.toInstant().toString().slice(0, 16));
      }
      const rule = `FREQ=${frequency};INTERVAL=${interval}${days.length > 0 ? `;BYDAY=${days.join(',')}` : ''}`;
      const [from, to] = ['2026-09-01T00:00:00Z', '2027-11-01T00:00:00Z'];
      const found = begins(rule, startsAt, from, to, timeZone);
      const within = expected.filter((each) => each >= from.slice(0, 16) && each < to.slice(0, 16));
      if (JSON.stringify(found) !== JSON.stringify(within))
        throw new Error(`${rule} from ${startsAt}: ${found}, expected ${within}`);
    },
  );
  t.notThrows(() => fc.assert(property, { numRuns: 60 }));
});
