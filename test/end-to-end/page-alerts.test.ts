/** The area Alerts in a real browser: reasons of firing alerts, acknowledgement, silences, and states of rules. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { createMemoryCounters } from '../../adapters/counters-memory.ts';
import { createFileMailer } from '../../adapters/mail-file.ts';
import { scheduleTopics, startProcessors } from '../../processors/index.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import type { Role } from '../../schemas/ports/role.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { startSinks } from '../../sinks/index.ts';
import { type ChannelReceiver, services, startChannelReceiver } from '../cases/channel-receiver.ts';
import { chromiumMissing } from '../services/chromium.ts';
import { eventually } from '../waiting.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Chromium, startChromium } from './chromium.ts';
import { assertView, fillPair, findAxeViolations, signInAndOpen } from './page-walk.ts';

let harness: Harness;
let chromium: Chromium;
let roles: Role[] = [];
let receiver: ChannelReceiver;
const declare = chromiumMissing === undefined ? test.serial : test.serial.skip;

const name = 'Errors <b>of a service</b>';

// biome-ignore lint/suspicious/noExplicitAny: a response of the API
type Answered = any;

const get = async (path: string) => (await harness.request('GET', path)).body;

const deliveries = async (): Promise<readonly { readonly state: string }[]> => {
  const [channel] = (await get('/api/notification-channels')).items;
  return (await get(`/api/notification-channels/${channel.id}/deliveries`)).items;
};

/** Routes alerts of a team to one channel without delay. */
const sendToChannel = async (): Promise<void> => {
  const settings = { type: 'webhook', url: receiver.url, authorization: 'Bearer of <i>ours</i>' };
  const channel = await harness.request('POST', '/api/notification-channels', {
    body: { name: 'Duty <i>phone</i>', settings },
  });
  const shop = { receiver: 'shop', matchers: [{ name: 'team', value: 'shop' }] };
  const body = {
    route: { receiver: 'nobody', groupBy: ['alertname'], groupWait: '0s', routes: [shop] },
    receivers: [{ name: 'nobody' }, { name: 'shop', channelIds: [channel.body.id] }],
  };
  const { status } = await harness.request('PUT', '/api/v2/alerts/routing', { body, headers: { 'if-match': '"0"' } });
  if (status !== 200) throw new Error(`the routing returned ${status}`);
};

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  const environment = { OIQ_OUTBOUND_NETWORKS: '127.0.0.0/8', OIQ_SECRET_KEY: 'k'.repeat(40) };
  [harness, chromium, receiver] = await Promise.all([
    startHarness({ environment }),
    startChromium(),
    startChannelReceiver({ status: 200, body: 'taken <b>note</b> of' }),
  ]);
  const settings = parseSettings({ OIQ_DATA_DIR: harness.directory, ...environment });
  const options = {
    ...harness,
    settings,
    metrics: silentMetrics,
    log: silentLog,
    clock: systemClock,
    counters: createMemoryCounters({ clock: systemClock }),
    mailer: createFileMailer({ path: join(harness.directory, 'mails') }),
  };
  await harness.bus.ensureTopics(scheduleTopics);
  await sendToChannel();
  const only = ['alert-evaluation', 'alert-backtests', 'notifications', 'notification-deliveries'];
  const landing = ['alert-transitions', 'alert-evaluations', 'notification-deliveries'];
  roles = [
    await startProcessors({ ...options, only }),
    await startSinks({ ...options, embedded: true, selectedNames: landing }),
  ];
  // Minutes in the past, because a preview evaluates a rule each minute.
  await harness.columns.execute(
    `INSERT INTO logs (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, observed_timestamp, service, severity_number, severity_text, body, body_type)
    SELECT 'a', 'default', now64(3) - 180, 0, 1, number, now64(9) - 180, now64(9) - 180, 'cart', 17, 'ERROR', 'failed', 's' FROM numbers(7)`,
  );
  const rule = {
    name,
    interval: '10s',
    labels: { team: 'shop' },
    annotations: { summary: '{{ $labels.service }} fails', runbook_url: 'https://runbooks.example/cart' },
    condition: {
      kind: 'threshold',
      query: {
        kind: 'aggregate',
        signal: 'logs',
        search: 'severity:error',
        measures: [{ function: 'count' }],
        groupBy: ['service'],
      },
      window: '1h',
      thresholds: [{ severity: 'critical', operator: 'above', value: 5 }],
    },
  };
  for (const body of [rule, { ...rule, name: 'Switched off', enabled: false }]) {
    const { status, body: answer } = await harness.request('POST', '/api/alerts/rules', { as: 'editor', body });
    if (status !== 200) throw new Error(JSON.stringify(answer));
  }
  await eventually('the alert', async () => (await get('/api/alerts?state=firing')).items.length > 0);
  await eventually('the delivery result', async () => (await deliveries()).some(({ state }) => state === 'delivered'));
});
test.after.always(async () => {
  for (const role of roles) await role.stop();
  await chromium?.close();
  await harness?.close();
  await receiver?.close();
});

