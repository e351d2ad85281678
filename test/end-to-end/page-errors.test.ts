/** The area Errors in a real browser: groups with figures of the API, stack and links, resolve and reopen. */
import test from 'ava';
import { text } from '../cases/sink-tables.ts';
import { chromiumMissing } from '../services/chromium.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Chromium, startChromium } from './chromium.ts';
import { landErrors } from './errors-landed.ts';
import { assertView, signInAndOpen } from './page-walk.ts';

let harness: Harness;
let chromium: Chromium;
const declare = chromiumMissing === undefined ? test.serial : test.serial.skip;

const startMs = Date.now() - 30 * 60_000;
const thrown = (type: string, at: number, user: string) => ({
  timeUnixNano: `${BigInt(startMs + at * 60_000) * 1_000_000n}`,
  severityNumber: 17,
  body: { stringValue: 'failed' },
  traceId: Buffer.from('a'.repeat(32), 'hex'),
  spanId: Buffer.from('b'.repeat(16), 'hex'),
  attributes: [
    ...[text('exception.type', type), text('exception.message', `no <b>${type}</b>`), text('user.id', user)],
    text(
      'exception.stacktrace',
      `Error: x\n    at reserve (/srv/app/src/${type}.js:1:2)\n    at serve (/srv/app/src/web.js:3:4)`,
    ),
  ],
});

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  [harness, chromium] = await Promise.all([startHarness(), startChromium()]);
  await landErrors(harness.columns, [
    {
      attributes: { 'service.name': 'cart', 'service.version': '1.0', 'deployment.environment.name': 'live' },
      logs: [
        ...Array.from({ length: 12 }, (_, at) => thrown('OutOfStock', at, `u${at % 5}`)),
        ...Array.from({ length: 3 }, (_, at) => thrown('Timeout', at, 'u1')),
      ],
    },
  ]);
});
test.after.always(async () => {
  await chromium?.close();
  await harness?.close();
});

declare('groups show the counts of the API, and one group shows its stack, occurrences and links', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/errors?sort=-count', 'editor@a.example');
  const rows = page.locator('.errors .extent .row');
  await rows.nth(1).waitFor();
  const { items } = (await harness.request('GET', '/api/errors?sort=-count')).body;
  const cells = await rows.first().getByRole('gridcell').allTextContents();
  t.deepEqual(cells.slice(0, 4), [
    'new',
    'OutOfStock no <b>OutOfStock</b>',
    String(items[0].count),
    String(items[0].users),
  ]);
  t.deepEqual([items[0].count, items[0].users], [12, 5]);
  await rows.first().click();
  const sidePanel = page.getByRole('complementary', { name: 'Error' });
  await sidePanel.getByText('reserve (/srv/app/src/OutOfStock.js:1:2)', { exact: true }).waitFor();
  await sidePanel.getByRole('row', { name: 'release 1.0 12 100 %' }).waitFor();
  await sidePanel.getByRole('link', { name: 'Trace' }).waitFor();
  const occurrences = sidePanel.locator('.around').last().getByRole('listitem');
  await occurrences.nth(11).waitFor();
  t.is(await occurrences.count(), 12);
  await assertView(t, tab, '.beside h2');
  await sidePanel.getByRole('link', { name: 'Log record' }).click();
  await page.waitForURL(/\/logs\?.*record=/);
  await page.goBack();
  await sidePanel.getByRole('button', { name: 'Resolve' }).click();
  await sidePanel.getByRole('button', { name: 'Reopen' }).waitFor();
  t.is((await harness.request('GET', `/api/errors/${items[0].id}`)).body.status, 'resolved');
  await page.getByLabel('Status').selectOption('resolved');
  await page.locator('.errors[aria-rowcount="2"]').waitFor();
  await sidePanel.getByRole('button', { name: 'Reopen' }).click();
  await page.getByText('No errors in this range').waitFor();
  t.deepEqual(tab.complaints, []);
});

declare(
  'an editor assigns a group, ignores it for a while, merges another group into it and unmerges that group',
  async (t) => {
    const tab = await chromium.open();
    const { page } = tab;
    const all = async () => (await harness.request('GET', '/api/errors?sort=-count')).body.items;
    const [into, other] = await all();
    const one = async () => (await harness.request('GET', `/api/errors/${into.id}`)).body;
    const viewer = (await harness.request('GET', '/api/users?search=viewer')).body.items[0].id;
    await signInAndOpen(tab, harness.url, `/errors?error=${into.id}`, 'editor@a.example');
    const sidePanel = page.getByRole('complementary', { name: 'Error' });
    await sidePanel.getByLabel('Assigned to').selectOption({ label: 'viewer' });
    await sidePanel.getByRole('combobox', { name: 'or' }).selectOption('Ignore for 100 more occurrences');
    await sidePanel.getByRole('button', { name: 'Apply' }).click();
    await sidePanel.getByText('ignored until 100 more occurrences').waitFor();
    t.like((await one()).decision, { assigneeId: viewer, status: 'ignored', ignoredUntil: { occurrences: 100 } });
    await sidePanel.getByRole('button', { name: 'Reopen' }).click();
    await sidePanel.getByRole('button', { name: 'Resolve' }).waitFor();

    await sidePanel.getByText('Merge issues').click();
    await sidePanel.getByLabel('Search by type, message or culprit').fill('timeout');
    await sidePanel.getByLabel('Timeout no <b>Timeout</b>').check();
    await sidePanel.getByRole('button', { name: 'Merge selected issues' }).click();
    const created = sidePanel.getByRole('list', { name: 'Merged issues' });
    await created.getByRole('listitem').nth(1).waitFor();
    const merged = await one();
    t.deepEqual([merged.count, merged.decision.assigneeId], [15, viewer]);
    t.deepEqual(merged.decision.fingerprints.toSorted(), [into.id, other.id].toSorted());
    t.is((await all()).length, 1);
    const { mergedBy } = merged.explanation.members.find(
      (one: { fingerprint: string }) => one.fingerprint === other.id,
    );
    await created.getByText(`merged by ${mergedBy} at`).waitFor();
    await assertView(t, tab, '.beside h2');
    await created.getByRole('button', { name: 'Unmerge' }).click();
    await created.getByRole('button', { name: 'Unmerge permanently' }).click();
    await created.waitFor({ state: 'detached' });
    t.deepEqual((await one()).decision.fingerprints, [into.id]);
    t.is((await all()).length, 2);

    await sidePanel.getByText('Merge issues').click();
    await sidePanel.getByLabel('Timeout no <b>Timeout</b>').check();
    await sidePanel.getByRole('button', { name: 'Merge selected issues' }).click();
    await sidePanel.getByRole('alert').filter({ hasText: 'was permanently removed from the group' }).waitFor();
    await sidePanel.getByRole('button', { name: 'Merge anyway' }).click();
    await created.getByRole('listitem').nth(1).waitFor();
    t.is((await all()).length, 1);
    await harness.request('PATCH', `/api/errors/${into.id}`, { as: 'editor', body: { unmerge: [other.id] } });
  },
);

declare('a viewer sees which role may change a group', async (t) => {
  const tab = await chromium.open();
  await signInAndOpen(tab, harness.url, '/errors?search=timeout');
  await tab.page.locator('.errors .extent .row').click();
  await tab.page.getByText('Resolving errors is for editor, admin, and owner; your role is viewer.').waitFor();
  t.is(await tab.page.getByRole('button', { name: /Resolve|Ignore|Merge|Take/ }).count(), 0);
  t.is(await tab.page.getByText('Merge issues').count(), 0);
  await assertView(t, tab, '.beside h2');
});
