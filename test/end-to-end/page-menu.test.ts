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
  const found = menu.getByRole('list', { name: 'Monitor' });
  t.deepEqual(await found.getByRole('link').allTextContents(), [
    'Services: The plan of this organization does not include services.',
    ...['Errors', 'Alerts', 'Incidents'],
    'Anomalies: The plan of this organization does not include anomalies.',
    ...['SLOs', 'Synthetics'],
    'LLM: The plan of this organization does not include LLM.',
    'Digital experience: The plan of this organization does not include digital experience.',
    'Events',
  ]);
  t.deepEqual(await menu.locator('[aria-current=page]').allTextContents(), ['Alerts']);
  t.is(await page.getByRole('button', { name: 'Menu: Alerts' }).count(), 0);
  await menu.getByRole('link', { name: 'Security signals' }).click();
  await page.locator('main').getByText('The plan of this organization does not include security signals.').waitFor();
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
    ...['Usage', 'Projects', 'Ingest keys', 'Dead letters', 'Users', 'Invitations', 'Service accounts'],
    ...['Identity provider', 'Audit log', 'Organization', 'Billing'],
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

/** Views that are no lists, or that always have content: forms, explorers without a query, and what belongs to the user */
const viewsWithoutEmptyState: ReadonlySet<string> = new Set([
  ...['/overview', '/ask', '/ask/suggestions', '/ask/runbooks', '/get-started', '/get-started/doctor', '/slos/import'],
  ...['/settings', '/settings/people', '/settings/organization', '/settings/billing', '/settings/identity-provider'],
  ...['/settings/you', '/settings/audit', '/alerts/routing', '/incidents/figures', '/checks/locations', '/checks/code'],
  ...[
    '/detections/import',
    '/detections/matrix',
    '/detections/rules',
    '/databases/engines',
    '/saved-queries/templates',
    '/settings/projects',
  ],
]);

declare('every area and tab without data says what it is for, and has a next step that leads somewhere', async (t) => {
  const tab = await opened('/services', 'admin@a.example');
  const { page } = tab;
  const links = async (name: string): Promise<string[]> =>
    page
      .getByRole('navigation', { name })
      .getByRole('link')
      .evaluateAll((all) => all.map((link) => String(link.getAttribute('href')).split('?')[0] ?? ''));
  await page.locator('.empty-state').waitFor();
  const areas = await links('Areas');
  const tabs: string[] = [];
  for (const area of areas) {
    await page.goto(`${harness.url}${area}`);
    await page.locator('main h1').first().waitFor({ state: 'attached' });
    const inner = await page
      .locator('nav.tabs a')
      .evaluateAll((all) => all.map((link) => String(link.getAttribute('href')).split('?')[0] ?? ''));
    tabs.push(...new Set([area, ...inner]));
  }
  t.true(tabs.length > 50, String(tabs.length));
  const withoutStep: string[] = [];
  for (const address of tabs) {
    if (viewsWithoutEmptyState.has(address)) continue;
    await page.goto(`${harness.url}${address}`);
    const steps = page.locator('.empty-state').first().locator('.empty-actions :is(a, button)');
    // A view without an empty state shows when it was updated.
    await page
      .locator('.empty-state')
      .or(page.locator('.freshness', { hasText: 'Updated' }))
      .first()
      .waitFor();
    const isShown = (await steps.count()) > 0;
    if (!isShown) withoutStep.push(address);
    else {
      const step = steps.first();
      const before = page.url();
      await step.click();
      await page.waitForURL((url) => url.href !== before);
    }
  }
  t.deepEqual(withoutStep, []);
  t.deepEqual(tab.complaints, []);
});