declare('a firing alert shows its value, start time and reason as in the API', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/alerts');
  const row = page.locator('.alerts .extent .row');
  await row.first().waitFor();
  const [alert] = (await get('/api/alerts')).items;
  t.deepEqual((await row.first().getByRole('gridcell').allTextContents()).slice(0, 6), [
    ...['firing', 'critical', name, 'service=cart, team=shop', String(alert.value), '7 is above 5 over 1h'],
  ]);
  await row.first().click();
  const sidePanel = page.getByRole('complementary', { name: 'Alert' });
  await sidePanel.getByText('Acknowledging alerts is for editor, admin, and owner; your role is viewer.').waitFor();
  t.is(await sidePanel.getByRole('button', { name: 'Acknowledge' }).count(), 0);
  await sidePanel.getByText('cart fails').waitFor();
  const logsUrl = await sidePanel.getByRole('link', { name: 'Service logs' }).getAttribute('href');
  const logsFrom = new URL(logsUrl ?? '', harness.url).searchParams.get('from') ?? '';
  t.true(Date.parse(logsFrom) < Date.parse(alert.startedAt), logsFrom);
  t.regex((await sidePanel.getByRole('link', { name: 'Data of the rule' }).getAttribute('href')) ?? '', /^\/logs\?/);
  const runbook = sidePanel.getByRole('link', { name: 'Runbook', exact: true });
  t.is(await runbook.getAttribute('href'), 'https://runbooks.example/cart');
  const search = (await sidePanel.getByRole('link', { name: 'Runbooks' }).getAttribute('href')) ?? '';
  t.like(JSON.parse(new URL(search, harness.url).searchParams.get('labels') ?? ''), { service: 'cart', team: 'shop' });
  await assertView(t, tab, '.beside h2');
  await sidePanel.getByRole('link', { name: 'Open page' }).click();
  await page.getByRole('heading', { name, level: 2 }).waitFor();
  await page.getByText('Firing', { exact: true }).waitFor();
  t.is(await sidePanel.count(), 0);
  await assertView(t, tab, '.card h2');
});

declare('a dashboard lists firing alerts and other dashboards, with its time range', async (t) => {
  const visual = { kind: 'alerts', labels: '{team=~"sh.*"}', groupBy: ['service'] };
  const place = { width: 12, height: 6 };
  const panels = [
    { id: 'now', title: 'Now', visual, place },
    { id: 'many', title: 'How many', visual: { kind: 'alerts', shows: 'count' }, place: { ...place, x: 12 } },
    { id: 'none', title: 'None', visual: { ...visual, labels: '{team!="shop"}' }, place: { ...place, y: 6 } },
    { id: 'wrong', title: 'Wrong', visual: { ...visual, labels: '{team' }, place: { ...place, x: 12, y: 6 } },
    { id: 'to', title: 'To', visual: { kind: 'dashboards', keepTime: true }, place: { ...place, y: 12 } },
  ];
  const { body: board } = await harness.request('POST', '/api/dashboards', {
    as: 'editor',
    body: { name: 'What <i>fires</i>', panels },
  });
  const tab = await chromium.open();
  const { page } = tab;
  await page.setViewportSize({ width: 1400, height: 1000 });
  await signInAndOpen(tab, harness.url, `/dashboards/${board.id}?from=now-2h`);
  const within = (title: string) =>
    page.locator('.panel', { has: page.getByRole('heading', { name: title, exact: true }) });
  await within('None').getByText('No matching alerts').waitFor();
  await within('Wrong').getByText('Labels could not be read: {team').waitFor();
  await within('Now').getByRole('heading', { name: 'service=cart' }).waitFor();
  const link = within('Now').getByRole('link', { name });
  t.regex((await within('Now').getByRole('listitem').textContent()) ?? '', /^critical .*team=shop 7 since /);
  t.is(await within('How many').locator('dd').textContent(), '1');
  const [itself] = await within('To').getByRole('link').all();
  t.is(await itself?.getAttribute('href'), `/dashboards/${board.id}?from=now-2h`);
  await assertView(t, tab, '.panel h2 >> nth=0');
  await link.click();
  await page.getByRole('complementary', { name: 'Alert' }).waitFor();
});

