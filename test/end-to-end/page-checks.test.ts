/** The area Synthetics in a real browser: states of checks, one check with runs and days, and a manual run. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { syntheticProbeContacts } from '../../schemas/resources/synthetic-location.ts';
import { syntheticPictures } from '../../schemas/resources/synthetic-picture.ts';
import { chromiumMissing } from '../services/chromium.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Chromium, startChromium } from './chromium.ts';
import { assertView, fillPair, signInAndOpen } from './page-walk.ts';

let harness: Harness;
let chromium: Chromium;
const declare = chromiumMissing === undefined ? test.serial : test.serial.skip;

const name = 'Shop <b>answers</b>';
let id = '';
let far = '';
const minuteMs = 60_000;
const nowMs = Math.floor(Date.now() / minuteMs) * minuteMs;

/** As a browser step reports it. */
const seenPage = {
  url: 'https://shop.example/<cart>',
  vitals: { cls: 0.2, lcp: 1234.5 },
  leftOut: 3,
  requests: [
    {
      method: 'GET',
      url: 'https://shop.example/',
      type: 'document',
      status: 200,
      startMs: 0,
      durationMs: 50,
      bytes: 1500,
    },
    {
      method: 'GET',
      url: 'https://cdn.example/x',
      type: 'image',
      status: null,
      startMs: 60,
      durationMs: 40,
      bytes: null,
      failure: 'net::ERR_FAILED',
    },
  ],
  errors: ['cart is <undefined>'],
};

const createOne = async (path: string, body: object) => {
  const response = await harness.request('POST', path, { as: 'admin', body });
  if (response.status !== 200) throw new Error(JSON.stringify(response.body));
  return response.body;
};

/** Stores runs and states like the sinks. */
const land = async (): Promise<void> => {
  const at = (ms: number): string => `fromUnixTimestamp64Milli(toInt64(${ms}), 'UTC')`;
  const phases = { lookup: 1.5, connect: 10, wait: 200 };
  const runs = Array.from({ length: 12 }, (_, number) => {
    const place = number % 2 === 0 ? 'local' : far;
    const isBad = number === 3;
    const message = isBad ? 'the status was <i>500</i>' : '';
    const result = { outcome: 'passed', phases, message: '', status: 200 };
    const steps = [
      { ...result, name: 'open', page: seenPage },
      {
        ...result,
        name: 'buy',
        assertions: [
          { source: 'status', operator: 'is', value: '200', outcome: 'passed', found: '200' },
          { source: 'header', name: 'etag', operator: 'exists', outcome: 'failed', found: '' },
        ],
      },
    ];
    return `('a', 'default', '${id}', '${place}', ${at(nowMs - number * minuteMs - minuteMs)}, 0, 1, ${at(nowMs - number * minuteMs)}, '${isBad ? 'failed' : 'passed'}', 1, 211.5, '${JSON.stringify(phases)}', '${number === 0 ? JSON.stringify(steps) : '[]'}', '${message}', '${'c'.repeat(31)}${number.toString(16)}')`;
  });
  await harness.columns.execute(
    `INSERT INTO synthetic_runs (tenant_id, project_id, check_id, location, due, is_manual, earliness, started, outcome, attempts, duration_ms, phases, steps, message, trace_id) VALUES ${runs.join(', ')}`,
  );
  const hourMs = 60 * minuteMs;
  // So old that percentages do not change during the test.
  const states = [
    ['', 500, 'up'],
    ['', 12, 'down'],
    ['', 11, 'up'],
    ['', 1, 'degraded'],
    ['local', 500, 'up'],
    [far, 500, 'up'],
    [far, 12, 'down'],
    [far, 11, 'up'],
  ] as const;
  await harness.columns.execute(
    `INSERT INTO synthetic_states (tenant_id, check_id, location, at, state) VALUES ${states
      .map(([place, hours, state]) => `('a', '${id}', '${place}', ${at(nowMs - hours * hourMs)}, '${state}')`)
      .join(', ')}`,
  );
};

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  [harness, chromium] = await Promise.all([startHarness(), startChromium()]);
  far = (await createOne('/api/synthetics/locations', { name: 'Far & away' })).id;
  const steps = [{ url: 'https://shop.example/' }];
  id = (await createOne('/api/synthetics/checks', { name, type: 'http', http: { steps }, locations: ['local', far] }))
    .id;
  await harness.documents
    .forTenant('a')
    .collection(syntheticProbeContacts)
    .insert({
      location: far,
      probe: 'p',
      lastSeenAt: new Date(nowMs - 60 * minuteMs).toISOString(),
      unsupportedTypes: [{ type: 'http', reason: 'there is no <program>' }],
      clockAheadMs: -90_000,
    });
  await land();
});
test.after.always(async () => {
  await chromium?.close();
  await harness?.close();
});

