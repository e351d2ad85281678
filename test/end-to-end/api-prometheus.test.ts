/** Prometheus' HTTP API over series from remote-write and from OpenTelemetry's SDK. */
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  AggregationType,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import test from 'ava';
import { eventually, stretched } from '../waiting.ts';
import { type Subject, snappy, startSubject, type TimeSeries, write, writeRequestOf } from './conformance.ts';

let subject: Subject;
const now = Math.floor(Date.now() / 60_000) * 60_000 - 600_000;
const traceId = '0af7651916cd43dd8448eb211c80319c';
/** When the SDK has sent its points. */
let sentMs = 0;

// biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
type Body = any;

const requestApi = async (
  path: string,
  parameters: Readonly<Record<string, string | readonly string[]>> = {},
  { method = 'GET', prefix = '/api/prom/api/v1' }: { readonly method?: string; readonly prefix?: string } = {},
): Promise<{ readonly status: number; readonly body: Body }> => {
  const search = new URLSearchParams(
    Object.entries(parameters).flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, one])),
  );
  const isForm = method === 'POST';
  const response = await fetch(`${subject.oiq.http}${prefix}/${path}${isForm ? '' : `?${search}`}`, {
    method,
    headers: { authorization: `Bearer ${subject.token}` },
    ...(isForm && { body: search }),
  });
  return { status: response.status, body: await response.json() };
};

const data = async (path: string, parameters: Parameters<typeof requestApi>[1] = {}): Promise<Body> => {
  const { status, body } = await requestApi(path, parameters);
  if (status !== 200 || body.status !== 'success') throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  return body.data;
};

const every15s = (values: readonly number[]) =>
  values.map((value, index) => ({ value, timestamp: now + index * 15_000 }));

const remote: readonly TimeSeries[] = [
  {
    labels: [
      ['__name__', 'http_requests_total'],
      ['instance', 'a'],
      ['job', 'shop'],
    ],
    samples: every15s([10, 40, 5, 20]),
    exemplars: [{ labels: [['trace_id', traceId]], value: 0.5, timestamp: now + 1_000 }],
    metadata: { type: 1, help: 'Requests', unit: '' },
  },
  {
    labels: [
      ['__name__', 'http_requests_total'],
      ['instance', 'b'],
      ['job', 'shop'],
    ],
    samples: every15s([1, 2, 3, 4]),
    metadata: { type: 1, help: 'Requests', unit: '' },
  },
];

const sendWithSdk = async (): Promise<void> => {
  const exporter = new OTLPMetricExporter({
    url: `${subject.oiq.otlp}/v1/metrics`,
    headers: { 'x-license-key': subject.licenseKey },
    timeoutMillis: stretched(10_000),
    temporalityPreference: AggregationTemporality.CUMULATIVE,
  });
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const meters = new MeterProvider({
    resource: resourceFromAttributes({
      'service.name': 'checkout',
      'service.namespace': 'store',
      'service.instance.id': 'one',
      'host.name': 'h1',
    }),
    readers: [reader],
    views: [{ instrumentName: 'size', aggregation: { type: AggregationType.EXPONENTIAL_HISTOGRAM } }],
  });
  const meter = meters.getMeter('test', '1.2');
  meter
    .createCounter('orders.taken', { unit: '{order}', description: 'Orders taken' })
    .add(3, { 'shop.name': 'north' });
  const duration = meter.createHistogram('duration', { unit: 'ms', advice: { explicitBucketBoundaries: [10, 20.5] } });
  for (const value of [5, 15, 30]) duration.record(value, { route: '/cart' });
  meter.createHistogram('size', { unit: 'By' }).record(4);
  meter.createGauge('fill', { unit: '1' }).record(0.25);
  await meters.forceFlush();
  await meters.shutdown();
};

/** Counters of deltas restart at each full hour. This hour has ended. */
const hour = Math.floor((Date.now() - 60_000) / 3_600_000) * 3_600_000;

