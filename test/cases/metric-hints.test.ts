/** Hints for metric queries without results. */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import { run } from '../../queries/run.ts';
import { createReader, type MetricTables, nanoseconds, openMetricTables } from './metric-points.ts';

let tables: MetricTables;
test.before(async () => {
  tables = await openMetricTables();
  const points = [{ at: 10, value: 1 }];
  await tables.put([
    {
      tenant: 'hints',
      series: ['shop.items', 'shop.orders', 'queue.length'].map((metric, id) => ({ id, metric, points })),
    },
  ]);
});
test.after.always(() => tables.close());

const hint = async (metric: string, tenant = 'hints', [from, to] = [0, 60]): Promise<string | undefined> => {
  const range = { from: nanoseconds(from), to: nanoseconds(to) };
  const query = { kind: 'metric', metric, overTime: 'last' } as const;
  return (await run(query, createReader(tables.columns, tenant), { range })).hint;
};

test('an unknown metric returns a hint with similar names', async (t) => {
  t.regex((await hint('shop.item')) ?? '', /^no metric has the name shop.item; similar names: shop.items, /);
  t.regex((await hint('shop_orders_total')) ?? '', /similar names: shop.orders, /);
  t.is(await hint('shop.items', 'nobody'), 'no metrics have been received yet');
});

test('a metric without values in the range is reported as such, and a result with values has no hint', async (t) => {
  t.regex(
    (await hint('shop.items', 'hints', [3000, 3060])) ?? '',
    /^shop.items has no values in this range that match/,
  );
  t.is(await hint('shop.items'), undefined);
});