const percent = (share: number): string => `${(100 * share).toFixed(3)} %`;

declare('a check shows its state, start time, and uptime over 1, 30 and 90 days', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/checks');
  const { body } = await harness.request('GET', `/api/synthetics/checks/${id}`);
  const row = page.getByRole('row', { name });
  const cells = row.getByRole('cell');
  await row.waitFor();
  t.is(body.state, 'degraded');
  t.true(body.uptime.day < 1);
  t.is(await cells.nth(1).textContent(), 'Degraded');
  t.not(await cells.nth(2).textContent(), '');
  const { day, days30, days90 } = body.uptime;
  t.deepEqual((await cells.allTextContents()).slice(4), [percent(day), percent(days30), percent(days90), 'HTTP', '1m']);
  const bars = row.getByRole('img', { name: /^Shop <b>answers<\/b>: outages in [12] of the last 24 hours$/ });
  await bars.waitFor();
  t.is(body.uptime.hours.length, 24);
  t.is(await bars.locator('.broken').count(), body.uptime.hours.filter((hour: number) => hour < 0.99).length);
  await bars.locator('.broken').first().hover();
  await page.getByText(/^\d\d:\d\d to \d\d:\d\d: [\d.]+ %$/).waitFor();
  await page.mouse.move(0, 0);
  await assertView(t, tab, 'table');
});

declare('a check shows its runs with their phases, the failure reason, and each day of its locations', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, `/checks?open=${id}`);
  const sidePanel = page.getByRole('complementary', { name: 'Check' });
  const runs = sidePanel.getByRole('region', { name: 'Runs' }).locator('.run-summary');
  const { body } = await harness.request('GET', `/api/synthetics/checks/${id}/runs`);
  await runs.nth(body.items.length - 1).waitFor();
  t.is(await runs.count(), body.items.length);
  await sidePanel.getByText('the status was <i>500</i>').waitFor();
  const failed = runs.filter({ hasText: 'Failed' });
  t.deepEqual((await failed.getByRole('cell').allTextContents()).slice(1, 4), ['Far & away', 'Failed', '212 ms']);
  await sidePanel.getByRole('img', { name: /^Response time: 2 series/ }).waitFor();
  await failed.getByRole('img', { name: 'DNS lookup 1.5 ms, Connect 10 ms, First byte 200 ms' }).waitFor();
  await sidePanel.getByText('2 steps').click();
  const steps = sidePanel.getByRole('listitem').filter({ hasText: 'buy Passed 200' });
  await steps.getByRole('row', { name: 'First byte 200 ms' }).waitFor();
  await steps.getByText('Passed: Status code is 200').waitFor();
  await steps.getByText('Failed: Header etag exists no value found').waitFor();
  await sidePanel.getByText('https://shop.example/<cart>: LCP 1.23 s, CLS 0.2').waitFor();
  await sidePanel.getByRole('list', { name: 'Page errors' }).getByText('cart is <undefined>').waitFor();
  await sidePanel.getByText('5 requests').click();
  const requests = sidePanel.getByRole('region', { name: 'Requests' });
  await requests.getByText('3 more requests were not stored.').waitFor();
  const [, document = '', image = ''] = await requests.getByRole('row').allTextContents();
  t.is(document, 'GET https://shop.example/document2001,500');
  t.is(image, 'GET https://cdn.example/ximagenet::ERR_FAILED');
  await requests.getByRole('img', { name: 'started at 60 ms, took 40 ms' }).waitFor();
  await sidePanel.getByRole('img', { name: /^Far & away: [12] of \d+ days with data had an outage: / }).waitFor();
  await sidePanel.getByRole('img', { name: /^Local: 0 of \d+ days with data had an outage$/ }).waitFor();
  const cannot = sidePanel.getByRole('list', { name: 'Locations that cannot run this check' });
  await cannot.getByText('Far & away cannot run this check: there is no <program>').waitFor();
  const clocks = sidePanel.getByRole('list', { name: 'Locations with clock differences' });
  t.deepEqual(await clocks.getByRole('listitem').allTextContents(), [
    'The clock of Far & away is 1.5 min behind; timestamps use the clock of the platform.',
  ]);
  await sidePanel.getByText('Running checks is for editor, admin, and owner; your role is viewer.').waitFor();
  await assertView(t, tab, '.beside h2');
});