/** Sends deltas of one counter and one histogram, from a process with the given start time. */
const sendDeltas = async (beganMs: number, deltas: readonly (readonly [seconds: number, value: number])[]) => {
  const pointsOf = (own: (value: number) => object) =>
    deltas.map(([seconds, value]) => ({
      timeUnixNano: `${hour + seconds * 1000}000000`,
      startTimeUnixNano: `${beganMs}000000`,
      ...own(value),
    }));
  const metrics = [
    {
      name: 'jobs.done',
      sum: { aggregationTemporality: 1, isMonotonic: true, dataPoints: pointsOf((asDouble) => ({ asDouble })) },
    },
    {
      name: 'jobs.size',
      exponentialHistogram: {
        aggregationTemporality: 1,
        dataPoints: pointsOf((value) => ({
          count: String(value + 1),
          sum: value * 3,
          scale: 0,
          zeroCount: '1',
          zeroThreshold: 0.5,
          positive: { offset: 1, bucketCounts: [String(value)] },
        })),
      },
    },
  ];
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'worker' } }] };
  const response = await fetch(`${subject.oiq.otlp}/v1/metrics`, {
    method: 'POST',
    headers: { 'x-license-key': subject.licenseKey, 'content-type': 'application/json' },
    body: JSON.stringify({ resourceMetrics: [{ resource, scopeMetrics: [{ metrics }] }] }),
  });
  if (response.status !== 200) throw new Error(await response.text());
};

test.before(async (t) => {
  subject = await startSubject();
  await sendWithSdk();
  sentMs = Date.now();
  await sendDeltas(hour - 100_000, [
    [-30, 4],
    [-20, 1],
  ]);
  // A second process continues. Its first delta is larger than the sum before.
  await sendDeltas(hour - 15_000, [
    [-10, 20],
    [0, 3],
    [10, 30],
    [20, 2],
  ]);
  t.true((await write(subject, 2, snappy(writeRequestOf(2, remote)))).status < 300);
  await eventually('series are stored', async () => {
    const names = await data('label/__name__/values');
    return ['http_requests_total', 'orders_taken_total', 'size_bytes', 'jobs_size', 'target_info'].every((name) =>
      names.includes(name),
    );
  });
  await eventually('samples are stored', async () => {
    const parameters = { query: 'count_over_time(http_requests_total[5m])', time: String((now + 45_000) / 1000) };
    const { result } = await data('query', parameters);
    return result.length === 2 && result.every(({ value }: { value: [number, string] }) => value[1] === '4');
  });
  // Each kind of point is stored separately.
  for (const query of ['duration_milliseconds_count', 'size_bytes', 'fill_ratio', 'orders_taken_total'])
    await eventually(
      `${query} is stored`,
      async () => (await data('query', { query, time: String(sentMs / 1000) })).result.length > 0,
    );
});
test.after.always(() => subject?.close());

test('metric names follow Prometheus, with units and suffixes', async (t) => {
  t.deepEqual(await data('label/__name__/values'), [
    ...['duration_milliseconds_bucket', 'duration_milliseconds_count', 'duration_milliseconds_sum', 'fill_ratio'],
    ...['http_requests_total', 'jobs_done_total', 'jobs_size', 'orders_taken_total', 'size_bytes', 'target_info'],
  ]);
});

test('labels and their values come from series, resources and bucket bounds', async (t) => {
  t.deepEqual(await data('labels'), [
    ...[
      '__name__',
      'host_name',
      'instance',
      'job',
      'le',
      'otel_scope_name',
      'otel_scope_version',
      'route',
      'shop_name',
    ],
  ]);
  t.deepEqual(await data('labels', { 'match[]': 'http_requests_total' }), ['__name__', 'instance', 'job']);
  t.deepEqual(await data('label/job/values'), ['shop', 'store/checkout', 'worker']);
  t.deepEqual(await data('label/instance/values', { 'match[]': '{job=~"store.*"}' }), ['one']);
  t.deepEqual(await data('label/le/values'), ['+Inf', '10', '20.5']);
  t.deepEqual(await data('label/shop_name/values'), ['north']);
  t.deepEqual(await data('label/U__shop_name/values'), ['north']);
  t.deepEqual(await data('label/host_name/values'), ['h1']);
  t.deepEqual(await data('label/nowhere/values'), []);
});

