/** The area Services in a real browser: slow services first, what they wait for, and links to traces and logs. */
import test from 'ava';
import { alertRuleResource } from '../../api/groups/alerts/alert-rule.ts';
import { getDurationBucket } from '../../schemas/tables/durations.ts';
import { chromiumMissing } from '../services/chromium.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Chromium, startChromium } from './chromium.ts';
import { landedIn, type SentSpan } from './landed-spans.ts';
import { assertView, findAxeViolations, signInAndOpen } from './page-walk.ts';

let harness: Harness;
let chromium: Chromium;
const declare = chromiumMissing === undefined ? test.serial : test.serial.skip;

const minuteMs = 60_000;
const nowMs = Math.floor(Date.now() / minuteMs) * minuteMs;
const ms = 1_000_000;

let spans = 0;
/** Requests of one service. The first `slow` ones take `slowMs` and fail. */
const requests = (
  service: string,
  atMs: number,
  all: number,
  { slow = 0, slowMs = 2_000, version = '1' } = {},
): SentSpan[] =>
  Array.from({ length: all }, (_, index) => {
    spans++;
    const id = spans.toString(16);
    return {
      trace: id.padStart(32, '0'),
      span: id.padStart(16, '0'),
      service,
      name: `POST /<i>${service}</i>`,
      kind: 2,
      start: BigInt(atMs + index) * BigInt(ms),
      duration: (index < slow ? slowMs : 10) * ms,
      status: index < slow ? 2 : 0,
      resource: { 'service.version': version },
    };
  });

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  [harness, chromium] = await Promise.all([startHarness(), startChromium()]);
  const now = nowMs - 10 * minuteMs;
  const before = nowMs - 90 * minuteMs;
  await landedIn(harness).spans([
    ...requests('catalog', now, 300),
    ...[...requests('payments', before, 200), ...requests('payments', now, 200, { slow: 60, version: '<b>2</b>' })],
    ...requests('web', now, 400, { slow: 2 }),
  ]);
  const duration = 1_900 * ms;
  await harness.columns.execute(
    `INSERT INTO service_edges (received_at, minute, tenant_id, project_id, server_project_id, connection, client, client_kind, server, server_kind, requests, errors) VALUES ${[
      ['web', 'service', 'payments', 'service', 200, 60],
      ['', 'user', 'web', 'service', 400, 2],
    ]
      .map(
        ([client, clientKind, server, serverKind, requests, errors]) =>
          `(now64(3), toDateTime(${now / 1000}), 'a', 'p1', 'p1', 'request', '${client}', '${clientKind}', '${server}', '${serverKind}', ${requests}, ${errors})`,
      )
      .join(', ')}`,
  );
  await harness.columns.execute(
    `INSERT INTO service_edges (received_at, minute, tenant_id, project_id, server_project_id, connection, client, client_kind, server, server_kind, requests, timed, duration_sum, duration_max, duration_buckets)
    VALUES ${[
      ['payments', 'bank.example', 'external'],
      ['web', 'payments', 'service'],
    ]
      .map(
        ([client, server, kind]) =>
          `(now64(3), toDateTime(${now / 1000}), 'a', 'p1', 'p1', 'request', '${client}', 'service', '${server}', '${kind}', 60, 60, ${60 * duration}, ${duration}, map(${getDurationBucket(duration)}, 60))`,
      )
      .join(', ')}`,
  );
});
test.after.always(async () => {
  await chromium?.close();
  await harness?.close();
});

