/** OTLP and remote-write points as Prometheus series. */
import test from 'ava';
import { readBlockSeries } from '../../queries/promql/fetch/block-series.ts';
import { openBlockReader } from '../../queries/promql/fetch/known-selections.ts';
import { readLabelValues } from '../../queries/promql/fetch/label-reads.ts';
import { PointBlockReader } from '../../queries/promql/fetch/point-blocks.ts';
import type { Scope } from '../../queries/promql/fetch/scope.ts';
import { selectSeries } from '../../queries/promql/fetch/select-series.ts';
import type { Matcher, Series } from '../../queries/promql/series.ts';
import { parseSelector } from '../../queries/promql/syntax/parse.ts';
import { messageOf, metricsRequest, openTables, type Tables } from './sink-tables.ts';

const hour = Date.UTC(2026, 2, 1, 9);
const nanos = (ms: number): string => `${ms}000000`;
const resource = {
  attributes: [
    { key: 'service.name', value: { stringValue: 'cart' } },
    { key: 'service.instance.id', value: { stringValue: 'i' } },
    { key: 'host.name', value: { stringValue: 'h' } },
  ],
};

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables?.close());

let offset = 0;
const land = async (tenantId: string, metrics: readonly object[]): Promise<void> => {
  const request = { resourceMetrics: [{ resource, scopeMetrics: [{ metrics }] }] };
  await tables.land([messageOf([metricsRequest(request)], { tenantId, signal: 'metrics', offset: offset++ })], {
    sink: 'metrics',
  });
};

/** The series of a selector, with samples after `fromMs` and up to `toMs`. */
const select = async (tenantId: string, selector: string, fromMs: number, toMs: number): Promise<Series[]> => {
  const scope: Scope = {
    columns: tables.columns.forTenant(tenantId),
    translation: { strategy: 'UnderscoreEscapingWithSuffixes', promoted: [], scopeLabels: true },
  };
  const matchers: readonly Matcher[] = parseSelector(selector);
  const window = { fromMs, toMs };
  const pieces = new PointBlockReader(scope.columns, window, await selectSeries(scope, window, matchers));
  const found: Series[] = [];
  for (let piece = await pieces.next(); piece !== undefined; piece = await pieces.next())
    found.push(...readBlockSeries(piece, window, matchers));
  return found;
};

const shown = (series: readonly Series[]) =>
  series.map(({ labels, times, values }) => ({
    labels,
    points: Array.from(times, (time, at) => [(time - hour) / 1000, values[at]]),
  }));

const target = { instance: 'i', job: 'cart' };

test('deltas accumulate within an hour and start at 0 in the next, identically for every range', async (t) => {
  const point = (seconds: number, value: number) => ({
    timeUnixNano: nanos(hour + seconds * 1000),
    startTimeUnixNano: nanos(hour + (seconds - 10) * 1000),
    asDouble: value,
  });
  // The last point of an hour counts to that hour; 7 exceeds the accumulated value, but is still detected as a reset.
  const dataPoints = [point(3580, 1), point(3590, 2), point(3600, 3), point(3610, 7), point(3620, 1), point(3620, 1)];
  await land('deltas', [{ name: 'jobs.done', sum: { aggregationTemporality: 1, isMonotonic: true, dataPoints } }]);
  const all = [
    [3580, 1],
    [3590, 3],
    [3600, 6],
    [3600.001, 0],
    [3610, 7],
    [3620, 8],
  ];
  const labels = { __name__: 'jobs_done_total', ...target };
  t.deepEqual(shown(await select('deltas', 'jobs_done_total', hour, hour + 7_200_000)), [{ labels, points: all }]);
  t.deepEqual(shown(await select('deltas', 'jobs_done_total', hour + 3_595_000, hour + 3_615_000)), [
    { labels, points: all.slice(2, 5) },
  ]);
  t.deepEqual(shown(await select('deltas', 'jobs_done_total', hour + 3_605_000, hour + 3_615_000)), [
    { labels, points: all.slice(4, 5) },
  ]);
  t.deepEqual(await select('another', 'jobs_done_total', hour, hour + 7_200_000), []);
});