declare('an editor acknowledges and silences an alert, sees the silence and expires it', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  const [{ id }] = (await get('/api/alerts')).items;
  await signInAndOpen(tab, harness.url, `/alerts?alert=${id}`, 'editor@a.example');
  const sidePanel = page.getByRole('complementary', { name: 'Alert' });
  await sidePanel.locator('.plot[aria-label^="Compared value, critical above 5"]').waitFor();
  await sidePanel.getByLabel('Note').fill('I look at it');
  await sidePanel.getByRole('button', { name: 'Acknowledge' }).click();
  await sidePanel.getByText(/I look at it/).waitFor();
  t.is((await get('/api/alerts')).items[0].acknowledged.note, 'I look at it');
  await sidePanel.getByLabel('Comment').fill('it is mended today');
  await sidePanel.getByRole('button', { name: 'Silence' }).click();
  await sidePanel.getByText(/Muted until/).waitFor();
  const mutedBy = sidePanel.getByRole('region', { name: 'Muted by' });
  await mutedBy.getByRole('link', { name: /service=cart/ }).waitFor();
  await sidePanel.getByRole('heading', { name: 'Duty <i>phone</i> (receiver shop)' }).waitFor();
  await sidePanel.getByRole('row', { name: /delivered 1 firing .* 200 taken <b>note<\/b> of/ }).waitFor();
  const [silence] = (await get('/api/alerts/silences')).items;
  t.is(silence.comment, 'it is mended today');
  t.deepEqual(
    Object.fromEntries(silence.matchers.map((each: { name: string; value: string }) => [each.name, each.value])),
    { alertname: name, service: 'cart', severity: 'critical', team: 'shop' },
  );
  await page.getByRole('navigation', { name: 'Alerts' }).getByRole('link', { name: 'Silences' }).click();
  await page.getByRole('row', { name: /it is mended today/ }).waitFor();
  await assertView(t, tab, '.figures tbody tr');
  await page.getByRole('button', { name: 'End now' }).click();
  await page.getByText('No active or scheduled silences').waitFor();
  t.is((await get('/api/alerts/silences?state=active')).items.length, 0);
  await page.getByLabel('Matchers').fill('team=~sh(');
  await page.keyboard.press('Tab');
  await page.getByText(/matchers/).waitFor();
  await page.getByLabel('Matchers').fill('team=~"sh.*", service!=mail');
  await page.keyboard.press('Tab');
  await page.getByText('This would mute 1 of 1 firing alerts.').waitFor();
  await page.getByRole('button', { name: 'Create silence' }).click();
  const muting = page.getByRole('row', { name: /team=~sh\.\*, service!=mail/ });
  await muting.getByText('Change end').click();
  await muting.getByLabel('Silence for').selectOption('7 days');
  await muting.getByLabel('Comment').fill('it takes <i>longer</i>');
  await muting.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('cell', { name: 'it takes <i>longer</i>', exact: true }).waitFor();
  const [longer] = (await get('/api/alerts/silences?state=active')).items;
  t.is(longer.comment, 'it takes <i>longer</i>');
  t.true(Date.parse(longer.endsAt) > Date.now() + 6 * 86_400_000);
  await page.getByRole('button', { name: 'End now' }).click();
  await page.getByText('No active or scheduled silences').waitFor();
  t.deepEqual(tab.complaints, []);
});

declare('rules show their state and when they fire', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/alerts/rules');
  const row = page.locator('.rules .extent .row', { hasText: name });
  await row.waitFor();
  t.deepEqual((await row.getByRole('gridcell').allTextContents()).slice(0, 4), [
    ...['firing', name, '1', 'critical: above 5 over 1h'],
  ]);
  await page
    .locator('.rules .extent .row', { hasText: 'Switched off' })
    .getByText('disabled', { exact: true })
    .waitFor();
  await row.click();
  await page.getByRole('complementary', { name: 'Rule' }).getByText('"severity:error"').waitFor();
  await assertView(t, tab, '.beside h2');
});

declare('a rule is edited with a preview of its results, tested over past data and saved', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/alerts/rules', 'editor@a.example');
  await page.getByRole('link', { name: 'New alert rule' }).click();
  const trial = page.getByRole('region', { name: 'Preview and backtest' });
  await trial.getByText('Fill in the condition to see a preview.').waitFor();
  t.is(await page.getByText('is required for above').count(), 0, 'no errors before the first change');
  await page.getByLabel('Name', { exact: true }).fill('Errors <i>by hand</i>');
  // The API reports what is missing, with its field.
  await page.getByText('is required for above').waitFor();
  t.is(await page.getByLabel('Value', { exact: true }).getAttribute('aria-invalid'), 'true');
  await page.getByLabel('Search', { exact: true }).fill('severity:(');
  await page.locator('#Query-problem', { hasText: 'expected' }).waitFor();
  await page.getByLabel('Search', { exact: true }).fill('severity:error');
  await page.getByLabel('Group by').fill('service');
  await page.getByLabel('Value', { exact: true }).fill('5');
  await page.getByLabel('Window').fill('10m');
  await fillPair(page.locator('main'), 'Labels', ['team', 'shop']);
  await trial.getByRole('cell', { name: '7 is above 5 over 10m' }).waitFor();
  await trial.locator('.plot[aria-label^="Compared value, warning above 5"]').waitFor();
  await page
    .getByRole('group', { name: 'Notify' })
    .getByText('Route team=shop → Duty <i>phone</i> (webhook)')
    .waitFor();
  await page.getByLabel('Pending period').fill('soon');
  await page.getByText(/must be a duration/).waitFor();
  await page.getByLabel('Pending period').fill('');
  await trial.getByRole('button', { name: /^Run backtest/ }).click();
  await trial.locator('#firings', { hasText: 'once' }).waitFor();
  await trial.getByRole('region', { name: 'Backtest results' }).getByRole('cell', { name: 'service=cart' }).waitFor();
  await page.waitForURL(/draft=/);
  await assertView(t, tab, '.trial .text-error');
  t.is(await page.getByLabel('Window').inputValue(), '10m');
  await page.getByRole('button', { name: 'Create rule' }).click();
  const sidePanel = page.getByRole('complementary', { name: 'Rule' });
  await sidePanel.getByText('Errors <i>by hand</i>').waitFor();
  const saved = async () =>
    (await get('/api/alerts/rules?search=by%20hand')).items.map(({ name, condition, labels, version }: Answered) => [
      ...[
        name,
        condition.query.search,
        condition.query.groupBy,
        condition.thresholds,
        condition.window,
        labels,
        version,
      ],
    ]);
  const limit = { severity: 'warning', operator: 'above', value: 5 };
  t.deepEqual(await saved(), [
    ['Errors <i>by hand</i>', 'severity:error', ['service'], [limit], '10m', { team: 'shop' }, 1],
  ]);
  await sidePanel.getByRole('link', { name: 'Edit' }).click();
  await page.getByRole('button', { name: 'Add threshold' }).click();
  const second = page.getByRole('group', { name: 'critical' });
  await second.getByLabel('Value', { exact: true }).fill('100');
  await page.getByRole('button', { name: 'Save rule' }).click();
  await sidePanel.getByText('warning: above 5 over 10m; critical: above 100 over 10m').waitFor();
  t.is((await saved())[0][6], 2);
  await sidePanel.getByRole('button', { name: 'Delete' }).click();
  await sidePanel.getByRole('button', { name: /and resolve its alerts/ }).click();
  await sidePanel.waitFor({ state: 'detached' });
  t.deepEqual(await saved(), []);
  t.deepEqual(tab.complaints, []);
});

