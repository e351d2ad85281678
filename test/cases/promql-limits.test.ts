/** Limits of queries: they are rejected with the messages of Prometheus, before they use 512 MB. */
import test from 'ava';
import { evaluate, parse } from '../../queries/promql/index.ts';
import type { Series } from '../../queries/promql/series.ts';

const maxBytes = 512 * 1024 ** 2;
const tooMany = 'query processing would load too many samples into memory in query execution';
const stepMs = 1000;

/** Evaluates over many series that are not all in memory at once, and returns the maximum memory of the columns. */
const measurePeakMemory = (
  expression: string,
  { series, steps }: { readonly series: number; readonly steps: number },
) => {
  const times = Float64Array.from({ length: steps }, (_, step) => step * stepMs);
  const before = process.memoryUsage().arrayBuffers;
  let peakBytes = 0;
  let read = 0;
  const all = function* (): Iterable<Series> {
    for (; read < series; read++) {
      if (read % 100 === 0) peakBytes = Math.max(peakBytes, process.memoryUsage().arrayBuffers - before);
      yield { labels: { __name__: 'x', number: String(read) }, times, values: times };
    }
  };
  const isInstant = expression.endsWith(']');
  const endMs = (steps - 1) * stepMs;
  const window = { startMs: isInstant ? endMs : 0, endMs, stepMs: isInstant ? 0 : stepMs };
  try {
    evaluate(parse(expression), window, all);
    return { error: undefined, read, peakBytes };
  } catch (error) {
    return { error: (error as Error).message, read, peakBytes };
  } finally {
    peakBytes = Math.max(peakBytes, process.memoryUsage().arrayBuffers - before);
  }
};

const refused = [
  { what: 'columns of every series', expression: 'x', series: 1_000_000, steps: 11_000 },
  { what: 'columns of the result of a function', expression: 'abs(x)', series: 1_000_000, steps: 11_000 },
  { what: 'columns of a ranking', expression: 'topk(1, x)', series: 1_000_000, steps: 11_000 },
  { what: 'columns of both sides', expression: 'x + x', series: 1_000_000, steps: 11_000 },
  { what: 'columns of groups', expression: 'count(sum by (number) (x))', series: 1_000_000, steps: 11_000 },
  { what: 'columns of values', expression: 'count(count_values("v", x))', series: 1, steps: 11_000 },
  { what: 'the result', expression: 'x', series: 1_200, steps: 4_000 },
  { what: 'the samples of a range', expression: 'x[4000s]', series: 1_000_000, steps: 4_000 },
];
const subquery = '[365d:1s]';
for (const expression of [
  `sum_over_time(vector(1)${subquery})`,
  `sum_over_time(x${subquery})`,
  `sum_over_time(sum(x)${subquery})`,
  `quantile_over_time(0.5, vector(time())${subquery})`,
])
  test(`${expression} is rejected before a column of its steps is allocated`, (t) => {
    const { error, peakBytes, read } = measurePeakMemory(expression, { series: 10, steps: 1 });
    t.is(error, tooMany);
    t.is(read, 0);
    t.true(peakBytes < 1_000_000, `${peakBytes} bytes were held`);
  });

test('nested scalars are limited by their total memory', (t) => {
  const expression = `sum_over_time(vector(${'time() + ('.repeat(200)}time()${')'.repeat(200)})[1000000s:1s])`;
  const { error, peakBytes } = measurePeakMemory(expression, { series: 1, steps: 1 });
  t.is(error, tooMany);
  t.true(peakBytes < maxBytes, `${peakBytes} bytes were held`);
});

/** The label is ten times as long with each level. */
const lengthened = (levels: number): string =>
  ['label_replace('.repeat(levels), 'x', `, "number", "${'$1'.repeat(10)}", "number", "(.*)")`.repeat(levels)].join('');

test('a label created by an evaluation is rejected before it exceeds 65,536 characters', (t) => {
  const refusal = 'query processing would make a label value of more than 65536 characters';
  t.is(measurePeakMemory(lengthened(4), { series: 1, steps: 1 }).error, undefined);
  t.is(measurePeakMemory(lengthened(12), { series: 1, steps: 1 }).error, refusal);
  t.is(
    measurePeakMemory(`label_replace(${lengthened(4)}, "a", "${'$1'.repeat(20_000)}", "number", "(.*)")`, {
      series: 1,
      steps: 1,
    }).error,
    refusal,
  );
  const joined = `label_join(${lengthened(4)}, "a", "-"${', "number"'.repeat(200)})`;
  t.is(measurePeakMemory(joined, { series: 1, steps: 1 }).error, refusal);
});

test('the labels created by an evaluation are limited in total', (t) => {
  const { error } = measurePeakMemory(lengthened(4), { series: 20_000, steps: 1 });
  t.is(error, 'query processing would make labels of more than 100000000 characters');
});

for (const { what, expression, ...size } of refused)
  test(`${expression} over ${size.series} series and ${size.steps} steps is rejected for ${what}`, (t) => {
    const { error, peakBytes } = measurePeakMemory(expression, size);
    t.is(error, tooMany);
    t.true(peakBytes < maxBytes, `${peakBytes} bytes were held`);
  });

test('a sum has one series at a time in memory, and can cover any number', (t) => {
  const { error, read, peakBytes } = measurePeakMemory('sum(rate(x[10s]))', { series: 20_000, steps: 200 });
  t.is(error, undefined);
  t.is(read, 20_000);
  t.true(peakBytes < maxBytes, `${peakBytes} bytes were held`);
});