test('a classic histogram gives buckets, a count and a sum, and le matchers select the buckets', async (t) => {
  const point = (seconds: number, counts: readonly number[], sum: number, flags = 0) => ({
    timeUnixNano: nanos(hour + seconds * 1000),
    count: String(counts.reduce((all, one) => all + one, 0)),
    sum,
    flags,
    bucketCounts: counts.map(String),
    explicitBounds: [0.5, 1_000_000],
  });
  await land('classic', [
    {
      name: 'took',
      unit: 's',
      histogram: {
        aggregationTemporality: 2,
        dataPoints: [point(0, [1, 2, 3], 9), point(10, [2, 2, 4], 12), { ...point(20, [], 0, 1), explicitBounds: [] }],
      },
    },
  ]);
  const window = [hour - 1, hour + 60_000] as const;
  const bucket = (le: string) => ({ __name__: 'took_seconds_bucket', ...target, le });
  t.deepEqual(shown(await select('classic', 'took_seconds_bucket{le!="+Inf"}', ...window)), [
    {
      labels: bucket('0.5'),
      points: [
        [0, 1],
        [10, 2],
        [20, Number.NaN],
      ],
    },
    {
      labels: bucket('1000000'),
      points: [
        [0, 3],
        [10, 4],
        [20, Number.NaN],
      ],
    },
  ]);
  t.deepEqual(shown(await select('classic', '{__name__=~"took_seconds_(count|sum)"}', hour - 1, hour + 10_000)), [
    {
      labels: { __name__: 'took_seconds_count', ...target },
      points: [
        [0, 6],
        [10, 8],
      ],
    },
    {
      labels: { __name__: 'took_seconds_sum', ...target },
      points: [
        [0, 9],
        [10, 12],
      ],
    },
  ]);
  t.deepEqual(shown(await select('classic', 'target_info{job="cart"}', ...window)), [
    {
      labels: { __name__: 'target_info', host_name: 'h', ...target },
      points: [
        [0, 1],
        [10, 1],
        [20, 1],
      ],
    },
  ]);
});

test('exponential histograms are native histograms, and their deltas are accumulated', async (t) => {
  const point = (seconds: number, scale: number, offset: number, counts: readonly number[]) => ({
    timeUnixNano: nanos(hour + seconds * 1000),
    count: String(counts.reduce((all, one) => all + one, 1)),
    sum: 4,
    scale,
    zeroCount: '1',
    zeroThreshold: 0.01,
    positive: { offset, bucketCounts: counts.map(String) },
  });
  const dataPoints = [point(10, 1, 0, [1, 0, 2]), point(20, 0, 0, [5])];
  const metric = (name: string, aggregationTemporality: number) => ({
    name,
    exponentialHistogram: { aggregationTemporality, dataPoints },
  });
  await land('native', [metric('whole', 2), metric('delta', 1)]);
  const [whole] = await select('native', 'whole', hour, hour + 60_000);
  t.like(whole?.histograms?.[0], {
    schema: 1,
    count: 4,
    sum: 4,
    zeroCount: 1,
    zeroThreshold: 0.01,
    positiveSpans: [
      { offset: 1, length: 1 },
      { offset: 1, length: 1 },
    ],
    positiveBuckets: [1, 2],
    resetHint: 'unknown',
  });
  const [delta] = await select('native', 'delta', hour, hour + 60_000);
  t.is(delta?.histograms?.[0]?.resetHint, 'reset');
  t.like(delta?.histograms?.[1], {
    schema: 0,
    count: 10,
    sum: 8,
    zeroCount: 2,
    positiveSpans: [{ offset: 1, length: 2 }],
    positiveBuckets: [6, 2],
    resetHint: 'not-reset',
  });
});

test('summaries give quantiles, a count and a sum', async (t) => {
  const quantileValues = [
    { quantile: 0.5, value: 3 },
    { quantile: 0.99, value: 8 },
  ];
  const dataPoints = [{ timeUnixNano: nanos(hour), count: '4', sum: 12, quantileValues }];
  await land('summary', [{ name: 'wait', summary: { dataPoints } }]);
  t.deepEqual(shown(await select('summary', 'wait{quantile=~"0.9.*"}', hour - 1, hour)), [
    { labels: { __name__: 'wait', ...target, quantile: '0.99' }, points: [[0, 8]] },
  ]);
  t.is((await select('summary', '{__name__=~"wait.*"}', hour - 1, hour)).length, 4);
});

test('the series of a selector are cached for the next query, which also finds newer series', async (t) => {
  const gauge = (seconds: number, pod: string, value: number) => ({
    name: 'queue',
    gauge: {
      dataPoints: [
        {
          timeUnixNano: nanos(hour + seconds * 1000),
          asDouble: value,
          attributes: [{ key: 'pod', value: { stringValue: pod } }],
        },
      ],
    },
  });
  const window = { fromMs: hour - 60_000, toMs: hour + 60_000 };
  const tenantId = 'known';
  let statements = 0;
  const own = tables.columns.forTenant(tenantId);
  const counted: Scope['columns'] = {
    ...own,
    query(...question) {
      statements++;
      return own.query(...question);
    },
    queryNative(...question) {
      statements++;
      return own.queryNative(...question);
    },
  };
  const scope: Scope = {
    columns: counted,
    translation: { strategy: 'UnderscoreEscapingWithSuffixes', promoted: [], scopeLabels: true },
  };
  const query = async (selector: string) => {
    statements = 0;
    const matchers = parseSelector(selector);
    const pieces = await openBlockReader(scope, window, matchers);
    const found: Series[] = [];
    for (let piece = await pieces.next(); piece !== undefined; piece = await pieces.next())
      found.push(...readBlockSeries(piece, window, matchers));
    return { pods: found.map(({ labels, values }) => `${labels['pod']} ${values.join()}`), statements };
  };
  await land(tenantId, [gauge(0, 'a', 1), gauge(0, 'b', 2)]);
  const [all, one, none] = ['queue', 'queue{pod="a"}', 'queue{pod!~"a|b"}'];
  t.deepEqual((await query(all)).pods, ['a 1', 'b 2']);
  t.deepEqual((await query(one)).pods, ['a 1']);
  t.deepEqual((await query(none)).pods, []);
  await land(tenantId, [gauge(10, 'a', 3)]);
  t.deepEqual(await query(all), { pods: ['a 1,3', 'b 2'], statements: 1 });
  t.deepEqual(await query(one), { pods: ['a 1,3'], statements: 1 });
  await land(tenantId, [gauge(10, 'c', 4)]);
  t.deepEqual((await query(all)).pods, ['a 1,3', 'b 2', 'c 4']);
  t.deepEqual((await query(none)).pods, ['c 4']);
  t.deepEqual(await query(one), { pods: ['a 1,3'], statements: 1 });
  t.deepEqual(await query(all), { pods: ['a 1,3', 'b 2', 'c 4'], statements: 1 });
});