declare('the history shows each transition with its reason, of all rules and of one rule', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/alerts/rules');
  await page.locator('.rules .extent .row', { hasText: name }).click();
  const sidePanel = page.getByRole('complementary', { name: 'Rule' });
  const [rule] = (await get(`/api/alerts/rules?search=${encodeURIComponent('Errors')}`)).items;
  const [evaluation] = (await get(`/api/alerts/rules/${rule.id}/evaluations`)).items;
  await sidePanel
    .getByRole('row', { name: `firing ${evaluation.groups} ${evaluation.firing}` })
    .first()
    .waitFor();
  const { items: groups } = await get(`/api/v2/alerts/rules/${rule.id}/groups`);
  const cells = sidePanel.getByRole('row', { name: /^service=cart/ }).getByRole('cell');
  t.deepEqual((await cells.allTextContents()).slice(0, 4), [
    ...['service=cart', groups[0].state, String(groups[0].value), groups[0].reason],
  ]);
  await sidePanel.getByRole('link', { name: 'Alert history' }).click();
  await page.getByRole('button', { name: `ruleId: ${rule.id}` }).waitFor();
  const { items } = await get(`/api/alerts/history?ruleId=${rule.id}`);
  const rows = page.getByRole('region', { name: 'Alert history' }).locator('tbody tr');
  await rows.nth(items.length - 1).waitFor();
  t.deepEqual(
    await rows.evaluateAll((all) => all.map((row) => [...row.children].slice(1).map(({ textContent }) => textContent))),
    items.map(({ from, to, severity, value, reason }: Answered) => [
      ...[name, 'service=cart, team=shop', from, to, severity, String(value ?? ''), reason],
    ]),
  );
  t.true(items.length > 0);
  await assertView(t, tab, 'main tbody tr');
});

declare('a rule is disabled and enabled, and fires a test alert', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/alerts/rules', 'editor@a.example');
  await page.locator('.rules .extent .row', { hasText: 'Switched off' }).click();
  const sidePanel = page.getByRole('complementary', { name: 'Rule' });
  const stored = async () => (await get('/api/alerts/rules?search=Switched')).items[0];
  await sidePanel.getByRole('button', { name: 'Enable' }).click();
  await sidePanel.getByRole('button', { name: 'Disable' }).waitFor();
  t.true((await stored()).enabled);
  await sidePanel.getByRole('button', { name: 'Disable' }).click();
  await sidePanel.getByRole('button', { name: 'Enable' }).waitFor();
  t.false((await stored()).enabled);
  await sidePanel.getByText('Send test alert').click();
  await sidePanel.getByLabel('Labels').fill('service=by <i>hand</i>');
  await sidePanel.getByRole('button', { name: 'Send' }).click();
  await sidePanel.getByText('A test alert fired and resolved.').waitFor();
  await eventually('the test in the history', async () =>
    (await get('/api/alerts/history')).items.some(
      ({ isTest, labels }: Answered) => isTest && labels.service === 'by <i>hand</i>',
    ),
  );
  await page.getByRole('link', { name: 'History', exact: true }).click();
  await page.getByRole('row', { name: /by <i>hand<\/i>.* firing \(test\)/ }).waitFor();
  t.deepEqual(tab.complaints, []);
});

declare('a Prometheus rule file is imported, with recording rules, and all rules are exported', async (t) => {
  const file = `groups:
- name: Of <i>a file</i>
  rules:
  - record: job:requests:rate5m
    expr: sum by (job) (rate(requests_total[5m]))
  - alert: NothingIsUp
    expr: up == 0
  - record: wrong
    expr: sum(
`;
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/alerts/rules', 'editor@a.example');
  await page.getByRole('link', { name: 'Import rules' }).click();
  const names = async () =>
    (await get('/api/alerts/rules?search=NothingIsUp')).items.map((each: Answered) => each.name);
  await page.getByLabel('Or paste YAML').fill('groups: 7');
  await page.getByRole('button', { name: 'Preview import' }).click();
  await page.getByLabel('Or paste YAML').and(page.locator('[aria-invalid=true]')).waitFor();
  await page.getByLabel('Or paste YAML').fill(file);
  await page.getByRole('button', { name: 'Preview import' }).click();
  await page.getByText('Preview only. This import would make these changes: 2 created, 1 refused.').waitFor();
  t.deepEqual(await names(), []);
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await page.getByText('Import completed: 2 created, 1 refused.').waitFor();
  t.is((await names()).length, 1);
  await page.getByRole('row', { name: /refused/ }).waitFor();
  t.deepEqual([...(await findAxeViolations(tab, 'light')), ...(await findAxeViolations(tab, 'dark'))], []);
  await page.getByRole('link', { name: 'Rules', exact: true }).click();
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Export as Prometheus rules' }).click();
  const exported = readFileSync(await (await download).path(), 'utf8');
  t.is(exported, await get('/api/alerts/rules/export'));
  t.regex(exported, /job:requests:rate5m/);
  t.deepEqual(tab.complaints, []);
});

