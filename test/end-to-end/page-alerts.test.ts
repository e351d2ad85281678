/** The area of alerts in a real browser: what fires says why, is seen to and muted by those who may, and rules say how they stand. */
import test from 'ava';
import { scheduleTopics, startProcessors } from '../../processors/index.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import { silent } from '../../schemas/ports/log.ts';
import { noMetrics } from '../../schemas/ports/metrics.ts';
import type { Role } from '../../schemas/ports/role.ts';
import { settingsOf } from '../../schemas/settings.ts';
import { startSinks } from '../../sinks/index.ts';
import { chromiumMissing } from '../services/chromium.ts';
import { eventually } from '../waiting.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Chromium, startChromium } from './chromium.ts';
import { holdsAsAView, signedInAt } from './page-walk.ts';

let harness: Harness;
let chromium: Chromium;
let roles: Role[] = [];
const declare = chromiumMissing === undefined ? test.serial : test.serial.skip;

const name = 'Errors <b>of a service</b>';

const asked = async (path: string) => (await harness.ask('GET', path)).body;

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  [harness, chromium] = await Promise.all([startHarness(), startChromium()]);
  const settings = settingsOf({ OIQ_DATA_DIR: harness.directory });
  const options = { ...harness, settings, metrics: noMetrics, log: silent, clock: systemClock };
  await harness.bus.ensureTopics(scheduleTopics);
  roles = [
    await startProcessors({ ...options, only: ['alert-evaluation'] }),
    await startSinks({ ...options, embedded: true, only: ['alert-transitions', 'alert-evaluations'] }),
  ];
  await harness.columns.execute(
    `INSERT INTO logs (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, observed_timestamp, service, severity_number, severity_text, body, body_type)
    SELECT 'a', 'default', now64(3), 0, 1, number, now64(9) - 1, now64(9), 'cart', 17, 'ERROR', 'failed', 's' FROM numbers(7)`,
  );
  const rule = {
    ...{ name, interval: '10s', labels: { team: 'shop' }, annotations: { summary: '{{ $labels.service }} fails' } },
    condition: {
      kind: 'threshold',
      query: {
        ...{ kind: 'aggregate', signal: 'logs', search: 'severity:error' },
        ...{ measures: [{ function: 'count' }], groupBy: ['service'] },
      },
      ...{ window: '1h', thresholds: [{ severity: 'critical', operator: 'above', value: 5 }] },
    },
  };
  for (const body of [rule, { ...rule, name: 'Switched off', enabled: false }]) {
    const { status, body: answer } = await harness.ask('POST', '/api/alerts/rules', { as: 'editor', body });
    if (status !== 200) throw new Error(JSON.stringify(answer));
  }
  await eventually('the alert', async () => (await asked('/api/alerts?state=firing')).items.length > 0);
});
test.after.always(async () => {
  for (const role of roles) await role.stop();
  await chromium?.close();
  await harness?.close();
});

declare('an alert that fires tells its value, since when and why, as the API has it', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signedInAt(tab, harness.url, '/alerts');
  const row = page.locator('.alerts .extent .row');
  await row.first().waitFor();
  const [alert] = (await asked('/api/alerts')).items;
  t.deepEqual((await row.first().getByRole('gridcell').allTextContents()).slice(0, 6), [
    ...['firing', 'critical', name, 'service=cart, team=shop', String(alert.value), '7 is above 5 over 1h'],
  ]);
  await row.first().click();
  const beside = page.getByRole('complementary', { name: 'Alert' });
  await beside.getByText('Acknowledging it is for editor, admin, and owner; your role is viewer.').waitFor();
  t.is(await beside.getByRole('button', { name: 'Acknowledge' }).count(), 0);
  await beside.getByText('cart fails').waitFor();
  await beside.getByRole('link', { name: 'Logs of its service' }).waitFor();
  await holdsAsAView(t, tab, '.beside h2');
});

declare('an editor acknowledges and silences it, sees the silence and ends it', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  const [{ id }] = (await asked('/api/alerts')).items;
  await signedInAt(tab, harness.url, `/alerts?alert=${id}`, 'editor@a.example');
  const beside = page.getByRole('complementary', { name: 'Alert' });
  await beside.getByLabel('Note').fill('I look at it');
  await beside.getByRole('button', { name: 'Acknowledge' }).click();
  await beside.getByText(/I look at it/).waitFor();
  t.is((await asked('/api/alerts')).items[0].acknowledged.note, 'I look at it');
  await beside.getByLabel('Because').fill('it is mended today');
  await beside.getByRole('button', { name: 'Silence' }).click();
  await beside.getByText(/It is muted until/).waitFor();
  const [silence] = (await asked('/api/alerts/silences')).items;
  t.is(silence.comment, 'it is mended today');
  t.deepEqual(
    Object.fromEntries(silence.matchers.map((each: { name: string; value: string }) => [each.name, each.value])),
    { alertname: name, service: 'cart', severity: 'critical', team: 'shop' },
  );
  await page.getByRole('navigation', { name: 'Alerts' }).getByRole('link', { name: 'Silences' }).click();
  await page.getByRole('row', { name: /it is mended today/ }).waitFor();
  await holdsAsAView(t, tab, '.figures tbody tr');
  await page.getByRole('button', { name: 'End now' }).click();
  await page.getByText('No silence holds, and none is to come.').waitFor();
  t.is((await asked('/api/alerts/silences?state=active')).items.length, 0);
  t.deepEqual(tab.complaints, []);
});

declare('rules tell how they stand and when they fire', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signedInAt(tab, harness.url, '/alerts/rules');
  const row = page.locator('.rules .extent .row', { hasText: name });
  await row.waitFor();
  t.deepEqual((await row.getByRole('gridcell').allTextContents()).slice(0, 4), [
    ...['firing', name, '1', 'critical: above 5 over 1h'],
  ]);
  await page.locator('.rules .extent .row', { hasText: 'Switched off' }).getByText('off', { exact: true }).waitFor();
  await row.click();
  await page.getByRole('complementary', { name: 'Rule' }).getByText('"severity:error"').waitFor();
  await holdsAsAView(t, tab, '.beside h2');
});

declare('a rule that an objective made says so, and leads to the objective', async (t) => {
  const count = (search: string) => ({ kind: 'aggregate', signal: 'logs', search, measures: [{ function: 'count' }] });
  const sli = { bad: count('service:cart AND severity:error'), total: count('service:cart') };
  const alerting = { rules: [{ severity: 'page', rate: 12, long: '1h', short: '5m' }] };
  const body = { name: 'Cart works', type: 'ratio', service: 'cart', targetPct: 99, windowDays: 7 };
  const slo = await harness.ask('POST', '/api/slos', { as: 'editor', body: { ...body, query: { sli, alerting } } });
  t.is(slo.status, 200, JSON.stringify(slo.body));
  const tab = await chromium.open();
  const { page } = tab;
  await signedInAt(tab, harness.url, '/alerts/rules?search=Cart');
  await page.locator('.rules .extent .row').first().click();
  const way = page
    .getByRole('complementary', { name: 'Rule' })
    .getByRole('link', { name: 'the objective that made it' });
  await way.waitFor();
  await holdsAsAView(t, tab, '.beside h2');
  await way.click();
  await page.getByRole('complementary', { name: 'Objective' }).getByText('Cart works').waitFor();
  t.deepEqual(tab.complaints, []);
});
