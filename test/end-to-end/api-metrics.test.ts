/** Metrics from OpenTelemetry's SDK and from remote-write are received, and queried through the API. */
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AggregationType, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import test from 'ava';
import { eventually, stretched } from '../waiting.ts';
import { type Subject, snappy, startSubject, write, writeRequestOf } from './conformance.ts';

let subject: Subject;
const now = Math.floor(Date.now() / 60_000) * 60_000 - 600_000;
const traceId = '0af7651916cd43dd8448eb211c80319c';

const request = async (method: string, path: string, body?: unknown) => {
  const response = await fetch(`${subject.oiq.http}${path}`, {
    method,
    headers: { authorization: `Bearer ${subject.token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: looked into below
  return { status: response.status, body: (await response.json()) as any };
};

/** Prometheus requests: a counter with a reset, a classic histogram, an exemplar. One point per 15 seconds. */
const remote = () => {
  const samples = (values: readonly number[]) =>
    values.map((value, index) => ({ value, timestamp: now + index * 15_000 }));
  const bucket = (le: string, values: readonly number[]) => ({
    labels: [
      ['__name__', 'rpc_seconds_bucket'],
      ['job', 'shop'],
      ['le', le],
    ] as const,
    samples: samples(values),
  });
  return [
    {
      labels: [
        ['__name__', 'http_requests_total'],
        ['instance', 'a'],
        ['job', 'shop'],
      ] as const,
      samples: samples([10, 40, 5, 20]),
      exemplars: [{ labels: [['trace_id', traceId]] as const, value: 0.5, timestamp: now + 1_000 }],
      metadata: { type: 1, help: 'Requests', unit: '' },
    },
    bucket('0.1', [0, 10, 20, 30]),
    bucket('1', [0, 15, 30, 45]),
    bucket('+Inf', [0, 15, 30, 45]),
  ];
};

const sendWithSdk = async (): Promise<void> => {
  const exporter = new OTLPMetricExporter({
    url: `${subject.oiq.otlp}/v1/metrics`,
    headers: { 'x-license-key': subject.licenseKey },
    timeoutMillis: stretched(10_000),
  });
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const meters = new MeterProvider({
    resource: resourceFromAttributes({ 'service.name': 'checkout', 'host.name': 'one' }),
    readers: [reader],
    views: [{ instrumentName: 'size', aggregation: { type: AggregationType.EXPONENTIAL_HISTOGRAM } }],
  });
  const meter = meters.getMeter('test');
  const orders = meter.createCounter('orders', { unit: '{order}', description: 'Orders taken' });
  const duration = meter.createHistogram('duration', {
    unit: 'ms',
    advice: { explicitBucketBoundaries: [10, 20, 40] },
  });
  const size = meter.createHistogram('size', { unit: 'By' });
  orders.add(3, { shop: 'north' });
  orders.add(4, { shop: 'south' });
  for (const value of [5, 15, 15, 30]) duration.record(value, { route: '/cart' });
  for (const value of [1, 2, 4, 8]) size.record(value);
  await meters.forceFlush();
  orders.add(2, { shop: 'north' });
  await meters.forceFlush();
  await meters.shutdown();
};

test.before(async (t) => {
  subject = await startSubject();
  await sendWithSdk();
  t.is((await write(subject, 2, snappy(writeRequestOf(2, remote())))).status < 300, true);
  await eventually('metrics are stored', async () => {
    const { body } = await request('GET', '/api/metrics?from=now-1h&limit=1000');
    const names = (body.items ?? []).map(({ name }: { name: string }) => name);
    return ['orders', 'duration', 'size', 'rpc_seconds_bucket', 'http_requests_total'].every((name) =>
      names.includes(name),
    );
  });
  await eventually('points are stored', async () => {
    const queries = Object.fromEntries(
      ['orders', 'rpc_seconds_bucket', 'http_requests_total'].map((metric) => [
        metric,
        { kind: 'metric', metric, overTime: 'count', across: 'sum' },
      ]),
    );
    const { body } = await request('POST', '/api/metrics/query', { form: 'table', queries });
    const counts = Object.values<{ rows: number[][] }>(body.results ?? {}).map(({ rows }) => rows[0]?.[0] ?? 0);
    // The SDK exports once more during its shutdown, which changes nothing.
    return counts.length === 3 && [4, 12, 4].every((minCount, index) => (counts[index] ?? 0) >= minCount);
  });
  // Each kind of point is stored separately.
  await eventually('histograms are stored', async () => {
    const queries = {
      duration: { kind: 'metric', metric: 'duration', overTime: 'avg' },
      size: { kind: 'metric', metric: 'size', overTime: 'max' },
    };
    const { body } = await request('POST', '/api/metrics/query', { form: 'table', queries });
    const rows = Object.values<{ rows: unknown[][] }>(body.results ?? {}).map((result) => result.rows[0]?.[0]);
    return rows.length === 2 && rows.every((value) => typeof value === 'number');
  });
  await eventually('the exemplar is stored', async () => {
    const { body } = await request('GET', '/api/metrics/exemplars?metric=http_requests_total');
    return (body.items ?? []).length > 0;
  });
});
test.after.always(() => subject?.close());

const query = async (body: object) => {
  const { status, body: answer } = await request('POST', '/api/metrics/query', body);
  return { status, answer, results: answer.results };
};

test('counters, histograms and buckets return the values computed by hand', async (t) => {
  const window = { from: String(now), to: String(now + 59_999), form: 'table' };
  const { results } = await query({
    ...window,
    queries: {
      increase: { kind: 'metric', metric: 'http_requests_total', overTime: 'increase' },
      p80: { kind: 'metric', metric: 'rpc_seconds', overTime: 'quantile', quantile: 0.8 },
    },
    formulas: { twice: 'increase * 2' },
  });
  // 10 → 40, a reset to 5, → 20.
  t.deepEqual(results.increase.rows, [[30 + 5 + 15]]);
  // Of 45, 30 are up to 0.1 and 15 more up to 1: rank 36 is 6 of 15 within the second bucket.
  t.true(Math.abs(results.p80.rows[0][0] - (0.1 + 0.9 * (6 / 15))) < 1e-12);
  t.is(results.twice.rows[0].at(-1), 100);
  const sdk = await query({
    form: 'table',
    queries: {
      orders: { kind: 'metric', metric: 'orders', overTime: 'increase', groupBy: ['shop', 'host.name'] },
      median: { kind: 'metric', metric: 'duration', overTime: 'quantile', quantile: 0.5 },
      mean: { kind: 'metric', metric: 'duration', overTime: 'avg', search: 'route:/cart host.name:one' },
      sizes: { kind: 'metric', metric: 'size', overTime: 'max' },
    },
  });
  t.deepEqual(sdk.results.orders.rows, [
    ['north', 'one', 5],
    ['south', 'one', 4],
  ]);
  t.is(sdk.results.orders.columns.at(-1).unit, '{order}');
  // 5 | 15 15 | 30: rank 2 of 4 is halfway between 10 and 20.
  t.deepEqual(sdk.results.median.rows, [[15]]);
  t.deepEqual(sdk.results.mean.rows, [[65 / 4]]);
  t.deepEqual(sdk.results.sizes.rows, [[8]]);
});

test('an invalid query is named in the error', async (t) => {
  const good = { kind: 'metric', metric: 'orders', overTime: 'rate' };
  const wrong = await query({ queries: { a: good, b: { ...good, metric: 'duration', overTime: 'last' } } });
  t.is(wrong.status, 400);
  t.regex(JSON.stringify(wrong.answer), /queries\.b\.overTime/);
  const promql = await query({ queries: { c: { kind: 'promql', expression: 'up(' } } });
  t.is(promql.status, 400);
  t.regex(JSON.stringify(promql.answer), /queries\.c/);
  const formula = await query({ queries: { a: good }, formulas: { f: 'a + nobody' } });
  t.is(formula.status, 400);
  t.regex(JSON.stringify(formula.answer), /formulas\.f/);
});

test('the catalogue lists labels, their values and exemplars', async (t) => {
  const { body: metric } = await request('GET', '/api/metrics/catalogue/orders');
  t.like(metric, { name: 'orders', type: 'sum', unit: '{order}', description: 'Orders taken', seriesCount: 2 });
  t.deepEqual(
    metric.labels.filter(({ name }: { name: string }) => ['shop', 'host.name'].includes(name)),
    [
      { name: 'shop', of: 'series', values: 2, series: 2, examples: ['north', 'south'] },
      { name: 'host.name', of: 'resource', values: 1, series: 2, examples: ['one'] },
    ],
  );
  t.is(metric.used.searchedIn[0].what, 'saved queries');
  const values = '/api/metrics/catalogue/orders/labels/shop/values';
  const first = (await request('GET', `${values}?limit=1`)).body;
  t.deepEqual(first.items, [{ value: 'north', series: 1 }]);
  t.deepEqual((await request('GET', `${values}?limit=1&cursor=${first.nextCursor}`)).body, {
    items: [{ value: 'south', series: 1 }],
    nextCursor: null,
  });
  t.deepEqual((await request('GET', `${values}?prefix=so`)).body.items, [{ value: 'south', series: 1 }]);
  t.deepEqual((await request('GET', '/api/metrics/catalogue/orders/labels/host.name/values')).body.items, [
    { value: 'one', series: 2 },
  ]);
  t.is((await request('GET', '/api/metrics/catalogue/no.such.metric')).status, 404);
  const { body: exemplars } = await request('GET', '/api/metrics/exemplars?metric=http_requests_total');
  t.is(exemplars.items.length, 1);
  t.like(exemplars.items[0], { value: 0.5, traceId, labels: { instance: 'a', job: 'shop' } });
});

test('the catalogue of a past minute has the metrics whose points of that minute arrived some minutes later', async (t) => {
  const { body: minute } = await request('GET', `/api/metrics?from=${now}&to=${now + 59_999}&name=http_requests_total`);
  t.deepEqual(
    minute.items.map(({ name, series }: { name: string; series: { points: unknown[] }[] }) => [
      name,
      series[0]?.points.length,
    ]),
    [['http_requests_total', 4]],
  );
  const before = now - 2 * 3_600_000;
  t.deepEqual((await request('GET', `/api/metrics?from=${before}&to=${before + 59_999}`)).body.items, []);
});

test('metrics whose points arrive some hours late are listed in the range of the points', async (t) => {
  const late = now - 4 * 3_600_000;
  const series = {
    labels: [
      ['__name__', 'queued_total'],
      ['job', 'shop'],
    ] as const,
    samples: [1, 2].map((value) => ({ value, timestamp: late + value * 15_000 })),
  };
  t.true((await write(subject, 2, snappy(writeRequestOf(2, [series])))).status < 300);
  const range = `from=${late}&to=${late + 59_999}`;
  await eventually('late points are stored', async () => {
    const { body } = await request('GET', `/api/metrics?${range}`);
    return body.items.some(({ name }: { name: string }) => name === 'queued_total');
  });
  t.is((await request('GET', `/api/metrics/catalogue/queued_total?${range}`)).status, 200);
  const { body: cardinality } = await request('GET', `/api/metrics/cardinality?metric=queued_total&${range}`);
  t.like(cardinality.items[0], { metric: 'queued_total', series: 1 });
  const { body: lately } = await request('GET', '/api/metrics?from=now-1h&limit=1000');
  t.false(lately.items.some(({ name }: { name: string }) => name === 'queued_total'));
});

test('cardinality counts series by metric and label, and lists the users of a metric', async (t) => {
  const saved = await request('POST', '/api/saved-queries', {
    name: 'Orders',
    visibility: 'organization',
    query: { kind: 'metric', metric: 'orders', overTime: 'rate' },
  });
  t.is(saved.status, 200, JSON.stringify(saved.body));
  const { body } = await request('GET', '/api/metrics/cardinality?metric=orders&from=now-2h');
  t.like(body.items[0], { metric: 'orders', before: 0, series: 2, growth: 2, appeared: 2, disappeared: 0 });
  t.deepEqual(body.items[0].used, {
    uses: [{ what: 'saved queries', id: saved.body.id, name: 'Orders' }],
    searchedIn: [
      { what: 'saved queries', documents: 1 },
      { what: 'dashboards', documents: 0 },
      { what: 'alert rules', documents: 0 },
      { what: 'recording rules', documents: 0 },
    ],
  });
  t.deepEqual(body.labels, [{ label: 'shop', valuesBefore: 0, values: 2, series: 2 }]);
  t.true(body.total.series >= 7);
});