declare('an editor runs a check now and sees the result of each location, or why there is none', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, `/checks?open=${id}`, 'editor@a.example');
  await page.getByRole('button', { name: 'Run now' }).click();
  const { items } = (await harness.request('POST', `/api/synthetics/checks/${id}/run`, { as: 'editor', body: {} }))
    .body;
  const messages = page.getByRole('status').getByRole('listitem');
  await messages.nth(1).waitFor();
  t.deepEqual(await messages.allTextContents(), [`Local: ${items[0].reason}`, `Far & away: ${items[1].reason}`]);
  await assertView(t, tab, '.beside h2');
});

declare('an editor changes a check, tests it before saving, and sees an error at its field', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, `/checks?open=${id}`, 'editor@a.example');
  const sidePanel = page.getByRole('complementary', { name: 'Check' });
  await sidePanel.getByRole('button', { name: 'Edit' }).click();
  const step = sidePanel.getByRole('group', { name: 'Step 1' });
  const address = step.getByLabel('URL', { exact: true });
  t.is(await address.inputValue(), 'https://shop.example/');
  await sidePanel.getByLabel('Local').uncheck();
  await address.fill('shop.example');
  const attempt = sidePanel.getByRole('button', { name: 'Run test' });
  await attempt.click();
  await step.getByRole('alert').getByText('must begin with http:// or https://').waitFor();
  t.is(await address.getAttribute('aria-invalid'), 'true');
  await address.fill('https://other.example/');
  await step.getByLabel('Authentication').selectOption('Bearer token');
  await step.getByLabel('Token', { exact: true }).fill('{{variables.missing}}');
  await attempt.click();
  await step
    .getByRole('alert')
    .getByText(/missing/)
    .waitFor();
  await sidePanel.getByRole('button', { name: 'Edit as JSON' }).click();
  const json = sidePanel.getByLabel('Settings');
  t.like(JSON.parse(await json.inputValue()).steps[0].authentication, { token: '{{variables.missing}}' });
  await json.fill('{');
  await sidePanel.getByText('This is not valid JSON.').waitFor();
  t.true(await sidePanel.getByRole('button', { name: 'Edit as form' }).isDisabled());
  await json.fill(JSON.stringify({ steps: [{ url: 'https://other.example/' }] }));
  await sidePanel.getByRole('button', { name: 'Edit as form' }).click();
  t.is(await step.getByLabel('Authentication').inputValue(), '');
  await attempt.click();
  const messages = sidePanel.getByRole('status').getByRole('listitem');
  await messages.waitFor();
  t.deepEqual(await messages.allTextContents(), ['Far & away: no probe of this location has reported recently']);
  t.is((await harness.request('GET', `/api/synthetics/checks/${id}`)).body.version, 1);
  await assertView(t, tab, '.beside h2');
});