test('series are found by names and labels of both forms', async (t) => {
  const scope = { otel_scope_name: 'test', otel_scope_version: '1.2' };
  const target = { instance: 'one', job: 'store/checkout' };
  t.deepEqual(
    await data('series', {
      'match[]': ['orders_taken_total{shop_name="north"}', 'http_requests_total{instance!="a"}'],
    }),
    [
      { __name__: 'http_requests_total', instance: 'b', job: 'shop' },
      { __name__: 'orders_taken_total', ...target, ...scope, shop_name: 'north' },
    ],
  );
  t.deepEqual(await data('series', { 'match[]': '{__name__=~"duration.*",le!="10"}' }), [
    { __name__: 'duration_milliseconds_bucket', ...target, le: '+Inf', ...scope, route: '/cart' },
    { __name__: 'duration_milliseconds_bucket', ...target, le: '20.5', ...scope, route: '/cart' },
    { __name__: 'duration_milliseconds_count', ...target, ...scope, route: '/cart' },
    { __name__: 'duration_milliseconds_sum', ...target, ...scope, route: '/cart' },
  ]);
  t.deepEqual(await data('series', { 'match[]': 'target_info' }), [
    { __name__: 'target_info', host_name: 'h1', ...target },
  ]);
  const { body } = await requestApi('series', { 'match[]': '{job!=""}', limit: '1' });
  t.is(body.data.length, 1);
  t.deepEqual(body.warnings, ['results truncated due to limit']);
});

test('form bodies are accepted like query strings', async (t) => {
  const { body } = await requestApi('series', { 'match[]': 'http_requests_total{instance="a"}' }, { method: 'POST' });
  t.deepEqual(body.data, [{ __name__: 'http_requests_total', instance: 'a', job: 'shop' }]);
});

test('instant and range queries return both kinds of series', async (t) => {
  const at = String((now + 45_000) / 1000);
  t.deepEqual(await data('query', { query: 'sum by (job) (increase(http_requests_total[45s]))', time: at }), {
    resultType: 'vector',
    result: [{ metric: { job: 'shop' }, value: [(now + 45_000) / 1000, '33'] }],
  });
  const start = String(now / 1000);
  const range = { query: 'http_requests_total{instance="a"}', start, end: at, step: '30' };
  const expected = [
    {
      metric: { __name__: 'http_requests_total', instance: 'a', job: 'shop' },
      values: [
        [now / 1000, '10'],
        [now / 1000 + 30, '5'],
      ],
    },
  ];
  t.deepEqual(await data('query_range', range), { resultType: 'matrix', result: expected });
  t.deepEqual((await requestApi('query_range', range, { method: 'POST' })).body.data.result, expected);
  const later = { time: String(sentMs / 1000) };
  t.is(
    (await data('query', { query: 'histogram_quantile(0.5, duration_milliseconds_bucket)', ...later })).result[0]
      .value[1],
    '15.25',
  );
  t.is((await data('query', { query: 'histogram_count(size_bytes)', ...later })).result[0].value[1], '1');
  t.is(
    (await data('query', { query: 'fill_ratio * on (job, instance) group_left (host_name) target_info', ...later }))
      .result[0].metric.host_name,
    'h1',
  );
  t.deepEqual(await data('query', { query: '1 / 3', time: '1.5' }), {
    resultType: 'scalar',
    result: [1.5, '0.3333333333333333'],
  });
  t.deepEqual(await data('query', { query: 'up', time: '1' }), { resultType: 'vector', result: [] });
  const { body } = await requestApi('query', { query: 'http_requests_total', time: at, stats: 'all', limit: '1' });
  t.is(body.data.result.length, 1);
  t.deepEqual(body.warnings, ['results truncated due to limit']);
  t.is(body.data.stats.samples.totalQueryableSamples, 2);
});