declare('a group of recording rules is created, shows the state of its rules, and is deleted', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/alerts/recording', 'editor@a.example');
  await page.getByRole('row', { name: /^Of <i>a file<\/i>/ }).waitFor();
  await page.getByRole('button', { name: 'New recording group' }).click();
  const sidePanel = page.getByRole('complementary', { name: 'Recording group' });
  const stored = async () => (await get('/api/alerts/recording-groups?search=hand')).items;
  await sidePanel.getByLabel('Name', { exact: true }).fill('By <b>hand</b>');
  await sidePanel.getByLabel('Series name').fill('service:up:sum');
  await sidePanel.getByLabel('PromQL expression').fill('sum by (service) (up');
  await sidePanel.getByRole('button', { name: 'Create group' }).click();
  await sidePanel.getByLabel('PromQL expression').and(page.locator('[aria-invalid=true]')).waitFor();
  await sidePanel.getByLabel('PromQL expression').fill('sum by (service) (up)');
  await fillPair(sidePanel, 'Labels', ['team', 'shop']);
  await sidePanel.getByRole('button', { name: 'Create group' }).click();
  await sidePanel.getByRole('heading', { name: 'Rules', exact: true }).waitFor();
  const rule = { record: 'service:up:sum', expression: 'sum by (service) (up)', labels: { team: 'shop' } };
  t.deepEqual((await stored())[0].rules, [rule]);
  await sidePanel.getByRole('row', { name: 'service:up:sum never 0' }).waitFor();
  await sidePanel.getByRole('button', { name: 'Edit' }).click();
  await sidePanel.getByRole('button', { name: 'Add rule' }).click();
  const second = sidePanel.getByRole('group', { name: 'Rule 2' });
  await second.getByLabel('Series name').fill('up:max');
  await second.getByLabel('PromQL expression').fill('max(up)');
  await sidePanel.getByRole('button', { name: 'Remove rule 1' }).click();
  t.is(await sidePanel.getByLabel('Labels: name').inputValue(), '');
  t.deepEqual([...(await findAxeViolations(tab, 'light')), ...(await findAxeViolations(tab, 'dark'))], []);
  await sidePanel.getByRole('button', { name: 'Save group' }).click();
  await sidePanel.getByText('max(up)').waitFor();
  t.deepEqual((await stored())[0].rules, [{ record: 'up:max', expression: 'max(up)', labels: {} }]);
  await assertView(t, tab, '.beside h2');
  await sidePanel.getByRole('button', { name: 'Delete' }).click();
  await sidePanel.getByRole('button', { name: /^Delete (“|permanently)/ }).click();
  await sidePanel.waitFor({ state: 'detached' });
  t.deepEqual(await stored(), []);
});

declare('a rule created by an objective names the objective and links to it', async (t) => {
  const count = (search: string) => ({ kind: 'aggregate', signal: 'logs', search, measures: [{ function: 'count' }] });
  const sli = { bad: count('service:cart AND severity:error'), total: count('service:cart') };
  const alerting = { rules: [{ severity: 'page', rate: 12, long: '1h', short: '5m' }] };
  const body = { name: 'Cart works', type: 'ratio', service: 'cart', targetPct: 99, windowDays: 7 };
  const slo = await harness.request('POST', '/api/slos', { as: 'editor', body: { ...body, query: { sli, alerting } } });
  t.is(slo.status, 200, JSON.stringify(slo.body));
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/alerts/rules?search=Cart');
  await page.locator('.rules .extent .row').first().click();
  const way = page.getByRole('complementary', { name: 'Rule' }).getByRole('link', { name: 'its SLO' });
  await way.waitFor();
  await assertView(t, tab, '.beside h2');
  await way.click();
  await page.getByRole('complementary', { name: 'SLO' }).getByText('Cart works').waitFor();
  t.deepEqual(tab.complaints, []);
});