declare(
  'the page opens at the overview, and services begin with the slowest one and its slowest dependency',
  async (t) => {
    const tab = await chromium.open();
    const { page } = tab;
    await signInAndOpen(tab, harness.url, '/');
    await page.waitForURL('**/overview');
    const overview = (await harness.request('GET', '/api/overview?scope=account&attention=true')).body;
    const attentionItems = page.getByRole('region', { name: 'Needs attention' }).getByRole('listitem');
    await attentionItems.first().waitFor();
    t.is(await attentionItems.count(), overview.attention.items.length);
    const worse = attentionItems.filter({ hasText: 'Error rate increased' }).filter({ hasText: 'payments' });
    t.is(
      await worse.count(),
      overview.attention.items.filter(({ kind }: { kind: string }) => kind === 'service-errors').length,
    );
    t.is(
      new URL((await worse.getByRole('link').getAttribute('href')) ?? '', harness.url).pathname,
      '/services/payments',
      'an item opens its resource',
    );
    await page.locator('a.tile', { hasText: 'Error rate' }).waitFor();
    await page.getByRole('region', { name: 'Services' }).getByRole('link', { name: 'payments' }).waitFor();
    await assertView(t, tab, 'main h1');
    await page.getByRole('navigation', { name: 'Areas' }).getByRole('link', { name: 'Services' }).click();
    const first = page.locator('.services .extent .row').first();
    await first.getByText('bank.example, p95 1.').waitFor();
    const { body } = await harness.request('GET', '/api/services?scope=account&sort=-p95');
    t.deepEqual(await page.locator('.services .extent .row [role=gridcell]:first-child').allTextContents(), [
      ...body.items.map(({ name }: { name: string }) => name),
    ]);
    t.deepEqual(
      body.items.map(({ name, figures: { requests, errors } }: typeof body) => [name, requests, errors]).at(0),
      ['payments', 200, 60],
    );
    const cells = await first.getByRole('gridcell').allTextContents();
    t.deepEqual(cells.slice(0, 3), ['payments', '200', '60 (30 %)']);
    await assertView(t, tab, '.services .extent .row >> nth=0');
  },
);

declare('a service opens next to the list, and links to its slow and failed traces and its logs', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/services?from=now-30m');
  await page.locator('.services .extent .row', { hasText: 'payments' }).first().click();
  const service = page.getByRole('complementary', { name: 'Service' });
  const endpoint = service.getByRole('row', { name: /^POST \/<i>payments<\/i> 200 60/ });
  await endpoint.waitFor();
  await assertView(t, tab, '.beside h2');
  const ways = service.getByRole('listitem').getByRole('link');
  const to = async (name: string, rows: string): Promise<string> => {
    await ways.getByText(name, { exact: true }).click();
    await page.locator(rows).first().waitFor();
    const search = await page.locator('#search').inputValue();
    t.is(new URL(page.url()).searchParams.get('from'), 'now-30m');
    await page.goBack();
    await endpoint.waitFor();
    return search;
  };
  const { body } = await harness.request('GET', '/api/services/payments/deployments?scope=account&from=now-30m');
  const [{ verdict, reason, before, after }] = body.items;
  const deployments = service.getByRole('region', { name: 'Deployments' });
  await deployments.getByText(`<b>2</b> after 1: ${verdict}`).click();
  await deployments.getByText(reason).waitFor();
  t.is(await deployments.getByRole('group').count(), body.items.length);
  t.regex(
    (await deployments.getByRole('row', { name: /^after / }).textContent()) ?? '',
    new RegExp(`^after${after.figures?.requests ?? 'not known'}`),
  );
  t.regex(
    (await deployments.getByRole('row', { name: /^before / }).textContent()) ?? '',
    new RegExp(`^before${before.figures?.requests ?? 'not known'}`),
  );
  const { instances, versions } = (await harness.request('GET', '/api/services/payments?scope=account&from=now-30m'))
    .body;
  const running = service.getByRole('region', { name: 'Instances' });
  t.is(await running.getByRole('row').count(), instances.length + 1);
  await running
    .getByText(versions.map(({ version }: { version: string }) => version).join(', '))
    .first()
    .waitFor();
  t.is(await to('Failed traces', '.traces[aria-rowcount="61"]'), 'service:"payments" status:error');
  t.regex(await to('Slowest traces', '.traces'), /^service:"payments" duration:>\d+ms$/);
  t.is(await to('Error logs', '.logs .said'), 'service:"payments" severity:>=error');
  await page.keyboard.press('Escape');
  await service.waitFor({ state: 'detached' });
  t.deepEqual(tab.complaints, []);
});

