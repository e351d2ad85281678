/** Reads logs, traces and metrics over the API from the real engine. */
import test from 'ava';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
const nowMs = Date.now();
const toNanoseconds = (secondsAgo: number, nanoseconds = 0): string =>
  String(BigInt(nowMs - secondsAgo * 1000) * 1_000_000n + BigInt(nanoseconds));
const timestampSql = (secondsAgo: number, nanoseconds = 0): string =>
  `fromUnixTimestamp64Nano(toInt64(${toNanoseconds(secondsAgo, nanoseconds)}), 'UTC')`;
const createTraceId = (digit: string): string => digit.repeat(32);

const insertLogs = async (): Promise<void> => {
  const rows = [
    // Eleven records in one nanosecond: only partition, offset and ordinal distinguish them.
    ...Array.from({ length: 11 }, (_, index) =>
      logValues({
        time: timestampSql(60, 123456789),
        offset: 10 + Math.floor(index / 4),
        ordinal: index % 4,
        body: `'tick ${index}'`,
      }),
    ),
    logValues({
      time: timestampSql(50),
      offset: 20,
      body: "'Payment FAILED for order-42'",
      service: 'shop',
      resource: 7,
      trace: '1',
    }),
    logValues({ time: timestampSql(40), offset: 21, body: "'payment accepted'", service: 'shop', resource: 7 }),
    logValues({ time: timestampSql(30), offset: 22, body: `'{"a":9007199254740993}'`, type: 'j', severity: 17 }),
    logValues({ time: timestampSql(7200), offset: 23, body: "'two hours ago'" }),
    logValues({ time: timestampSql(20), offset: 24, body: "'of another organization payment'", tenant: 'b' }),
  ];
  await harness.columns.execute(
    `INSERT INTO logs (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, observed_timestamp, service, resource_id, severity_number, severity_text, body, body_type, attributes, attribute_types, trace_id) VALUES ${rows.join(', ')}`,
  );
  await harness.columns.execute(
    `INSERT INTO resources (tenant_id, resource_id, service, attributes, attribute_types, first_seen, last_seen) VALUES
      ('a', 7, 'shop', map('service.name', 'shop', 'host.id', '12'), 'si', now64(3), now64(3)), ('b', 7, 'x', map('secret', 'of b'), 's', now64(3), now64(3))`,
  );
};

const logValues = (row: {
  time: string;
  offset: number;
  ordinal?: number;
  body: string;
  type?: string;
  service?: string;
  resource?: number;
  severity?: number;
  tenant?: string;
  trace?: string;
}): string =>
  `('${row.tenant ?? 'a'}', 'p1', now64(3), 0, ${row.offset}, ${row.ordinal ?? 0}, ${row.time}, ${row.time}, '${row.service ?? ''}', ${row.resource ?? 0}, ${row.severity ?? 0}, '', ${row.body}, '${row.type ?? 's'}', map('n', '5', 'big', '9007199254740993', '10', 'true'), 'iib', unhex('${createTraceId(row.trace ?? '0')}'))`;

interface SpanFields {
  readonly trace: string;
  readonly span: string;
  readonly parent?: string;
  readonly secondsAgo: number;
  readonly ms: number;
  readonly service: string;
  readonly name: string;
  readonly status?: number;
  readonly tenant?: string;
  readonly project?: string;
}

const spanValues = (row: SpanFields): string =>
  `('${row.tenant ?? 'a'}', '${row.project ?? 'p1'}', now64(3), 0, 0, ${Number.parseInt(row.span, 16)}, ${timestampSql(row.secondsAgo)}, ${row.ms * 1_000_000}, '${row.service}', 7, unhex('${createTraceId(row.trace)}'), unhex('${row.span.repeat(16)}'), unhex('${(row.parent ?? '0').repeat(16)}'), '${row.name}', 2, ${row.status ?? 0}, map('http.route', '/cart/{id}'), 's', [${timestampSql(row.secondsAgo, 5)}], ['exception'], [map('retries', '3')], ['i'], [unhex('${createTraceId('e')}')], [unhex('${'d'.repeat(16)}')], ['x=1'], [map()], [''])`;