/** The increase of a counter, including the values before each reset. */
const increaseOf = (values: readonly number[]): number =>
  values.reduce(
    (sum, value, at) => sum + (at > 0 && value >= (values[at - 1] ?? 0) ? value - (values[at - 1] ?? 0) : value),
    0,
  );

test('deltas become counters that increase by exactly the values sent, across restarts of the sender and full hours', async (t) => {
  const queryAtHour = (query: string) => data('query', { query, time: String(hour / 1000 + 30) });
  await eventually('deltas are stored', async () => {
    const { result } = await queryAtHour('count_over_time(jobs_done_total[2m])');
    return result[0]?.value[1] === '7';
  });
  const [counter] = (await queryAtHour('jobs_done_total[2m]')).result;
  t.like(counter.metric, { __name__: 'jobs_done_total', job: 'worker' });
  t.deepEqual(
    counter.values.map(([time, value]: [number, string]) => [Math.round(time * 1000) - hour, Number(value)]),
    [
      [-30_000, 4],
      [-20_000, 5],
      [-10_000, 25],
      [0, 28],
      [1, 0],
      [10_000, 30],
      [20_000, 32],
    ],
  );
  t.is(increaseOf(counter.values.map(([, value]: [number, string]) => Number(value))), 4 + 1 + 20 + 3 + 30 + 2);
  const [size] = (await queryAtHour('jobs_size[2m]')).result;
  t.deepEqual(
    size.histograms.map(([, { count, sum }]: [number, { count: string; sum: string }]) => [count, sum]),
    [
      ['5', '12'],
      ['7', '15'],
      ['28', '75'],
      ['32', '84'],
      ['31', '90'],
      ['34', '96'],
    ],
  );
  t.deepEqual((await queryAtHour('jobs_size')).result[0].histogram[1], {
    count: '34',
    sum: '96',
    buckets: [
      [3, '-0.5', '0.5', '2'],
      [0, '2', '4', '32'],
    ],
  });
  t.deepEqual(
    (await queryAtHour('histogram_count(jobs_size) - histogram_count(jobs_size offset 15s)')).result[0].value[1],
    '3',
  );
});