declare(
  'a maintenance window is created with a preview of what it mutes, repeats by its RRULE, and is deleted',
  async (t) => {
    const tab = await chromium.open();
    const { page } = tab;
    await signInAndOpen(tab, harness.url, '/alerts', 'editor@a.example');
    await page.getByRole('navigation', { name: 'Alerts' }).getByRole('link', { name: 'Maintenance' }).click();
    await page.getByText('No maintenance windows yet').waitFor();
    await page.getByRole('button', { name: 'New maintenance window' }).click();
    const sidePanel = page.getByRole('complementary', { name: 'Maintenance window' });
    await sidePanel.getByLabel('Name', { exact: true }).fill('New <i>disks</i>');
    const create = sidePanel.getByRole('button', { name: 'Create window' });
    await create.click();
    await sidePanel
      .getByText(/would mute everything: name a value or projects$/)
      .first()
      .waitFor();
    await sidePanel.getByLabel('Matchers').fill('{team="shop", service!="a,b"}');
    await page.keyboard.press('Tab');
    const matchers = [
      { name: 'team', operator: '=', value: 'shop' },
      { name: 'service', operator: '!=', value: 'a,b' },
    ];
    const { body: muted } = await harness.request('POST', '/api/alerts/silences/preview', { body: { matchers } });
    t.is(muted.muted, 1);
    await sidePanel.getByText(`This would mute ${muted.muted} of ${muted.firing} firing alerts.`).waitFor();
    await sidePanel.getByLabel('From', { exact: true }).fill('2026-01-04T22:00');
    await sidePanel.getByLabel('Time zone').fill('Europe/Zurich');
    await sidePanel.getByLabel('Recurrence').selectOption('Custom rule');
    await sidePanel.getByRole('textbox', { name: 'Rule' }).fill('FREQ=SOMETIMES');
    await create.click();
    await sidePanel.getByRole('alert').filter({ hasText: /FREQ/ }).first().waitFor();
    await sidePanel.getByRole('textbox', { name: 'Rule' }).fill('FREQ=WEEKLY;BYDAY=SU');
    await create.click();
    await sidePanel.getByRole('heading', { name: 'New <i>disks</i>' }).waitFor();
    const [window] = (await get('/api/maintenance-windows')).items;
    t.like(window, { recurrence: 'FREQ=WEEKLY;BYDAY=SU', durationMinutes: 60, timeZone: 'Europe/Zurich' });
    t.deepEqual(window.matchers, matchers);
    const rows = sidePanel.locator('.times tbody tr');
    await rows.nth(window.times.length - 1).waitFor();
    t.is(await rows.count(), window.times.length);
    await page.getByRole('row', { name: /^New <i>disks<\/i> .*team=shop, service!="a,b" .*FREQ=WEEKLY/ }).waitFor();
    await assertView(t, tab, '.beside h2');
    await sidePanel.getByRole('button', { name: 'Edit' }).click();
    await sidePanel.getByLabel('Recurrence').selectOption('once');
    await sidePanel.getByRole('button', { name: 'Save window' }).click();
    await sidePanel.getByText('The schedule has ended or has no occurrence within a year.').waitFor();
    t.is((await get('/api/maintenance-windows')).items[0].recurrence, null);
    await sidePanel.getByRole('button', { name: 'Delete' }).click();
    await sidePanel.getByRole('button', { name: /^Delete (“|permanently)/ }).click();
    await sidePanel.waitFor({ state: 'detached' });
    t.deepEqual((await get('/api/maintenance-windows')).items, []);
    t.deepEqual(tab.complaints, []);
  },
);

declare(
  'a contact point is added, tested, changed and deleted, and its routes and deliveries are listed',
  async (t) => {
    const tab = await chromium.open();
    const { page } = tab;
    await signInAndOpen(tab, harness.url, '/alerts', 'editor@a.example');
    await page.getByRole('navigation', { name: 'Alerts' }).getByRole('link', { name: 'Contact points' }).click();
    const sidePanel = page.getByRole('complementary', { name: 'Contact point' });
    await page.getByRole('button', { name: 'Duty <i>phone</i>' }).click();
    await sidePanel
      .getByRole('row', { name: /delivered 1 firing .* 200 taken <b>note<\/b> of/ })
      .first()
      .waitFor();
    await sidePanel.getByRole('region', { name: 'Routes' }).getByRole('link', { name: 'team=shop' }).waitFor();
    await page.getByRole('button', { name: 'New contact point' }).click();
    const add = sidePanel.getByRole('button', { name: 'Create contact point' });
    await sidePanel.getByLabel('Type').selectOption({ label: 'ntfy' });
    await sidePanel.getByLabel('Name').fill('Second <i>phone</i>');
    await sidePanel.getByLabel('Topic').fill('no topic');
    await add.click();
    await sidePanel.getByText('must consist of at most 64 letters, digits, _ and -', { exact: true }).waitFor();
    await sidePanel.getByLabel('Topic').fill('pages');
    await sidePanel.getByLabel('Token').fill('secret-of-ours');
    await sidePanel.getByLabel('URL').fill(receiver.url);
    await add.click();
    await sidePanel.getByRole('heading', { name: 'Second <i>phone</i>' }).waitFor();
    t.false((await page.content()).includes('secret-of-ours'));
    await sidePanel.getByText('No route notifies this contact point, so no alert reaches it.').waitFor();
    await assertView(t, tab, '.beside h2');
    receiver.reply = () => services['ntfy']?.accepted ?? 'hang';
    await sidePanel.getByRole('button', { name: 'Send test' }).click();
    await sidePanel.getByText(/^The test was delivered in/).waitFor();
    receiver.reply = () => ({ status: 500, body: 'out <i>of</i> order' });
    await sidePanel.getByRole('button', { name: 'Send test' }).click();
    await sidePanel.getByText('The test was not delivered: 500 out <i>of</i> order').waitFor();
    receiver.reply = () => ({ status: 200 });
    const saved = async () =>
      (await get('/api/notification-channels?search=Second')).items.map(({ enabled, settings }: Answered) => [
        ...[enabled, settings.topic, settings.token],
      ]);
    t.deepEqual(await saved(), [[true, 'pages', '********']]);
    await sidePanel.getByRole('button', { name: 'Edit' }).click();
    await sidePanel.getByLabel('Topic').fill('nights');
    await sidePanel.getByLabel('Enabled').uncheck();
    await sidePanel.getByLabel('Rate limit per minute').fill('7');
    await sidePanel.getByText('Custom message').click();
    const show = sidePanel.getByRole('button', { name: 'Preview with two alerts' });
    await sidePanel.getByLabel('Title', { exact: true }).fill('{{#alerts}}');
    await show.click();
    await sidePanel.getByRole('alert').filter({ hasText: 'alerts' }).waitFor();
    await sidePanel.getByLabel('Title', { exact: true }).fill('<b>{{status}}</b>');
    await show.click();
    const templates = { title: '<b>{{status}}</b>', text: '' };
    const { body: rendered } = await harness.request('POST', '/api/notification-channels/preview', { body: templates });
    await sidePanel.getByText(rendered.title, { exact: true }).waitFor();
    t.deepEqual([...(await findAxeViolations(tab, 'light')), ...(await findAxeViolations(tab, 'dark'))], []);
    await sidePanel.getByRole('button', { name: 'Save contact point' }).click();
    await page.getByRole('row', { name: /Second <i>phone<\/i> ntfy .*disabled/ }).waitFor();
    t.deepEqual(await saved(), [[false, 'nights', '********']]);
    t.like((await get('/api/notification-channels?search=Second')).items[0], { templates, maxPerMinute: 7 });
    await sidePanel.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete contact point' }).click();
    await sidePanel.waitFor({ state: 'detached' });
    t.deepEqual(await saved(), []);
    t.deepEqual(tab.complaints, []);
  },
);

