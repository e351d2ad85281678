/** The menu in a real browser: areas in groups, a button on small screens, and only areas that role and plan allow. */
import test from 'ava';
import type { Page } from 'playwright-core';
import { selectPart } from '../parts.ts';
import { chromiumMissing } from '../services/chromium.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Chromium, startChromium, type Tab } from './chromium.ts';
import { assertView, findAxeViolations, signInAndOpen } from './page-walk.ts';

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
  await signInAndOpen(tab, harness.url, address, email);
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
    'Agents: The plan of this organization does not include agents.',
    'Digital experience: The plan of this organization does not include digital experience.',
    'Events',
  ]);
  t.deepEqual(await menu.locator('[aria-current=page]').allTextContents(), ['Alerts']);
  t.is(await page.getByRole('button', { name: 'Menu: Alerts' }).count(), 0);
  await menu.getByRole('link', { name: 'Security signals' }).click();
  await page.locator('main').getByText('The plan of this organization does not include security signals.').waitFor();
  await assertView(t, tab, 'main .said');
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
  for (const theme of ['light', 'dark'] as const) t.deepEqual(await findAxeViolations(tab, theme), []);
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
    await assertView(t, tab, 'main h1');
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

/** Views that are not lists or always have content: forms, explorers without a query, and settings of the user */
const viewsWithoutEmptyState: ReadonlySet<string> = new Set([
  ...['/overview', '/ask', '/ask/suggestions', '/ask/runbooks', '/get-started', '/get-started/doctor', '/slos/import'],
  ...['/settings', '/settings/people', '/settings/organization', '/settings/billing', '/settings/identity-provider'],
  ...['/settings/you', '/settings/audit', '/alerts/routing', '/incidents/figures', '/checks/locations', '/checks/code'],
  ...[
    '/detections/import',
    '/security/import',
    '/fleet/install',
    '/detections/matrix',
    '/databases/engines',
    '/saved-queries/templates',
    '/settings/projects',
  ],
]);

const readPaths = (page: Page, selector: string): Promise<string[]> =>
  page.locator(selector).evaluateAll((all) => all.map((link) => String(link.getAttribute('href')).split('?')[0] ?? ''));

/** Navigates to a view without a reload, which takes much longer. */
const show = async (page: Page, address: string): Promise<void> => {
  if (new URL(page.url()).pathname === address) return;
  const heading = ((await page.locator('main h1').first().textContent()) ?? '').replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  await page.evaluate(`history.pushState(null, '', '${address}'); dispatchEvent(new PopStateEvent('popstate'))`);
  await page
    .locator('main h1')
    .first()
    .filter({ hasNotText: new RegExp(`^${heading}$`) })
    .waitFor({ state: 'attached' });
};

let addresses: readonly string[] = [];

/** Returns the addresses of all areas and tabs that an admin sees. */
const listAddresses = async (page: Page): Promise<readonly string[]> => {
  if (addresses.length > 0) return addresses;
  await page.locator('.empty-state').waitFor();
  const found: string[] = [];
  for (const area of await readPaths(page, 'nav[aria-label=Areas] a')) {
    await show(page, area);
    found.push(area, ...(await readPaths(page, 'main :is(nav.tabs, nav.side-tabs) a')));
  }
  addresses = [...new Set(found)];
  return addresses;
};

declare('every area and tab without data says what it is for, and has a next step that leads somewhere', async (t) => {
  const tab = await opened('/services', 'admin@a.example');
  const { page } = tab;
  const all = await listAddresses(page);
  t.true(all.length > 100, String(all.length));
  const withoutStep: string[] = [];
  const withoutPurpose: string[] = [];
  for (const address of all) {
    if (viewsWithoutEmptyState.has(address)) continue;
    await show(page, address);
    const empty = page.locator('.empty-state').first();
    const steps = empty.locator('.empty-actions :is(a, button)');
    // A view without an empty state shows when it was updated.
    await empty
      .or(page.locator('.freshness', { hasText: 'Updated' }))
      .first()
      .waitFor();
    if ((await steps.count()) === 0) {
      withoutStep.push(address);
      continue;
    }
    const purpose = ((await empty.locator('.empty-text').textContent()) ?? '').replace('Read the documentation', '');
    if (purpose.trim() === '') withoutPurpose.push(address);
    const before = page.url();
    await steps.first().click();
    await page.waitForURL((url) => url.href !== before);
  }
  t.deepEqual(withoutStep, []);
  t.deepEqual(withoutPurpose, []);
  t.deepEqual(tab.complaints, []);
});

declare('every area and tab is accessible zoomed to 200 %, and does not scroll sideways', async (t) => {
  const tab = await opened('/services', 'admin@a.example');
  const { page } = tab;
  const all = await listAddresses(page);
  // 1400 pixels zoomed to 200 % are 700 CSS pixels. A run checks a part of the views, each in one theme.
  await page.setViewportSize({ width: 700, height: 900 });
  const findings: string[] = [];
  for (const [index, address] of selectPart(all, 6).entries()) {
    await show(page, address);
    await page.waitForLoadState('networkidle');
    const found = await findAxeViolations(tab, index % 2 === 0 ? 'light' : 'dark');
    findings.push(...found.map((finding) => `${address} ${finding}`));
    const width = await page.evaluate('document.documentElement.scrollWidth');
    if (width !== 700) findings.push(`${address} scrolls sideways: ${width}`);
  }
  t.deepEqual(findings, []);
  t.deepEqual(tab.complaints, []);
});
