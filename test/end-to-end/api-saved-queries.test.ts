/** Saved queries and templates through the API, over records sent as OTLP. */
import test from 'ava';
import { templates } from '../../queries/templates.ts';
import { type MetricName, type Metrics, silentMetrics } from '../../schemas/ports/metrics.ts';
import { savedQueries } from '../../schemas/resources/saved-query.ts';
import { landIn, logsRequest, messageOf, metricsRequest, text, tracesRequest } from '../cases/sink-tables.ts';
import { type Answer, type Harness, startHarness } from './api-harness.ts';

const nowMs = Date.now();
const ns = (secondsAgo: number): string => String(BigInt(nowMs - secondsAgo * 1000) * 1_000_000n);
const errors = 7;
const others = 13;
const canary = 'canary-of-b';

const resource = {
  attributes: [
    ...[text('service.name', 'cart'), text('service.version', '1.2'), text('host.name', 'node-1')],
    ...[text('k8s.namespace.name', 'shop'), text('k8s.pod.name', 'cart-7')],
  ],
};
const logs = {
  resourceLogs: [
    {
      resource,
      scopeLogs: [
        {
          logRecords: Array.from({ length: errors + others }, (_, index) => ({
            timeUnixNano: ns(60 + index),
            severityNumber: index < errors ? 17 : 9,
            body: { stringValue: 'a line' },
            attributes: [text('exception.type', 'TypeError')],
          })),
        },
      ],
    },
  ],
};
const span = (kind: number, attributes: object[]) => ({
  traceId: Buffer.alloc(16, 1),
  spanId: Buffer.alloc(8, kind),
  name: 'GET /cart',
  kind,
  status: { code: 2 },
  startTimeUnixNano: ns(60),
  endTimeUnixNano: ns(58),
  attributes,
});
const spans = {
  resourceSpans: [
    {
      resource,
      scopeSpans: [
        {
          spans: [
            span(2, [text('http.route', '/cart'), text('http.response.status_code', '500')]),
            span(3, [text('db.system.name', 'postgresql')]),
            span(5, [text('messaging.destination.name', 'orders')]),
          ],
        },
      ],
    },
  ],
};
const gauge = (name: string, attributes: object[]) => ({
  name,
  gauge: { dataPoints: [120, 60].map((ago) => ({ timeUnixNano: ns(ago), asDouble: ago, attributes })) },
});
const sum = (name: string, attributes: object[]) => ({
  name,
  sum: {
    aggregationTemporality: 2,
    isMonotonic: true,
    dataPoints: [120, 60].map((ago) => ({
      startTimeUnixNano: ns(3000),
      timeUnixNano: ns(ago),
      asDouble: 1000 - ago,
      attributes,
    })),
  },
});
const histogram = {
  name: 'http.server.request.duration',
  unit: 's',
  histogram: {
    aggregationTemporality: 2,
    dataPoints: [120, 60].map((ago) => ({
      startTimeUnixNano: ns(3000),
      timeUnixNano: ns(ago),
      count: String(1000 - ago),
      sum: 10,
      explicitBounds: [0.1, 1],
      bucketCounts: [String(900 - ago), '90', '10'],
      attributes: [text('http.route', '/cart')],
    })),
  },
};
const metrics = {
  resourceMetrics: [
    {
      resource,
      scopeMetrics: [
        {
          metrics: [
            ...[histogram, sum('system.cpu.time', [text('state', 'user')])],
            ...[gauge('system.memory.usage', [text('state', 'used')]), gauge('k8s.pod.cpu.usage', [])],
          ],
        },
      ],
    },
  ],
};

let harness: Harness;
const observed: MetricName[] = [];
const watching: Metrics = { ...silentMetrics, observe: (name) => void observed.push(name) };
test.before(async () => {
  harness = await startHarness({ metrics: watching });
  const land = landIn(harness.columns);
  const landed = async (sink: 'logs' | 'traces' | 'metrics', body: Uint8Array, tenantId = 'a') => {
    const { length } = body;
    const member = { length, size: length, records: 1, receivedAtMs: nowMs, source: '', traceparent: '' };
    const { rejected } = await land([messageOf([body], { tenantId, signal: sink, members: [member] })], { sink });
    if (rejected.length > 0) throw new Error(rejected[0]?.message);
  };
  await landed('logs', logsRequest(logs));
  await landed('traces', tracesRequest(spans));
  await landed('metrics', metricsRequest(metrics));
  const foreign = { attributes: [text('service.name', canary)] };
  const [first] = logs.resourceLogs;
  await landed('logs', logsRequest({ resourceLogs: [{ ...first, resource: foreign }] }), 'b');
});
test.after.always(() => harness?.close());