declare('a service has a page with request rate, error rate and latency side by side', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  const range = `from=${encodeURIComponent(new Date(nowMs - 30 * minuteMs).toISOString())}&to=${encodeURIComponent(new Date(nowMs).toISOString())}`;
  await signInAndOpen(tab, harness.url, `/services?${range}`);
  const row = page.locator('.services .extent .row', { hasText: 'payments' }).first();
  const link = row.getByRole('link', { name: 'payments', exact: true });
  t.is(new URL((await link.getAttribute('href')) ?? '', harness.url).pathname, '/services/payments');
  await link.click();
  await page.getByRole('heading', { name: 'payments', level: 1 }).waitFor();
  for (const title of ['Request rate: 1 series', 'Error rate: 1 series', 'Latency: 3 series'])
    await page.getByRole('img', { name: new RegExp(`^${title}, from`) }).waitFor();
  t.deepEqual(
    await page
      .locator('.plot')
      .first()
      .evaluate((plot) => plot.getBoundingClientRect().width > 200),
    true,
  );
  await page.getByRole('region', { name: 'Time spent in' }).getByText('bank.example').waitFor();
  await page.locator('.plot').first().hover();
  await page.locator('.chart-tooltip').getByText('req/s').waitFor();
  await page.mouse.move(0, 0);
  await page
    .getByRole('navigation', { name: 'Details of payments' })
    .getByRole('link', { name: 'Dependencies' })
    .click();
  await page.getByRole('region', { name: 'Callers' }).getByRole('link', { name: 'web' }).waitFor();
  t.is(new URL(page.url()).searchParams.get('tab'), 'dependencies');
  const openTab = (title: string) =>
    page.getByRole('navigation', { name: 'Details of payments' }).getByRole('link', { name: title }).click();
  await openTab('Logs');
  await page.getByText('No logs of this service in this range.').waitFor();
  await openTab('SLOs');
  await page.getByRole('region', { name: 'SLOs' }).getByRole('link', { name: 'New SLO' }).waitFor();
  await openTab('Traces');
  const traces = page.getByRole('region', { name: 'Traces' });
  await traces.getByRole('row').nth(25).waitFor();
  t.is(
    new URL(
      (await traces.getByRole('link', { name: 'Open in traces' }).getAttribute('href')) ?? '',
      harness.url,
    ).searchParams.get('search'),
    'service:"payments"',
  );
  await assertView(t, tab, 'main h1');
});

declare('services are searched and sorted in the URL, and a plan without traces shows a notice', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/services?sort=name');
  await page.locator('.services .extent .row').nth(2).waitFor();
  t.deepEqual(await page.locator('.services .extent .row [role=gridcell]:first-child').allTextContents(), [
    ...['catalog', 'payments', 'web'],
  ]);
  await page.locator('#search').fill('cat');
  await page.keyboard.press('Enter');
  await page.locator('.services[aria-rowcount="2"]').waitFor();
  t.is(new URL(page.url()).searchParams.get('sort'), 'name');
  t.deepEqual(tab.complaints, []);
  const other = await chromium.open();
  await signInAndOpen(other, harness.url, '/services', 'viewer@b.example');
  await other.page.locator('main').getByText('The plan of this organization does not include services.').waitFor();
  await assertView(t, other, 'main h1');
});

declare('the map shows callers and callees with the metrics of the API, by keyboard and as a table', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await page.setViewportSize({ width: 1400, height: 1000 });
  const range = `from=${nowMs - 30 * minuteMs}&to=${nowMs - 2 * minuteMs}`;
  await signInAndOpen(tab, harness.url, `/services?${range}`);
  await page.getByRole('button', { name: 'Map' }).click();
  const map = page.getByRole('region', {
    name: /^Map of 5 nodes and 3 connections between them; highest error rate: web calls payments/,
  });
  await map.waitFor();
  const { body } = await harness.request('GET', `/api/service-map?scope=account&${range}`);
  t.is(await map.getByRole('button').count(), body.nodes.length);
  await map.getByRole('button', { name: /^payments .*\/s, 30 % fail, p95 2 s$/ }).waitFor();
  await map.getByRole('button', { name: /^bank\.example *external .*p95 1\.\d+ s$/ }).waitFor();
  t.true((await map.locator('path.failed title').textContent())?.startsWith('web calls payments: '));
  await map.getByRole('button', { name: /^web / }).focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  const service = page.getByRole('complementary', { name: 'Service' });
  await service.getByRole('heading', { name: 'payments' }).waitFor();
  t.is(new URL(page.url()).searchParams.get('service'), 'payments');
  t.is(await map.locator('path.faint').count(), 1);
  await page.getByText('Data table', { exact: true }).first().click();
  const rows = page.getByRole('region', { name: 'Map data' }).getByRole('row');
  t.deepEqual(
    (await rows.allTextContents()).slice(1).map((text) => /^(.*?)(?:calls)(.*?)\d/.exec(text)?.slice(1)),
    body.edges.map(({ client, server }: { client: { name: string }; server: { name: string } }) => [
      client.name || 'users',
      server.name,
    ]),
  );
  await page.getByText('Data table', { exact: true }).first().click();
  await assertView(t, tab, '.graph .node >> nth=0');
});