declare('an editor creates a check with assertions, changes it, and deletes it', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/checks', 'editor@a.example');
  await page.getByRole('button', { name: 'New check' }).click();
  const sidePanel = page.getByRole('complementary', { name: 'Check' });
  const fill = async (label: string, text: string): Promise<void> =>
    sidePanel.getByLabel(label, { exact: true }).fill(text);
  await fill('Name', 'Names <i>resolve</i>');
  await sidePanel.getByRole('combobox', { name: 'Type' }).selectOption('DNS');
  await fill('Frequency', '1s');
  await fillPair(sidePanel, 'Labels', ['team', 'shop']);
  await fillPair(sidePanel, 'Labels', ['tier', 'web']);
  await sidePanel.getByRole('button', { name: 'Add assertion' }).click();
  const first = sidePanel.getByRole('group', { name: 'Assertion 1' });
  await first.getByLabel('Source').selectOption('record');
  await first.getByLabel('Operator').selectOption('contains');
  await first.getByLabel('Value').fill('10.0.0.');
  const create = sidePanel.getByRole('button', { name: 'Create check' });
  await create.click();
  await sidePanel.getByRole('alert').getByText('must be a duration from 10s to 1d', { exact: false }).first().waitFor();
  await fill('Frequency', '5m');
  await fill('Name to resolve', 'shop.example');
  await fill('DNS server', 'ns.example');
  await create.click();
  await sidePanel
    .getByText('must be an IP address: a name would be resolved by another server', { exact: true })
    .waitFor();
  await fill('DNS server', '');
  await create.click();
  await sidePanel.getByRole('heading', { name: 'Names <i>resolve</i>' }).waitFor();
  const [storedCheck] = (await harness.request('GET', '/api/synthetics/checks?search=resolve')).body.items;
  t.like(storedCheck, { type: 'dns', every: '5m', labels: { team: 'shop', tier: 'web' }, locations: ['local'] });
  t.like(storedCheck.dns, { name: 'shop.example', server: null, record: 'A' });
  t.deepEqual(storedCheck.dns.assertions, [
    { source: 'record', operator: 'contains', value: '10.0.0.', level: 'fail' },
  ]);

  await sidePanel.getByRole('button', { name: 'Edit' }).click();
  await sidePanel.getByRole('combobox', { name: 'Records' }).selectOption('AAAA');
  await sidePanel.getByLabel('Enabled').uncheck();
  await sidePanel.getByRole('button', { name: 'Save check' }).click();
  await sidePanel.getByText('Disabled', { exact: true }).waitFor();
  const changed = (await harness.request('GET', `/api/synthetics/checks/${storedCheck.id}`)).body;
  t.deepEqual({ ...changed.dns, record: 'A' }, storedCheck.dns);
  t.like(changed, { version: 2, enabled: false, labels: storedCheck.labels });
  await assertView(t, tab, '.beside h2');
  await sidePanel.getByRole('button', { name: 'Enable' }).click();
  await sidePanel.getByRole('button', { name: 'Disable' }).waitFor();
  t.like((await harness.request('GET', `/api/synthetics/checks/${storedCheck.id}`)).body, {
    version: 3,
    enabled: true,
  });
  // A check opened by its address is shown although the list does not contain it.
  await tab.go(`${harness.url}/checks?search=nothing-is-called-so&open=${storedCheck.id}`);
  await sidePanel.getByRole('heading', { name: 'Names <i>resolve</i>' }).waitFor();
  await sidePanel.getByRole('button', { name: 'Delete' }).click();
  await sidePanel.getByRole('button', { name: /^Delete (“|permanently)/ }).click();
  await sidePanel.waitFor({ state: 'detached' });
  t.is((await harness.request('GET', `/api/synthetics/checks/${storedCheck.id}`)).status, 404);
});