const byService = {
  kind: 'aggregate',
  signal: 'logs',
  search: 'severity:error',
  measures: [{ function: 'count' }],
  groupBy: ['service'],
};
let names = 0;
type As = Parameters<Harness['request']>[2];
const save = async (fields: object, options: As = { as: 'editor' }): Promise<Answer> =>
  harness.request('POST', '/api/saved-queries', {
    ...options,
    body: { name: `query ${++names}`, query: byService, ...fields },
  });
const runOf = (id: string, body: object = {}, options: As = { as: 'viewer' }): Promise<Answer> =>
  harness.request('POST', `/api/saved-queries/${id}/run`, { ...options, body });

test('a saved query runs over its own range, and over a different range on request', async (t) => {
  const { body: saved, status } = await save({ from: 'now-2h' });
  t.is(status, 200, JSON.stringify(saved));
  t.deepEqual(saved.validity, { isValid: true, problems: [], reason: null });
  t.is(saved.queryVersion, 1);
  const whole = await runOf(saved.id);
  t.is(whole.status, 200, JSON.stringify(whole.body));
  t.deepEqual(whole.body.rows, [['cart', errors]]);
  t.deepEqual(whole.body.freshness, { landedUpTo: new Date(nowMs).toISOString().replace('Z', '000000Z') });
  const part = await runOf(saved.id, { from: new Date(nowMs - 62_500).toISOString(), to: 'now' });
  t.deepEqual(part.body.rows, [['cart', 3]]);
  const stepped = await runOf(saved.id, { from: 'now-1h', step: '5m' });
  t.is(stepped.body.form, 'series');
  const counts: [number, number][] = stepped.body.series[0].points;
  t.is(
    counts.reduce((total, [, count]) => total + count, 0),
    errors,
  );
  const shown = await harness.request('GET', `/api/saved-queries/${saved.id}`, { as: 'viewer' });
  t.is(shown.body.runs, 3);
  t.truthy(shown.body.lastRunAt);
  t.deepEqual(shown.body.usedBy, []);
});

test('the same query within seconds returns the cached result, and is marked as such', async (t) => {
  const { body: saved } = await save({ tags: ['again'] });
  let clockMs = Date.now();
  const own = await startHarness({ sharing: harness, now: () => clockMs });
  t.teardown(() => own.close());
  const run = (): Promise<Answer> =>
    own.request('POST', `/api/saved-queries/${saved.id}/run`, { as: 'viewer', body: { from: 'now-3h' } });
  const first = await run();
  const again = await run();
  t.false(first.body.cost.isCached);
  t.true(again.body.cost.isCached);
  t.deepEqual(again.body.rows, first.body.rows);
  clockMs += 60_000;
  t.false((await run()).body.cost.isCached);
});

test('a query that names telemetry that was never received reports the name and its position', async (t) => {
  const { body: saved } = await save({
    query: {
      kind: 'formula',
      expression: 'a / b',
      queries: {
        a: { ...byService, groupBy: ['servise'] },
        b: { kind: 'metric', metric: 'no.such.metric', overTime: 'last' },
      },
    },
  });
  t.false(saved.validity.isValid);
  t.deepEqual(
    saved.validity.problems.map(({ path }: { path: string }) => path),
    ['query.queries.a.groupBy.0', 'query.queries.b.metric'],
  );
});

test('if nothing was received yet, the validity of a query is unknown', async (t) => {
  const token = await harness.signIn('editor@b.example');
  const { body } = await save({ query: { kind: 'metric', metric: 'any', overTime: 'last' } }, { as: `token ${token}` });
  t.deepEqual(body.validity, { isValid: null, problems: [], reason: 'no metrics are stored yet' });
});

test('a private query is visible only to its owner', async (t) => {
  const { body: saved } = await save({ visibility: 'private', tags: ['mine'] });
  const path = `/api/saved-queries/${saved.id}`;
  t.is((await harness.request('GET', path, { as: 'editor' })).status, 200);
  const { name, query, from, to } = saved;
  const body = { name, query, from, to };
  for (const [method, at, sent] of [
    ['GET', path, undefined],
    ['PUT', path, body],
    ['DELETE', path, undefined],
    ['POST', `${path}/run`, {}],
    ['PUT', `${path}/favourite`, { isFavourite: true }],
  ] as const) {
    const response = await harness.request(method, at, { as: 'admin', ...(sent && { body: sent }) });
    t.is(response.status, 404, `${method} ${at}`);
  }
  const listed = async (as: 'admin' | 'editor') =>
    (await harness.request('GET', '/api/saved-queries?tag=mine', { as })).body.items.length;
  t.deepEqual([await listed('editor'), await listed('admin')], [1, 0]);
});

