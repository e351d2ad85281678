/** Security in a real browser: a decision about a runtime threat, with a preview of what it hides. */
import test from 'ava';
import type { RuntimeThreat } from '../../schemas/runtime-threats.ts';
import { landIn } from '../cases/sink-tables.ts';
import { chromiumMissing } from '../services/chromium.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Chromium, startChromium } from './chromium.ts';
import { assertView, signInAndOpen } from './page-walk.ts';

let harness: Harness;
let chromium: Chromium;
const declare = chromiumMissing === undefined ? test.serial : test.serial.skip;
const nowMs = Math.floor(Date.now() / 1000) * 1000;

const threatOf = (fields: Partial<RuntimeThreat>): RuntimeThreat => ({
  tenantId: 'a',
  projectId: 'shop',
  id: `threat-${Math.random()}`,
  groupId: 'group-1',
  recordId: '1-0-0-0',
  timeMs: nowMs - 60_000,
  source: 'falco',
  rule: 'Read sensitive file untrusted',
  severity: 'medium',
  message: 'read',
  service: 'cart',
  host: 'node-1',
  workload: 'shop/cart',
  namespace: 'shop',
  pod: 'cart-0',
  image: 'shop/cart',
  program: 'cat',
  commandLine: 'cat /etc/shadow',
  target: '/etc/shadow',
  targetPattern: '/etc/shadow',
  user: 'root',
  action: 'open',
  techniques: ['T1555'],
  ...fields,
});

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  [harness, chromium] = await Promise.all([startHarness(), startChromium()]);
  const threats = [threatOf({}), threatOf({ timeMs: nowMs - 120_000, host: 'node-2' })];
  await landIn(harness.columns)(
    threats.map((threat, offset) => ({
      offset,
      timestampMs: nowMs,
      headers: { tenant: threat.tenantId },
      value: Buffer.from(JSON.stringify([threat])),
    })),
    { sink: 'runtime-threats' },
  );
});
test.after.always(async () => {
  await chromium?.close();
  await harness?.close();
});

declare('a decision about a threat shows how many events it hides before it is made', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/security/threats?open=group-1', 'editor@a.example');
  const sidePanel = page.getByRole('complementary', { name: 'Threat' });
  await sidePanel
    .getByText(/A decision would have hidden 2 events of 2 hosts since \d{4}-\d\d-\d\d \d\d:\d\d\./)
    .waitFor();
  await assertView(t, tab, '.beside h2');
  await sidePanel.getByLabel('State').selectOption('accepted');
  await sidePanel.getByRole('button', { name: 'Decide' }).click();
  await sidePanel.getByRole('button', { name: 'Reopen' }).waitFor();
  t.is(await sidePanel.getByText('would have hidden').count(), 0);
  const { body } = await harness.request('GET', '/api/security/threats?state=accepted');
  t.is(body.items.length, 1);
  const viewer = await chromium.open();
  await signInAndOpen(viewer, harness.url, '/security/threats?open=group-1');
  await viewer.page.getByText('Triage is for editor, admin, and owner; your role is viewer.').waitFor();
  t.deepEqual([...tab.complaints, ...viewer.complaints], []);
});