declare('a slow service becomes a rule, and a dashboard panel whose snapshot others can see', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/services?service=web', 'editor@a.example');
  const service = page.getByRole('complementary', { name: 'Service' });
  await service.getByText('Spends most time in:').getByRole('link').click();
  await service.getByRole('heading', { name: 'payments', exact: true }).waitFor();
  await service.getByRole('link', { name: 'Create alert' }).click();
  // The element that had the focus no longer exists.
  await tab.until(`document.activeElement?.id === 'content'`);
  t.is(await page.getByLabel('Name', { exact: true }).inputValue(), 'p95 of payments');
  await page.getByLabel('Name', { exact: true }).fill('Payments are slow');
  await page.getByRole('button', { name: 'Go to the first error' }).click();
  await tab.until(`document.activeElement?.getAttribute('type') === 'number'`);
  t.is(await page.getByLabel('Unit', { exact: true }).inputValue(), 'ms');
  await page.getByLabel('Value', { exact: true }).fill('1500');
  await page
    .getByRole('region', { name: 'Preview and backtest' })
    .getByText(/^State:/)
    .waitFor();
  await page.getByRole('button', { name: 'Create rule' }).click();
  await page.getByRole('complementary', { name: 'Rule' }).getByRole('link', { name: 'Add to dashboard' }).click();
  t.is(await page.getByLabel('Title').inputValue(), 'Payments are slow');
  await page.getByLabel('Dashboard name').fill('Shop');
  await page.getByRole('button', { name: 'Add panel' }).click();
  await page.locator('.panel', { hasText: 'Payments are slow' }).waitFor();
  // The same dashboard accepts a panel with the spans behind a figure.
  await tab.go(`${harness.url}/services?service=payments`);
  await service.getByRole('link', { name: 'Add to dashboard' }).click();
  await page.getByRole('combobox', { name: 'Visualization', exact: true }).selectOption('spans');
  await page.getByRole('combobox', { name: 'Target dashboard', exact: true }).selectOption('Shop');
  await page.getByRole('button', { name: 'Add panel' }).click();
  await page.locator('.panel', { hasText: 'p95 of payments' }).getByRole('table').waitFor();
  t.is((await harness.request('GET', '/api/dashboards')).body.items[0].panels, 2);
  await assertView(t, tab, '.panel >> nth=0 >> h2');
  await page.getByText('Share', { exact: true }).click();
  await page.getByRole('button', { name: 'Public snapshot' }).click();
  await page.getByRole('button', { name: 'Create snapshot' }).click();
  const link = await page.getByRole('status').getByRole('link').textContent();
  const other = await chromium.open();
  await other.go(link ?? '');
  await other.page.locator('.panel', { hasText: 'Payments are slow' }).waitFor();
  t.deepEqual(other.complaints, []);
});

