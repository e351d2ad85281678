/** How the page writes durations, times, severities, conditions and pairs of texts. */
import './browser.ts';

import test from 'ava';
import { getWallClock } from '../../../runtime/wall-clock.ts';
import { formatCondition } from '../../../web/areas/alerts/alert-format.ts';
import type { Rule } from '../../../web/areas/alerts/calls.ts';
import { parseLines, parsePairs } from '../../../web/editors/lines.ts';
import { formatRuleName } from '../../../web/frame/action-titles.ts';
import { toCondition } from '../../../web/frame/conditions.ts';
import { formatDuration } from '../../../web/frame/durations.ts';
import {
  displayClock,
  displayTimeZone,
  formatClockTime,
  formatIsoMinute,
  formatIsoSecond,
  formatIsoTime,
  formatShortTime,
  formatTime,
  setTimePreferences,
} from '../../../web/frame/format-time.ts';
import { toSeverityLevel } from '../../../web/frame/severity.ts';

test('durations have three digits and the largest unit that fits', (t) => {
  const shown: readonly (readonly [nanoseconds: number | string, text: string])[] = [
    [0, '0 s'],
    [999, '999 ns'],
    [1_000, '1 µs'],
    ['12345678', '12.3 ms'],
    [-1.5e9, '-1.5 s'],
    [59e9, '59 s'],
    [90e9, '1.5 min'],
    [7_200e9, '2 h'],
  ];
  for (const [nanoseconds, text] of shown) t.is(formatDuration(nanoseconds), text);
});

test.serial('times are in the chosen zone and form', (t) => {
  const ms = Date.UTC(2026, 0, 31, 23, 5, 6, 78);
  setTimePreferences({ timeZone: 'UTC', timeFormat: '24h', dateFormat: 'iso' });
  t.is(displayTimeZone.value, 'UTC');
  t.is(formatTime(ms), '2026-01-31 23:05:06.078');
  t.is(formatTime(ms, { withDate: false }), '23:05:06.078');
  t.is(formatShortTime(ms), '23:05');
  t.is(formatClockTime(ms), '23:05:06');
  t.is(formatIsoTime('2026-01-31T23:05:06.078Z'), '2026-01-31 23:05:06.078');
  t.is(formatIsoTime(null), '');
  t.is(formatIsoMinute('2026-01-31T23:05:06.078Z'), '2026-01-31 23:05');
  t.is(formatIsoMinute(null), '');
  t.is(formatIsoSecond('2026-01-31T23:05:06.078Z'), '2026-01-31 23:05:06');
  setTimePreferences({ timeZone: 'Asia/Kathmandu', timeFormat: '12h', dateFormat: 'day-month-year' });
  t.is(formatTime(ms), '01-02-2026 04:50:06.078 AM');
  t.is(formatIsoMinute('2026-01-31T23:05:06.078Z'), '01-02-2026 04:50 AM');
  t.is(formatShortTime(ms - 5 * 3_600_000), '11:50 PM');
  t.is(formatShortTime(ms - (4 * 60 + 50) * 60_000), '12:00 AM');
  setTimePreferences({ timeZone: 'America/New_York', timeFormat: '24h', dateFormat: 'month-day-year' });
  t.is(formatShortTime(ms), '18:05', 'in another zone than before');
  t.is(formatTime(Date.UTC(2026, 2, 8, 6, 59)), '03-08-2026 01:59:00.000');
  t.is(formatTime(Date.UTC(2026, 2, 8, 7, 0)), '03-08-2026 03:00:00.000', 'the clock is set forward');
});

for (const timeZone of [
  'America/Santiago',
  'America/New_York',
  'Europe/Berlin',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
])
  test.serial(`days and hours of ${timeZone} start at the same time as on the server, also when clocks change`, (t) => {
    setTimePreferences({ timeZone, timeFormat: '24h', dateFormat: 'iso' });
    const zone = getWallClock(timeZone);
    const yearMs = Date.UTC(2026, 0, 1);
    for (const changeMs of [yearMs, ...zone.listOffsetChanges(yearMs, Date.UTC(2027, 0, 1))])
      for (let wallMs = zone.getWallTime(changeMs) - 86_400_000; wallMs < changeMs + 86_400_000; wallMs += 900_000) {
        t.is(displayClock.getInstant(wallMs), zone.getInstant(wallMs), new Date(wallMs).toISOString());
        t.is(displayClock.getWallTime(wallMs), zone.getWallTime(wallMs));
      }
  });

test('severities in any spelling have a level', (t) => {
  const levels = {
    Critical: 'fatal',
    emergency: 'fatal',
    ERROR: 'error',
    Err: 'error',
    warning: 'warn',
    NOTICE: 'info',
    Trace: 'debug',
    verbose: 'debug',
    other: 'none',
    '': 'none',
  };
  for (const [severity, level] of Object.entries(levels)) t.is(toSeverityLevel(severity), level, severity);
  t.is(toSeverityLevel(null), 'none');
});

test('a condition always quotes values, and names if necessary', (t) => {
  t.is(toCondition('http.route', 'a "b" \\ c'), 'http.route:"a \\"b\\" \\\\ c"');
  t.is(toCondition('my name', '1'), '"my name":"1"');
  t.is(toCondition('1st', ''), '"1st":""');
});

test('pairs of texts are written as lines, and read back unchanged', (t) => {
  t.deepEqual(parseLines(' a \n\n b\n'), ['a', 'b']);
  t.deepEqual(parsePairs('team=shop\nempty\n x = a=b '), { team: 'shop', empty: '', x: 'a=b' });
});

test('the condition of a rule has its values in the unit of its query, and names of rules have no ids', (t) => {
  const measure = { function: 'percentile', field: 'duration', percentile: 95 };
  const query = { kind: 'aggregate', signal: 'traces', measures: [measure], groupBy: [] };
  const threshold = { severity: 'critical', operator: 'at-least', value: 500_000_000 };
  const cases = [
    [{ kind: 'threshold', query, thresholds: [threshold] }, 'critical: at least 500 ms over 5m'],
    [
      { kind: 'threshold', query, window: '1h', thresholds: [{ ...threshold, value: 2, unit: 's' }] },
      'critical: at least 2 s over 1h',
    ],
    [
      { kind: 'threshold', query, thresholds: [{ ...threshold, operator: 'outside', value: 1e9, upper: 2e9 }] },
      'critical: outside of 1 s to 2 s over 5m',
    ],
    [
      {
        kind: 'threshold',
        query: { ...query, signal: 'logs', measures: [{ function: 'count' }] },
        thresholds: [threshold],
      },
      'critical: at least 500M over 5m',
    ],
  ] as const;
  for (const [condition, text] of cases) t.is(formatCondition({ condition } as unknown as Rule), text);
  t.is(formatRuleName('Shop: burns at 6 in 6h (0ba27220-a6d4-4329-8879-8b125ffd2925, 1)'), 'Shop: burns at 6 in 6h');
  t.is(formatRuleName('Shop (beta, 1)'), 'Shop (beta, 1)');
});
