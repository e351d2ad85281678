/** Two organizations with the same metrics: each operation of Prometheus' API returns only the caller's series. */
import test from 'ava';
import { defaultPlans, plans, plansTenant } from '../../schemas/resources/plan.ts';
import { landIn, messageOf, metricsRequest, writeRequest } from '../cases/sink-tables.ts';
import { canaryOf } from '../contract/telemetry.ts';
import { firingAlert } from '../contract/telemetry-alerts.ts';
import { worldOf } from '../contract/world.ts';
import { type Harness, startHarness } from './api-harness.ts';

/** Subqueries step at full seconds. */
const nowMs = Math.floor(Date.now() / 1000) * 1000;
/** Values that occur in no other number. */
const values = { a: 1_234_567, b: 7_654_321 } as const;
type Tenant = keyof typeof values;
const tenants = ['a', 'b'] as const;

let harness: Harness;
const tokens = new Map<Tenant, string>();

const label = (name: string, value: string) => ({ name, value });

const landBoth = async (tenant: Tenant): Promise<void> => {
  const land = landIn(harness.columns);
  const canary = canaryOf(tenant);
  const value = values[tenant];
  const labels = [label('__name__', 'shared_total'), label('owner', canary), label('same', 'yes')];
  const count = { countInt: String(value), zeroCountInt: String(value), schema: 0, sum: value, timestamp: nowMs };
  const written = writeRequest(1, {
    metadata: [{ type: 1, metricFamilyName: 'shared_total', help: canary, unit: canary }],
    timeseries: [
      {
        labels,
        samples: [{ value, timestamp: nowMs }],
        exemplars: [{ labels: [label('trace_id', canary)], value, timestamp: nowMs }],
      },
      { labels: [label('__name__', 'shared_size'), label(`label_of_${tenant}`, canary)], histograms: [count] },
      { labels: [label('__name__', `metric_${canary.replaceAll('-', '_')}`)], samples: [{ value, timestamp: nowMs }] },
    ],
  });
  const attributes = [
    { key: 'service.name', value: { stringValue: canary } },
    { key: 'host.name', value: { stringValue: canary } },
  ];
  const dataPoints = [{ timeUnixNano: `${nowMs}000000`, asDouble: value }];
  const exported = metricsRequest({
    resourceMetrics: [
      {
        resource: { attributes },
        scopeMetrics: [{ metrics: [{ name: 'fill', description: canary, gauge: { dataPoints } }] }],
      },
    ],
  });
  for (const [body, format] of [
    [written, 'remote-write-1'],
    [exported, 'otlp'],
  ] as const) {
    const { length } = body;
    const members = [{ length, size: length, records: 1, receivedAtMs: nowMs, source: '', traceparent: '' }];
    await land([messageOf([body], { tenantId: tenant, signal: 'metrics', format, members })], { sink: 'metrics' });
  }
};

test.before(async () => {
  harness = await startHarness();
  const { enterprise } = defaultPlans;
  await harness.documents
    .forTenant(plansTenant)
    .collection(plans)
    .update('free', { ...enterprise });
  for (const tenant of tenants) {
    const world = await worldOf(harness, tenant);
    tokens.set(tenant, world.token);
    await landBoth(tenant);
    await firingAlert(world);
  }
});
test.after.always(() => harness?.close());

const at = String(nowMs / 1000);
const range = { start: String(nowMs / 1000 - 60), end: at, step: '60' };
const everything = '{__name__=~".+"}';