declare('the counts of the overview have a chart above the events, and a new version is an event', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  const range = `from=${encodeURIComponent(new Date(nowMs - 30 * minuteMs).toISOString())}&to=${encodeURIComponent(new Date(nowMs).toISOString())}`;
  await signInAndOpen(tab, harness.url, `/events?${range}&counter=errors`, 'viewer@a.example');
  const { series } = (await harness.request('GET', `/api/overview/timeseries?scope=account&${range}`)).body;
  const { points } = series.find(({ name }: { name: string }) => name === 'errors');
  const maxValue = Math.max(...points.map(([, value]: [number, number]) => value));
  t.true(maxValue >= 62);
  const over = page.getByRole('region', { name: 'Over time', exact: true });
  await over.getByRole('img', { name: `Errors: 1 series, from 0 requests to ${maxValue} requests.` }).waitFor();
  const { items } = (await harness.request('GET', `/api/events?${range}&limit=100`)).body;
  const titles = page.locator('.list tbody td:first-child');
  await titles.nth(items.length - 1).waitFor();
  t.deepEqual(
    await titles.allTextContents(),
    items.map(({ title }: { title: string }) => title),
  );
  t.true(items.some(({ kind }: { kind: string }) => kind === 'deployment'));
  t.is(await page.getByRole('button', { name: 'Add event' }).count(), 0);
  await page.setViewportSize({ width: 320, height: 800 });
  await assertView(t, tab, '.list tbody td:first-child >> nth=0');
  t.is(await page.evaluate('document.documentElement.scrollWidth'), 320);
});

declare('the requests of a service have a chart, and a user with permission sets its threshold', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  const range = `from=${encodeURIComponent(new Date(nowMs - 30 * minuteMs).toISOString())}&to=${encodeURIComponent(new Date(nowMs).toISOString())}`;
  await signInAndOpen(tab, harness.url, `/services?${range}&service=web&counter=requests`, 'editor@a.example');
  const { series } = (await harness.request('GET', `/api/services/web/timeseries?scope=account&${range}`)).body;
  const { points } = series.find(({ name }: { name: string }) => name === 'requests');
  const maxValue = Math.max(...points.map(([, value]: [number, number]) => value));
  t.is(maxValue, 400);
  const over = page.getByRole('region', { name: 'Over time', exact: true });
  await over.getByRole('img', { name: `requests: 1 series, from 0 requests to ${maxValue} requests.` }).waitFor();
  await over.getByRole('combobox').selectOption('apdex');
  await over.getByRole('img', { name: /^Apdex: 1 series/ }).waitFor();
  await page.getByText('Apdex threshold: 500 ms').click();
  await page.getByLabel('Apdex threshold in ms (this service)').fill('0');
  await page.getByRole('button', { name: 'Save thresholds' }).click();
  await page.locator('.form .problem-text', { hasText: /./ }).first().waitFor();
  await page.getByLabel('Apdex threshold in ms (this service)').fill('20');
  await page.getByRole('button', { name: 'Save thresholds' }).click();
  await page.getByText('Apdex threshold: 20 ms').waitFor();
  t.deepEqual((await harness.request('GET', '/api/service-settings')).body, {
    apdexThresholdMs: 500,
    services: [{ service: 'web', apdexThresholdMs: 20 }],
  });
  await assertView(t, tab, '.beside h2');
});

declare('a user with permission records a deployment of a service, and an error appears at its field', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/services?from=now-30m&service=web', 'editor@a.example');
  const deployments = page.getByRole('region', { name: 'Deployments' });
  await deployments.getByText('Record deployment').click();
  await deployments.getByLabel('Version').fill('3 <b>three</b>');
  await deployments.getByLabel('Link').fill('ftp://shop.example');
  await deployments.getByRole('button', { name: 'Save deployment' }).click();
  await deployments.locator('div:has(> label:has-text("Link")) > .problem-text', { hasText: /./ }).waitFor();
  t.deepEqual([...(await findAxeViolations(tab, 'light')), ...(await findAxeViolations(tab, 'dark'))], []);
  await deployments.getByLabel('Link').fill('https://shop.example/3');
  await deployments.getByRole('button', { name: 'Save deployment' }).click();
  await deployments.getByText('The deployment was recorded and appears in the list within a few seconds.').waitFor();
  const [auditRecord] = (await harness.request('GET', '/api/audit?action=deployment.create')).body.items;
  t.is(auditRecord.resource.name, 'web 3 <b>three</b>');
  const reader = await chromium.open();
  await signInAndOpen(reader, harness.url, '/services?from=now-30m&service=web');
  await reader.page.getByRole('region', { name: 'Deployments' }).waitFor();
  await reader.page.getByText(/^Apdex threshold: /).waitFor();
  t.is(await reader.page.getByText('Record deployment').count(), 0);
  t.deepEqual([...tab.complaints, ...reader.complaints], []);
});

