/** Security in a real browser: a decision about a runtime threat, with a preview of what it hides. */
import test from 'ava';
import type { RuntimeThreat } from '../../schemas/runtime-threats.ts';
import type { SecretFinding } from '../../schemas/secret-findings.ts';
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

const secret: SecretFinding = {
  tenantId: 'a',
  projectId: 'shop',
  id: 'record-1',
  findingId: 'secret-1',
  timeMs: nowMs - 60_000,
  signal: 'logs',
  recordId: '1-0-0-0',
  traceId: '',
  spanId: '',
  service: 'cart',
  field: 'body',
  rule: 'github-pat',
  fingerprint: '0123456789abcdef01234567',
  preview: 'ghp_',
  keyHash: '',
  occurrences: 1,
  isRedacted: false,
};

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  [harness, chromium] = await Promise.all([startHarness(), startChromium()]);
  const land = (sink: string, values: readonly { readonly tenantId: string }[]) =>
    landIn(harness.columns)(
      values.map((value, offset) => ({
        offset,
        timestampMs: nowMs,
        headers: { tenant: value.tenantId },
        value: Buffer.from(JSON.stringify([value])),
      })),
      { sink },
    );
  await land('runtime-threats', [threatOf({}), threatOf({ timeMs: nowMs - 120_000, host: 'node-2' })]);
  await land('secret-findings', [secret]);
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

declare('a secret links to the setting of its project, and keys to revoke are listed', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/security/secrets?open=secret-1', 'editor@a.example');
  const sidePanel = page.getByRole('complementary', { name: 'Secret' });
  const link = sidePanel.getByRole('link', { name: 'settings of the project' });
  t.regex((await link.getAttribute('href')) ?? '', /\/settings\/projects\?open=shop$/);
  await page.goto(`${harness.url}/security/secrets?key=active`);
  await page.getByText('No secrets in logs and spans of this range').waitFor();
  t.deepEqual(tab.complaints, []);
});
