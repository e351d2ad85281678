import test from 'ava';
import fc from 'fast-check';
import { formatTime, parseDuration, parseTime } from '../../queries/time.ts';
import { getWallClock } from '../../runtime/wall-clock.ts';

const now = Date.parse('2026-03-04T05:06:07.008Z');

const times: readonly (readonly [string, string | undefined])[] = [
  ['now', '2026-03-04T05:06:07.008000000Z'],
  ['now-15m', '2026-03-04T04:51:07.008000000Z'],
  ['now+1h', '2026-03-04T06:06:07.008000000Z'],
  ['now-2d', '2026-03-02T05:06:07.008000000Z'],
  ['now/s', '2026-03-04T05:06:07.000000000Z'],
  ['now/m', '2026-03-04T05:06:00.000000000Z'],
  ['now/h', '2026-03-04T05:00:00.000000000Z'],
  ['now/d', '2026-03-04T00:00:00.000000000Z'],
  ['now/w', '2026-03-02T00:00:00.000000000Z'],
  ['now/M', '2026-03-01T00:00:00.000000000Z'],
  ['now/Q', '2026-01-01T00:00:00.000000000Z'],
  ['now/y', '2026-01-01T00:00:00.000000000Z'],
  ['now-1M', '2026-02-04T05:06:07.008000000Z'],
  ['now+26d-1M', '2026-02-28T05:06:07.008000000Z'],
  ['now-1Q', '2025-12-04T05:06:07.008000000Z'],
  ['now-15y', '2011-03-04T05:06:07.008000000Z'],
  ['now-1M/M', '2026-02-01T00:00:00.000000000Z'],
  ['now-1d/d+8h', '2026-03-03T08:00:00.000000000Z'],
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
  ['now-15x', undefined],
  ['now/', undefined],
  ['now/D', undefined],
  ['now-1d/d/d/d/d/d/d/d/d', undefined],
  ['now-999999999999y', undefined],
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

const ends: readonly (readonly [string, string])[] = [
  ['now', '2026-03-04T05:06:07.008000000Z'],
  ['now/h', '2026-03-04T05:59:59.999999999Z'],
  ['now-1d/d', '2026-03-03T23:59:59.999999999Z'],
  ['now/w', '2026-03-08T23:59:59.999999999Z'],
  ['now-1M/M', '2026-02-28T23:59:59.999999999Z'],
  ['now/Q', '2026-03-31T23:59:59.999999999Z'],
  ['now/y', '2026-12-31T23:59:59.999999999Z'],
];

test('the end of a range is the last nanosecond of its unit', (t) => {
  for (const [text, expected] of ends) t.is(formatTime(parseTime(text, now, { edge: 'end' }) ?? 0n), expected, text);
});

test('days and months are those of the time zone, also when its offset changes', (t) => {
  const nowMs = Date.parse('2026-03-29T12:00:00Z');
  const clock = getWallClock('Europe/Berlin');
  const parse = (text: string, edge?: 'end'): string => formatTime(parseTime(text, nowMs, { edge, clock }) ?? 0n);
  t.is(parse('now/d'), '2026-03-28T23:00:00.000000000Z');
  t.is(parse('now/d', 'end'), '2026-03-29T21:59:59.999999999Z');
  t.is(parse('now/M'), '2026-02-28T23:00:00.000000000Z');
  t.is(parse('now-1M'), '2026-02-28T13:00:00.000000000Z');
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
