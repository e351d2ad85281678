/** Repeated calls in a trace are one row until they are expanded. */
import test from 'ava';
import { countLevels, isRepeat, toSpanRows } from '../../../web/areas/traces/repeats.ts';
import { toWaterfallOrder } from '../../../web/areas/traces/span-order.ts';

const start = '2026-01-31T12:00:00.000Z';
const span = (spanId: string, parentSpanId: string | null, name: string, fields: object = {}) =>
  ({
    spanId,
    parentSpanId,
    name,
    service: 'shop',
    startTime: start,
    durationNs: '1000',
    status: 'ok',
    warnings: [],
    ...fields,
  }) as never;
const trace = (count: number) =>
  toWaterfallOrder(
    [
      span('root', null, 'GET /'),
      ...Array.from({ length: count }, (_, index) => [
        span(`call${index}`, 'root', 'SELECT', index === 1 ? { status: 'error' } : {}),
        span(`wait${index}`, `call${index}`, 'wait'),
      ]).flat(),
      span('last', 'root', 'render'),
    ],
    start,
  );
const shown = (rows: ReturnType<typeof toSpanRows>): string[] =>
  rows.map((row) =>
    isRepeat(row)
      ? `${row.spans.length} × ${row.spans[0]?.span.name}, ${row.durationNs}, ${row.errorCount}`
      : row.span.spanId,
  );
const none = (): boolean => false;

test('five equal siblings and their descendants are one row with count, total duration and errors', (t) => {
  t.deepEqual(shown(toSpanRows(trace(5), none, '')), ['root', '5 × SELECT, 5000, 1', 'last']);
  t.is(toSpanRows(trace(4), none, '').length, 10);
  t.is(countLevels(trace(5)), 3);
});

test('an expanded repetition, or one with the open span, is followed by its spans', (t) => {
  const expanded = shown(toSpanRows(trace(5), (id) => id === 'call0', ''));
  t.deepEqual(expanded.slice(0, 4), ['root', '5 × SELECT, 5000, 1', 'call0', 'wait0']);
  t.is(expanded.length, 13);
  t.is(toSpanRows(trace(5), none, 'wait3').length, 13);
  t.is(toSpanRows(trace(5), none, 'last').length, 3);
});