declare('an editor creates checks of requests and of a browser by forms', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/checks?open=new', 'editor@a.example');
  const sidePanel = page.getByRole('complementary', { name: 'Check' });
  const [first, second] = [1, 2].map((number) => sidePanel.getByRole('group', { name: `Step ${number}`, exact: true }));
  if (first === undefined || second === undefined) return t.fail();
  await sidePanel.getByLabel('Name', { exact: true }).fill('Order');
  await first.getByLabel('Method').selectOption('POST');
  await first.getByLabel('URL', { exact: true }).fill('https://shop.example/login');
  await first.getByText('Request options').click();
  await fillPair(first, 'Headers', ['Accept', 'application/json']);
  await first.getByLabel('Body').fill('{"user":"a"}');
  await first.getByLabel('Authentication').selectOption('Basic');
  await first.getByLabel('User name').fill('shop');
  await first.getByRole('button', { name: 'Add variable' }).click();
  const variable = first.getByRole('group', { name: 'Variable 1' });
  await variable.getByLabel('Name').fill('token');
  await variable.getByLabel('JSONPath').fill('$.token');
  await sidePanel.getByRole('button', { name: 'Add step' }).click();
  await second.getByLabel('URL', { exact: true }).fill('https://shop.example/orders');
  await second.getByLabel('Authentication').selectOption('Bearer token');
  await second.getByLabel('Token', { exact: true }).fill('{{values.token}}');
  await sidePanel.getByRole('button', { name: 'Move step 2 up' }).click();
  await sidePanel.getByRole('button', { name: 'Create check' }).click();
  await first.getByText('uses the value token, which no earlier step extracts').waitFor();
  await sidePanel.getByRole('button', { name: 'Move step 1 down' }).click();
  await sidePanel.getByRole('button', { name: 'Create check' }).click();
  await sidePanel.getByRole('heading', { name: 'Order' }).waitFor();
  const [order] = (await harness.request('GET', '/api/synthetics/checks?search=Order')).body.items;
  t.like(order.http.steps[0], { method: 'POST', headers: { Accept: 'application/json' }, body: '{"user":"a"}' });
  t.like(order.http.steps[0], { authentication: { type: 'basic', user: 'shop', password: '' } });
  t.deepEqual(order.http.steps[0].extract, [{ as: 'token', source: 'json', path: '$.token', isSecret: null }]);
  t.deepEqual(order.http.steps[1].authentication, { type: 'bearer', token: '{{values.token}}' });
  await sidePanel.getByRole('button', { name: 'Close' }).click();

  await page.getByRole('button', { name: 'New check' }).click();
  await sidePanel.getByLabel('Name', { exact: true }).fill('Sign-in');
  await sidePanel.getByRole('combobox', { name: 'Type' }).selectOption('Browser');
  await first.getByLabel('URL', { exact: true }).fill('https://shop.example/');
  await sidePanel.getByRole('button', { name: 'Add step' }).click();
  await second.getByLabel('Action').selectOption('Fill in');
  await second.getByLabel('Label text').fill('Email');
  await second.getByLabel('Text', { exact: true }).fill('a@shop.example');
  await sidePanel.getByRole('button', { name: 'Add step' }).click();
  const third = sidePanel.getByRole('group', { name: 'Step 3', exact: true });
  await third.getByLabel('Action').selectOption('Assert');
  await third.getByLabel('Property').selectOption('title');
  await third.getByLabel('Operator').selectOption('contains');
  await third.getByLabel('Value', { exact: true }).fill('Shop');
  t.is(await third.getByLabel('Element by').count(), 0);
  await sidePanel.getByRole('button', { name: 'Create check' }).click();
  await sidePanel.getByRole('heading', { name: 'Sign-in' }).waitFor();
  const [signIn] = (await harness.request('GET', '/api/synthetics/checks?search=Sign-in')).body.items;
  const [goto, fill, expectation] = signIn.browser.steps;
  t.like(goto, { action: 'goto', url: 'https://shop.example/' });
  t.like(fill, { action: 'fill', target: { by: 'label', label: 'Email', exact: false }, text: 'a@shop.example' });
  t.like(expectation, { action: 'expect', target: null, read: 'title', operator: 'contains', value: 'Shop' });
  await assertView(t, tab, '.beside h2');
  for (const { id: madeId } of [order, signIn])
    await harness.request('DELETE', `/api/synthetics/checks/${madeId}`, { as: 'admin' });
});