const insertSpans = (rows: readonly string[]): Promise<void> =>
  harness.columns.execute(
    `INSERT INTO spans (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, duration, service, resource_id, trace_id, span_id, parent_span_id, name, kind, status_code, attributes, attribute_types, event_timestamps, event_names, event_attributes, event_attribute_types, link_trace_ids, link_span_ids, link_trace_states, link_attributes, link_attribute_types) VALUES ${rows.join(', ')}`,
  );

const insertTraces = (): Promise<void> =>
  insertSpans([
    spanValues({
      trace: '1',
      span: '2',
      parent: '1',
      secondsAgo: 100,
      ms: 40,
      service: 'shop',
      name: 'GET /cart',
      status: 2,
    }),
    spanValues({ trace: '1', span: '1', secondsAgo: 100, ms: 250, service: 'web', name: 'GET /' }),
    spanValues({ trace: '2', span: '3', secondsAgo: 90, ms: 2000, service: 'web', name: 'POST /pay', status: 1 }),
    spanValues({ trace: '3', span: '4', secondsAgo: 80, ms: 1, service: 'cron', name: 'tidy', project: 'p2' }),
    spanValues({ trace: '4', span: '5', secondsAgo: 70, ms: 1, service: 'secret', name: 'of b', tenant: 'b' }),
  ]);

const insertMetrics = async (): Promise<void> => {
  const seriesValues = (
    tenant: string,
    metric: string,
    id: number | string,
    kind: string,
    labels: string,
    types: string,
  ): string =>
    `('${tenant}', 'p1', '${metric}', ${id}, '${kind}', 2, true, 's', 'how long it took', 'otlp', 'shop', 7, ${labels}, '${types}', now64(3), now64(3))`;
  await harness.columns.execute(
    `INSERT INTO series (tenant_id, project_id, metric, series_id, kind, temporality, monotonic, unit, description, source, service, resource_id, attributes, attribute_types, first_seen, last_seen) VALUES
      ${seriesValues('a', 'http.requests', 1, 'sum', "map('code', '200')", 'i')}, ${seriesValues('a', 'http.requests', 2, 'sum', "map('code', '500', 'zone', 'x')", 'is')},
      ${seriesValues('a', 'latency', '18446744073709551615', 'histogram', 'map()', '')}, ${seriesValues('b', 'secret.of.b', 4, 'gauge', 'map()', '')}`,
  );
  const sampleValues = (id: number, secondsAgo: number, value: string): string =>
    `('a', 'p1', now64(3), 0, 1, 'http.requests', ${id}, ${timestampSql(secondsAgo)}, ${value})`;
  await harness.columns.execute(
    `INSERT INTO samples (tenant_id, project_id, received_at, partition, offset, metric, series_id, timestamp, value) VALUES ${sampleValues(1, 30, '1')}, ${sampleValues(1, 20, '2.5')}, ${sampleValues(2, 20, 'nan')}, ${sampleValues(1, 9000, '0')}`,
  );
  await harness.columns.execute(
    `INSERT INTO histograms (tenant_id, project_id, received_at, partition, offset, metric, series_id, timestamp, count, sum, bounds, counts) VALUES ('a', 'p1', now64(3), 0, 1, 'latency', 18446744073709551615, ${timestampSql(10)}, 3, NULL, [0.5, 1], [1, 2, 0])`,
  );
};

test.before(async () => {
  harness = await startHarness({ projects: ['p1', 'p2'] });
  await insertLogs();
  await insertTraces();
  await insertMetrics();
});
test.after.always(() => harness?.close());

const get = async (path: string) => {
  const { status, body } = await harness.request('GET', path, { as: 'viewer' });
  return { status, body, items: body.items as Record<string, unknown>[] };
};

