/** The area SLOs in a real browser: states, one SLO with budget and burn rates, editing and importing. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import { type StoredSlo, slos } from '../../schemas/resources/slo.ts';
import { measuring, minuteMs, telemetryIn } from '../cases/slos/measured-telemetry.ts';
import { chromiumMissing } from '../services/chromium.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Chromium, startChromium } from './chromium.ts';
import { assertView, fillPair, findAxeViolations, signInAndOpen } from './page-walk.ts';

let harness: Harness;
let chromium: Chromium;
const declare = chromiumMissing === undefined ? test.serial : test.serial.skip;

const name = 'Checkout <b>answers</b>';
let id = '';

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  [harness, chromium] = await Promise.all([startHarness(), startChromium()]);
  const nowMs = Math.floor(Date.now() / minuteMs) * minuteMs;
  await telemetryIn(harness.columns).logs(
    'checkout',
    Array.from({ length: 20 }, (_, at) => ({ atMs: nowMs - (at + 2) * minuteMs, good: 50, bad: at % 5 === 0 ? 1 : 0 })),
  );
  const count = (search: string) => ({ kind: 'aggregate', signal: 'logs', search, measures: [{ function: 'count' }] });
  const sli = { bad: count('service:checkout AND severity:error'), total: count('service:checkout') };
  const body = { name, type: 'ratio', service: 'checkout', targetPct: 99, windowDays: 7, query: { sli } };
  const created = await harness.request('POST', '/api/slos', { as: 'editor', body });
  if (created.status !== 200) throw new Error(JSON.stringify(created.body));
  id = created.body.id;
  const stored = (await harness.documents.forTenant('a').collection(slos).find(id)) as StoredSlo & StoredMetadata;
  await measuring(harness)(stored, nowMs);
});
test.after.always(async () => {
  await chromium?.close();
  await harness?.close();
});

declare('an objective shows its indicator and error budget, with burn rates and a forecast', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/slos');
  const { body } = await harness.request('GET', `/api/slos/${id}/status`);
  const row = page.getByRole('row', { name });
  await row.waitFor();
  t.deepEqual(await row.getByRole('cell').allTextContents(), [
    ...[
      name,
      'checkout',
      '99 %',
      '7 days',
      `${(100 * body.sli).toFixed(3)} %`,
      `${body.budget.remainingPct.toFixed(1)} %`,
    ],
  ]);
  await row.getByRole('button').click();
  const sidePanel = page.getByRole('complementary', { name: 'SLO' });
  const burns = sidePanel.getByRole('table').first().getByRole('row');
  await burns.nth(body.burnRates.length).waitFor();
  const [first] = body.burnRates;
  t.deepEqual((await burns.nth(1).getByRole('cell').allTextContents()).slice(0, 2), [
    ...[first.window, first.rate === null ? 'no data' : first.rate.toFixed(2)],
  ]);
  await sidePanel.getByRole('img', { name: /^Burn rate/ }).waitFor();
  await assertView(t, tab, '.beside h2');
});

declare('an editor creates an objective, sees an error at its field, changes it and deletes it', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/slos', 'editor@a.example');
  await page.getByRole('button', { name: 'New SLO' }).click();
  const sidePanel = page.getByRole('complementary', { name: 'SLO' });
  const fill = (label: string, text: string): Promise<void> => sidePanel.getByLabel(label, { exact: true }).fill(text);
  const stored = async () => (await harness.request('GET', '/api/slos?search=shop')).body.items;
  const shop = 'The <i>shop</i> is fast';
  await fill('Name', shop);
  await sidePanel.getByRole('button', { name: 'Create SLO' }).click();
  await sidePanel
    .getByText('is required: without query.sli, the requests of a service are counted', { exact: true })
    .waitFor();
  t.is(await sidePanel.getByLabel('Service', { exact: true }).getAttribute('aria-invalid'), 'true');
  await fill('Service', 'shop');
  await sidePanel.getByLabel('SLI type').selectOption('latency');
  await fill('Latency threshold (ms)', '250');
  await fill('Target %', '99.5');
  await sidePanel.getByLabel('Window type').selectOption('month');
  await fill('Time zone', 'UTC');
  await sidePanel.getByRole('button', { name: 'Create SLO' }).click();
  await page.getByRole('row', { name: `${shop} shop 99.5 % a month` }).waitFor();
  const [{ id: sloId, ...written }] = await stored();
  const calendar = { period: 'month', timeZone: 'UTC', startsAt: '2024-01-01T00:00' };
  t.like(written, { type: 'latency', service: 'shop', targetPct: 99.5, latencyThresholdMs: 250 });
  t.deepEqual(written.query.calendar, calendar);

  await sidePanel.getByRole('button', { name: 'Edit', exact: true }).click();
  await sidePanel.getByLabel('SLI type').selectOption('ratio');
  const bad = sidePanel.getByRole('group', { name: 'Bad' });
  t.is(await bad.getByLabel('Search').inputValue(), 'service:"shop" severity:error');
  await bad.getByLabel('Group by').fill('service');
  await bad.getByLabel('Search').fill('service:shop severity:error OR status:500');
  await sidePanel.getByLabel('Custom burn-rate rules').check();
  await fill('Short window', '2h');
  await fillPair(sidePanel, 'Labels', ['team', 'shop']);
  await sidePanel.getByRole('button', { name: 'Save SLO' }).click();
  await bad.getByText('must be empty: an SLO has one value for each slice').waitFor();
  await sidePanel.getByText('must be shorter than 1h', { exact: true }).waitFor();
  await bad.getByLabel('Group by').fill('');
  await fill('Short window', '5m');
  t.deepEqual([...(await findAxeViolations(tab, 'light')), ...(await findAxeViolations(tab, 'dark'))], []);
  await sidePanel.getByRole('button', { name: 'Save SLO' }).click();
  await sidePanel.getByRole('heading', { name: 'Error budget policy' }).waitFor();
  const [{ query, type }] = await stored();
  t.is(type, 'ratio');
  t.like(query.sli, {
    bad: { kind: 'aggregate', signal: 'logs', search: 'service:shop severity:error OR status:500', groupBy: [] },
    total: { kind: 'aggregate', signal: 'logs', search: 'service:"shop"' },
  });
  t.like(query.alerting, {
    labels: { team: 'shop' },
    rules: [{ severity: 'page', rate: 14.4, long: '1h', short: '5m' }],
  });

  await sidePanel.getByRole('button', { name: 'Edit policy' }).click();
  await sidePanel.getByRole('button', { name: 'Add step' }).click();
  await sidePanel.getByLabel('Condition').selectOption('burns');
  await fill('Name', 'Freeze');
  await fill('Window', '90s');
  await sidePanel.getByLabel('Freeze deployments while active').check();
  await sidePanel.getByRole('button', { name: 'Save policy' }).click();
  await sidePanel.getByText('must be a multiple of the slice of 1m', { exact: true }).waitFor();
  await fill('Window', '2h');
  await sidePanel.getByRole('button', { name: 'Save policy' }).click();
  await sidePanel.getByText('if the burn rate over 2h is at least 10').waitFor();
  const { steps } = (await harness.request('GET', `/api/slos/${sloId}/policy`)).body;
  t.deepEqual(steps, [{ name: 'Freeze', burnRate: 10, window: '2h', severity: 'warning', labels: {}, freeze: true }]);

  await sidePanel.getByText('As OpenSLO').click();
  const text = sidePanel.getByRole('region', { name: 'OpenSLO' }).locator('pre');
  t.is(await text.textContent(), (await harness.request('GET', `/api/slos/${sloId}/export`)).body);
  await sidePanel.getByLabel('Version').selectOption('v1alpha');
  const { details } = (await harness.request('GET', `/api/slos/${sloId}/export?version=v1alpha`)).body;
  for (const { path, message } of details) await sidePanel.getByText(`${path} ${message}`, { exact: true }).waitFor();
  await assertView(t, tab, '.beside h2');
  await sidePanel.getByRole('button', { name: 'Delete' }).click();
  await sidePanel.getByRole('button', { name: /^Delete (“|permanently)/ }).click();
  await sidePanel.waitFor({ state: 'detached' });
  t.deepEqual(await stored(), []);
});

declare('an objective is reported month by month, as in the API', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, `/slos?open=${id}`);
  const sidePanel = page.getByRole('complementary', { name: 'SLO' });
  await sidePanel.getByText('Editing is for editor, admin, and owner; your role is viewer.').waitFor();
  await sidePanel.getByText('Report by calendar period').click();
  const { body } = await harness.request('GET', `/api/slos/${id}/report?period=month&from=now-365d`);
  const rows = sidePanel.getByRole('region', { name: 'Report' }).locator('tbody tr');
  await rows.nth(body.items.length - 1).waitFor();
  const download = page.waitForEvent('download');
  await sidePanel.getByRole('link', { name: 'Download as CSV' }).click();
  t.is(
    readFileSync(await (await download).path(), 'utf8')
      .trim()
      .split('\n').length,
    1 + body.items.length,
  );
  const last = body.items.at(-1);
  t.deepEqual((await rows.last().locator('td').allTextContents()).slice(2, 6), [
    ...['99 %', 'yes, so far', `${(100 * last.sli).toFixed(3)} %`, `${last.budget.remainingPct.toFixed(1)} %`],
  ]);
  await assertView(t, tab, '.beside h2');
});

declare('OpenSLO objectives are imported after a preview of each, with the reason for a rejected one', async (t) => {
  const written = (name: string, target: number): string => `apiVersion: openslo/v1
kind: SLO
metadata: { name: ${name} }
spec:
  service: shop
  indicator:
    metadata: { name: ${name} }
    spec:
      ratioMetric:
        counter: true
        good: { metricSource: { type: prometheus, spec: { query: 'sum(requests_ok_total)' } } }
        total: { metricSource: { type: prometheus, spec: { query: 'sum(requests_total)' } } }
  timeWindow: [{ duration: 30d, isRolling: true }]
  budgetingMethod: Occurrences
  objectives: [{ target: ${target} }]
`;
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/slos', 'editor@a.example');
  await page.getByRole('link', { name: 'Import' }).click();
  const stored = async () => (await harness.request('GET', '/api/slos?search=imported')).body.items;
  await page.getByLabel('Or paste YAML').fill(`${written('imported', 0.999)}---\n${written('wrong', 7)}`);
  await page.getByRole('button', { name: 'Preview import' }).click();
  await page.getByText('Preview only. This import would make these changes: 1 created, 1 refused.').waitFor();
  t.deepEqual(await stored(), []);
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await page.getByText('Import completed: 1 created, 1 refused.').waitFor();
  const [{ id: sloId, targetPct }] = await stored();
  t.is(targetPct, 99.9);
  t.is(await page.getByRole('row', { name: /refused/ }).count(), 1);
  t.deepEqual([...(await findAxeViolations(tab, 'light')), ...(await findAxeViolations(tab, 'dark'))], []);
  await page.getByRole('link', { name: 'imported' }).click();
  await page.getByRole('complementary', { name: 'SLO' }).getByText('99.9 %', { exact: true }).waitFor();
  t.true(page.url().includes(sloId));
  t.deepEqual(tab.complaints, []);
});

declare('a user without permission to write objectives has no buttons for it', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/slos/import');
  await page.getByRole('row', { name }).waitFor();
  t.is(await page.getByRole('link', { name: 'Import' }).count(), 0);
  t.is(await page.getByRole('button', { name: 'New SLO' }).count(), 0);
});
