/** The menu in a real browser: areas in groups, on small screens behind a button, and for each role and plan what it may use. */
import test from 'ava';
import { chromiumMissing } from '../services/chromium.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Chromium, startChromium, type Tab } from './chromium.ts';
import { axeFinds, holdsAsAView, signedInAt } from './page-walk.ts';

let harness: Harness;
let chromium: Chromium;
const declare = chromiumMissing === undefined ? test.serial : test.serial.skip;

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  [harness, chromium] = await Promise.all([startHarness(), startChromium()]);
});
test.after.always(async () => {
  await chromium?.close();
  await harness?.close();
});

const opened = async (address: string, email?: string): Promise<Tab> => {
  const tab = await chromium.open();
  await signedInAt(tab, harness.url, address, email);
  return tab;
};

declare('areas are in named groups in the menu, and an area that the plan lacks links to the reason', async (t) => {
  const tab = await opened('/alerts', 'viewer@b.example');
  const { page } = tab;
  const menu = page.getByRole('navigation', { name: 'Areas' });
  const found = menu.getByRole('list', { name: 'Health' });
  t.deepEqual(await found.getByRole('link').allTextContents(), [
    'Services: The plan of this organization does not include services.',
    ...['Errors', 'Alerts'],
    'Anomalies: The plan of this organization does not include anomalies.',
    ...['SLOs', 'Checks', 'Events'],
  ]);
  t.deepEqual(await menu.locator('[aria-current=page]').allTextContents(), ['Alerts']);
  t.is(await menu.getByRole('button').count(), 0);
  await menu.getByRole('link', { name: 'Detections' }).click();
  await page.locator('main').getByText('The plan of this organization does not include detections.').waitFor();
  await holdsAsAView(t, tab, 'main .said');
});

declare('on a small screen the menu opens by keyboard, closes with Escape, and closes after a selection', async (t) => {
  const tab = await opened('/alerts');
  const { page } = tab;
  await page.setViewportSize({ width: 320, height: 640 });
  const button = page.getByRole('button', { name: 'Menu: Alerts' });
  const logs = page.getByRole('link', { name: 'Logs', exact: true });
  t.is(await logs.count(), 0);
  await button.focus();
  await page.keyboard.press('Enter');
  await logs.waitFor();
  t.is(await button.getAttribute('aria-expanded'), 'true');
  for (const theme of ['light', 'dark'] as const) t.deepEqual(await axeFinds(tab, theme), []);
  t.is(await page.evaluate('document.documentElement.scrollWidth'), 320);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Escape');
  await logs.waitFor({ state: 'hidden' });
  t.true(await button.evaluate((node) => node === node.ownerDocument.activeElement));
  await page.keyboard.press('Enter');
  await logs.focus();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/logs*');
  await logs.waitFor({ state: 'hidden' });
  t.is(await button.count(), 0);
  t.is(await page.getByRole('button', { name: 'Menu: Logs' }).getAttribute('aria-expanded'), 'false');
  t.deepEqual(tab.complaints, []);
});

const parts: Readonly<Record<string, readonly string[]>> = {
  viewer: ['Usage', 'Projects'],
  auditor: ['Usage', 'Projects', 'Audit log'],
  admin: [
    ...['Usage', 'Projects', 'Ingest keys', 'Users', 'Invitations', 'Service accounts', 'Dead letters', 'Organization'],
    ...['Billing', 'Identity provider', 'Audit log'],
  ],
};
for (const [role, titles] of Object.entries(parts))
  declare(`the role ${role} sees the settings that it may read`, async (t) => {
    const tab = await opened('/settings/audit', `${role}@a.example`);
    const { page } = tab;
    const found = page.getByRole('navigation', { name: 'Settings' }).getByRole('link');
    await found.first().waitFor();
    t.deepEqual(await found.allTextContents(), [...titles, 'Notification rules', 'Security']);
    const isShown = titles.includes('Audit log');
    await page.locator('main h1', { hasText: isShown ? 'Settings: audit log' : 'Settings: usage' }).waitFor();
    t.is(await page.locator('main .problem').count(), 0);
    await holdsAsAView(t, tab, 'main h1');
  });

declare('an auditor reads what a viewer reads and has no buttons that change data', async (t) => {
  const tab = await opened('/dashboards', 'auditor@a.example');
  const { page } = tab;
  const menu = page.getByRole('navigation', { name: 'Areas' });
  t.is(await menu.locator('.closed').count(), 0);
  await page.getByRole('navigation', { name: 'Dashboards' }).getByRole('link', { name: 'Templates' }).waitFor();
  t.is(await page.getByRole('navigation', { name: 'Dashboards' }).getByRole('link', { name: 'Import' }).count(), 0);
  t.deepEqual(tab.complaints, []);
});
