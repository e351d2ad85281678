/** Features of every area: palette, shortcuts, preferences, projects, retried and cancelled requests. */
import { setTimeout as delay } from 'node:timers/promises';
import test from 'ava';
import { checkResource } from '../../api/groups/synthetics/check.ts';
import { chromiumMissing } from '../services/chromium.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Chromium, startChromium, type Tab } from './chromium.ts';
import { landLogs } from './landed-logs.ts';
import { assertView, signInAndOpen } from './page-walk.ts';

let harness: Harness;
let chromium: Chromium;
let shop: string;
const declare = chromiumMissing === undefined ? test.serial : test.serial.skip;
const atMs = Math.floor(Date.now() / 1_000) * 1_000 - 60_000;

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  [harness, chromium] = await Promise.all([startHarness(), startChromium()]);
  const project = async (name: string): Promise<string> =>
    (await harness.request('POST', '/api/projects', { as: 'owner', body: { name } })).body.id;
  shop = await project('Shop <1>');
  await project('Warehouse');
  const records = (bodies: readonly string[]) =>
    bodies.map((body, index) => ({ timeNs: BigInt(atMs - index) * 1_000_000n, body }));
  await landLogs(harness, records(['sold', 'paid']), { offset: 1, projectId: shop });
  await landLogs(harness, records(['packed']), { offset: 2, projectId: 'elsewhere' });
  await harness.request('POST', '/api/saved-queries', {
    as: 'owner',
    body: { name: 'What was <i>sold</i>', query: { kind: 'rows', signal: 'logs', search: 'sold' } },
  });
});
test.after.always(async () => {
  await chromium?.close();
  await harness?.close();
});

const opened = async (address: string): Promise<Tab> => {
  const tab = await chromium.open();
  await signInAndOpen(tab, harness.url, address);
  return tab;
};

