/**
 * Rows that an operation creates are counted as memory before they are allocated, and released with the rows that it
 * read.
 */
import test from 'ava';
import { evaluate, parse } from '../../queries/promql/index.ts';
import type { Series } from '../../queries/promql/series.ts';
import { PromqlLimitError } from '../../queries/promql/syntax/errors.ts';

const steps = 100;
const seriesCount = 100;
/** The columns of a hundred series use nine bytes per step. */
const side = seriesCount * steps * 9;
const times = Float64Array.from({ length: steps }, (_, step) => step * 1000);

const seriesOf = (labels: (number: number) => Readonly<Record<string, string>>): Series[] =>
  Array.from({ length: seriesCount }, (_, number) => ({ labels: labels(number), times, values: times }));

const x = seriesOf((number) => ({ __name__: 'x', instance: 'a', job: 'b', number: String(number) }));
const y = seriesOf((number) => ({ __name__: 'y', instance: 'a', job: 'b', number: String(number) }));
const buckets = seriesOf((number) => ({
  __name__: 'z_bucket',
  number: String(Math.floor(number / 10)),
  le: number % 10 === 9 ? '+Inf' : String(number % 10),
}));
const targets: Series[] = [
  { labels: { __name__: 'target_info', instance: 'a', job: 'b', version: '1' }, times, values: times },
];

const errorOf = (expression: string, selections: readonly (readonly Series[])[], bytes: number): string | undefined => {
  const window = { startMs: 0, endMs: (steps - 1) * 1000, stepMs: 1000 };
  try {
    evaluate(parse(expression), window, (selection) => selections[selection] ?? [], { samples: 50e6, bytes });
    return undefined;
  } catch (error) {
    if (!(error instanceof PromqlLimitError)) throw error;
    return error.message;
  }
};

const tooMany = /^query processing would load too many samples into memory in query execution$/;
const quantiles = Array.from({ length: 9 }, (_, at) => `0.${at + 1}`).join(', ');

const cases: readonly [expression: string, selections: readonly Series[][], sides: number][] = [
  ['count(x and y)', [x, y], 3],
  ['count(x unless y)', [x, []], 2],
  ['count(x or on(__name__) y)', [x, y], 4],
  ['count(x * on(number) group_left(job) y)', [x, y], 3],
  ['count(x * on(number) group_right(job) y)', [x, y], 3],
  ['count(x + on(number) y)', [x, y], 3],
  ['count(info(x))', [targets, x], 2],
  [`count(histogram_quantiles(z_bucket, "q", ${quantiles}))`, [buckets], 1.9],
];
for (const [expression, selections, sides] of cases) {
  test(`row memory is counted: ${expression}`, (t) => {
    t.regex(errorOf(expression, selections, (sides - 0.1) * side) ?? 'no error', tooMany);
    t.is(errorOf(expression, selections, (sides + 0.2) * side), undefined);
  });
}

test('the memory of unused rows is released', (t) => {
  const [one, two] = ['count(x or on(__name__) y)', 'count(x * on(number) group_left() y)'];
  t.is(errorOf(`${one} + ${one} + ${two}`, [x, y, x, y, x, y], 4.3 * side), undefined);
});

test('the quantile of each step is counted as a separate row', (t) => {
  const expression = 'count(histogram_quantiles(z_bucket, "q", scalar(x) / 100000))';
  t.regex(errorOf(expression, [buckets, x.slice(0, 1)], 5 * side) ?? 'no error', tooMany);
});