declare('the token of a heartbeat is shown once, and a new token revokes it', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/checks?open=new', 'editor@a.example');
  const sidePanel = page.getByRole('complementary', { name: 'Check' });
  await sidePanel.getByLabel('Name', { exact: true }).fill('Nightly');
  await sidePanel.getByRole('combobox', { name: 'Type' }).selectOption('Heartbeat');
  await sidePanel.getByLabel('Cron schedule').fill('0 3 * * *');
  await sidePanel.getByRole('button', { name: 'Create check' }).click();
  const pingAddress = sidePanel.getByRole('status').filter({ hasText: 'Send heartbeats to' });
  const first = await pingAddress.locator('code').textContent();
  t.regex(first ?? '', /^\/beats\/\w/);
  await sidePanel.getByRole('button', { name: 'Create new token' }).click();
  await pingAddress
    .locator('code')
    .filter({ hasNotText: first ?? '' })
    .waitFor();
  const second = await pingAddress.locator('code').textContent();
  const [{ tokenPrefix }] = (await harness.request('GET', '/api/synthetics/checks?search=Nightly')).body.items;
  t.true(second?.startsWith(`/beats/${tokenPrefix}`));
  await page.reload();
  await sidePanel.getByText(`Token prefix: ${tokenPrefix}`).waitFor();
  t.is(await pingAddress.count(), 0);
  await assertView(t, tab, '.beside h2');
});

declare(
  'an editor sets a secret for some hosts, which is never shown, changes its description, and deletes it',
  async (t) => {
    const tab = await chromium.open();
    const { page } = tab;
    await signInAndOpen(tab, harness.url, '/checks/variables', 'editor@a.example');
    await page.getByText('No variables yet').waitFor();
    await page.getByRole('button', { name: 'New variable' }).click();
    const sidePanel = page.getByRole('complementary', { name: 'Variable' });
    const fill = async (label: string, text: string): Promise<void> =>
      sidePanel.getByLabel(label, { exact: true }).fill(text);
    await fill('Name', 'shop_password');
    await fill('Value', 'open sesame');
    await sidePanel.getByLabel('Secret (never shown again)').check();
    const create = sidePanel.getByRole('button', { name: 'Create variable' });
    await create.click();
    await sidePanel.getByText('are required for a secret', { exact: true }).waitFor();
    await fill('Allowed hosts', 'shop.example, *.shop.example');
    await create.click();
    await sidePanel.getByRole('heading', { name: 'shop_password' }).waitFor();
    const ofIt = async () => (await harness.request('GET', '/api/synthetics/variables')).body.items[0];
    const created = await ofIt();
    t.like(created, { name: 'shop_password', isSecret: true, hosts: ['shop.example', '*.shop.example'] });
    await sidePanel.getByRole('button', { name: 'Edit' }).click();
    t.is(await sidePanel.getByLabel('Value', { exact: true }).inputValue(), created.value);
    await fill('Description', 'The <b>door</b>');
    await sidePanel.getByRole('button', { name: 'Save variable' }).click();
    await sidePanel.getByText('The <b>door</b>').waitFor();
    t.is((await ofIt()).value, created.value);
    t.false((await page.content()).includes('open sesame'));
    await assertView(t, tab, '.beside h2');
    await sidePanel.getByRole('button', { name: 'Delete' }).click();
    await sidePanel.getByRole('button', { name: /^Delete (“|permanently)/ }).click();
    await page.getByText('No variables yet').waitFor();
    t.is(await ofIt(), undefined);
  },
);