declare(
  'a rule notifies contact points that its form selects or creates, and its route follows its name',
  async (t) => {
    const before = await get('/api/v2/alerts/routing');
    const tab = await chromium.open();
    const { page } = tab;
    await signInAndOpen(tab, harness.url, '/alerts/rule', 'editor@a.example');
    await page.getByLabel('Name', { exact: true }).fill('Told <i>directly</i>');
    await page.getByLabel('Value', { exact: true }).fill('5');
    const notify = page.getByRole('group', { name: 'Notify' });
    await notify.getByText(/Nobody is notified of this alert/).waitFor();
    await notify.getByRole('button', { name: 'New contact point' }).click();
    const added = notify.getByRole('group', { name: 'New contact point' });
    await added.getByLabel('Name').fill('Third <i>phone</i>');
    await added.getByLabel('URL').fill(receiver.url);
    await added.getByRole('button', { name: 'Create contact point' }).click();
    await notify.getByText(/^Route alertname=Told <i>directly<\/i> → Third <i>phone<\/i> \(webhook\)$/).waitFor();
    t.true(await notify.getByLabel('Third <i>phone</i> (webhook)').isChecked());
    await page.waitForURL(/draft=.*directly/);
    await assertView(t, tab, '.receivers li');
    await page.getByRole('button', { name: 'Create rule' }).click();
    const sidePanel = page.getByRole('complementary', { name: 'Rule' });
    await sidePanel.getByRole('link', { name: 'Edit' }).click();
    const [channel] = (await get('/api/notification-channels?search=Third')).items;
    const storedRoutes = async () => {
      const { route, receivers } = await get('/api/v2/alerts/routing');
      return route.routes.map(({ matchers, receiver: name }: Answered) => [
        matchers[0].value,
        receivers.find((each: Answered) => each.name === name).channelIds,
      ]);
    };
    const [shop] = (await get('/api/notification-channels?search=Duty')).items;
    t.deepEqual(await storedRoutes(), [
      ['Told <i>directly</i>', [channel.id]],
      ['shop', [shop.id]],
    ]);
    await page.getByLabel('Name', { exact: true }).fill('Renamed');
    await notify.getByText(/^Route alertname=Renamed → Third/).waitFor();
    await page.getByRole('button', { name: 'Save rule' }).click();
    await sidePanel.getByRole('heading', { name: 'Renamed' }).waitFor();
    t.deepEqual((await storedRoutes())[0], ['Renamed', [channel.id]]);
    await sidePanel.getByRole('link', { name: 'Edit' }).click();
    await notify.getByLabel('Third <i>phone</i> (webhook)').uncheck();
    await notify.getByText(/Nobody is notified of this alert/).waitFor();
    await page.getByRole('button', { name: 'Save rule' }).click();
    await sidePanel.getByRole('heading', { name: 'Renamed' }).waitFor();
    t.deepEqual(await get('/api/v2/alerts/routing'), before);
    t.deepEqual(tab.complaints, []);
  },
);