/** The widest queries of every operation. `own` marks those whose response contains data of the organization. */
const questions: readonly (readonly [
  path: string,
  parameters: Readonly<Record<string, string>>,
  methods: string,
  own?: 'own',
])[] = [
  ['query', { query: everything, time: at }, 'GET POST', 'own'],
  ['query', { query: 'sum by (owner) (shared_total)', time: at, stats: 'all' }, 'GET POST', 'own'],
  ['query', { query: 'sum(shared_total) + sum(histogram_count(shared_size))', time: at }, 'GET POST'],
  ['query', { query: 'count_values("value", {__name__=~".+"})', time: at }, 'GET POST'],
  ['query', { query: 'info(fill)', time: at }, 'GET POST', 'own'],
  ['query', { query: 'label_replace(shared_total, "x", "$1", "owner", "(.*)")[1h:1s]', time: at }, 'GET POST', 'own'],
  ['query_range', { query: everything, ...range }, 'GET POST', 'own'],
  ['query_range', { query: 'absent(shared_total{owner="canary-of-b"})', ...range }, 'GET POST'],
  ['series', { 'match[]': everything }, 'GET POST', 'own'],
  ['series', { 'match[]': '{owner!=""}' }, 'GET POST', 'own'],
  ['labels', {}, 'GET POST'],
  ['labels', { 'match[]': everything }, 'GET POST'],
  ['label/__name__/values', {}, 'GET', 'own'],
  ['label/owner/values', {}, 'GET', 'own'],
  ['label/owner/values', { 'match[]': 'shared_total' }, 'GET', 'own'],
  ['label/job/values', {}, 'GET', 'own'],
  ['label/host_name/values', {}, 'GET', 'own'],
  ['metadata', {}, 'GET', 'own'],
  ['metadata', { metric: 'shared_total' }, 'GET', 'own'],
  ['query_exemplars', { query: everything }, 'GET POST', 'own'],
  ['format_query', { query: 'sum(shared_total)' }, 'GET POST'],
  ['parse_query', { query: 'sum(shared_total)' }, 'GET POST'],
  ['rules', {}, 'GET', 'own'],
  ['rules', { exclude_alerts: 'true', group_limit: '1' }, 'GET'],
  ['alerts', {}, 'GET', 'own'],
  ['status/buildinfo', {}, 'GET'],
  ['status/tsdb', { limit: '1000' }, 'GET', 'own'],
  ['status/runtimeinfo', {}, 'GET'],
  ['status/flags', {}, 'GET'],
  ['status/config', {}, 'GET'],
  ['status/walreplay', {}, 'GET'],
  ['features', {}, 'GET'],
  ['targets', {}, 'GET'],
  ['targets/metadata', {}, 'GET'],
  ['alertmanagers', {}, 'GET'],
];

const request = async (tenant: Tenant, path: string, parameters: Readonly<Record<string, string>>, method: string) => {
  const form = String(new URLSearchParams(parameters));
  const address = `/api/prom/api/v1/${path}`;
  const as = `token ${tokens.get(tenant)}` as const;
  const headers = { 'x-scope-orgid': tenant === 'a' ? 'b' : 'a' };
  const { status, body } =
    method === 'GET'
      ? await harness.request('GET', `${address}?${form}`, { as, headers })
      : await harness.request('POST', address, {
          as,
          body: form,
          headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
        });
  return { status, text: JSON.stringify(body) };
};

/** Texts and numbers that only this organization has. */
const marksOf = (tenant: Tenant): readonly string[] => {
  const canary = canaryOf(tenant);
  return [
    canary,
    canary.replaceAll('-', '_'),
    `label_of_${tenant}`,
    String(values[tenant]),
    String(2 * values[tenant]),
  ];
};

for (const tenant of tenants)
  for (const [path, parameters, methods, own] of questions)
    for (const method of methods.split(' ')) {
      const shown = Object.values(parameters)[0] ?? '';
      test(`${method} ${path} ${shown} returns only organization ${tenant}’s own data`, async (t) => {
        const other = tenant === 'a' ? 'b' : 'a';
        const { status, text } = await request(tenant, path, parameters, method);
        t.is(status, 200, text);
        // `absent` returns labels of the request.
        const parametersText = JSON.stringify(parameters);
        for (const mark of marksOf(other))
          if (!parametersText.includes(mark)) t.false(text.includes(mark), `${mark} in ${text}`);
        if (own === 'own')
          t.true(
            marksOf(tenant).some((mark) => text.includes(mark)),
            text,
          );
      });
    }

test('every operation of the group is tested', async (t) => {
  const { operations } = await import('../../api/groups/index.ts');
  const requested = new Set(
    questions.flatMap(([path, , methods]) =>
      methods
        .split(' ')
        .map((method) => `${method} /api/prom/api/v1/${path.replace(/^label\/\w+\//, 'label/{name}/')}`),
    ),
  );
  // `/-/healthy` and `/-/ready` are about the server, not an organization.
  const served = operations
    .filter(({ path }) => path.startsWith('/api/prom/api/v1/'))
    .map(({ method, path }) => `${method} ${path}`);
  t.deepEqual([...requested].sort(), served.sort());
  t.is(served.length, 28);
});

test('series are counted per organization', async (t) => {
  for (const tenant of tenants) {
    const { text } = await request(tenant, 'status/tsdb', {}, 'GET');
    t.regex(text, /"numSeries":4,/);
  }
});
