/** Alert rules from end to end: stored records, rules, their evaluation by processors, and the responses of the API. */
import test from 'ava';
import { scheduleTopics, startProcessors } from '../../processors/index.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import type { Role } from '../../schemas/ports/role.ts';
import { AlertRouting, alertRoutingId, alertRoutings, defaultRouting } from '../../schemas/resources/alert-routing.ts';
import { platformAlerts } from '../../schemas/resources/platform-alert.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { startSinks } from '../../sinks/index.ts';
import { readLastEvaluations } from '../../subjects/alerts/history.ts';
import { eventually } from '../waiting.ts';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
let roles: Role[] = [];

/** Log records of errors of a service, received now. */
const land = (service: string, count: number, tenant = 'a'): Promise<void> =>
  harness.columns.execute(
    `INSERT INTO logs (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, observed_timestamp, service, severity_number, severity_text, body, body_type)
    SELECT '${tenant}', 'default', now64(3), 0, toUnixTimestamp64Milli(now64(3)), number, now64(9) - 1, now64(9), '${service}', 17, 'ERROR', 'failed', 's' FROM numbers(${count})`,
  );

test.before(async () => {
  harness = await startHarness();
  const settings = parseSettings({ OIQ_DATA_DIR: harness.directory });
  const options = { ...harness, settings, metrics: silentMetrics, log: silentLog, clock: systemClock };
  await harness.bus.ensureTopics(scheduleTopics);
  roles = [
    await startProcessors({ ...options, only: ['alert-evaluation', 'alert-backtests', 'recording-rules'] }),
    await startSinks({
      ...options,
      embedded: true,
      selectedNames: ['alert-transitions', 'alert-evaluations', 'events', 'metrics'],
    }),
  ];
});
test.after.always(async () => {
  for (const role of roles) await role.stop();
  await harness?.close();
});

const errorsAbove = (value: number, services = 'service:cart OR service:mail') => ({
  kind: 'threshold',
  query: {
    kind: 'aggregate',
    signal: 'logs',
    search: `severity:error (${services})`,
    measures: [{ function: 'count' }],
    groupBy: ['service'],
  },
  window: '1h',
  thresholds: [{ severity: 'critical', operator: 'above', value }],
});