declare('an editor schedules a downtime of a check, sees when it is active, and deletes it', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/checks/downtimes', 'editor@a.example');
  await page.getByText('No downtimes yet').waitFor();
  await page.getByRole('button', { name: 'New downtime' }).click();
  const sidePanel = page.getByRole('complementary', { name: 'Downtime' });
  await sidePanel.getByLabel('Name', { exact: true }).fill('Upgrade');
  await sidePanel.getByLabel('Time zone').fill('UTC');
  await sidePanel.getByRole('combobox', { name: 'Recurrence' }).selectOption('every week');
  const plan = sidePanel.getByRole('button', { name: 'Schedule downtime' });
  await plan.click();
  await sidePanel
    .getByRole('group', { name: 'Checks' })
    .getByText(/specify checks or labels of checks/)
    .waitFor();
  await sidePanel.getByLabel(name).check();
  await plan.click();
  await sidePanel.getByRole('heading', { name: 'Upgrade' }).waitFor();
  const [storedDowntime] = (await harness.request('GET', '/api/synthetics/downtimes')).body.items;
  t.like(storedDowntime, { checkIds: [id], recurrence: 'FREQ=WEEKLY', durationMinutes: 60, checks: [{ id, name }] });
  const times = sidePanel.locator('.times tbody tr');
  await times.first().waitFor();
  t.is(await times.count(), storedDowntime.times.length);
  await sidePanel.getByRole('link', { name }).waitFor();
  await assertView(t, tab, '.beside h2');
  await sidePanel.getByRole('button', { name: 'Delete' }).click();
  await sidePanel.getByRole('button', { name: /^Delete (“|permanently)/ }).click();
  await page.getByText('No downtimes yet').waitFor();
  t.deepEqual((await harness.request('GET', '/api/synthetics/downtimes')).body.items, []);
});

declare(
  'an admin registers a location, whose token is shown once, and deletes it although a check has no other',
  async (t) => {
    const tab = await chromium.open();
    const { page } = tab;
    await signInAndOpen(tab, harness.url, '/checks/locations', 'admin@a.example');
    await page.getByRole('button', { name: 'New location' }).click();
    const sidePanel = page.getByRole('complementary', { name: 'Location' });
    await sidePanel.getByLabel('Name', { exact: true }).fill('Far & away');
    await sidePanel.getByRole('button', { name: 'Register location' }).click();
    await sidePanel.getByRole('alert').filter({ hasText: 'already exists' }).waitFor();
    await sidePanel.getByLabel('Name', { exact: true }).fill('Harbour');
    await sidePanel.getByRole('button', { name: 'Register location' }).click();
    await sidePanel.getByRole('heading', { name: 'Harbour' }).waitFor();
    const ofIt = async () =>
      (await harness.request('GET', '/api/synthetics/locations')).body.items.find(
        (one: { name: string }) => one.name === 'Harbour',
      );
    const { id: harbour, prefix } = await ofIt();
    t.true((await sidePanel.getByRole('status').textContent())?.includes(`OIQ_PROBE_TOKEN=${prefix}`));
    const steps = [{ url: 'https://shop.example/' }];
    await createOne('/api/synthetics/checks', {
      name: 'There alone',
      type: 'http',
      http: { steps },
      locations: [harbour],
    });
    await page.reload();
    await sidePanel.getByText('never').waitFor();
    t.is(await sidePanel.getByRole('status').count(), 0);
    await assertView(t, tab, '.beside h2');
    await sidePanel.getByRole('button', { name: 'Delete' }).click();
    await sidePanel.getByRole('button', { name: /^Delete (“|permanently)/ }).click();
    await sidePanel.getByRole('alert').filter({ hasText: '“There alone”' }).waitFor();
    await sidePanel.getByRole('button', { name: 'Delete anyway' }).click();
    await sidePanel.waitFor({ state: 'detached' });
    t.is(await ofIt(), undefined);
  },
);