// Serial, because concurrent tests write series.
test.serial(
  'a selector reads points by series id while no series are written, and finds series that ended before',
  async (t) => {
    const tenantId = 'unchanged';
    const points = (pod: string, ...seconds: readonly number[]) => ({
      name: 'depth',
      gauge: {
        dataPoints: seconds.map((second) => ({
          timeUnixNano: nanos(hour + second * 1000),
          asDouble: second,
          attributes: [{ key: 'pod', value: { stringValue: pod } }],
        })),
      },
    });
    const day = 86_400;
    await land(tenantId, [points('a', 0, 10), points('b', 0), points('gone', -3 * day)]);
    const own = tables.columns.forTenant(tenantId);
    const statements: string[] = [];
    const columns: typeof own = {
      ...own,
      queryNative(sql, ...rest) {
        statements.push(sql);
        return own.queryNative(sql, ...rest);
      },
      query(sql, ...rest) {
        statements.push(sql);
        return own.query(sql, ...rest);
      },
    };
    const scope: Scope = {
      columns,
      translation: { strategy: 'UnderscoreEscapingWithSuffixes', promoted: [], scopeLabels: true },
    };
    const query = async (fromMs: number) => {
      statements.length = 0;
      const window = { fromMs, toMs: hour + 60_000 };
      const matchers = parseSelector('depth{pod!="b"}');
      const pieces = await openBlockReader(scope, window, matchers);
      const found: string[] = [];
      for (let piece = await pieces.next(); piece !== undefined; piece = await pieces.next())
        for (const { labels } of readBlockSeries(piece, window, matchers)) found.push(labels['pod'] ?? '');
      return {
        found,
        ofSeries: statements.filter((sql) => sql.includes('FROM series')).length,
        statements: statements.length,
      };
    };
    t.deepEqual((await query(hour - 1000)).found, ['a']);
    t.deepEqual(await query(hour - 1000), { found: ['a'], ofSeries: 0, statements: 1 });
    t.deepEqual(await query(hour + 5000), { found: ['a'], ofSeries: 0, statements: 1 });
    t.deepEqual((await query(hour - 4 * day * 1000)).found, ['a', 'gone']);
    await land(tenantId, [points('c', 20)]);
    t.deepEqual((await query(hour - 1000)).found, ['a', 'c']);
    t.deepEqual(await query(hour - 1000), { found: ['a', 'c'], ofSeries: 0, statements: 1 });
    await land(tenantId, [points('d', 20)]);
    await tables.columns.execute(
      `INSERT INTO series (tenant_id, project_id, metric, series_id, kind, source, attributes, attribute_types, first_seen, last_seen)
      SELECT '${tenantId}', 'p', 'other', 1, 'counter', 'prometheus', map(), '', now64(3), now64(3)`,
    );
    t.deepEqual((await query(hour - 1000)).found, ['a', 'c', 'd'], 'whoever writes them');
  },
);

test('label values are distinct and sorted, including long and non-ASCII values', async (t) => {
  const tenantId = 'values';
  const values = [
    'b',
    'a',
    'é',
    '🙂',
    'x'.repeat(300),
    ...Array.from({ length: 3000 }, (_, at) => `value ${at}`.padEnd(40, '-')),
  ];
  await tables.columns.execute(
    `INSERT INTO series (tenant_id, project_id, metric, series_id, kind, source, attributes, attribute_types, first_seen, last_seen)
      SELECT '${tenantId}', 'p', 'm', rowNumberInAllBlocks(), 'counter', 'prometheus', map('pod', value), 's', now64(3), now64(3)
      FROM (SELECT arrayJoin(arrayConcat([${values.map((value) => `'${value}'`).join(', ')}], ['a', ''])) AS value)`,
  );
  const scope: Scope = {
    columns: tables.columns.forTenant(tenantId),
    translation: { strategy: 'UnderscoreEscapingWithSuffixes', promoted: [], scopeLabels: true },
  };
  const window = { fromMs: Date.now() - 3_600_000, toMs: Date.now() };
  t.deepEqual(await readLabelValues({ scope, window, matcherSets: [] }, 'pod'), values.toSorted());
  t.deepEqual(await readLabelValues({ scope, window, matcherSets: [] }, 'none'), []);
});