declare('Ctrl K finds areas, saved queries and a trace by ID, and ? shows the keyboard shortcuts', async (t) => {
  const tab = await opened('/logs');
  const { page } = tab;
  await page.locator('.rows[aria-rowcount="4"]').waitFor();
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Search or jump to' });
  const field = palette.getByRole('combobox');
  await field.pressSequentially('met');
  await palette.getByRole('option', { name: 'Metrics Area' }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/explore-metrics*');
  await page.keyboard.press('Control+k');
  await field.fill('what was');
  await palette.getByRole('option', { name: 'What was <i>sold</i> Saved query' }).waitFor();
  await assertView(t, tab, '.brand');
  await page.keyboard.press('Control+k');
  await field.fill('what was');
  await palette.getByRole('option', { name: 'What was <i>sold</i> Saved query' }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/logs?*search=sold*');
  await page.locator('.rows[aria-rowcount="2"]').waitFor();
  await page.getByRole('button', { name: /^Search or jump to/ }).click();
  await field.fill('F'.repeat(32));
  await palette.getByRole('option', { name: `${'f'.repeat(32)} Trace` }).waitFor();
  await page.keyboard.press('Escape');
  await palette.waitFor({ state: 'detached' });
  await page.locator('main').focus();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Ctrl K').waitFor();
  t.deepEqual(tab.complaints, []);
});

declare('the project is in the URL and stays selected in other areas', async (t) => {
  const tab = await opened('/logs');
  const { page } = tab;
  await page.locator('#count', { hasText: /^3$/ }).waitFor();
  await page.getByLabel('Project').selectOption('Shop <1>');
  await page.locator('#count', { hasText: /^2$/ }).waitFor();
  t.is(new URL(page.url()).searchParams.get('project'), shop);
  t.is((await harness.request('GET', `/api/logs/histogram?projectId=${shop}`)).body.records, 2);
  await assertView(t, tab, '#count');
  await page.getByRole('link', { name: 'Traces' }).click();
  await page.waitForURL(`**/traces?*project=${shop}*`);
  // Lists from declarations too, of telemetry and of configuration.
  for (const projectId of [shop, null]) {
    const body = { ...checkResource.example, name: `Of ${projectId === null ? 'nobody' : 'the shop'}`, projectId };
    t.is((await harness.request('POST', '/api/synthetics/checks', { as: 'editor', body })).status, 200);
  }
  await page.getByRole('link', { name: 'Synthetics' }).click();
  await page.getByRole('row', { name: /^Of the shop/ }).waitFor();
  t.is(await page.getByRole('row').count(), 2);
  await page.getByLabel('Project').selectOption('All projects');
  await page.getByRole('row', { name: /^Of nobody/ }).waitFor();
  t.is(await page.getByRole('row').count(), 3);
  for (const [address, expectedPath] of [
    ['/infrastructure', '/api/infrastructure/hosts'],
    ['/alerts/rules', '/api/alerts/rules'],
    ['/errors', '/api/errors'],
  ]) {
    const response = page.waitForResponse((response) => new URL(response.url()).pathname === expectedPath);
    await tab.go(`${harness.url}${address}?project=${shop}`);
    const apiResponse = await response;
    t.is(new URL(apiResponse.url()).searchParams.get('projectId'), shop, address);
    t.is(apiResponse.status(), 200, address);
  }
  t.deepEqual(tab.complaints, []);
});

declare('times use the time zone and format of the preferences, in another browser too', async (t) => {
  const tab = await opened('/logs?search=sold');
  const { page } = tab;
  const time = page.locator('.extent .row time');
  await time.waitFor();
  await page.locator('#account').click();
  // Each change is made while the previous one is in flight.
  await page.route('**/api/preferences', async (route) => {
    await delay(500);
    await route.continue();
  });
  await page.getByLabel('Time zone').fill('Asia/Kolkata');
  await page.getByLabel('Time zone').press('Enter');
  await page.getByLabel('Date format').selectOption('day-month-year');
  await page.getByLabel('Time format').selectOption('12h');
  const moved = new Date(atMs + 5.5 * 3_600_000).toISOString();
  const [date = '', clock = ''] = moved.slice(0, -1).split('T');
  const hour = Number(clock.slice(0, 2));
  const twelve = `${String(hour % 12 === 0 ? 12 : hour % 12).padStart(2, '0')}${clock.slice(2)} ${hour < 12 ? 'AM' : 'PM'}`;
  const expected = `${date.split('-').toReversed().join('-')} ${twelve}`;
  await page.locator('.extent .row time', { hasText: expected }).waitFor();
  await page.getByLabel('Time zone').fill('Nowhere');
  await page.getByLabel('Time zone').press('Enter');
  await page.locator('.account-panel .problem', { hasText: 'IANA' }).waitFor();
  const other = await opened('/logs?search=sold');
  await other.page.locator('.extent .row time', { hasText: expected }).waitFor();
  await assertView(t, other, '.extent .row time');
});

declare('the page opens by itself once the server is available again', async (t) => {
  const tab = await opened('/logs');
  const { page } = tab;
  const body = { error: 'UNAVAILABLE', message: 'Not now.' };
  await page.route('**/auth/session', (route) =>
    route.fulfill({ status: 503, headers: { 'retry-after': '2' }, json: body }),
  );
  await page.reload();
  await page.getByRole('alert').getByText('Not now. Retrying in 2 s.').waitFor();
  await page.unroute('**/auth/session');
  await page.locator('.rows[aria-rowcount="4"]').waitFor();
  t.deepEqual(tab.complaints, []);
});

declare('a request is retried while the server is unavailable, and a cancelled request ends', async (t) => {
  const tab = await opened('/explore-metrics');
  const { page } = tab;
  // An unavailable store cannot be limited to one tab, so the response is faked.
  await page.route('**/api/logs?*', (route) =>
    route.fulfill({
      status: 503,
      headers: { 'retry-after': '60' },
      json: { error: 'UNAVAILABLE', message: 'Not now.' },
    }),
  );
  await page.getByRole('link', { name: 'Logs', exact: true }).click();
  await page.getByText('Not now. Retrying in 60 s.').waitFor();
  await page.unroute('**/api/logs?*');
  await page.getByRole('button', { name: 'Retry now' }).click();
  await page.locator('.rows[aria-rowcount="4"]').waitFor();
  await page.route('**/api/logs?*', () => undefined);
  await page.locator('#refresh').click();
  await page.locator('.listed.old').waitFor();
  const ended = page.waitForEvent('requestfailed', (request) => request.url().includes('/api/logs?'));
  await page.getByRole('button', { name: 'Cancel' }).click();
  t.is((await ended).failure()?.errorText, 'net::ERR_ABORTED');
  await page.locator('.listed:not(.old)').waitFor();
  t.deepEqual(tab.complaints, []);
});