test('PromQL is available as a query kind', async (t) => {
  const response = await fetch(`${subject.oiq.http}/api/metrics/query`, {
    method: 'POST',
    headers: { authorization: `Bearer ${subject.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      from: String(now),
      to: String(now + 45_000),
      form: 'table',
      queries: { a: { kind: 'promql', expression: 'sum by (job) (http_requests_total)' } },
      formulas: { twice: 'a * 2' },
    }),
  });
  const { results } = (await response.json()) as Body;
  t.deepEqual(results.a.rows, [['shop', 24]]);
  t.deepEqual(results.twice.rows, [['shop', 48]]);
});

test('metadata and exemplars match those that were sent', async (t) => {
  t.deepEqual(await data('metadata', { metric: 'http_requests_total' }), {
    http_requests_total: [{ type: 'counter', help: 'Requests', unit: '' }],
  });
  t.deepEqual((await data('metadata')).orders_taken_total, [{ type: 'counter', help: 'Orders taken', unit: '' }]);
  await eventually(
    'the exemplar is stored',
    async () => (await data('query_exemplars', { query: 'http_requests_total' })).length > 0,
  );
  t.deepEqual(await data('query_exemplars', { query: 'rate(http_requests_total[5m])' }), [
    {
      seriesLabels: { __name__: 'http_requests_total', instance: 'a', job: 'shop' },
      exemplars: [{ labels: { trace_id: traceId }, value: '0.5', timestamp: (now + 1000) / 1000 }],
    },
  ]);
});

const digits = '1'.repeat(70);
const tooManyConditions = `{${Array.from({ length: 300 }, (_, at) => `a${at}="b"`).join(',')}}`;
const tooDeep = Array.from({ length: 600 }, () => '1').join('+');
const outOfBounds = '1:1: parse error: expression is nested more than 500 levels deep';

/** Parameters that are refused before they are parsed. */
const tooMuch: readonly (readonly [path: string, parameters: Parameters<typeof requestApi>[1], message: string])[] = [
  ['query', { query: 'up', time: digits }, 'invalid parameter "time": has more than 64 characters'],
  [
    'query',
    { query: 'up', time: 'toString' },
    `invalid parameter "time": invalid time value for 'time': cannot parse "toString" to a valid timestamp`,
  ],
  ['query', { query: 'up', timeout: digits }, 'invalid parameter "timeout": has more than 64 characters'],
  [
    'query',
    { query: 'up', lookback_delta: digits },
    'error parsing lookback delta duration: has more than 64 characters',
  ],
  [
    'query_range',
    { query: 'up', start: '0', end: '1', step: digits },
    'invalid parameter "step": has more than 64 characters',
  ],
  ['series', { 'match[]': 'up', end: digits }, 'invalid parameter "end": has more than 64 characters'],
  ['labels', { limit: digits }, 'invalid parameter "limit": has more than 64 characters'],
  [
    'query',
    { query: `${digits}x` },
    'invalid parameter "query": 1:1: parse error: number or duration has more than 64 characters',
  ],
  ['query', { query: tooDeep }, `invalid parameter "query": ${outOfBounds}`],
  ['query_range', { query: tooDeep, start: '0', end: '1', step: '1' }, `invalid parameter "query": ${outOfBounds}`],
  ['format_query', { query: tooDeep }, `invalid parameter "query": ${outOfBounds}`],
  ['parse_query', { query: tooDeep }, `invalid parameter "query": ${outOfBounds}`],
  ['query_exemplars', { query: tooDeep }, outOfBounds],
  ...['labels', 'label/job/values', 'rules'].map(
    (path) =>
      [
        path,
        { 'match[]': tooManyConditions },
        '1:2196: parse error: more than 256 label matchers in a selector',
      ] as const,
  ),
  ['labels', { 'match[]': Array.from({ length: 101 }, () => 'up') }, 'more than 100 values of match[]'],
];

test('errors have the same wording as in Prometheus', async (t) => {
  const cases: readonly (readonly [path: string, parameters: Parameters<typeof requestApi>[1], message: string])[] = [
    ['series', {}, 'no match[] parameter provided'],
    [
      'series',
      { 'match[]': '{' },
      'invalid parameter "match[]": 1:2: parse error: unexpected end of input inside braces',
    ],
    [
      'labels',
      { start: 'x' },
      `invalid parameter "start": invalid time value for 'start': cannot parse "x" to a valid timestamp`,
    ],
    ['format_query', { query: 'sum(' }, 'invalid parameter "query": 1:5: parse error: unclosed left parenthesis'],
    ['query', { query: '' }, 'invalid parameter "query": unknown position: parse error: no expression found in input'],
    [
      'query',
      { query: 'up', time: 'x' },
      `invalid parameter "time": invalid time value for 'time': cannot parse "x" to a valid timestamp`,
    ],
    [
      'query_range',
      { query: 'up', start: '2', end: '1', step: '1' },
      'invalid parameter "end": end timestamp must not be before start time',
    ],
    [
      'query_range',
      { query: 'up', start: '0', end: '20000', step: '1' },
      'exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution (?step=XX)',
    ],
    ['labels', { limit: '-1' }, 'invalid parameter "limit": limit must be non-negative'],
    [
      'labels',
      { limit: '99999999999999999999' },
      'invalid parameter "limit": strconv.Atoi: parsing "99999999999999999999": value out of range',
    ],
    ['labels', { 'match[]': 'up{' }, '1:4: parse error: unexpected end of input inside braces'],
    ['labels', { 'match[]': '{job=~".*"}' }, 'match[] must contain at least one non-empty matcher'],
    [
      'series',
      { 'match[]': ['up', '{job=""}'] },
      'invalid parameter "match[]": match[] must contain at least one non-empty matcher',
    ],
    [
      'series',
      { 'match[]': 'up{' },
      'invalid parameter "match[]": 1:4: parse error: unexpected end of input inside braces',
    ],
    ['label/job/values', { 'match[]': 'up[5m]' }, '1:3: parse error: unexpected "["'],
    ['label/U__/values', {}, 'invalid label name: ""'],
    ['metadata', { limit: '1.5' }, 'limit must be a number'],
    ['metadata', { limit_per_metric: 'x' }, 'limit_per_metric must be a number'],
    ['status/tsdb', { limit: '0' }, 'limit must be a positive number'],
    ['query_exemplars', { query: 'up{' }, '1:4: parse error: unexpected end of input inside braces'],
    ['query', { query: '1', timeout: '0' }, 'invalid parameter "query": context deadline exceeded'],
    [
      'query_range',
      { query: '1', start: '0', end: '1', step: '1e30' },
      'invalid parameter "step": cannot parse "1e30" to a valid duration. It overflows int64',
    ],
    ['rules', { type: 'x' }, 'invalid parameter "type": not supported value "x"'],
    ['rules', { 'match[]': '{' }, '1:2: parse error: unexpected end of input inside braces'],
    [
      'rules',
      { exclude_alerts: 'x' },
      'invalid parameter "exclude_alerts": error converting exclude_alerts: strconv.ParseBool: parsing "x": invalid syntax',
    ],
    [
      'rules',
      { group_limit: 'x' },
      'invalid parameter "group_limit": group_limit needs to be a valid number: strconv.ParseInt: parsing "x": invalid syntax',
    ],
    [
      'rules',
      { group_next_token: 'x' },
      'invalid parameter "group_next_token": group_limit needs to be present in order to paginate over the groups',
    ],
    [
      'rules',
      { group_next_token: 'x', group_limit: '1' },
      'invalid parameter "group_next_token": invalid group_next_token \'x\'. were rule groups changed?',
    ],
  ];
  for (const [path, parameters, message] of [...cases, ...tooMuch]) {
    const { status, body } = await requestApi(path, parameters);
    t.deepEqual({ status, body }, { status: 400, body: { status: 'error', errorType: 'bad_data', error: message } });
  }
});

test('an evaluation error returns 422', async (t) => {
  const { status, body } = await requestApi('query', {
    query: 'label_replace({job="shop"}, "instance", "", "", "")',
    time: String((now + 45_000) / 1000),
  });
  t.is(status, 422);
  t.deepEqual(body, {
    status: 'error',
    errorType: 'execution',
    error: 'vector cannot contain metrics with the same labelset',
  });
});

test('an API token is accepted as the password of Basic authentication, only below the Prometheus prefix', async (t) => {
  const post = async (path: string, body: object): Promise<Body> => {
    const headers = { authorization: `Bearer ${subject.token}`, 'content-type': 'application/json' };
    const response = await fetch(`${subject.oiq.http}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return response.json();
  };
  const account = await post('/api/service-accounts', { name: 'Grafana', role: 'viewer' });
  const scopes = ['prometheus:read', 'logs:read'];
  const { token } = await post(`/api/service-accounts/${account.id}/tokens`, { name: 'Grafana', scopes });
  const statusOf = async (path: string, pair: string): Promise<number> => {
    const authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
    const response = await fetch(`${subject.oiq.http}${path}`, { headers: { authorization } });
    await response.text();
    return response.status;
  };
  const path = '/api/prom/api/v1/status/buildinfo';
  t.is(await statusOf(path, `grafana:${token}`), 200);
  t.is(await statusOf(path, `:${token}`), 200);
  t.is(await statusOf(path, `${token}:`), 401);
  t.is(await statusOf(path, `grafana:${token}x`), 401);
  t.is(await statusOf(path, `grafana:${subject.token}`), 401, 'a session is not an API token');
  t.is(await statusOf('/api/prom/api/v1/query?query=1', `grafana:${token}`), 200);
  t.is(await statusOf('/api/logs', `grafana:${token}`), 401);
});

test('the first requests of Grafana are supported', async (t) => {
  t.regex((await data('status/buildinfo')).version, /^3\./);
  t.deepEqual(await data('rules'), { groups: [] });
  t.deepEqual(await data('alerts'), { alerts: [] });
  const { headStats, seriesCountByMetricName } = await data('status/tsdb');
  t.true(headStats.numSeries >= 7);
  t.deepEqual(seriesCountByMetricName[0], { name: 'http_requests_total', value: 2 });
  t.is(await data('format_query', { query: 'sum by(job)(up)' }), 'sum by (job) (up)');
  t.is((await data('parse_query', { query: 'sum(up)' })).type, 'aggregation');
});

test('operations that accept a form in Prometheus accept one', async (t) => {
  for (const path of ['format_query', 'parse_query', 'query_exemplars']) {
    const parameters = { query: 'rate(http_requests_total[5m])' };
    t.deepEqual(await requestApi(path, parameters, { method: 'POST' }), await requestApi(path, parameters));
  }
});

test('a stats value that Prometheus does not know gives the same warning as in Prometheus', async (t) => {
  t.deepEqual((await requestApi('query', { query: '1', stats: 'x' })).body.warnings, [
    'value "x" for parameter "stats" is deprecated and will be rejected in the next major release, use "true" or "all"',
  ]);
  for (const stats of ['true', 'all'])
    t.is((await requestApi('query', { query: '1', stats })).body.warnings, undefined);
});

test('features are those enabled here, under their Prometheus names', async (t) => {
  const { api, promql, promql_functions, promql_operators, rules, templating_functions } = await data('features');
  t.like(api, { remote_write_receiver: true, remote_read: false, admin: false });
  t.like(promql, { subqueries: true, fill_left: true, delayed_name_removal: false });
  t.like(promql_functions, { rate: true, mad_over_time: true });
  t.like(promql_operators, { '=~': true, topk: true, limitk: true, unless: true });
  t.deepEqual(rules, { keep_firing_for: true, query_offset: true });
  t.true(templating_functions.humanizeDuration);
});

test('the paths with which clients inspect a server respond in the Prometheus format', async (t) => {
  t.deepEqual(await data('status/config'), { yaml: '' });
  t.is((await data('status/flags'))['query.lookback-delta'], '5m');
  const runtime = await data('status/runtimeinfo');
  t.true(Date.parse(runtime.startTime) <= Date.parse(runtime.serverTime));
  t.regex(runtime.storageRetention, /^\d+d$/);
  t.deepEqual(await data('status/walreplay'), { min: 0, max: 0, current: 0, state: 'done' });
  t.deepEqual(await data('targets'), { activeTargets: [], droppedTargets: [], droppedTargetCounts: {} });
  t.deepEqual(await data('targets/metadata'), []);
  t.deepEqual(await data('alertmanagers'), { activeAlertmanagers: [], droppedAlertmanagers: [] });
  for (const [state, text] of [
    ['healthy', 'Prometheus Server is Healthy.\n'],
    ['ready', 'Prometheus Server is Ready.\n'],
  ] as const) {
    const response = await fetch(`${subject.oiq.http}/api/prom/-/${state}`, {
      headers: { authorization: `Bearer ${subject.token}` },
    });
    t.deepEqual([response.status, await response.text()], [200, text]);
  }
});

test('an unsupported Prometheus path returns the 404 of Prometheus, and any other path returns the 404 of OIQ', async (t) => {
  for (const path of ['/api/prom/api/v1/read', '/api/tenants/x/prom/api/v1/none', '/api/prom/none']) {
    const response = await fetch(`${subject.oiq.http}${path}`);
    t.deepEqual(
      [response.status, response.headers.get('content-type'), await response.text()],
      [...[404, 'text/plain; charset=utf-8', '404 page not found\n']],
    );
  }
  const other = await fetch(`${subject.oiq.http}/api/none`);
  t.regex(await other.text(), /NOT_FOUND/);
});