declare(
  'a root cause analysis runs for a service, an alert, an anomaly and an incident, with the results of the API',
  async (t) => {
    // Causes are tested over minutes before and after: a new version fails for a quarter of an hour.
    const beginMs = Math.floor(Date.now() / minuteMs) * minuteMs - 85 * minuteMs;
    for (const [version, from, minutes, failing] of [
      [1, 0, 70, 10],
      [2, 70, 14, 300],
    ] as const) {
      const resource = `cityHash64('search', ${version})`;
      await harness.columns.execute(
        `INSERT INTO resources (tenant_id, resource_id, service, attributes, attribute_types, first_seen, last_seen) SELECT 'a', ${resource}, 'search', map('service.name', 'search', 'service.version', '${version}'), 'ss', now64(3), now64(3)`,
      );
      await harness.columns.execute(
        `INSERT INTO spans (tenant_id, project_id, received_at, timestamp, duration, service, resource_id, name, kind, status_code)
      SELECT 'a', 'p1', now64(3), toDateTime64(${beginMs / 1000} + 60 * ${from}, 9, 'UTC') + number * 1.5, 10000000, 'search', ${resource}, 'call', 2, if(cityHash64(number) % 1000 < ${failing}, 2, 0) FROM numbers(${minutes * 40})`,
      );
    }
    const tab = await chromium.open();
    const { page } = tab;
    await signInAndOpen(tab, harness.url, '/services?from=now-30m&service=search');
    /** Runs the analysis on the current page, and compares what is shown with the response. */
    const found = async (symptom: object): Promise<void> => {
      const cause = page.getByRole('region', { name: 'Cause' });
      const response = page.waitForResponse('**/api/ai/root-cause');
      await cause.getByRole('button', { name: 'Find root cause' }).click();
      const apiResponse = await response;
      t.like(apiResponse.request().postDataJSON(), { ...symptom, scope: 'account' });
      const { state, causes, others } = await apiResponse.json();
      t.is(state, 'found', JSON.stringify(symptom));
      const causeItems = cause.locator('ol > li');
      await causeItems.nth(causes.length - 1).waitFor();
      t.is(await causeItems.count(), causes.length);
      const text = (await causeItems.first().textContent()) ?? '';
      const [{ title, at, evidence, counterEvidence, score }] = causes;
      const toTexts = (reasons: readonly { readonly text: string }[]): string[] =>
        reasons.map(({ text: reason }) => reason);
      t.regex(title, /search.* 2/);
      for (const each of [
        title,
        at,
        ...toTexts(evidence),
        ...toTexts(counterEvidence),
        `(${Math.round(100 * score)} of 100)`,
      ])
        t.true(text.includes(each), each);
      t.is(await cause.locator('details li').count(), others.length);
    };
    await found({ service: 'search', from: 'now-30m' });
    await page.getByText('Ruled out').click();
    await assertView(t, tab, '.beside h2');

    const noticedMs = beginMs + 72 * minuteMs;
    const { body: rule } = await harness.request('POST', '/api/alerts/rules', {
      as: 'editor',
      body: { ...alertRuleResource.example, name: 'Search <i>fails</i>' },
    });
    await harness.columns.execute(
      `INSERT INTO alert_states (tenant_id, rule_id, alert_id, evaluated_ms, last_seen, labels, state, severity, value, reason, since_ms, started_ms, groups, firing)
    VALUES ('a', '${rule.id}', 'of-search', ${Date.now()}, now64(3), map('service', 'search'), 'firing', 'critical', 5, 'above', ${noticedMs}, ${noticedMs}, 1, 1)`,
    );
    await harness.columns.execute(
      `INSERT INTO alert_transitions (tenant_id, id, alert_id, rule_id, rule_version, rule_name, time, from_state, to_state, severity, labels, value, reason, received_at)
    VALUES ('a', 'began', 'of-search', '${rule.id}', 1, 'Search', fromUnixTimestamp64Milli(toInt64(${noticedMs}), 'UTC'), 'inactive', 'firing', 'critical', map('service', 'search'), 5, 'above', now64(3))`,
    );
    const anomalyId = `d.s.${noticedMs.toString(36)}`;
    await harness.columns.execute(
      `INSERT INTO anomalies (tenant_id, time, id, revision, detector_id, detector_name, signals, step_ms, series, name, labels, sign, direction, end_ms, score, value)
    VALUES ('a', fromUnixTimestamp64Milli(toInt64(${noticedMs}), 'UTC'), '${anomalyId}', 1, 'd', 'Errors', ['traces'], 60000, 's', 'errors', map('service', 'search'), 'up', 'up', 0, 1, 5)`,
    );
    const { body: incident } = await harness.request('POST', '/api/incidents', {
      as: 'editor',
      body: { title: 'Search <b>fails</b>', alertIds: ['of-search'] },
    });
    for (const [address, symptom] of [
      ['/alerts?alert=of-search', { alertId: 'of-search' }],
      [`/anomalies?from=now-30m&open=${anomalyId}`, { anomalyId }],
      [`/incidents?incident=${incident.id}`, { incidentId: incident.id }],
    ] as const) {
      await tab.go(`${harness.url}${address}`);
      await found(symptom);
      await assertView(t, tab, '.beside h2');
    }
  },
);