test('nobody can make another user’s query private', async (t) => {
  const { body: saved } = await save({});
  const { name, query } = saved;
  const response = await harness.request('PUT', `/api/saved-queries/${saved.id}`, {
    as: 'admin',
    body: { name, query, visibility: 'private' },
  });
  t.is(response.status, 200, JSON.stringify(response.body));
  t.is(response.body.visibility, 'organization');
});

test('favourites are per user', async (t) => {
  const { body: saved } = await save({});
  const path = `/api/saved-queries/${saved.id}`;
  const mark = (isFavourite: boolean) =>
    harness.request('PUT', `${path}/favourite`, { as: 'viewer', body: { isFavourite } });
  const seen = async (as: 'viewer' | 'editor') => (await harness.request('GET', path, { as })).body.isFavourite;
  t.is((await mark(true)).status, 200);
  t.is((await mark(true)).status, 200);
  t.deepEqual([await seen('viewer'), await seen('editor')], [true, false]);
  await mark(false);
  t.false(await seen('viewer'));
});

test('a plan without the signal cannot run its queries, and no plan can run them beyond its retention', async (t) => {
  const token = await harness.signIn('editor@b.example');
  const as = { as: `token ${token}` } as const;
  const spansQuery = { kind: 'aggregate', signal: 'traces', measures: [{ function: 'count' }] };
  const hidden = { kind: 'formula', expression: 'a', queries: { a: byService, b: spansQuery } };
  for (const query of [spansQuery, hidden]) {
    const { body } = await save({ query }, as);
    const response = await runOf(body.id, {}, as);
    t.is(response.status, 403);
    t.is(response.body.error, 'UPGRADE_REQUIRED');
  }
  const { body } = await save({}, as);
  t.is((await runOf(body.id, { from: 'now-30d' }, as)).body.error, 'RETENTION_EXCEEDED');
  t.deepEqual((await runOf(body.id, {}, as)).body.rows, [[canary, errors]]);
});

test('a query of a later version is listed, but cannot be run', async (t) => {
  const stored = harness.documents.forTenant('a').collection(savedQueries);
  const { id } = await stored.insert({
    name: 'from the future',
    description: '',
    tags: ['future'],
    visibility: 'organization',
    from: 'now-1h',
    to: 'now',
    ownerId: 'somebody',
    queryVersion: 99,
    query: { ...byService },
  });
  const { body } = await harness.request('GET', '/api/saved-queries?tag=future', { as: 'viewer' });
  t.false(body.items[0].validity.isValid);
  const response = await runOf(id);
  t.is(response.status, 409);
  t.regex(response.body.message, /version 99/);
});

const wrong: readonly (readonly [object, string])[] = [
  [{ query: { kind: 'nothing' } }, 'query.kind'],
  [{ query: { ...byService, measures: [] } }, 'query.measures'],
  [{ from: 'yesterday' }, 'from'],
  [{ step: 'often' }, 'step'],
];
for (const [fields, path] of wrong)
  test(`a wrong ${path} is refused`, async (t) => {
    const { status, body } = await save(fields);
    t.is(status, 400);
    t.is(body.details[0].path, path);
  });

test('every template is applicable to the stored telemetry, and returns results', async (t) => {
  const { body } = await harness.request('GET', '/api/query-templates', { as: 'viewer' });
  t.is(body.items.length, templates.length);
  t.is(new Set(body.items.map(({ id }: { id: string }) => id)).size, templates.length);
  for (const { id, name, query, step, validity } of body.items) {
    t.deepEqual(validity, { isValid: true, problems: [], reason: null }, id);
    const { body: saved, status } = await save({ name, query, ...(step !== null && { step }) });
    t.is(status, 200, `${id} ${JSON.stringify(saved)}`);
    const response = await runOf(saved.id);
    t.is(response.status, 200, `${id} ${JSON.stringify(response.body)}`);
    t.true(response.body.rows.length + response.body.series.length > 0, `${id} returns no rows`);
    t.notRegex(JSON.stringify(response.body), new RegExp(canary), id);
  }
});

test('templates without data report what is missing', async (t) => {
  const token = await harness.signIn('viewer@b.example');
  const as = { as: `token ${token}` } as const;
  const { body } = await harness.request('GET', '/api/query-templates?tag=metrics', as);
  for (const { validity } of body.items) t.is(validity.reason, 'no metrics are stored yet');
  const applicable = await harness.request('GET', '/api/query-templates?tag=metrics&applicable=true', as);
  t.deepEqual(applicable.body.items, []);
});

test('reads of every group are counted in the duration metric of the query queue', async (t) => {
  observed.length = 0;
  const paths = ['/api/logs', '/api/traces?scope=account', '/api/dependencies?scope=account', '/api/metrics'];
  for (const path of paths) {
    observed.length = 0;
    t.is((await harness.request('GET', path, { as: 'viewer' })).status, 200, path);
    t.true(observed.includes('oiq_query_duration_seconds'), path);
  }
});
