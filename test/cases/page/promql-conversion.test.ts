/** How the metrics explorer converts queries of the builder to PromQL and back. */
import './browser.ts';

import test from 'ava';
import { seriesAggregationTitles } from '../../../web/areas/metrics/aggregations.ts';
import {
  type BuilderQuery,
  type NamedMetric,
  toBuilderQuery,
  toPromql,
} from '../../../web/areas/metrics/promql-conversion.ts';
import { timeAggregationTitles } from '../../../web/editors/query-form.ts';

const metric = (name: string, promqlName: string, type = 'gauge'): NamedMetric => ({
  name,
  promqlName,
  type,
  labels: ['http.route', 'code', 'a"b'],
  promqlLabels: ['http_route', 'code', 'a"b'],
});
const orders = metric('shop.orders', 'shop_orders_total', 'sum');
const duration = metric('http.duration', 'http_duration_seconds', 'histogram');
const unescaped = metric('queue.size', 'queue.size');
const metrics = [orders, duration, unescaped, metric('shop.orders_count', 'shop_orders_count')];

const query = (fields: Partial<BuilderQuery>): BuilderQuery => ({
  metric: 'shop.orders',
  overTime: 'rate',
  across: 'sum',
  groupBy: [],
  filter: '',
  ...fields,
});

const expressions: readonly (readonly [expression: string, of: NamedMetric, fields: Partial<BuilderQuery>])[] = [
  ['sum(rate(shop_orders_total[5m]))', orders, {}],
  ['rate(shop_orders_total[5m])', orders, { across: 'none' }],
  [
    'max by (http_route) (avg_over_time(shop_orders_total[5m]))',
    orders,
    { overTime: 'avg', across: 'max', groupBy: ['http.route'] },
  ],
  ['avg(quantile_over_time(0.95, shop_orders_total[5m]))', orders, { overTime: 'quantile', across: 'avg' }],
  [
    'sum by (job) (rate(shop_orders_total{job="shop/cart", code!="500"}[5m]))',
    orders,
    { groupBy: ['service'], filter: 'service:shop/cart AND NOT code:500' },
  ],
  ['sum(rate(shop_orders_total{code="a \\"b\\" \\\\"}[5m]))', orders, { filter: 'code:"a \\"b\\" \\\\"' }],
  ['sum by ("a\\"b") (rate(shop_orders_total[5m]))', orders, { groupBy: ['a"b'] }],
  [
    'sum(last_over_time({"queue.size", code="1"}[5m]))',
    unescaped,
    { metric: 'queue.size', overTime: 'last', filter: 'code:1' },
  ],
  ['sum by (code) (rate(http_duration_seconds_count[5m]))', duration, { metric: 'http.duration', groupBy: ['code'] }],
  [
    'sum by (code) (rate(http_duration_seconds_sum[5m])) / sum by (code) (rate(http_duration_seconds_count[5m]))',
    duration,
    { metric: 'http.duration', overTime: 'avg', across: 'avg', groupBy: ['code'] },
  ],
  [
    'histogram_quantile(0.95, sum by (le, code) (rate(http_duration_seconds_bucket[5m])))',
    duration,
    { metric: 'http.duration', overTime: 'quantile', across: 'avg', groupBy: ['code'] },
  ],
];
for (const [expression, of, fields] of expressions)
  test(`the builder and PromQL convert ${expression} in both directions`, (t) => {
    t.deepEqual(toPromql(query(fields), of), { value: expression });
    t.deepEqual(toBuilderQuery(expression, metrics), query(fields));
  });

for (const named of [orders, duration, unescaped])
  for (const overTime of Object.keys(timeAggregationTitles) as BuilderQuery['overTime'][])
    for (const across of Object.keys(seriesAggregationTitles) as BuilderQuery['across'][])
      test(`${overTime} and ${across} of the ${named.type} ${named.name} convert to PromQL and back, or give a reason`, (t) => {
        const built = query({
          metric: named.name,
          overTime,
          across,
          groupBy: across === 'none' ? [] : ['code'],
          filter: 'http.route:"/a b" AND NOT code:5',
        });
        const converted = toPromql(built, named);
        if ('reason' in converted) t.regex(converted.reason, /^[A-Z]/);
        else t.deepEqual(toBuilderQuery(converted.value, metrics), built);
      });

for (const [fields, reason] of [
  [{ groupBy: ['host.name'] }, /host\.name is not a label/],
  [{ filter: 'host.name:a' }, /host\.name is not a label/],
  [{ filter: 'code:5*' }, /filters/],
  [{ filter: 'code:1 OR code:2' }, /filters/],
  [{ filter: 'code:>=500' }, /filters/],
  [{ across: 'none', groupBy: ['code'] }, /grouped/],
] as const)
  test(`a query with ${JSON.stringify(fields)} has no PromQL, and returns the reason`, (t) => {
    const converted = toPromql(query(fields as Partial<BuilderQuery>), orders);
    t.regex('reason' in converted ? converted.reason : '', reason);
  });

test('another form of the same expression opens in the builder too', (t) => {
  const expected = query({ groupBy: ['code'] });
  for (const expression of [
    'sum(rate(shop_orders_total[5m])) by (code)',
    ' sum by(code)(rate({__name__="shop_orders_total"}[5m])) ',
    'sum by (code,) (rate(shop_orders_total{}[5m]))',
  ])
    t.deepEqual(toBuilderQuery(expression, metrics), expected, expression);
});

for (const expression of [
  '',
  'up',
  'sum(rate(unknown_total[5m]))',
  'sum(rate(shop_orders_total[1m]))',
  'sum(rate(shop_orders_total{code=~"5.."}[5m]))',
  'sum without (code) (rate(shop_orders_total[5m]))',
  'sum(rate(shop_orders_total[5m])) > 1',
  'sum(rate(shop_orders_total[5m])) / sum(rate(shop_orders_total[5m]))',
  'sum by (le) (rate(http_duration_seconds_bucket[5m]))',
  'histogram_quantile(0.5, sum by (le) (rate(http_duration_seconds_bucket[5m])))',
  'sum by (host_name) (rate(shop_orders_total[5m]))',
  'sum(rate(shop_orders_total[5m] offset 1h))',
  'sum(rate(shop_orders_total[5m])',
])
  test(`the builder cannot represent ${expression || 'an empty expression'}`, (t) => {
    t.is(toBuilderQuery(expression, metrics), undefined);
  });
