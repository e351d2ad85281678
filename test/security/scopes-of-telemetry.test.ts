/** API tokens read telemetry only with the read scope of its group, whichever operation runs the query. */
import test from 'ava';
import { listScopes } from '../../api/callers/scopes.ts';
import { operations } from '../../api/groups/index.ts';
import type { Operation } from '../../api/kernel/operation.ts';
import { type Answer, type Harness, startHarness } from '../end-to-end/api-harness.ts';
import { landOtlp } from '../end-to-end/land-otlp.ts';

/** Texts that only one signal contains, and the groups whose read scope shows them. */
const secrets = {
  logs: { text: 'heron-in-a-log-body', groups: ['logs'] },
  traces: { text: 'heron-in-a-span-attribute', groups: ['traces'] },
  metrics: { text: 'heron_in_a_metric_label', groups: ['metrics', 'prometheus'] },
} as const;
type Signal = keyof typeof secrets;

let harness: Harness;
const traceId = '5b8efff798038103d269b633813fc60c';
const now = Date.now();
const timeUnixNano = `${now - 60_000}000000`;
const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] };
const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });

test.before(async () => {
  harness = await startHarness();
  const ids = { traceId: Buffer.from(traceId, 'hex'), spanId: Buffer.from('051581bf3cb55c13', 'hex') };
  const logRecord = { timeUnixNano, ...ids, severityNumber: 9, body: { stringValue: secrets.logs.text } };
  const span = {
    ...ids,
    name: 'GET /',
    kind: 2,
    startTimeUnixNano: timeUnixNano,
    endTimeUnixNano: `${now - 59_000}000000`,
    attributes: [attribute('note', secrets.traces.text)],
  };
  const dataPoints = [{ timeUnixNano, asDouble: 1, attributes: [attribute('note', secrets.metrics.text)] }];
  const { columns } = harness;
  await landOtlp(columns, {
    signal: 'logs',
    request: { resourceLogs: [{ resource, scopeLogs: [{ logRecords: [logRecord] }] }] },
  });
  await landOtlp(columns, {
    signal: 'traces',
    request: { resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] },
  });
  await landOtlp(columns, {
    signal: 'metrics',
    request: {
      resourceMetrics: [{ resource, scopeMetrics: [{ metrics: [{ name: 'shop_load', gauge: { dataPoints } }] }] }],
    },
  });
});
test.after.always(() => harness?.close());

const scopes = listScopes(operations);
let created = 0;
const createToken = async (...scopesOfToken: readonly string[]): Promise<`token ${string}`> => {
  const account = await harness.request('POST', '/api/service-accounts', {
    body: { name: `reader ${created++}`, role: 'admin' },
  });
  const path = `/api/service-accounts/${account.body.id}/tokens`;
  const { status, body } = await harness.request('POST', path, { body: { name: 'Token', scopes: scopesOfToken } });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return `token ${body.token}`;
};

const listSecrets = ({ body }: Answer): Signal[] => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return (Object.keys(secrets) as Signal[]).filter((signal) => text.includes(secrets[signal].text));
};
const showsWithScope = (signal: Signal, group: string): boolean =>
  (secrets[signal].groups as readonly string[]).includes(group);