declare('routes, receivers and time intervals are edited by forms', async (t) => {
  const before = await get('/api/v2/alerts/routing');
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/alerts/routing', 'editor@a.example');
  await page.getByRole('button', { name: 'New time interval' }).click();
  const times = page.getByRole('complementary', { name: 'Time interval' });
  await times.getByLabel('Name', { exact: true }).fill('weekends');
  await times.getByLabel('Days of the week').fill('saturday:someday');
  await times.getByRole('button', { name: 'Create time intervals' }).click();
  await times.getByText('must be a day or a range such as monday:friday').first().waitFor();
  await times.getByLabel('Days of the week').fill('saturday:sunday');
  await times.getByRole('button', { name: 'Create time intervals' }).click();
  const tree = page.getByRole('region', { name: 'Routing' });
  await tree.getByRole('row', { name: /^weekends saturday:sunday/ }).waitFor();
  await page.getByRole('button', { name: 'New route', exact: true }).click();
  const panel = page.getByRole('complementary', { name: 'Route' });
  await panel.getByLabel('Matchers').fill('team=~"mobile|<i>web</i>"');
  await panel.getByRole('combobox', { name: 'Receiver' }).selectOption('New receiver');
  await panel.getByRole('button', { name: 'Create route' }).click();
  await panel.getByRole('alert').filter({ hasText: /\S/ }).first().waitFor();
  await panel.getByLabel('Receiver name').fill('Web team');
  await panel.getByLabel('Duty <i>phone</i> (webhook)').check();
  await panel.getByLabel('Repeat interval').fill('1h');
  await panel.getByRole('group', { name: 'Mute during' }).getByLabel('weekends').check();
  t.deepEqual([...(await findAxeViolations(tab, 'light')), ...(await findAxeViolations(tab, 'dark'))], []);
  await panel.getByRole('button', { name: 'Create route' }).click();
  await panel.waitFor({ state: 'detached' });
  const [shop] = (await get('/api/notification-channels?search=Duty')).items;
  const stored = await get('/api/v2/alerts/routing');
  t.like(stored.route.routes[1], {
    matchers: [{ name: 'team', operator: '=~', value: 'mobile|<i>web</i>' }],
    receiver: 'Web team',
    repeatInterval: '1h',
    muteTimeIntervals: ['weekends'],
  });
  t.deepEqual(stored.receivers.at(-1).channelIds, [shop.id]);
  await tree.getByText('repeats after 1h; muted during weekends').waitFor();
  await tree.getByRole('button', { name: 'Move up team=~mobile|<i>web</i>' }).click();
  await tree.getByRole('button', { name: 'Move up team=shop' }).waitFor();
  t.is((await get('/api/v2/alerts/routing')).route.routes[0].receiver, 'Web team');
  await tree.getByRole('button', { name: 'Web team' }).click();
  const receiverPanel = page.getByRole('complementary', { name: 'Receiver' });
  await receiverPanel.getByText('One route uses it, so it cannot be deleted.').waitFor();
  await assertView(t, tab, '.beside h2');
  await tree.getByRole('button', { name: 'Edit team=~mobile|<i>web</i>' }).click();
  await panel.getByRole('button', { name: 'Delete' }).click();
  await panel.getByRole('button', { name: 'Delete “team=~mobile|<i>web</i>”' }).click();
  await panel.waitFor({ state: 'detached' });
  for (const [name, label] of [
    ['Web team', 'Receiver'],
    ['weekends', 'Time interval'],
  ] as const) {
    await tree.getByRole('button', { name, exact: true }).click();
    const part = page.getByRole('complementary', { name: label });
    await part.getByRole('button', { name: 'Delete' }).click();
    await part.getByRole('button', { name: `Delete “${name}”` }).click();
    await part.waitFor({ state: 'detached' });
  }
  t.deepEqual(await get('/api/v2/alerts/routing'), before);
  t.deepEqual(tab.complaints, []);
});

declare('the routing tree shows the route of given labels, and is edited as a document', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/alerts/routing', 'editor@a.example');
  const tree = page.getByRole('region', { name: 'Routing' });
  await tree.getByRole('code').filter({ hasText: 'team=shop' }).waitFor();
  await tree.getByText('(Duty <i>phone</i> (webhook))').waitFor();
  await page.getByLabel('Test routing').fill('team=shop, severity=critical');
  await page.keyboard.press('Enter');
  await page.getByText('Receivers: shop.').waitFor();
  const { routes } = (
    await harness.request('POST', '/api/v2/alerts/routing/test', {
      body: { labels: { team: 'shop', severity: 'critical' } },
    })
  ).body;
  for (const { outcome, reason } of routes) await tree.getByText(`${outcome}: ${reason}`).waitFor();
  await assertView(t, tab, '.routes');
  await page.getByRole('button', { name: 'Edit as JSON' }).click();
  const document = page.getByLabel('Document', { exact: true });
  const written = JSON.parse(await document.inputValue());
  await document.fill('{');
  const save = page.getByRole('button', { name: 'Save routing' });
  await save.click();
  await page.getByText(/^This is not valid JSON/).waitFor();
  await document.fill(JSON.stringify({ ...written, route: { ...written.route, receiver: 'who?' } }));
  await save.click();
  await page.getByText(/^route\.receiver: /).waitFor();
  await document.fill(JSON.stringify({ ...written, route: { ...written.route, groupWait: '7s' } }));
  await save.click();
  await tree.getByText(/waits 7s/).waitFor();
  t.is((await get('/api/v2/alerts/routing')).route.groupWait, '7s');
  await page.getByRole('button', { name: 'Edit as JSON' }).click();
  await page.getByText('Import Alertmanager config').click();
  const yaml = page.getByLabel('YAML', { exact: true });
  const read = page.getByRole('button', { name: 'Import', exact: true });
  await yaml.fill('route: 7');
  await read.click();
  await page.getByRole('alert').filter({ hasText: 'yaml' }).first().waitFor();
  const alertmanager = 'route: { receiver: nights, group_wait: 9s }\nreceivers: [{ name: nights }]\n';
  await yaml.fill(alertmanager);
  await read.click();
  await page.getByText('The configuration was imported into the document below and is not saved yet.').waitFor();
  const { body: imported } = await harness.request('POST', '/api/v2/alerts/routing/import', {
    body: { yaml: alertmanager },
  });
  t.deepEqual(JSON.parse(await document.inputValue()), imported.routing);
  t.deepEqual([...(await findAxeViolations(tab, 'light')), ...(await findAxeViolations(tab, 'dark'))], []);
  t.is((await get('/api/v2/alerts/routing')).route.groupWait, '7s');
  t.deepEqual(tab.complaints, []);
});
