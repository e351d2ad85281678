/** Who uses a metric: saved queries and alert rules, in every kind of query that names it. */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import { findMetricsUses } from '../../queries/metrics/uses.ts';
import type { CollectionDefinition, TenantDocuments } from '../../schemas/ports/documents.ts';
import { type MetricTables, openMetricTables, type TestSeries } from './metric-points.ts';

let tables: MetricTables;
test.before(async () => {
  tables = await openMetricTables();
  await tables.put([{ tenant: 'users', series }]);
});
test.after.always(() => tables.close());

const series: readonly TestSeries[] = [
  { id: 1, metric: 'shop.items', kind: 'sum', monotonic: true },
  { id: 2, metric: 'shop.wait', kind: 'histogram', unit: 's' },
  { id: 3, metric: 'shop.idle' },
  { id: 4, metric: 'up', source: 'prometheus' },
];

const documentsOf = (held: Readonly<Record<string, readonly object[]>>): Pick<TenantDocuments, 'collection'> => ({
  collection: ((definition: CollectionDefinition<object>) => ({
    list: async () => ({
      items: (held[definition.name] ?? []).map((document, index) => ({
        id: `${definition.name}-${index}`,
        ...document,
      })),
      nextCursor: null,
    }),
  })) as unknown as TenantDocuments['collection'],
});

const uses = async (held: Readonly<Record<string, readonly object[]>>) =>
  findMetricsUses(
    {
      columns: tables.columns.forTenant('users'),
      documents: documentsOf(held),
      translation: { strategy: 'UnderscoreEscapingWithSuffixes', promoted: [], scopeLabels: true },
    },
    series.map(({ metric }) => metric),
  );

/** Metrics that a rule with this query uses. */
const used = async (query: object): Promise<string[]> => {
  const found = await uses({ 'alert-rules': [{ name: 'rule', condition: { kind: 'threshold', query } }] });
  return [...found].flatMap(([metric, { uses: own }]) => (Array.isArray(own) && own.length > 0 ? [metric] : []));
};

test('an alert rule uses the metric of its query, of its formula queries and of its PromQL', async (t) => {
  const builder = { kind: 'metric', metric: 'shop.items', overTime: 'rate' };
  t.deepEqual(await used(builder), ['shop.items']);
  t.deepEqual(
    await used({
      kind: 'formula',
      expression: 'a / b',
      queries: { a: builder, b: { kind: 'promql', expression: 'up' } },
    }),
    ['shop.items', 'up'],
  );
  t.deepEqual(await used({ kind: 'promql', expression: 'sum(up == 0)' }), ['up']);
});

test('PromQL uses an OTLP metric by the Prometheus names of its series', async (t) => {
  const inPromql = (expression: string) => used({ kind: 'promql', expression });
  t.deepEqual(await inPromql('rate(shop_items_total[5m])'), ['shop.items']);
  t.deepEqual(await inPromql('histogram_quantile(0.9, sum by (le) (rate(shop_wait_seconds_bucket[5m])))'), [
    'shop.wait',
  ]);
  t.deepEqual(await inPromql('{"shop.idle"} or shop_idle'), ['shop.idle']);
  t.deepEqual(await inPromql('{__name__=~"shop_(idle|items_total)"}'), ['shop.items', 'shop.idle']);
  t.deepEqual(await inPromql('label_replace(absent(nothing{job="up"}), "shop_idle", "up", "", "")'), []);
});

test('a recording rule uses the metrics in its expression', async (t) => {
  const rules = [
    { record: 'shop_idle', expression: 'vector(1)', labels: {} },
    { record: 'job:up:sum', expression: 'sum by (job) (up)', labels: {} },
  ];
  const found = await uses({ 'recording-groups': [{ name: 'group', rules }] });
  t.deepEqual(found.get('up')?.uses, [{ what: 'recording rules', id: 'recording-groups-0', name: 'group' }]);
  t.deepEqual(found.get('shop.idle')?.uses, []);
});

test('a dashboard uses the metrics of its panels; a private dashboard reveals nothing else', async (t) => {
  const queries = [
    { name: 'A', query: { kind: 'metric', metric: 'shop.idle' } },
    { name: 'B', query: { kind: 'promql', expression: 'sum(up{job="$job"}[$__interval])' } },
  ];
  const panels = [{ id: 'one', queries }];
  const found = await uses({
    dashboards: [
      { name: 'Shop', visibility: 'organization', panels },
      { name: 'Mine', visibility: 'private', panels },
    ],
  });
  const both = [
    { what: 'dashboards', id: 'dashboards-0', name: 'Shop' },
    { what: 'dashboards', id: null, name: null },
  ];
  t.deepEqual(found.get('shop.idle')?.uses, both);
  t.deepEqual(found.get('up')?.uses, both);
  t.deepEqual(found.get('shop.items')?.uses, []);
});

test('the searched documents are reported with their number for each kind', async (t) => {
  const found = await uses({
    'saved-queries': [{ name: 'mine', visibility: 'private', query: { kind: 'promql', expression: 'up' } }],
    'alert-rules': [{ name: 'Up', condition: { kind: 'absence', query: { kind: 'metric', metric: 'up' } } }],
  });
  t.deepEqual(found.get('up'), {
    uses: [
      { what: 'saved queries', id: null, name: null },
      { what: 'alert rules', id: 'alert-rules-0', name: 'Up' },
    ],
    searchedIn: [
      { what: 'saved queries', documents: 1 },
      { what: 'dashboards', documents: 0 },
      { what: 'alert rules', documents: 1 },
      { what: 'recording rules', documents: 0 },
    ],
  });
  t.deepEqual(found.get('shop.idle')?.uses, []);
});
