/** Computed values are reported without floating-point noise, and stored values unchanged. */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import { buildAggregations } from '../../queries/aggregate/measures.ts';
import { buildMetricResult } from '../../queries/metrics/metric-result.ts';
import { MetricQuery } from '../../queries/query.ts';
import { roundNoise } from '../../queries/round-numbers.ts';

test('computed values are rounded to their significant digits', (t) => {
  for (const [given, expected] of [
    [6.999999999998056, 7],
    [97.20099999999996, 97.201],
    [0.1 + 0.2, 0.3],
    [-0.8999999999999999, -0.9],
    [1 / 3, 0.333333333333],
    [1e-9 / 3, 3.33333333333e-10],
    [1_764_000_000_000.123, 1_764_000_000_000.12],
    [2 ** 60, 2 ** 60],
    [123_456_789_012_345, 123_456_789_012_345],
    [0, 0],
    [Number.NaN, Number.NaN],
    [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
  ] as const)
    t.is(roundNoise(given), expected);
});

const stored = 0.12345678901234566;

test('a metric figure that is a stored value is returned unrounded', (t) => {
  const readFigure = (overTime: string, across: string, value: number): unknown => {
    const query = MetricQuery.parse({ kind: 'metric', metric: 'm', overTime, across });
    const windows = { starts: [0], count: 1, partial: [] };
    const plan = { query, windows, groups: [{ labels: {} }], limits: { resultValues: 100 }, partial: [] };
    return buildMetricResult(plan as unknown as Parameters<typeof buildMetricResult>[0], () => value, '', {
      stepMs: undefined,
    } as never).rows?.[0];
  };
  for (const overTime of ['last', 'min', 'max'])
    for (const across of ['none', 'min', 'max']) t.deepEqual(readFigure(overTime, across, stored), [stored]);
  for (const [overTime, across] of [
    ['rate', 'none'],
    ['avg', 'max'],
    ['last', 'sum'],
  ] as const)
    t.deepEqual(readFigure(overTime, across, 6.999999999998056), [7]);
});

test('a record figure is rounded if computed, and unrounded if stored', (t) => {
  const values = { getValue: () => ({ text: '', number: 'x', exists: '', reference: { kind: 'attribute' } }) };
  const readFigure = (kind: string, response: number, seconds: number): unknown => {
    const measure = { function: kind, field: 'x', percentile: 95 } as never;
    return buildAggregations([measure], 'logs', values as never)[0]?.toValue(response, seconds, 'table');
  };
  t.is(readFigure('percentile', 97.20099999999996, 1), 97.201);
  t.is(readFigure('avg', 0.30000000000000004, 1), 0.3);
  t.is(readFigure('rate', 21, 2.99999999999999), 7);
  t.is(readFigure('min', stored, 1), stored);
  t.is(readFigure('max', stored, 1), stored);
});