declare('an editor imports checks as code and sees a preview of each document, with line and field', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/checks/code', 'editor@a.example');
  const source = [
    ...['name: From <code>', 'type: http', 'http:', '  steps:', '    - url: https://shop.example/'],
    ...['---', 'name: Wrong', 'type: tcp', 'tcp:', '  host: shop.example', '  port: 0', ''],
  ].join('\n');
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'All checks as YAML' }).click(),
  ]);
  t.is(readFileSync(await file.path(), 'utf8'), (await harness.request('GET', '/api/synthetics/export')).body);
  await page.getByLabel('Or paste YAML or JSON').fill(source);
  await page.getByRole('button', { name: 'Preview import' }).click();
  const rows = page.getByRole('region', { name: 'Import results' }).getByRole('row');
  await rows.nth(2).waitFor();
  const { items } = (
    await harness.request('POST', '/api/synthetics/import', { as: 'editor', body: { source, dryRun: true } })
  ).body;
  const shown = async () =>
    rows.evaluateAll((all) => all.slice(1).map((row) => [...row.children].map(({ textContent }) => textContent)));
  const outcomeRows = items.map(
    (item: {
      document: number;
      line: number;
      name: string;
      outcome: string;
      problems: { line: number; path: string; message: string }[];
    }) => [
      ...[`document ${item.document}, line ${item.line}`, item.name, item.outcome],
      item.problems.map(({ line, path, message }) => `Line ${line}, ${path}: ${message}`).join(''),
    ],
  );
  t.deepEqual(
    outcomeRows.map(([, , outcome]: string[]) => outcome),
    ['created', 'refused'],
  );
  t.deepEqual(await shown(), outcomeRows);
  await page.getByText('Preview only. This import would make these changes: 1 created, 1 refused.').waitFor();
  t.deepEqual((await harness.request('GET', '/api/synthetics/checks?search=From')).body.items, []);
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await page.getByText('Import completed: 1 created, 1 refused.').waitFor();
  const [stored] = (await harness.request('GET', '/api/synthetics/checks?search=From')).body.items;
  await page.getByRole('link', { name: 'From <code>' }).click();
  await page.getByRole('complementary', { name: 'Check' }).getByRole('heading', { name: stored.name }).waitFor();
  await assertView(t, tab, '.beside h2');
});

declare('a viewer reads variables and downtimes and has no buttons to change them', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/checks/code');
  await page.getByText('Importing checks is for editor, admin, and owner; your role is viewer.').waitFor();
  for (const part of ['', '/variables', '/downtimes', '/locations']) {
    await tab.go(`${harness.url}/checks${part}`);
    await page.locator('.freshness').getByText('Updated').waitFor();
    t.is(await page.getByRole('button', { name: /^Write/ }).count(), 0, part);
  }
  await assertView(t, tab, 'nav[aria-label="Checks"]');
});

declare('a browser check shows the screenshots of its page that exist', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  const browser = { steps: [{ action: 'goto', url: 'https://shop.example/' }] };
  const { id: checkId } = await createOne('/api/synthetics/checks', { name: 'Seen', type: 'browser', browser });
  const content = (await page.screenshot({ type: 'jpeg', clip: { x: 0, y: 0, width: 8, height: 8 } })).toString(
    'base64',
  );
  await harness.documents
    .forTenant('a')
    .collection(syntheticPictures)
    .insert({ checkId, location: 'local', kind: 'failed', dueMs: nowMs, content });
  await signInAndOpen(tab, harness.url, `/checks?open=${checkId}`);
  const picture = page.getByRole('img', { name: 'Screenshot at the end of the last failed run' });
  await picture.waitFor();
  await page.getByText('Local, last failed run:').waitFor();
  t.is(await picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth), 8);
  t.is(await page.getByRole('img', { name: /^Screenshot at the end/ }).count(), 1);
  await assertView(t, tab, '.beside h2');
});
