/** Error messages for common mistakes: each states what is wrong, where, and what to write instead. */
import test from 'ava';
import { createRateLimitError } from '../../api/errors.ts';
import { toPrometheusError } from '../../api/groups/prometheus/define-operation.ts';
import { generateLicenseKey } from '../../schemas/license-key-format.ts';
import { licenseKeys } from '../../schemas/resources/license-key.ts';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
test.before(async () => {
  harness = await startHarness({ projects: ['p1', 'shop'] });
});
test.after.always(() => harness?.close());

const mistakes: readonly (readonly [query: string, message: RegExp])[] = [
  ['from=now-1hour', /^from: must be ISO-8601, an expression such as now-15m or now\/d, or epoch milliseconds$/],
  ['from=2026-03-02&to=2026-03-01', /^from: is after to$/],
  ['from=1795489200', /^from: 1795489200 is in 1970, as epoch milliseconds: for seconds write 1795489200000$/],
  ['cursor=abc', /^cursor: /],
  ['limit=ten', /^limit: must be a number, not "ten"$/],
  ['limit=100000', /^limit: must be at most /],
  ['search=service:(', /^search: column /],
  ['sort=timestamp', /^sort: is not a known field; known are from, to, limit, cursor, .*search/],
  ['severity=error', /^severity: is not a known field; .*fields of records belong in search=severity:error$/],
];

for (const [query, message] of mistakes)
  test(`GET /api/logs?${query}`, async (t) => {
    const { status, body } = await harness.request('GET', `/api/logs?projectId=p1&${query}`, { as: 'viewer' });
    t.is(status, 400, JSON.stringify(body));
    t.regex(body.message, message);
    t.false(body.details?.[0].message.startsWith(`${body.details[0].path}:`), 'details contain the path separately');
  });

test('an error about a sort by an unselected measure names the parameter', async (t) => {
  for (const signal of ['logs/aggregate', 'spans']) {
    const { body } = await harness.request('GET', `/api/${signal}?projectId=p1&measure=count&sort=-p95`, {
      as: 'viewer',
    });
    t.regex(body.message, /^sort: must be one of count/, signal);
  }
});

test('a license key is distinguished from a session', async (t) => {
  const { status, body } = await harness.request('GET', '/api/logs?projectId=p1', {
    as: `token ${generateLicenseKey()}`,
  });
  t.is(status, 401);
  t.is(body.message, 'this is a license key, which can only send telemetry: sign in, or use an API token');
});

for (const [requestPath, names] of [
  ['/api/logs?projectId=shpo', 'shop, p1'],
  ['/api/services?projectId=Shop', 'shop, p1'],
  ['/api/overview?projectId=p11', 'p1, shop'],
] as const)
  test(`${requestPath} is refused, and the error names the existing projects`, async (t) => {
    const { status, body } = await harness.request('GET', requestPath, { as: 'viewer' });
    const project = new URL(requestPath, harness.url).searchParams.get('projectId');
    t.is(status, 404);
    t.is(body.message, `projectId: project ${project} does not exist in this organization; there are ${names}`);
    t.is(body.details[0].path, 'projectId');
    t.is((await harness.request('GET', `${requestPath}&scope=account`, { as: 'viewer' })).status, 200);
  });

test('an error about the caller has the error object, and below /api/prom the form of Prometheus with the reason', async (t) => {
  for (const [path, isPrometheus] of [
    ['/api/prom/api/v1/query?query=up', true],
    ['/api/prom/api/v1/labels', true],
    ['/api/logs', false],
  ] as const) {
    const response = await fetch(`${harness.url}${path}`);
    t.is(response.status, 401);
    const body = (await response.json()) as Record<string, unknown>;
    const requestId = response.headers.get('x-request-id');
    if (isPrometheus) t.like(body, { status: 'error', errorType: 'bad_data', error: body['message'], requestId });
    else t.like(body, { error: 'UNAUTHENTICATED', requestId, status: undefined });
    t.regex(String(body['message']), /sign in first/);
  }
  const limited = toPrometheusError(createRateLimitError('more than 5 requests per second', 1000));
  t.deepEqual(
    [limited.status, limited.body],
    [429, { status: 'error', errorType: 'too_many_requests', error: 'more than 5 requests per second' }],
  );
});

test('a query with an unknown project in its body is refused, too, and so is one in the Prometheus format', async (t) => {
  const query = { kind: 'metric', metric: 'up', overTime: 'last' };
  const queryMetric = (more: object) =>
    harness.request('POST', '/api/metrics/query', { as: 'viewer', body: { queries: { a: { ...query, ...more } } } });
  t.is((await queryMetric({ projectId: 'nope' })).status, 404);
  const { status, body } = await harness.request('GET', '/api/prom/api/v1/query?query=up&projectId=nope', {
    as: 'viewer',
  });
  t.is(status, 400);
  t.like(body, { status: 'error', errorType: 'bad_data' });
  t.regex(body.error, /project nope does not exist/);
});

test('telemetry of a deleted project can be read by its ID', async (t) => {
  const key = {
    name: 'of old',
    projectId: 'old',
    signals: ['logs'],
    prefix: 'oiq_lk_',
    hash: 'x',
    revokedAt: '2026-01-01T00:00:00Z',
  };
  await harness.documents
    .forTenant('a')
    .collection(licenseKeys)
    .insert(key as never);
  t.is((await harness.request('GET', '/api/logs?projectId=old', { as: 'viewer' })).status, 200);
});
