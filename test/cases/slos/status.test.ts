/** The window of an SLO, up to the end of its results. */
import '../../../subjects/query-kinds.ts';
import test from 'ava';
import { readSloWarnings } from '../../../api/groups/slos/warnings.ts';
import { SloFields } from '../../../subjects/slos/document.ts';
import { getCurrentWindow } from '../../../subjects/slos/status.ts';

const minuteMs = 60_000;
const periodMs = Date.parse('2026-03-01T00:00:00Z');

test('the results of a calendar period never end before its start', (t) => {
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

test('warnings that cannot be read are logged, and do not fail the status', async (t) => {
  const counter = { kind: 'metric', metric: 'orders', overTime: 'increase' };
  const query = { sli: { bad: counter, total: counter } };
  const slo = SloFields.parse({ name: 'Orders', type: 'ratio', signal: 'metrics', query });
  const reader = { columns: { query: () => Promise.reject(new Error('the server does not answer')) } } as never;
  const logged: unknown[] = [];
  const log = { warn: (fields: object) => logged.push(fields) } as never;
  t.deepEqual(await readSloWarnings(slo, { reader, nowMs: periodMs, log }), []);
  t.deepEqual(logged, [{ error: 'Error: the server does not answer', slo: 'Orders' }]);
});
