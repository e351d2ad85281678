import '../../subjects/query-kinds.ts';
import test from 'ava';
import { runOverWindow } from '../../queries/over-window.ts';
import { Query } from '../../queries/query.ts';
import { buildSeriesResult, type QueryContext, type ResultData } from '../../queries/query-result.ts';

const minuteMs = 60_000;
const [fromMs, toMs] = [1000 * minuteMs, 1003 * minuteMs];
const limit = { kind: 'promql', expression: 'sum(limit)' };
const count = { kind: 'aggregate', signal: 'logs', measures: [{ function: 'count' }] };
const formula = { kind: 'formula', expression: 'records / limit', queries: { records: count, limit } };

/** Returns the index of each minute within the window: PromQL at its end, a count at its start. */
const answerMinutes = async ({ kind }: Query, { range, stepMs = 0 }: QueryContext): Promise<ResultData> => {
  const [first, last] = [range.from, range.to].map((ns) => Number(ns / 1_000_000n)) as [number, number];
  const points = Array.from({ length: Math.floor((last - first) / stepMs) + 1 }, (_, index) => first + index * stepMs);
  const minuteOf = (ms: number): number => (ms - fromMs) / minuteMs + (kind === 'promql' ? 0 : 1);
  return buildSeriesResult(
    [{ name: 'value', labels: {}, unit: '', points: points.map((ms) => [ms, minuteOf(ms)]) }],
    [last],
  );
};

for (const [title, query, values] of [
  ['PromQL', limit, [1, 2, 3]],
  ['a count', count, [1, 2, 3]],
  ['a formula of both', formula, [1, 1, 1]],
] as const)
  test(`steps of ${title} have their start as time, and the same step in all parts`, async (t) => {
    const { series, partialSteps } = await runOverWindow(
      Query.parse(query),
      { fromMs, toMs, stepMs: minuteMs },
      answerMinutes,
    );
    t.deepEqual(
      series[0]?.points,
      values.map((value, index) => [fromMs + index * minuteMs, value]),
    );
    t.is(Math.floor((partialSteps[0] ?? 0) / minuteMs), toMs / minuteMs - 1);
  });

test('a PromQL query over a whole window is evaluated at its end, and counts exclude the end', async (t) => {
  const ends = new Map<string, bigint>();
  await runOverWindow(Query.parse(formula), { fromMs, toMs }, async ({ kind }, { range }) => {
    ends.set(kind, range.to);
    return buildSeriesResult([], []);
  });
  const endNs = BigInt(toMs) * 1_000_000n;
  t.deepEqual(
    ends,
    new Map([
      ['aggregate', endNs - 1n],
      ['promql', endNs],
    ]),
  );
});
