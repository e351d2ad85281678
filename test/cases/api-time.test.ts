import test from 'ava';
import fc from 'fast-check';
import { formatTime, parseDuration, parseTime } from '../../queries/time.ts';

const now = Date.parse('2026-03-04T05:06:07.008Z');

const times: readonly (readonly [string, string | undefined])[] = [
  ['now', '2026-03-04T05:06:07.008000000Z'],
  ['now-15m', '2026-03-04T04:51:07.008000000Z'],
  ['now+1h', '2026-03-04T06:06:07.008000000Z'],
  ['now-2d', '2026-03-02T05:06:07.008000000Z'],
  ['1772600767008', '2026-03-04T05:06:07.008000000Z'],
  ['-1', '1969-12-31T23:59:59.999000000Z'],
  ['2026-03-04', '2026-03-04T00:00:00.000000000Z'],
  ['2026-03-04T05:06', '2026-03-04T05:06:00.000000000Z'],
  ['2026-03-04T05:06:07.123456789Z', '2026-03-04T05:06:07.123456789Z'],
  ['2026-03-04T05:06:07.1+02:00', '2026-03-04T03:06:07.100000000Z'],
  ['2026-03-04T05:06:07 02:00', '2026-03-04T03:06:07.000000000Z'],
  ['2026-03-04T05:06:07-0530', '2026-03-04T10:36:07.000000000Z'],
  ['', undefined],
  ['yesterday', undefined],
  ['now-15', undefined],
  ['now-15y', undefined],
  ['2026-02-30', undefined],
  ['2026-13-01', undefined],
  ['2026-03-04T25:00', undefined],
  ['9999-01-01', undefined],
  ['99999999999999999', undefined],
  ['now-999999999999w', undefined],
];

for (const [text, expected] of times)
  test(`the time "${text}" is ${expected ?? 'refused'}`, (t) => {
    const parsed = parseTime(text, now);
    t.is(parsed === undefined ? undefined : formatTime(parsed), expected);
  });

test('a formatted time is parsed as the same nanosecond', (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: -2_000_000_000_000_000_000n, max: 9_000_000_000_000_000_000n }), (nanoseconds) => {
      t.is(parseTime(formatTime(nanoseconds), now), nanoseconds);
    }),
  );
});

test('no text makes the parsers throw', (t) => {
  fc.assert(
    fc.property(fc.string({ maxLength: 64 }), (text) => {
      parseTime(text, now);
      parseDuration(text);
    }),
  );
  t.pass();
});

const durations: readonly (readonly [string, bigint | undefined])[] = [
  ['90s', 90_000_000_000n],
  ['250ms', 250_000_000n],
  ['1.5s', 1_500_000_000n],
  ['2h', 7_200_000_000_000n],
  ['30d', 2_592_000_000_000_000n],
  ['5', undefined],
  ['-5s', undefined],
  ['5 s', undefined],
  ['999999999999999w', undefined],
];

for (const [text, expected] of durations)
  test(`the duration "${text}" is ${expected ?? 'refused'}`, (t) => t.is(parseDuration(text), expected));