test('logs of the last hour are listed newest first, with every field', async (t) => {
  const { items, body } = await get('/api/logs');
  t.is(items.length, 14);
  t.is(body.nextCursor, null);
  const [newest] = items;
  t.is(newest?.['severity'], 'ERROR');
  t.deepEqual(newest?.['body'], { a: '9007199254740993' });
  const payment = items.find(({ traceId }) => traceId === createTraceId('1'));
  t.is(payment?.['body'], 'Payment FAILED for order-42');
  t.is(payment?.['service'], 'shop');
  t.deepEqual(payment?.['attributes'], { n: 5, big: '9007199254740993', '10': true });
  t.deepEqual(payment?.['resource'], { 'service.name': 'shop', 'host.id': 12 });
  t.regex(String(payment?.['timestamp']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/);
  t.is(payment?.['spanId'], null);
  t.regex(String(items.at(-1)?.['timestamp']), /\d{3}456789Z$|123456789Z$/);
});

test('pages neither skip nor repeat a record, even within one nanosecond, and have the same range', async (t) => {
  const allIds = (await get('/api/logs?from=now-1h')).items.map(({ id }) => id);
  for (const limit of [1, 3, 13]) {
    const pagedIds: unknown[] = [];
    let cursor = '';
    do {
      const { items, body } = await get(`/api/logs?from=now-1h&limit=${limit}&cursor=${cursor}`);
      t.true(items.length <= limit);
      pagedIds.push(...items.map(({ id }) => id));
      cursor = body.nextCursor ?? '';
    } while (cursor !== '' && pagedIds.length < 500);
    t.deepEqual(pagedIds, allIds);
  }
  t.is(new Set(allIds).size, 14);
});

test('a log record is found by its ID, only in its own organization', async (t) => {
  for (const { id } of (await get('/api/logs?limit=5')).items) t.is((await get(`/api/logs/${id}`)).body.id, id);
  const [ownRecord] = (await get('/api/logs')).items;
  const otherToken = await harness.signIn('viewer@b.example');
  t.is((await harness.request('GET', `/api/logs/${ownRecord?.['id']}`, { as: `token ${otherToken}` })).status, 404);
  for (const id of ['x', '1-2-3', '99999999999999999999-0-0-0', '1-99999-0-0', '1-0-99999999999999999999-0'])
    t.is((await get(`/api/logs/${id}`)).status, 404, id);
});

const logSearches: readonly (readonly [string, number])[] = [
  ['search=payment', 2],
  ['search=PAYMENT%20failed', 1],
  ['search=failed%20accepted', 0],
  ['search=order-42', 1],
  ['search=pay', 0],
  ["search=it's%20'%20or%201%3D1", 0],
  ['search=payment%20OR%20nothing', 2],
  ['search=NOT%20payment', 12],
  ['search=service:shop%20%22payment%20failed%22', 1],
  ['search=%5C', 0],
  ['service=shop', 2],
  ['service=nobody', 0],
  ['service=shop&search=accepted', 1],
  ['projectId=p1', 14],
  ['projectId=p2', 0],
  ['scope=account&tenantId=a', 14],
  ['from=now-3h', 15],
  [`from=${nowMs - 55_000}&to=${nowMs - 45_000}`, 1],
  [`to=${new Date(nowMs - 3_600_000).toISOString()}&from=now-3h`, 1],
];

for (const [query, count] of logSearches)
  test(`logs with ${query}: ${count}`, async (t) => {
    const { status, items } = await get(`/api/logs?${query}`);
    t.is(status, 200);
    t.is(items.length, count);
  });

const invalidRequests: readonly (readonly [string, string])[] = [
  ['/api/logs?limit=0', 'limit'],
  ['/api/logs?limit=1001', 'limit'],
  ['/api/logs?limit=many', 'limit'],
  ['/api/logs?from=yesterday', 'from'],
  [`/api/logs?from=${'1'.repeat(65)}`, 'from'],
  ['/api/logs?from=now&to=now-1h', 'from'],
  ['/api/logs?to=soon', 'to'],
  ['/api/logs?cursor=nonsense', 'cursor'],
  [`/api/logs?service=${'x'.repeat(513)}`, 'service'],
  [`/api/logs?search=${'x'.repeat(1025)}`, 'search'],
  ['/api/logs?search=(payment', 'search'],
  ['/api/logs?search=severity:>loud', 'search'],
  ['/api/traces?scope=account&search=duration:>fast', 'search'],
  ['/api/logs?service=a&service=b', 'service'],
  ['/api/traces', 'projectId'],
  ['/api/traces?scope=everything', 'scope'],
  ['/api/traces?scope=account&minDuration=5', 'minDuration'],
  ['/api/traces?scope=account&status=bad', 'status'],
  ['/api/metrics?limit=-1', 'limit'],
];

for (const [path, field] of invalidRequests)
  test(`${path.slice(0, 60)} is rejected, and the error names the field ${field}`, async (t) => {
    const { status, body } = await get(path);
    t.is(status, 400);
    t.is(body.error, 'VALIDATION_FAILED');
    t.deepEqual(
      body.details.map((detail: { path: string }) => detail.path),
      [field],
    );
  });

test('a range that begins before the retention of the plan is refused', async (t) => {
  for (const path of [
    '/api/logs?from=now-91d',
    '/api/traces?scope=account&from=now-31d',
    '/api/metrics?from=now-396d',
  ]) {
    const { status, body } = await get(path);
    t.is(status, 400);
    t.is(body.error, 'RETENTION_EXCEEDED');
  }
  t.is((await get('/api/logs?from=now-90d')).status, 200);
});

test('a trace in the list has its root span, its services and its errors', async (t) => {
  const { items } = await get('/api/traces?scope=account');
  t.deepEqual(
    items.map(({ traceId }) => traceId),
    [createTraceId('3'), createTraceId('2'), createTraceId('1')],
  );
  t.deepEqual(items[2], {
    traceId: createTraceId('1'),
    rootService: 'web',
    rootName: 'GET /',
    startTime: `${new Date(nowMs - 100_000).toISOString().slice(0, -1)}000000Z`,
    durationNs: 250_000_000,
    spanCount: 2,
    errorCount: 1,
    services: ['shop', 'web'],
  });
});

const traceSearches: readonly (readonly [string, string])[] = [
  ['scope=account&service=shop', '1'],
  ['scope=account&service=web', '21'],
  ['scope=account&search=cart', '321'],
  ['scope=account&search=get%20CART', '1'],
  ['scope=account&search=service:web', '21'],
  ['scope=account&search=status:error', '1'],
  ['scope=account&search=duration:>1h', ''],
  ['scope=account&status=error', '1'],
  ['scope=account&status=ok', '32'],
  ['scope=account&status=unset', '3'],
  ['scope=account&minDuration=300ms', '2'],
  ['scope=account&maxDuration=250ms', '31'],
  ['projectId=p2', '3'],
  ['scope=account&service=secret', ''],
];

for (const [query, expected] of traceSearches)
  test(`traces with ${query}: ${expected || 'none'}`, async (t) => {
    const { items } = await get(`/api/traces?${query}`);
    t.is(items.map(({ traceId }) => String(traceId)[0]).join(''), expected);
  });

test('pages of traces neither skip nor repeat a trace', async (t) => {
  const traceIds: unknown[] = [];
  let cursor = '';
  do {
    const { items, body } = await get(`/api/traces?scope=account&limit=1&cursor=${cursor}`);
    traceIds.push(...items.map(({ traceId }) => traceId));
    cursor = body.nextCursor ?? '';
  } while (cursor !== '' && traceIds.length < 500);
  t.deepEqual(traceIds, [createTraceId('3'), createTraceId('2'), createTraceId('1')]);
});

test('pages of traces include the spans received before the list began', async (t) => {
  const lateSpan = (trace: string, spanId: string, secondsAgo: number): string =>
    spanValues({ trace, span: spanId, secondsAgo, ms: 1, service: 'late', name: 'old' });
  await insertSpans([lateSpan('8', '6', 7_000), lateSpan('9', '7', 7_010)]);
  const list = '/api/traces?scope=account&from=now-3h&to=now-90m&limit=1';
  const first = await get(list);
  t.deepEqual(
    first.items.map(({ traceId }) => traceId),
    [createTraceId('8')],
  );
  await new Promise((resolve) => setTimeout(resolve, 10));
  // This span makes the first trace begin before the second, so the next page would list the trace again.
  await insertSpans([lateSpan('8', '8', 7_020)]);
  const second = await get(`${list}&cursor=${first.body.nextCursor}`);
  t.deepEqual(
    second.items.map(({ traceId }) => traceId),
    [createTraceId('9')],
  );
  t.is(second.body.nextCursor, null);
});

test('a trace has every span with events, links and resource, and is visible only to its own organization', async (t) => {
  const { body } = await get(`/api/traces/${createTraceId('1').toUpperCase()}`);
  t.is(body.spans.length, 2);
  const child = body.spans.find(({ name }: { name: string }) => name === 'GET /cart');
  t.is(child.parentSpanId, '1'.repeat(16));
  t.is(child.status, 'error');
  t.is(child.kind, 'server');
  t.is(child.durationNs, 40_000_000);
  t.deepEqual(child.resource, { 'service.name': 'shop', 'host.id': 12 });
  t.is(child.events[0].name, 'exception');
  t.deepEqual(child.events[0].attributes, { retries: 3 });
  t.regex(child.events[0].time, /000000005Z$|\d{3}000005Z$/);
  t.deepEqual(child.links[0], {
    traceId: createTraceId('e'),
    spanId: 'd'.repeat(16),
    traceState: 'x=1',
    attributes: {},
    droppedAttributes: 0,
    flags: 0,
  });
  t.is((await get(`/api/traces/${createTraceId('4')}`)).status, 404);
  t.is((await get(`/api/traces/${createTraceId('1')}/logs`)).items.length, 1);
  t.is((await get(`/api/traces/${createTraceId('3')}/logs`)).items.length, 0);
  t.is((await get(`/api/traces/${createTraceId('4')}/logs`)).status, 404);
});

test('metrics are listed by name with labels and series, page by page', async (t) => {
  const { items, body } = await get('/api/metrics');
  t.is(body.nextCursor, null);
  t.deepEqual(
    items.map(({ name, type, seriesCount }) => [name, type, seriesCount]),
    [
      ['http.requests', 'sum', 2],
      ['latency', 'histogram', 1],
    ],
  );
  t.deepEqual(items[0]?.['labels'], ['code', 'zone']);
  t.deepEqual(items[0]?.['services'], ['shop']);
  t.is(items[0]?.['temporality'], 'cumulative');
  const first = await get('/api/metrics?limit=1');
  const second = await get(`/api/metrics?limit=1&cursor=${first.body.nextCursor}`);
  t.deepEqual(
    [...first.items, ...second.items].map(({ name }) => name),
    ['http.requests', 'latency'],
  );
  t.is((await get('/api/metrics?search=requests')).items.length, 1);
  t.is((await get('/api/metrics?search=took')).items.length, 2);
  t.is((await get('/api/metrics?service=nobody')).items.length, 0);
});

test('a metric is returned with its points', async (t) => {
  const { items } = await get('/api/metrics?name=http.requests');
  // biome-ignore lint/suspicious/noExplicitAny: looked into below
  const series = items[0]?.['series'] as any[];
  t.deepEqual(
    series.map(({ labels }) => labels),
    [{ code: 200 }, { code: 500, zone: 'x' }],
  );
  t.deepEqual(
    series.map(({ points }) => points.map(({ value }: { value: unknown }) => value)),
    [[1, 2.5], ['NaN']],
  );
  const histogram = await get('/api/metrics?name=latency');
  // biome-ignore lint/suspicious/noExplicitAny: looked into below
  const [{ points }] = (histogram.items[0] as any).series;
  const [point] = points;
  t.deepEqual([point.count, point.sum, point.bounds, point.bucketCounts], [3, null, [0.5, 1], [1, 2, 0]]);
});
