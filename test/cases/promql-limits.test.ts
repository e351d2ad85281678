/** What a query may hold: it is refused, as Prometheus words it, before it takes 512 MB. */
import test from 'ava';
import { evaluate, parse } from '../../queries/promql/index.ts';
import type { Series } from '../../queries/promql/series.ts';

const mostBytes = 512 * 1024 ** 2;
const tooMany = 'query processing would load too many samples into memory in query execution';
const stepMs = 1000;

/** Evaluates over many series that are never all there, and says how much the columns held at most. */
const heldBy = (expression: string, { series, steps }: { readonly series: number; readonly steps: number }) => {
  const times = Float64Array.from({ length: steps }, (_, step) => step * stepMs);
  const before = process.memoryUsage().arrayBuffers;
  let held = 0;
  let read = 0;
  const all = function* (): Iterable<Series> {
    for (; read < series; read++) {
      if (read % 100 === 0) held = Math.max(held, process.memoryUsage().arrayBuffers - before);
      yield { labels: { __name__: 'x', number: String(read) }, times, values: times };
    }
  };
  const isInstant = expression.endsWith(']');
  const endMs = (steps - 1) * stepMs;
  const window = { startMs: isInstant ? endMs : 0, endMs, stepMs: isInstant ? 0 : stepMs };
  try {
    evaluate(parse(expression), window, all);
    return { error: undefined, read, held };
  } catch (error) {
    return { error: (error as Error).message, read, held };
  } finally {
    held = Math.max(held, process.memoryUsage().arrayBuffers - before);
  }
};

const refused = [
  { what: 'columns of every series', expression: 'x', series: 1_000_000, steps: 11_000 },
  { what: 'columns of what a function gives', expression: 'abs(x)', series: 1_000_000, steps: 11_000 },
  { what: 'columns of what is ranked', expression: 'topk(1, x)', series: 1_000_000, steps: 11_000 },
  { what: 'columns of both sides', expression: 'x + x', series: 1_000_000, steps: 11_000 },
  { what: 'the answer', expression: 'x', series: 1_200, steps: 4_000 },
  { what: 'the samples of a range', expression: 'x[4000s]', series: 1_000_000, steps: 4_000 },
];
for (const { what, expression, ...size } of refused)
  test(`${expression} over ${size.series} series and ${size.steps} steps is refused for ${what}`, (t) => {
    const { error, held } = heldBy(expression, size);
    t.is(error, tooMany);
    t.true(held < mostBytes, `${held} bytes were held`);
  });

test('a sum holds one series at a time, and may be over any number', (t) => {
  const { error, read, held } = heldBy('sum(rate(x[10s]))', { series: 20_000, steps: 200 });
  t.is(error, undefined);
  t.is(read, 20_000);
  t.true(held < mostBytes, `${held} bytes were held`);
});