const request = async (method: string, path: string, body?: unknown) => {
  const response = await harness.request(method, path, { as: 'owner', ...(body === undefined ? {} : { body }) });
  if (response.status !== 200)
    throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`);
  return response.body;
};

test('a rule fires for the groups above its threshold, states why, is acknowledged, and ends when it is disabled', async (t) => {
  await land('cart', 7);
  await land('mail', 2);
  await land('cart', 50, 'b');
  const rule = await request('POST', '/api/alerts/rules', {
    name: 'Errors',
    condition: errorsAbove(5),
    interval: '10s',
    labels: { team: 'shop' },
    annotations: { summary: '{{ $labels.service }}: {{ $value }}' },
  });
  t.is(rule.status, null);
  const alerts = async () => (await request('GET', `/api/alerts?ruleId=${rule.id}`)).items;
  await eventually('the alert', async () => (await alerts()).length > 0);
  const [alert, ...others] = await alerts();
  t.deepEqual(others, []);
  t.is(alert.state, 'firing');
  t.is(alert.value, 7);
  t.deepEqual(alert.labels, { alertname: 'Errors', service: 'cart', severity: 'critical', team: 'shop' });
  t.deepEqual(alert.annotations, { summary: 'cart: 7' });
  t.is(alert.reason, '7 is above 5 over 1h');

  const shown = await request('GET', `/api/v2/alerts/rules/${rule.id}`);
  t.like(shown.status, { state: 'firing', groups: 2, firing: 1, error: null });
  const lastMs = (await readLastEvaluations(harness.columns)).get('a')?.get(rule.id) ?? 0;
  t.true(lastMs >= Date.parse(shown.status.evaluatedAt), 'the platform watch counts the same');
  const { items: groups } = await request('GET', `/api/v2/alerts/rules/${rule.id}/groups`);
  t.deepEqual(
    groups.map(({ labels, state, reason }: Record<string, unknown>) => [labels, state, reason]),
    [
      [{ service: 'cart' }, 'firing', '7 is above 5 over 1h'],
      [{ service: 'mail' }, 'inactive', '2 is not above 5 over 1h'],
    ],
  );
  const evaluationsOf = async (query = '') =>
    (await request('GET', `/api/alerts/rules/${rule.id}/evaluations${query}`)).items;
  // Evaluations are stored separately from the alerts that they fire.
  await eventually('the evaluation', async () => (await evaluationsOf(`?alertId=${alert.id}`)).length > 0);
  const evaluations = await evaluationsOf(`?alertId=${alert.id}`);
  t.like(evaluations.at(-1), { state: 'firing', value: 7, reason: '7 is above 5 over 1h' });
  t.like((await evaluationsOf())[0], {
    state: 'firing',
    groups: 2,
    error: null,
  });

  await request('POST', `/api/alerts/${alert.id}/acknowledge`, { note: 'on it' });
  t.is((await alerts())[0].acknowledged.note, 'on it');

  await request('PATCH', `/api/alerts/rules/${rule.id}`, { enabled: false });
  const history = async () => (await request('GET', `/api/alerts/history?ruleId=${rule.id}`)).items;
  await eventually('the end', async () => (await history()).length > 1);
  t.deepEqual(
    (await history()).map(({ from, to, reason }: Record<string, string>) => [from, to, reason]),
    [
      ['firing', 'inactive', 'the rule was disabled'],
      ['inactive', 'firing', '7 is above 5 over 1h'],
    ],
  );
  await eventually('no alert', async () => (await alerts()).length === 0);
  const events = async () => (await request('GET', '/api/events?kinds=alert&service=cart')).items;
  await eventually('the events', async () => (await events()).length > 1);
  t.deepEqual(
    (await events()).map(({ title, severity, service }: Record<string, string>) => [title, severity, service]),
    [
      ['Errors ended', 'info', 'cart'],
      ['Errors fires', 'critical', 'cart'],
    ],
  );
});

test('platform alerts are listed among the alerts, marked as such, and acknowledged like others', async (t) => {
  const own = harness.documents.forTenant('a').collection(platformAlerts);
  const at = new Date(systemClock.now()).toISOString();
  await own.insert({ id: 'records-late', severity: 'error', reason: 'sinks.logs is behind', since: at, startedAt: at });
  const all = (await request('GET', '/api/alerts?limit=1000')).items;
  const shown = all.find(({ origin }: Record<string, unknown>) => origin === 'platform');
  t.like(shown, {
    id: 'platform-records-late',
    ruleId: 'platform',
    ruleName: 'Records are stored late',
    state: 'firing',
    severity: 'error',
    reason: 'sinks.logs is behind',
    since: at,
    startedAt: at,
    acknowledged: null,
    stale: false,
    labels: { alertname: 'PlatformRecordsLate', severity: 'error', origin: 'platform' },
  });
  const pages: string[] = [];
  for (let cursor = ''; ; ) {
    const page = await request('GET', `/api/alerts?limit=1${cursor && `&cursor=${cursor}`}`);
    pages.push(...page.items.map(({ id }: Record<string, string>) => id));
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  t.deepEqual(
    pages,
    all.map(({ id }: Record<string, string>) => id),
    'pages contain the same alerts',
  );
  t.deepEqual((await request('GET', '/api/alerts?state=pending')).items, []);
  t.is((await request('GET', '/api/alerts?ruleId=platform')).items.length, 1);
  await request('POST', '/api/alerts/platform-records-late/acknowledge', { note: 'seen' });
  t.like((await request('GET', '/api/alerts?ruleId=platform')).items[0].acknowledged, { note: 'seen' });
  await own.insert({ id: 'detections-late', severity: 'error', reason: 'behind', since: at, startedAt: at });
  const endsAt = new Date(systemClock.now() + 3_600_000).toISOString();
  const matchers = [{ name: 'alertname', value: 'PlatformRecordsLate' }];
  const silence = await request('POST', '/api/alerts/silences', { matchers, endsAt });
  const inhibitRules = [
    { sourceMatchers: matchers, targetMatchers: [{ name: 'alertname', value: 'PlatformDetectionsLate' }] },
  ];
  const routings = harness.documents.forTenant('a').collection(alertRoutings);
  await routings.insert({ id: alertRoutingId, ...AlertRouting.parse({ ...defaultRouting, inhibitRules }) });
  const { items: muted } = await request('GET', '/api/alerts?ruleId=platform');
  t.deepEqual(
    muted.map(({ id, silencedBy, inhibitedBy }: Record<string, unknown>) => [id, silencedBy, inhibitedBy]).toSorted(),
    [
      ['platform-detections-late', [], ['platform-records-late']],
      ['platform-records-late', [silence.id], []],
    ],
  );
  await routings.delete(alertRoutingId);
  await request('DELETE', `/api/alerts/silences/${silence.id}`);
  for (const id of ['records-late', 'detections-late']) await own.delete(id);
});

test('a preview shows what a rule would find now, and what is wrong with the rule', async (t) => {
  await land('preview', 9);
  const preview = (rule: object) => harness.request('POST', '/api/alerts/rules/preview', { as: 'owner', body: rule });
  const { body } = await preview({ name: 'Errors', condition: errorsAbove(8, 'service:preview'), for: '5m' });
  t.like(
    body.groups.find(({ labels }: { labels: Record<string, string> }) => labels['service'] === 'preview'),
    { state: 'pending', value: 9 },
  );
  t.deepEqual(body.warnings, []);
  const query = { ...errorsAbove(8, 'service:preview').query, groupBy: ['servce'] };
  const doubtful = await preview({
    name: 'x',
    interval: '10s',
    condition: { ...errorsAbove(8, 'service:preview'), query, window: '10s' },
  });
  t.regex(JSON.stringify(doubtful.body.warnings), /condition\.window.*as long as the interval/);
  const misspelled = await preview({ name: 'x', condition: { ...errorsAbove(8, 'service:preview'), query } });
  t.deepEqual(misspelled.body.warnings, [
    {
      path: 'condition.query.groupBy.0',
      message: 'servce is in no record of the window: check the name for typos',
    },
  ]);
  const unanswered = await preview({
    name: 'x',
    condition: { ...errorsAbove(1), query: { ...errorsAbove(1).query, search: 'severity:(' } },
  });
  t.is(unanswered.body.past, null);
  t.is(unanswered.body.state, 'unknown');
  t.regex(unanswered.body.error, /expected/);
  const refused = await preview({ name: 'x', condition: errorsAbove(1), annotations: { summary: '{{ nothing }}' } });
  t.is(refused.status, 400);
  t.is(refused.body.details[0].path, 'annotations.summary');
});

test('a preview returns the past values, each at the end of its window, with thresholds in their unit', async (t) => {
  await land('past', 4);
  const preview = async (condition: object) => {
    const body = { name: 'Errors', condition };
    const response = await harness.request('POST', '/api/alerts/rules/preview?from=now-1h', { as: 'owner', body });
    t.is(response.status, 200, JSON.stringify(response.body));
    return response.body.past;
  };
  const errors = errorsAbove(3, 'service:past');
  const past = await preview({ ...errors, window: '10m' });
  t.like(past, { stepMs: 600_000, error: null, limits: [{ operator: 'above', value: 3, upper: null }] });
  t.is(past.series.length, 1, JSON.stringify(past));
  const values = past.series[0].points.filter(([, value]: [number, number]) => value > 0);
  t.deepEqual(values, [[Date.parse(past.to), 4]]);
  const durationQuery = { kind: 'aggregate', signal: 'traces', measures: [{ function: 'max', field: 'duration' }] };
  const limits = [{ severity: 'warning', operator: 'above', value: 2, unit: 's' }];
  const spans = await preview({
    kind: 'threshold',
    query: durationQuery,
    window: '10m',
    queryUnit: 'ms',
    thresholds: limits,
  });
  t.is(spans.error, null);
  t.is(spans.limits[0].value, 2e9);
  const wrong = await preview({ ...errors, query: { ...errors.query, search: 'severity:(' } });
  t.regex(wrong.error, /expected/);
  t.is(await preview({ kind: 'composite', expression: 'a', rules: { a: 'none' } }), null);
});

test('a test firing notifies with its end, is marked as a test, and creates no alert', async (t) => {
  const rule = await request('POST', '/api/v2/alerts/rules', {
    name: 'Tested',
    condition: errorsAbove(1e9),
    for: '1h',
  });
  const { transitions } = await request('POST', `/api/alerts/rules/${rule.id}/test`, { labels: { service: 'cart' } });
  t.deepEqual(
    transitions.map(({ to, isTest, labels }: Record<string, unknown>) => [
      to,
      isTest,
      (labels as { service: string }).service,
    ]),
    [
      ['firing', true, 'cart'],
      ['inactive', true, 'cart'],
    ],
  );
  const history = async () => (await request('GET', `/api/alerts/history?ruleId=${rule.id}`)).items;
  await eventually('the history', async () => (await history()).length === 2);
  t.true((await history()).every(({ isTest }: { isTest: boolean }) => isTest));
  t.deepEqual((await request('GET', `/api/alerts?ruleId=${rule.id}`)).items, []);
});

test('recording rules of a file are recorded, listed with the alerts of their group, exported, and end when the group is disabled', async (t) => {
  const file = `groups:
- name: made
  interval: 10s
  limit: 100
  rules:
  - record: made:now
    expr: vector(time())
    labels: {of: test}
  - alert: Made
    expr: made:double > 0
  - record: made:double
    expr: made:now * 2
`;
  const { items } = await request('POST', '/api/alerts/rules/import', { file, fileName: 'made.yml' });
  t.deepEqual(
    items.map(({ name, outcome }: Record<string, string>) => [name, outcome]),
    [
      ['made:now', 'created'],
      ['Made', 'created'],
      ['made:double', 'created'],
    ],
  );
  const groupId = items[0].id;
  t.is(items[2].id, groupId);
  const at = async (expression: string) => {
    const { data } = await request('GET', `/api/prom/api/v1/query?query=${encodeURIComponent(expression)}`);
    return data.result;
  };
  await eventually('a recorded series', async () => (await at('made:double')).length > 0);
  t.deepEqual((await at('made:double / made:now'))[0]?.value[1], '2');
  t.deepEqual((await at('made:now'))[0]?.metric, { __name__: 'made:now', of: 'test' });
  const group = () => request('GET', `/api/alerts/recording-groups/${groupId}`);
  await eventually('its evaluation', async () => (await group()).status[1].evaluatedAt !== null);
  t.like((await group()).status[1], { record: 'made:double', error: null, series: 1 });
  const listed = async (type: string) => {
    const { data } = await request('GET', `/api/prom/api/v1/rules?type=${type}&file[]=made.yml`);
    return data.groups;
  };
  const [all, ...others] = await listed('');
  t.deepEqual(others, []);
  t.like(all, { name: 'made', file: 'made.yml', interval: 10, limit: 100 });
  t.deepEqual(
    all.rules.map(({ name, type }: Record<string, string>) => [name, type]),
    [
      ['made:now', 'recording'],
      ['Made', 'alerting'],
      ['made:double', 'recording'],
    ],
  );
  const [recorded] = (await listed('record'))[0].rules;
  t.like(recorded, { query: 'vector(time())', health: 'ok', labels: { of: 'test' } });
  const exported = await harness.request('GET', '/api/alerts/rules/export', { as: 'owner' });
  t.regex(
    String(exported.body),
    /name: made\n {4}interval: 10s\n {4}limit: 100\n {4}rules:\n {6}- record: made:now\n[^-]*- alert: Made\n[^-]*- record: made:double/,
  );
  const [again] = (await request('POST', '/api/alerts/rules/import', { file, fileName: 'made.yml' })).items;
  t.like(again, { id: groupId, outcome: 'unchanged' });

  await request('PATCH', `/api/alerts/recording-groups/${groupId}`, { enabled: false });
  await eventually('the end of the series', async () => (await at('made:now')).length === 0);
  await request('DELETE', `/api/alerts/recording-groups/${groupId}`);
  await request('DELETE', `/api/alerts/rules/${items[1].id}`);
});

test('an imported PromQL rule fires for the series that its expression returns, and is exported', async (t) => {
  await harness.columns.execute(
    `INSERT INTO series (tenant_id, project_id, metric, series_id, kind, temporality, monotonic, unit, source, service, resource_id, attributes, attribute_types, first_seen, last_seen) VALUES
      ('a', 'default', 'queue', 71, 'gauge', 2, false, '', 'prometheus', '', 0, map('queue', 'mail'), 's', now64(3), now64(3) + 600),
      ('a', 'default', 'queue', 72, 'gauge', 2, false, '', 'prometheus', '', 0, map('queue', 'cart'), 's', now64(3), now64(3) + 600)`,
  );
  await harness.columns.execute(
    `INSERT INTO samples (tenant_id, project_id, received_at, partition, offset, metric, series_id, timestamp, value)
    SELECT 'a', 'default', now64(3), 0, number, 'queue', 71 + number % 2, now64(9) + 10 * intDiv(number, 2), number % 2 FROM numbers(80)`,
  );
  const file =
    'groups: [{ name: queues, interval: 10s, rules: [{ alert: Queue, expr: queue > 0 }, { record: x, expr: y( }] }]';
  const { items } = await request('POST', '/api/alerts/rules/import', { file });
  const otherFile = file.replace('queues', 'lines').replace('> 0', '> 1e9');
  const [other] = (await request('POST', '/api/alerts/rules/import', { file: otherFile })).items;
  t.like(other, { name: 'Queue (lines)', outcome: 'created' });
  t.like(await request('GET', `/api/alerts/rules/${other.id}`), { name: 'Queue (lines)', alertName: 'Queue' });
  const [again] = (await request('POST', '/api/alerts/rules/import', { file: otherFile })).items;
  t.like(again, { id: other.id, outcome: 'unchanged' });
  await request('DELETE', `/api/alerts/rules/${other.id}`);
  t.deepEqual(
    items.map(({ outcome }: { outcome: string }) => outcome),
    ['created', 'refused'],
  );
  const alerts = async () => (await request('GET', `/api/alerts?ruleId=${items[0].id}`)).items;
  await eventually(
    'an evaluation',
    async () => (await request('GET', `/api/alerts/rules/${items[0].id}`)).status !== null,
  );
  t.is((await request('GET', `/api/alerts/rules/${items[0].id}`)).status.error, null);
  await eventually('the alert', async () => (await alerts()).length > 0);
  const [alert, ...others] = await alerts();
  t.deepEqual(others, []);
  t.like(alert, { state: 'firing', value: 1 });
  t.like(alert.labels, { alertname: 'Queue', queue: 'cart', severity: 'warning' });
  const prometheus = await request('GET', '/api/prom/api/v1/rules');
  const [shown] = prometheus.data.groups.flatMap(({ rules }: { rules: { name: string }[] }) =>
    rules.filter(({ name }) => name === 'Queue'),
  );
  t.like(shown, { state: 'firing', query: 'queue > 0', duration: 0, type: 'alerting', health: 'ok' });
  t.like(shown.alerts[0], { state: 'firing', value: '1e+00' });
  const { data } = await request('GET', '/api/prom/api/v1/alerts');
  const alertSeries = async () =>
    (await request('GET', `/api/prom/api/v1/query?query=${encodeURIComponent('ALERTS{alertname="Queue"}')}`)).data
      .result;
  await eventually('the alert as a series', async () => (await alertSeries()).length > 0);
  t.deepEqual((await alertSeries())[0]?.metric, {
    __name__: 'ALERTS',
    alertname: 'Queue',
    alertstate: 'firing',
    queue: 'cart',
    severity: 'warning',
  });
  t.true(data.alerts.some(({ labels }: { labels: { alertname: string } }) => labels.alertname === 'Queue'));
  const exported = await harness.request('GET', '/api/alerts/rules/export', { as: 'owner' });
  t.regex(String(exported.body), /alert: Queue\n\s+expr: queue > 0/);

  await request('DELETE', `/api/alerts/rules/${items[0].id}`);
  const history = async () => (await request('GET', `/api/alerts/history?ruleId=${items[0].id}`)).items;
  await eventually('the end', async () => (await history()).length > 1);
  t.deepEqual(
    (await history()).map(({ from, to, reason }: Record<string, string>) => [from, to, reason]),
    [
      ['firing', 'inactive', 'the rule was deleted'],
      ['inactive', 'firing', 'the query returns 1'],
    ],
  );
});

test('the first rule completes a step of the onboarding checklist', async (t) => {
  await request('POST', '/api/alerts/rules', { name: 'First', condition: errorsAbove(1e9), enabled: false });
  const { steps } = await request('GET', '/api/onboarding');
  const step = steps.find(({ id }: { id: string }) => id === 'create-alert');
  t.true(step.isDone);
  t.truthy(step.completedAt);
});

test('a backtest over a period that was evaluated live gives the same transitions, bit by bit', async (t) => {
  const rule = await request('POST', '/api/alerts/rules', {
    name: 'Burst',
    interval: '10s',
    delay: '5s',
    for: '10s',
    keepFiringFor: '10s',
    noData: 'resolve',
    condition: { ...errorsAbove(3, 'service:burst'), window: '25s' },
    annotations: { summary: '{{ $value }} of {{ $labels.service }}' },
  });
  await land('burst', 5);
  const history = async () => (await request('GET', `/api/alerts/history?ruleId=${rule.id}`)).items;
  await eventually('the end', async () => (await history())[0]?.to === 'inactive');
  const live = (await history()).toReversed();
  t.deepEqual(
    live.map(({ to }: { to: string }) => to),
    ['pending', 'firing', 'recovering', 'inactive'],
  );
  const started = await request('POST', '/api/v2/alerts/backtests', { ruleId: rule.id, from: rule.createdAt });
  const backtest = () => request('GET', `/api/v2/alerts/backtests/${started.id}`);
  await eventually('the backtest', async () => (await backtest()).status !== 'running');
  const result = await backtest();
  t.like(result, { status: 'finished', failed: 0, progress: 1, isTruncated: false });
  t.deepEqual(result.transitions, live);
  t.like(result.groups[0], { firings: 1 });
});