declare(
  'suggestions show their request, and users with permission apply or dismiss them; others see the reason',
  async (t) => {
    const tab = await chromium.open();
    const { page } = tab;
    await signInAndOpen(tab, harness.url, '/overview', 'editor@a.example');
    await page.getByRole('link', { name: 'Suggestions' }).click();
    const suggested = async () => (await harness.request('GET', '/api/ai/suggestions')).body.items;
    const items = await suggested();
    const all = page.getByRole('region', { name: 'Suggestions' });
    await all
      .locator('.suggestion')
      .nth(items.length - 1)
      .waitFor();
    t.deepEqual(
      await all.locator('h2').allTextContents(),
      items.map(({ title }: { title: string }) => title),
    );
    await page.getByLabel('Kind').selectOption('detectors');
    const [first, second] = items.filter(({ kind }: { kind: string }) => kind === 'detector');
    const one = all.getByRole('region', { name: first.title, exact: true });
    await one.getByText(first.evidence).waitFor();
    await one.getByText(first.effect).waitFor();
    await one.getByText('Request', { exact: true }).click();
    const [line, , ...body] = ((await one.locator('pre').textContent()) ?? '').split('\n');
    t.is(line, 'POST /api/ai/detectors');
    t.deepEqual(JSON.parse(body.join('\n')), first.request.body);
    await page.setViewportSize({ width: 320, height: 800 });
    await assertView(t, tab, '.suggestion h2 >> nth=0');
    t.is(await page.evaluate('document.documentElement.scrollWidth'), 320);
    await page.setViewportSize({ width: 1280, height: 800 });
    await one.getByRole('button', { name: 'Apply' }).click();
    await page.getByText(`Done: ${first.title}.`).waitFor();
    await one.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'View details' }).click();
    await page.getByRole('complementary', { name: 'Detector' }).getByText(first.request.body.description).waitFor();
    await page.goBack();
    const other = all.getByRole('region', { name: second.title, exact: true });
    await other.getByRole('button', { name: 'Dismiss' }).click();
    await other.getByRole('button', { name: /^Dismiss until/ }).click();
    await page.getByText(`Dismissed: ${second.title}.`).waitFor();
    await other.waitFor({ state: 'detached' });
    const left = (await suggested()).map(({ id }: { id: string }) => id);
    t.false(left.includes(first.id) || left.includes(second.id));
    const reader = await chromium.open();
    await signInAndOpen(reader, harness.url, '/ask/suggestions');
    await reader.page.getByText(/^Applying or dismissing suggestions is for .*; your role is viewer\.$/).waitFor();
    await reader.page.locator('.suggestion').first().waitFor();
    t.is(await reader.page.getByRole('button', { name: /Apply|Dismiss/ }).count(), 0);
    t.deepEqual([...tab.complaints, ...reader.complaints], []);
  },
);