const range = { from: 'now-1h', to: 'now' };
const rowsOf = (signal: 'logs' | 'traces') => ({ kind: 'rows', signal });
const metricQuery = { kind: 'metric', metric: 'shop_load', overTime: 'last', across: 'sum', groupBy: ['note'] };
const queries: Readonly<Record<Signal, object>> = {
  logs: rowsOf('logs'),
  traces: rowsOf('traces'),
  metrics: metricQuery,
};
const createPanel = (query: object) => ({
  id: 'p',
  visual: { kind: 'table' },
  place: { x: 0, y: 0, width: 12, height: 5 },
  queries: [{ name: 'A', query }],
});
/** A variable with values of a signal. */
const variables: Readonly<Record<Signal, object>> = {
  logs: { kind: 'field-values', name: 'v', signal: 'logs', field: 'body' },
  traces: { kind: 'field-values', name: 'v', signal: 'traces', field: 'note' },
  metrics: { kind: 'label-values', name: 'v', label: 'note', match: 'shop_load' },
};
const createDashboard = async (name: string, query: object): Promise<string> => {
  const { status, body } = await harness.request('POST', '/api/dashboards', {
    body: { name, panels: [createPanel(query)] },
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.id;
};

/** Requests for operations without a path parameter, or for stored telemetry. */
const toPath = ({ path }: Operation): string =>
  path
    .replace('{traceId}', traceId)
    .replace(/\/traces\/\{id\}/, `/traces/${traceId}`)
    .replace('{name}', 'note')
    .replace('{service}', 'shop')
    .replace(/\{\w+\}/g, 'shop');

test('every GET shows telemetry only to the read scope of its group', async (t) => {
  const failures: string[] = [];
  for (const { scope } of scopes.filter(({ scope: each }) => each.endsWith(':read'))) {
    const as = await createToken(scope);
    const [group = ''] = scope.split(':');
    for (const operation of operations.filter((each) => each.scope === scope && each.method === 'GET')) {
      const response = await harness.request('GET', toPath(operation), { as });
      for (const signal of listSecrets(response))
        if (!showsWithScope(signal, group)) failures.push(`${scope}: ${operation.path} shows ${signal}`);
    }
  }
  t.deepEqual(failures, []);
});

test('a view of a group needs no scope besides its own', async (t) => {
  const failures: string[] = [];
  for (const { scope } of scopes.filter(({ scope: each }) => each.endsWith(':read'))) {
    const as = await createToken(scope);
    for (const operation of operations.filter((each) => each.scope === scope && each.method === 'GET')) {
      const { status, body } = await harness.request('GET', toPath(operation), { as });
      if (status === 403 && !needsSignal.has(`GET ${operation.path}`))
        failures.push(`${scope}: ${operation.path}: ${body.message}`);
    }
  }
  t.deepEqual(failures, []);
});

/** Operations of one group that show complete telemetry of another group. */
const needsSignal = new Set(['GET /api/traces/{id}/logs']);

test('a query of the caller needs the read scope of each signal, in drafts, saved queries, variables and questions', async (t) => {
  for (const signal of Object.keys(secrets) as Signal[]) {
    const query = queries[signal];
    const saved = await harness.request('POST', '/api/saved-queries', { body: { name: `${signal} saved`, query } });
    t.is(saved.status, 200, JSON.stringify(saved.body));
    const dashboard = await createDashboard(`${signal} dashboard`, query);
    const requests: readonly (readonly [group: string, method: string, path: string, body?: object])[] = [
      ['dashboards', 'POST', `/api/dashboards/${dashboard}/query`, range],
      [
        'dashboards',
        'POST',
        `/api/dashboards/${dashboard}/query`,
        { ...range, draft: { name: 'd', panels: [createPanel(query)] } },
      ],
      [
        'dashboards',
        'POST',
        `/api/dashboards/${dashboard}/query`,
        { ...range, draft: { name: 'd', variables: [variables[signal]], panels: [] } },
      ],
      ['saved-queries', 'POST', `/api/saved-queries/${saved.body.id}/run`, range],
    ];
    for (const [group, method, path, body] of requests) {
      const title = `${signal} by ${method} ${path}`;
      const send = async (...scopesOfToken: readonly string[]): Promise<Answer> =>
        harness.request(method, path, { as: await createToken(...scopesOfToken), body });
      const without = await send(`${group}:read`);
      t.deepEqual(listSecrets(without), [], title);
      t.regex(JSON.stringify(without.body), new RegExp(`lacks the scope ${signal}:read`), title);
      const other = signal === 'logs' ? 'traces' : 'logs';
      t.deepEqual(listSecrets(await send(`${group}:read`, `${other}:read`)), [], title);
      t.deepEqual(listSecrets(await send(`${group}:read`, `${signal}:read`)), [signal], title);
    }
  }
});

test('the log records of a trace need the scopes of both', async (t) => {
  const path = `/api/traces/${traceId}/logs`;
  const read = async (...scopesOfToken: readonly string[]) =>
    harness.request('GET', path, { as: await createToken(...scopesOfToken) });
  const { status, body } = await read('traces:read');
  t.is(status, 403);
  t.regex(body.message, /lacks the scope logs:read/);
  t.deepEqual(listSecrets(await read('traces:read', 'logs:read')), ['logs']);
});

test('a snapshot is published only with the scopes of what it shows', async (t) => {
  for (const signal of Object.keys(secrets) as Signal[]) {
    const id = await createDashboard(`${signal} to publish`, queries[signal]);
    const publish = async (...scopesOfToken: readonly string[]) =>
      harness.request('POST', `/api/dashboards/${id}/snapshots`, {
        as: await createToken(...scopesOfToken),
        body: { ...range, bodies: true },
      });
    const refused = await publish('dashboards:write');
    t.is(refused.status, 403, signal);
    t.regex(refused.body.message, new RegExp(`lacks the scope ${signal}:read`));
    t.is((await publish('dashboards:write', `${signal}:read`)).status, 200, signal);
  }
});

test('the list of scopes states which telemetry the views of each scope show', async (t) => {
  const { body } = await harness.request('GET', '/api/scopes');
  const reads = new Map<string, readonly string[]>(
    body.items.map(({ scope, reads: groups }: { scope: string; reads: readonly string[] }) => [scope, groups]),
  );
  t.deepEqual(reads.get('services:read'), ['logs', 'metrics', 'traces']);
  t.deepEqual(reads.get('dashboards:read'), []);
  const groups = new Set(scopes.map(({ scope }) => scope.split(':')[0]));
  for (const [scope, read] of reads) for (const group of read) t.true(groups.has(group), `${scope} reads ${group}`);
});
