/** The window of an objective, up to the end of its results. */
import '../../../subjects/query-kinds.ts';
import test from 'ava';
import { SloFields } from '../../../subjects/slos/document.ts';
import { getCurrentWindow } from '../../../subjects/slos/status.ts';

const minuteMs = 60_000;
const periodMs = Date.parse('2026-03-01T00:00:00Z');

test('the results of a calendar period never end before it begins', (t) => {
  const slo = SloFields.parse({
    name: 'Checkout',
    service: 'checkout',
    query: { calendar: { period: 'month', timeZone: 'UTC', startsAt: '2026-01-01T00:00' } },
  });
  const measuredTo = (upToMs: number) => ({
    measuredAtMs: upToMs,
    fromMs: 0,
    upToMs,
    settledUpToMs: upToMs,
    error: '',
  });
  const ends = (nowMs: number, upToMs: number): readonly number[] => {
    const { fromMs, endMs } = getCurrentWindow(slo, measuredTo(upToMs), nowMs);
    return [fromMs, endMs];
  };
  t.deepEqual(ends(periodMs + 30_000, periodMs - minuteMs), [periodMs, periodMs], 'no slice of the period has ended');
  t.deepEqual(ends(periodMs + 2.5 * minuteMs, periodMs + minuteMs), [periodMs, periodMs + minuteMs]);
});
