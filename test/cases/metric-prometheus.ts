/** Test series and PromQL queries, with results that were obtained from a real Prometheus by hand. */
import type { TestSeries } from './metric-points.ts';

const seconds = (index: number): number => index * 15;

const values = (
  metric: string,
  labels: Readonly<Record<string, string>>,
  own: readonly (number | undefined)[],
  id: number,
): TestSeries => ({
  id,
  metric,
  labels,
  kind: 'unknown',
  source: 'prometheus',
  points: own.flatMap((value, index) => (value === undefined ? [] : [{ at: seconds(index), value }])),
});

const missing = undefined;
const classic: Readonly<Record<string, readonly number[]>> = {
  '0.1': [1, 2, 4, 4, 5, 1, 1, 2, 2],
  '0.5': [2, 5, 9, 12, 14, 1, 4, 6, 9],
  '1': [2, 6, 12, 18, 22, 2, 6, 10, 15],
  '+Inf': [3, 7, 13, 20, 25, 2, 7, 12, 18],
};

/** Zero bucket, positive and negative counts, by schema. */
const native = (schema: number, id: number): TestSeries => ({
  id,
  metric: 'native',
  kind: 'exponential_histogram',
  temporality: 2,
  source: 'prometheus',
  labels: { schema: String(schema) },
  points: Array.from({ length: 9 }, (_, index) => {
    const positive = [index, 2 * index + 1, 3 * index, index];
    const negative = schema === 0 ? [index, 1] : [];
    const zeroCount = index;
    const count = [...positive, ...negative, zeroCount].reduce((sum, each) => sum + each, 0);
    return {
      at: seconds(index),
      histogram: {
        count,
        sum: 1,
        scale: schema,
        zeroCount,
        zeroThreshold: 0.001,
        positive: [-2, positive],
        negative: [-1, negative],
      },
    };
  }),
});

export const prometheusSeries: readonly TestSeries[] = [
  values('gauge', { instance: 'a' }, [1, 5, Number.NaN, 3, 8, missing, missing, 2, 7], 1),
  values('gauge', { instance: 'b' }, [4, Number.POSITIVE_INFINITY, 6, 1, 2, 3, missing, missing, 9], 2),
  ...Object.entries(classic).map(([le, own], index) => values('latency_bucket', { le }, own, 10 + index)),
  native(0, 20),
  native(2, 21),
];

interface QueryInput {
  readonly metric: string;
  readonly overTime: 'last' | 'avg' | 'min' | 'max' | 'sum' | 'count' | 'quantile';
  readonly across?: 'sum' | 'avg' | 'min' | 'max' | 'count';
  readonly quantile?: number;
}

/**
 * A query over the window from 60 to 120 seconds, the equivalent PromQL at its end, and the result of Prometheus
 * 3.15.0. An increase over 75 seconds includes the last point before the window, from which our increases are
 * calculated.
 */
export const prometheusCases: readonly (readonly [query: QueryInput, promql: string, answer: number])[] = [
  [{ metric: 'gauge', overTime: 'avg', across: 'sum' }, 'sum(avg_over_time(gauge[1m]))', 7.5],
  [{ metric: 'gauge', overTime: 'avg', across: 'min' }, 'min(avg_over_time(gauge[1m]))', 2.5],
  [{ metric: 'gauge', overTime: 'min', across: 'sum' }, 'sum(min_over_time(gauge[1m]))', 4],
  [{ metric: 'gauge', overTime: 'max', across: 'sum' }, 'sum(max_over_time(gauge[1m]))', 11],
  [{ metric: 'gauge', overTime: 'sum', across: 'sum' }, 'sum(sum_over_time(gauge[1m]))', 15],
  [{ metric: 'gauge', overTime: 'count', across: 'sum' }, 'sum(count_over_time(gauge[1m]))', 4],
  [{ metric: 'gauge', overTime: 'last', across: 'sum' }, 'sum(gauge)', 5],
  [{ metric: 'gauge', overTime: 'last', across: 'avg' }, 'avg(gauge)', 2.5],
  [{ metric: 'gauge', overTime: 'last', across: 'min' }, 'min(gauge)', 2],
  [{ metric: 'gauge', overTime: 'last', across: 'max' }, 'max(gauge)', 3],
  [{ metric: 'gauge', overTime: 'last', across: 'count' }, 'count(gauge)', 2],
  [
    { metric: 'latency', overTime: 'quantile', quantile: 0.05 },
    'histogram_quantile(0.05, sum by (le) (increase(latency_bucket[75s])))',
    0.028333333333333335,
  ],
  [
    { metric: 'native', overTime: 'quantile', quantile: 0.05 },
    'histogram_quantile(0.05, sum(increase(native[75s])))',
    -0.5547847360339225,
  ],
  [
    { metric: 'native', overTime: 'quantile', quantile: 0.05, across: 'avg' },
    'avg(histogram_quantile(0.05, increase(native[75s])))',
    -0.3658214239864064,
  ],
  [
    { metric: 'latency', overTime: 'quantile', quantile: 0.5 },
    'histogram_quantile(0.5, sum by (le) (increase(latency_bucket[75s])))',
    0.5416666666666666,
  ],
  [
    { metric: 'native', overTime: 'quantile', quantile: 0.5 },
    'histogram_quantile(0.5, sum(increase(native[75s])))',
    0.9330329915368074,
  ],
  [
    { metric: 'native', overTime: 'quantile', quantile: 0.5, across: 'avg' },
    'avg(histogram_quantile(0.5, increase(native[75s])))',
    0.9204482076268573,
  ],
  [
    { metric: 'latency', overTime: 'quantile', quantile: 0.9 },
    'histogram_quantile(0.9, sum by (le) (increase(latency_bucket[75s])))',
    1,
  ],
  [
    { metric: 'native', overTime: 'quantile', quantile: 0.9 },
    'histogram_quantile(0.9, sum(increase(native[75s])))',
    1.8660659830736148,
  ],
  [
    { metric: 'native', overTime: 'quantile', quantile: 0.9, across: 'avg' },
    'avg(histogram_quantile(0.9, increase(native[75s])))',
    1.6873456692087512,
  ],
  [
    { metric: 'latency', overTime: 'quantile', quantile: 1 },
    'histogram_quantile(1, sum by (le) (increase(latency_bucket[75s])))',
    1,
  ],
  [{ metric: 'native', overTime: 'quantile', quantile: 1 }, 'histogram_quantile(1, sum(increase(native[75s])))', 4],
  [
    { metric: 'native', overTime: 'quantile', quantile: 1, across: 'avg' },
    'avg(histogram_quantile(1, increase(native[75s])))',
    2.7071067811865475,
  ],
];
