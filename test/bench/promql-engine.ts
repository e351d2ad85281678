/**
 * The time of the PromQL engine for 10,000 series of 6 hours at 15 s, without fetching. Prints one line of JSON for
 * each query: milliseconds of five runs, samples as counted by Prometheus, and the memory of the process.
 *
 *     node bin/node.mjs test/bench/promql-engine.ts [series]
 */
import { evaluate, listSelections, parse } from '../../queries/promql/index.ts';
import type { Selection, Series } from '../../queries/promql/series.ts';
import { compileTest } from '../../queries/promql/syntax/matchers.ts';

const count = Number(process.argv[2] ?? 10_000);
const samples = (6 * 3_600) / 15;
const startMs = 1_760_000_000_000;

/** Counters that rise by up to 99 per sample with some resets; the same in each run. */
const countersOf = (): Series[] => {
  let seed = 42;
  const random = (): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed / 2 ** 32;
  };
  const times = Float64Array.from({ length: samples }, (_, at) => startMs + at * 15_000);
  return Array.from({ length: count }, (_, at) => {
    let value = 0;
    const values = Float64Array.from({ length: samples }, () => {
      value = random() < 0.0005 ? 0 : value + Math.floor(random() * 100);
      return value;
    });
    return { labels: { __name__: 'x_total', instance: `i${at}`, job: `job${at % 20}` }, times, values };
  });
};

const all = countersOf();
const window = { startMs, endMs: startMs + 6 * 3_600_000, stepMs: 60_000 };

const queries = [
  'sum by (job) (rate(x_total[5m]))',
  'topk(10, x_total)',
  'sum by (job) (x_total)',
  'avg by (job) (avg_over_time(x_total[10m]))',
  'x_total{instance="i7"}',
] as const;

for (const text of queries) {
  const query = parse(text);
  const selections = listSelections(query, window);
  const read = (number: number): readonly Series[] => {
    const tests = (selections[number] as Selection).matchers.map(
      (matcher) => [matcher.name, compileTest(matcher)] as const,
    );
    return all.filter(({ labels }) => tests.every(([name, matches]) => matches(labels[name] ?? '')));
  };
  const selected = selections.map((_, number) => read(number));
  const milliseconds: number[] = [];
  let total = 0;
  for (let run = 0; run < 5; run++) {
    const started = performance.now();
    total = evaluate(query, window, (number) => selected[number] as readonly Series[]).samples.total;
    milliseconds.push(Math.round(performance.now() - started));
  }
  const rssMb = Math.round(process.memoryUsage().rss / 2 ** 20);
  console.log(JSON.stringify({ query: text, series: count, milliseconds, samples: total, rssMb }));
}
