/** Quantiles of histograms whose bounds are not all finite. */
import test from 'ava';
import { computeQuantile, type Extremes, noExtremes, toExplicitBuckets } from '../../queries/metrics/quantile.ts';

const inf = Number.POSITIVE_INFINITY;

const cases: readonly (readonly [string, number[], number[], Extremes, number, number | undefined])[] = [
  ['finite bounds', [5], [1, 3], noExtremes, 0.9, 5],
  ['+Inf as the last bound', [5, inf], [1, 3, 0], noExtremes, 0.9, 5],
  ['counts above +Inf', [5, inf], [1, 2, 1], noExtremes, 0.9, 5],
  ['+Inf as the last bound, and the maximum', [5, inf], [2, 2, 0], { min: 1, max: 9 }, 0.75, 7],
  ['-Inf as the first bound', [Number.NEGATIVE_INFINITY, 10], [0, 10, 0], noExtremes, 0.1, 1],
  ['NaN between bounds', [10, Number.NaN, 20], [10, 5, 5, 0], noExtremes, 0.75, 15],
  ['only +Inf, with minimum and maximum', [inf], [4, 0], { min: 2, max: 6 }, 0.5, 4],
  ['only +Inf', [inf], [4, 0], noExtremes, 0.5, undefined],
];

for (const [name, bounds, counts, extremes, quantile, expected] of cases) {
  test(`the quantile of a histogram is finite: ${name}`, (t) => {
    t.is(computeQuantile(toExplicitBuckets({ bounds, counts }, extremes), quantile, extremes), expected);
  });
}
