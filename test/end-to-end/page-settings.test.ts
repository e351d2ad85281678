/** Onboarding and settings in a real browser: keys, users, tokens, quotas, dead letters with their bytes, audit log. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { generate } from 'otplib';
import { openOutbound } from '../../runtime/outbound.ts';
import { type DeadLetterHeaders, encodeDeadLetter } from '../../schemas/dead-letter.ts';
import { topics } from '../../schemas/topics.ts';
import { chromiumMissing } from '../services/chromium.ts';
import { eventually } from '../waiting.ts';
import { type Harness, password, startHarness } from './api-harness.ts';
import { type Chromium, startChromium, type Tab } from './chromium.ts';
import { assertView, fillPair, findAxeViolations, signInAndOpen } from './page-walk.ts';

let harness: Harness;
let chromium: Chromium;
const declare = chromiumMissing === undefined ? test.serial : test.serial.skip;
const admin = 'admin@a.example';

/** The error of a field. */
const problemAt = (page: Tab['page'], label: string) =>
  page.locator(`div:has(> label:has-text("${label}")) > .problem-text`, { hasText: /./ });

const publishDeadLetter = async (id: string, body: Buffer): Promise<void> => {
  const receivedAtMs = Date.now() - 5000;
  const headers: DeadLetterHeaders = {
    tenantId: 'a',
    projectId: 'p1',
    keyId: 'k1',
    signal: 'logs',
    origin: 'otlp-http',
    kind: 'refused',
    id,
    reason: 'malformed',
    message: 'a length runs over the <b>end</b>',
    position: 7,
    receivedAtMs,
    source: '10.0.0.1',
    contentType: 'application/x-protobuf',
    contentEncoding: 'identity',
    topic: '',
    partition: 0,
    offset: 0,
    originalHeaders: {},
    chunk: 0,
    chunks: 1,
    size: body.length,
    cut: false,
  };
  const [place] = await harness.bus.offsets(topics.deadLetter.name);
  const producer = await harness.bus.producer();
  await producer.publish([
    { topic: topics.deadLetter.name, key: 'a', value: body, headers: encodeDeadLetter(headers) },
  ]);
  await producer.close();
  await harness.columns.execute(
    `INSERT INTO dead_letters (tenant_id, id, project_id, key_id, signal, origin, kind, reason, message, position, received_at, source, size, cut, chunks, partition, offset) VALUES
      ('a', '${id}', 'p1', 'k1', 'logs', 'otlp-http', 'refused', 'malformed', '${headers.message}', 7, fromUnixTimestamp64Milli(toInt64(${receivedAtMs}), 'UTC'), '10.0.0.1', ${body.length}, false, 1, ${place?.partition ?? 0}, ${place?.end ?? 0})`,
  );
};

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  const outbound = { ...openOutbound(), txt: async () => [] };
  const environment = {
    OIQ_SELF_SERVICE_PLANS: 'true',
    OIQ_MORE_ORGANIZATIONS: 'yes',
    OIQ_NEW_ORGANIZATION_PLAN: 'free',
  };
  [harness, chromium] = await Promise.all([startHarness({ environment, outbound }), startChromium()]);
  await harness.columns.execute(
    `INSERT INTO usage (tenant_id, hour, signal, project_id, key_id, outcome, service, requests, records, bytes, landed_records, landed_bytes)
    SELECT 'a', toStartOfHour(now() - INTERVAL 2 HOUR), 'logs', 'p1', 'k1', 'accepted', arrayJoin(['web', '<i>shop</i>']), 1, 9, 900, 9, 900`,
  );
  await publishDeadLetter('d1', Buffer.from('\n\u0005hello<script>'));
});
test.after.always(async () => {
  await chromium?.close();
  await harness?.close();
});

declare(
  'the getting-started steps are those of the API, one is dismissed, and the doctor shows why nothing arrives',
  async (t) => {
    const tab = await chromium.open();
    const { page } = tab;
    await harness.request('POST', '/api/projects', { as: 'admin', body: { id: 'default', name: 'Default' } });
    const [project] = (await harness.request('GET', '/api/projects')).body.items;
    await signInAndOpen(tab, harness.url, '/get-started', admin);
    const { steps } = (await harness.request('GET', '/api/onboarding')).body;
    await page
      .locator('.steps li')
      .nth(steps.length - 1)
      .waitFor();
    t.is(await page.locator('.steps li').count(), steps.length);
    await page.getByRole('button', { name: /^Skip/ }).first().click();
    await page.getByRole('button', { name: /^Restore/ }).waitFor();
    t.is((await harness.request('GET', '/api/onboarding')).body.dismissed.length, 1);
    await assertView(t, tab, '.steps');
    const key = page.locator('.checklist').getByRole('link', { name: 'Create a license key' });
    t.is(await key.getAttribute('href'), '/settings/keys');
    await page.getByRole('link', { name: 'Python' }).click();
    await page.getByText('opentelemetry-instrument python app.py').waitFor();
    await page.getByRole('button', { name: 'Create license key' }).click();
    await page.getByText('Key created').waitFor();
    t.regex(
      (await page.getByRole('region', { name: 'environment' }).textContent()) ?? '',
      /x-license-key=oiq_lk_\w{30}/,
    );
    await page.getByText('Waiting for data…').waitFor();
    await harness.columns.execute(
      `INSERT INTO logs (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, observed_timestamp, service, severity_number, body, body_type)
      SELECT 'a', '${project.id}', now64(3), 0, 77, 0, now64(9), now64(9), 'cart', 9, 'first', 's'`,
    );
    await page.getByText('Logs received').waitFor();
    await page.getByRole('link', { name: 'Troubleshooting' }).click();
    await page.getByLabel('License key').fill('oiq_lk_wrong');
    await page.getByRole('button', { name: 'Troubleshoot' }).click();
    const { body } = await harness.request('POST', '/api/onboarding/doctor', { body: { key: 'oiq_lk_wrong' } });
    await page.getByText(body.findings[0].message).waitFor();
    await assertView(t, tab, 'main h1');
  },
);

declare('a license key is created, shown once, rotated and revoked', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await harness.request('POST', '/api/projects', { as: 'admin', body: { id: 'default', name: 'Default' } });
  const [project] = (await harness.request('GET', '/api/projects')).body.items;
  await signInAndOpen(tab, harness.url, '/settings/keys', admin);
  await page.getByLabel('Name').fill('Shop <b>key</b>');
  await page.getByLabel('Project').fill(project.id);
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText(/The key is shown only once: oiq_lk_/).waitFor();
  await page.getByRole('button', { name: 'Shop <b>key</b>' }).click();
  const sidePanel = page.getByRole('complementary', { name: 'Key' });
  await sidePanel.getByText('Edit key').click();
  await sidePanel.getByLabel('Key name').fill('Till <b>key</b>');
  await sidePanel.getByLabel('traces').uncheck();
  await sidePanel.getByLabel('Allowed networks, one per line').fill('10.0.0.0/8\nnowhere');
  await sidePanel.getByLabel('Requests per second').fill('7');
  await sidePanel.getByRole('button', { name: 'Save key' }).click();
  await problemAt(page, 'Allowed networks').waitFor();
  t.deepEqual([...(await findAxeViolations(tab, 'light')), ...(await findAxeViolations(tab, 'dark'))], []);
  await sidePanel.getByLabel('Allowed networks, one per line').fill('10.0.0.0/8');
  await sidePanel.getByRole('button', { name: 'Save key' }).click();
  await sidePanel.getByRole('heading', { name: 'Till <b>key</b>' }).waitFor();
  const storedKeys = async () =>
    (await harness.request('GET', '/api/license-keys')).body.items.filter(({ name }: { name: string }) =>
      name.endsWith('<b>key</b>'),
    );
  t.like((await storedKeys())[0], {
    name: 'Till <b>key</b>',
    signals: ['logs', 'metrics'],
    allowedCidrs: ['10.0.0.0/8'],
    requestsPerSecond: 7,
  });
  await sidePanel.getByRole('button', { name: 'Rotate' }).click();
  await sidePanel.getByText(/The key is shown only once/).waitFor();
  await sidePanel.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('button', { name: 'Revoke key' }).click();
  await page.getByRole('cell', { name: 'revoked' }).waitFor();
  t.deepEqual(
    (await storedKeys()).map(({ state }: { state: string }) => state),
    ['revoked'],
  );
  await assertView(t, tab, '.beside h2');
});

declare(
  'a project is created, gets mail receivers and an ingest key, and is deleted by a user with permission',
  async (t) => {
    const tab = await chromium.open();
    const { page } = tab;
    // With only one project, the page header has no project selector.
    await harness.request('POST', '/api/projects', { as: 'admin', body: { name: 'Another' } });
    await signInAndOpen(tab, harness.url, '/settings/projects', 'editor@a.example');
    await page.getByRole('button', { name: 'New project' }).click();
    const sidePanel = page.getByRole('complementary', { name: 'Project' });
    await sidePanel.getByRole('button', { name: 'Create project' }).click();
    await problemAt(page, 'Name').waitFor();
    const name = 'Shop <b>web</b>';
    await sidePanel.getByLabel('Name', { exact: true }).fill(name);
    await sidePanel.getByLabel('Description').fill('Sells <i>things</i>');
    await sidePanel.getByRole('button', { name: 'Create project' }).click();
    await sidePanel.getByText('Sells <i>things</i>').waitFor();
    await sidePanel.getByText(/^Deletion is for .*; your role is editor\.$/).waitFor();
    t.is(await sidePanel.getByRole('button', { name: 'Create ingest key' }).count(), 0);
    const found = async () =>
      (await harness.request('GET', '/api/projects')).body.items.find((each: { name: string }) => each.name === name);
    const { id } = await found();
    await page.locator(`#project option[value="${id}"]`).waitFor({ state: 'attached' });
    await sidePanel.getByLabel('Recipients, one address per line').fill('on-call@a.example\nnobody');
    await sidePanel.getByRole('button', { name: 'Save recipients' }).click();
    await problemAt(page, 'Recipients, one address per line').waitFor();
    await sidePanel.getByLabel('Recipients, one address per line').fill('on-call@a.example');
    await sidePanel.getByLabel('a check fails').check();
    await sidePanel.getByLabel('Minimum severity of alerts and incidents').selectOption('critical');
    // The reloaded project has a new version, which resets the form.
    const listReloaded = page.waitForResponse((response) => response.url().includes('/api/projects?'));
    await sidePanel.getByRole('button', { name: 'Save recipients' }).click();
    await listReloaded;
    const mail = async () => (await harness.request('GET', `/api/projects/${id}/notifications`)).body;
    await eventually('the mail is set', async () => (await mail()).minimumSeverity === 'critical');
    t.like(await mail(), { enabled: true, recipients: ['on-call@a.example'] });
    t.true((await mail()).events.includes('check-failing'));
    await sidePanel.getByRole('button', { name: 'Edit' }).click();
    await sidePanel.getByLabel('Description').fill('Sells more');
    await sidePanel.getByRole('button', { name: 'Save project' }).click();
    await sidePanel.getByText('Sells more').waitFor();
    t.is((await found()).description, 'Sells more');
    await assertView(t, tab, '.beside h2');
    const other = await chromium.open();
    await signInAndOpen(other, harness.url, `/settings/projects?open=${id}`, admin);
    const otherPanel = other.page.getByRole('complementary', { name: 'Project' });
    await otherPanel.getByRole('button', { name: 'Create ingest key' }).click();
    await otherPanel.getByText(/The key is shown only once: oiq_lk_/).waitFor();
    await otherPanel.getByLabel('Overlap (hours) in which the old key still works').fill('1');
    const rotated = other.page.waitForResponse('**/rotate-key');
    await otherPanel.getByRole('button', { name: 'Rotate ingest key' }).click();
    await rotated;
    const key = otherPanel.getByRole('listitem').filter({ hasText: 'active, the ingest key' });
    await key.waitFor();
    const [{ previous }] = (await harness.request('GET', `/api/license-keys?projectId=${id}`)).body.items;
    t.is(previous.length, 1);
    t.is(Date.parse(previous[0].validUntil) - Date.parse(previous[0].rotatedAt), 3_600_000);
    await key.getByRole('link').click();
    await other.page.getByRole('complementary', { name: 'Key' }).waitFor();
    await other.page.goBack();
    await assertView(t, other, '.beside h2');
    await otherPanel.getByRole('button', { name: 'Delete' }).click();
    await otherPanel.getByRole('button', { name: /^Delete (“|permanently)/ }).click();
    await otherPanel.getByRole('alert').filter({ hasText: 'is in use by license key' }).waitFor();
    await other.page.getByRole('button', { name: 'Another' }).click();
    await otherPanel.getByRole('button', { name: 'Delete' }).click();
    await otherPanel.getByRole('button', { name: /^Delete (“|permanently)/ }).click();
    await otherPanel.waitFor({ state: 'detached' });
    t.false(
      (await harness.request('GET', '/api/projects')).body.items.some(
        ({ name }: { name: string }) => name === 'Another',
      ),
    );
    t.deepEqual([...tab.complaints, ...other.complaints], []);
  },
);

declare('members, invitations, service accounts with tokens, and the organization are changed', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/settings/people', admin);
  const { items } = (await harness.request('GET', '/api/users')).body;
  await page.getByRole('row').nth(items.length).waitFor();
  await page
    .getByRole('row', { name: /auditor@a.example/ })
    .getByRole('button')
    .click();
  await page.getByText('Permissions of each role').click();
  const { items: roles } = (await harness.request('GET', '/api/roles', { as: 'admin' })).body;
  for (const { summary } of roles) await page.getByText(`${summary}.`, { exact: true }).waitFor();
  const role = page.getByRole('complementary', { name: 'User' }).getByLabel('Role');
  const grantable: string[] = roles.flatMap((one: { id: string; grantable: boolean }) =>
    one.grantable ? [one.id] : [],
  );
  await role
    .getByRole('option')
    .nth(grantable.length - 1)
    .waitFor({ state: 'attached' });
  t.deepEqual((await role.getByRole('option').allTextContents()).toSorted(), grantable.toSorted());
  await role.selectOption('viewer');
  await page.getByRole('row', { name: /auditor@a.example viewer/ }).waitFor();
  await assertView(t, tab, '.beside h2');
  await page.goto(`${harness.url}/settings/invitations`);
  await page.getByLabel('Address').fill('new@a.example');
  await page.getByRole('button', { name: 'Invite', exact: true }).click();
  await page.getByRole('row', { name: /^new@a.example .*no mail server/ }).waitFor();
  // Without a mail server, the administrator has to pass on the link.
  await page.getByText('No mail was sent').waitFor();
  const link = await page.locator('.notice code').textContent();
  t.true(link?.startsWith(`${harness.url}/accept-invite#token=`), link ?? '');
  await assertView(t, tab, '.scrolled tbody');
  await page.goto(`${harness.url}/settings/service-accounts`);
  await page.getByLabel('Name').fill('Pipeline');
  await page.getByRole('button', { name: 'Create service account' }).click();
  await page.getByRole('button', { name: 'Pipeline' }).click();
  const account = page.getByRole('complementary', { name: 'Service account' });
  await account.getByText('Edit account').click();
  await account.getByLabel('Description').fill('Brings out <i>versions</i>');
  await account.getByRole('combobox', { name: /^Role/ }).selectOption('editor');
  await account.getByRole('button', { name: 'Save account' }).click();
  await page.getByRole('row', { name: /^Pipeline editor/ }).waitFor();
  t.like((await harness.request('GET', '/api/service-accounts')).body.items[0], {
    role: 'editor',
    description: 'Brings out <i>versions</i>',
  });
  await account.getByText('List of scopes').click();
  const { items: scopes } = (await harness.request('GET', '/api/scopes')).body;
  await account.getByRole('region', { name: 'All scopes' }).getByText(scopes[0].scope, { exact: true }).waitFor();
  await account.getByLabel('Purpose', { exact: true }).fill('deployments');
  await account.getByRole('textbox', { name: 'Scopes' }).fill('logs:read');
  await account.getByRole('button', { name: 'Create token' }).click();
  await account.getByText(/The token is shown only once: oiq_sa_/).waitFor();
  await account.getByRole('listitem').filter({ hasText: 'deployments' }).waitFor();
  await assertView(t, tab, '.beside h2');
  await page.goto(`${harness.url}/settings/organization`);
  await page.getByLabel(/^Logs, in days/).fill('3');
  await page.getByRole('button', { name: 'Save retention' }).click();
  await page.locator('[name=logs][value="3"]').waitFor();
  t.is((await harness.request('GET', '/api/account/retention')).body.days.logs, 3);
  await assertView(t, tab, 'main h1');
});

declare('usage and quotas are those of the API, and a quota is set', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/settings', admin);
  await page.getByLabel('Daily warning (GiB)').fill('2');
  await page.getByRole('button', { name: 'Set quotas' }).click();
  await page.getByRole('cell', { name: '2 GiB' }).waitFor();
  const { body } = await harness.request('GET', '/api/usage/quotas');
  t.true(body.states.some(({ warnBytes }: { warnBytes: number }) => warnBytes === 2 * 1024 ** 3));
  const over = page.getByRole('region', { name: 'Usage over time' });
  await over.getByRole('combobox', { name: /^Group by/ }).selectOption('service');
  await over.getByRole('combobox', { name: /^Interval/ }).selectOption('hour');
  const { series } = (await harness.request('GET', '/api/usage/timeseries?by=service&step=hour')).body;
  const legend = over.getByRole('region', { name: /^Series of / }).getByRole('button');
  await legend.filter({ hasText: '<i>shop</i>' }).waitFor();
  t.deepEqual(
    await legend.locator('bdi').allTextContents(),
    series.map(({ name }: { name: string }) => name),
  );
  await assertView(t, tab, 'main h1');
});

declare('billing shows the values of the API, and a plan is chosen after a preview of what is lost', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/settings/billing', admin);
  const { body } = await harness.request('GET', '/api/billing', { as: 'admin' });
  const rows = page.getByRole('region', { name: 'Billing' }).getByRole('table').first().getByRole('row');
  await rows.nth(4).waitFor();
  const bytes = body.acceptedBytes.logs;
  const shown = bytes < 1024 ? `${bytes} B` : `${Number((bytes / 1024).toPrecision(3))} KiB`;
  const cells = await rows.filter({ hasText: 'logs' }).getByRole('cell').allTextContents();
  t.deepEqual(cells.slice(0, 2), ['logs', shown]);
  t.true((cells[2] ?? '').includes(body.cost.signals.logs.reason ?? String(body.cost.signals.logs.value)));
  const refused = await harness.request('PUT', '/api/billing/plan', { as: 'admin', body: { planId: 'free' } });
  t.is(refused.status, 409);
  const choice = page.getByRole('row', { name: /^Free/ });
  await choice.getByRole('button', { name: /^Choose/ }).click();
  await choice.getByRole('button', { name: /^Change plan now/ }).click();
  await choice.getByRole('button', { name: /^Change plan anyway/ }).waitFor();
  t.deepEqual(
    await choice.getByRole('listitem').allTextContents(),
    refused.body.details.map(({ message }: { message: string }) => message),
  );
  await assertView(t, tab, 'main h2 >> nth=0');
  const other = await chromium.open();
  await signInAndOpen(other, harness.url, '/settings/billing', 'admin@b.example');
  await other.page.locator('.areas a', { hasText: 'Anomalies: The plan' }).waitFor();
  const better = other.page.getByRole('row', { name: /^Enterprise/ });
  await better.getByRole('button', { name: /^Choose/ }).click();
  await better.getByRole('button', { name: /^Change plan now/ }).click();
  await other.page.getByText('The plan was changed from Free to Enterprise.').waitFor();
  await other.page.getByRole('link', { name: 'Anomalies', exact: true }).waitFor();
  await other.page
    .getByRole('row', { name: /^ai yes/ })
    .first()
    .waitFor();
  t.deepEqual(other.complaints, []);
});

declare('the identity provider is configured: its secret stays, and each domain shows how to verify it', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/settings/identity-provider', admin);
  const storedProvider = async () =>
    (await harness.request('GET', '/api/account/identity-provider', { as: 'admin' })).body;
  await page.getByText((await storedProvider()).redirectUri).waitFor();
  const save = page.getByRole('button', { name: 'Save provider' });
  await page.getByLabel('Sign-in enabled').check();
  await page.getByLabel('Client id').fill('oiq');
  await save.click();
  await problemAt(page, 'Issuer').waitFor();
  await page.getByLabel('Sign-in enabled').uncheck();
  await page.getByLabel('Issuer').fill('https://login.invalid/a');
  await page.getByLabel('Client secret').fill('hush <b>hush</b>');
  await page.getByLabel('Email domains, one per line').fill('no domain');
  await page.getByLabel('Claim').fill('groups');
  await page.getByRole('button', { name: 'Add role' }).click();
  await page.getByLabel('Claim value').fill('on-call');
  await page.getByLabel(/^Role/).selectOption('editor');
  await save.click();
  await problemAt(page, 'Email domains').waitFor();
  await page.getByLabel('Email domains, one per line').fill('shop.invalid');
  await save.click();
  const row = page.getByRole('row', { name: /^shop.invalid not yet/ });
  await row.waitFor();
  t.is(await row.locator('code').textContent(), (await storedProvider()).domains[0].record.value);
  t.like(await storedProvider(), {
    enabled: false,
    issuer: 'https://login.invalid/a',
    clientId: 'oiq',
    clientSecret: '********',
    roleMapping: { claim: 'groups', roles: [{ value: 'on-call', role: 'editor' }] },
  });
  t.is(await page.getByLabel('Client secret').inputValue(), '********');
  await page.getByLabel('Default role of new users').selectOption('');
  await save.click();
  await eventually('no default role is stored', async () => (await storedProvider()).defaultRole === null);
  t.is((await storedProvider()).clientSecret, '********');
  await page.getByLabel('Issuer').fill('https://login.invalid/b');
  await save.click();
  await problemAt(page, 'Client secret').waitFor();
  await page.setViewportSize({ width: 320, height: 800 });
  await assertView(t, tab, 'main h2 >> nth=0');
  t.is(await page.evaluate('document.documentElement.scrollWidth'), 320);
});

declare('a dead letter shows its bytes and its error, and a replay shows its result', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/settings/dead-letters', admin);
  await page.getByRole('button', { name: 'malformed' }).click();
  const sidePanel = page.getByRole('complementary', { name: 'Dead letter' });
  await sidePanel.getByText('0a 05 68 65 6c 6c 6f 3c').waitFor();
  await sidePanel.getByText('a length runs over the <b>end</b>').waitFor();
  await sidePanel.getByRole('button', { name: 'Replay', exact: true }).click();
  await sidePanel
    .getByText(/finished: 1 matched, 0 replayed, 0 already handled by another user, 1 failed. still refused/)
    .waitFor();
  await assertView(t, tab, '.beside h2');
});

declare('the audit log shows who changed what, and a viewer cannot see it', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/settings/audit?action=quota.set', admin);
  const { items } = (await harness.request('GET', '/api/audit?limit=1')).body;
  t.is(await page.getByLabel('Action').inputValue(), 'quota.set');
  await page.getByLabel('Resource type').selectOption('quota');
  await page.getByRole('button', { name: /resourceType: quota/ }).click();
  await page.getByRole('button', { name: /action: quota.set/ }).click();
  await page
    .getByRole('row', { name: new RegExp(items[0].action) })
    .first()
    .getByRole('button')
    .click();
  await page.getByRole('complementary', { name: 'Audit record' }).getByText(items[0].resource.id).first().waitFor();
  for (const [name, part] of [
    ['Download the proof of inclusion', 'recordId'],
    ['Download the signed head', 'publicKey'],
  ] as const) {
    const proof = page.waitForEvent('download');
    await page.getByRole('link', { name }).click();
    t.truthy(JSON.parse(readFileSync(await (await proof).path(), 'utf8'))[part], name);
  }
  await page.getByRole('button', { name: 'Verify audit log' }).click();
  await page.getByText(/^All \d+ records are unmodified\.$/).waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Export this range as CSV' }).click();
  t.regex(readFileSync(await (await download).path(), 'utf8'), /quota\.set/);
  await assertView(t, tab, '.beside h2');
  const { body: account } = await harness.request('POST', '/api/service-accounts', {
    as: 'admin',
    body: { name: 'Reads <i>alone</i>', role: 'viewer' },
  });
  const [key] = (await harness.request('GET', '/api/license-keys')).body.items;
  const [person] = (await harness.request('GET', '/api/users?search=viewer')).body.items;
  await tab.go(`${harness.url}/settings/audit?resourceType=service-account&resourceId=${account.id}`);
  await page.getByRole('row').nth(1).getByRole('button').click();
  await page.getByRole('link', { name: /^View service account/ }).click();
  const opened = (label: string, name: string) =>
    page.getByRole('complementary', { name: label }).getByRole('heading', { name, exact: true }).waitFor();
  await opened('Service account', account.name);
  // Resources that are on no page of their list are read by ID.
  for (const [part, id, label, name] of [
    ['service-accounts', account.id, 'Service account', account.name],
    ['keys', key.id, 'Key', key.name],
    ['people', person.id, 'User', person.name],
  ]) {
    await tab.go(`${harness.url}/settings/${part}?search=nothing-is-called-so&open=${id}`);
    await opened(label, name);
    await assertView(t, tab, '.beside h2');
  }
  const other = await chromium.open();
  await signInAndOpen(other, harness.url, '/settings/audit');
  await other.page.getByRole('heading', { name: 'Settings: usage' }).waitFor();
  t.is(await other.page.getByRole('link', { name: 'Audit log' }).count(), 0);
  await assertView(t, other, 'main h1');
});

declare('a user chooses contact methods for pages, and their order', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  const get = async (path: string) => (await harness.request('GET', path, { as: 'viewer' })).body;
  await signInAndOpen(tab, harness.url, '/settings');
  await page.locator('#account').click();
  await page.locator('.account-panel').getByRole('link', { name: 'Notification rules' }).click();
  await page.keyboard.press('Escape');
  await page.getByText('No contacts yet').waitFor();
  const sidePanel = page.getByRole('complementary', { name: 'Contact' });
  const add = async (name: string, to: string): Promise<void> => {
    await page.getByRole('button', { name: 'New contact' }).click();
    await sidePanel.getByLabel('Name', { exact: true }).fill(name);
    await sidePanel.getByLabel('To', { exact: true }).fill(to);
    await sidePanel.getByRole('button', { name: 'Add contact' }).click();
  };
  await add('Night <b>mail</b>', 'nobody');
  await sidePanel.getByLabel('To', { exact: true }).and(page.locator('[aria-invalid=true]')).waitFor();
  await sidePanel.getByLabel('To', { exact: true }).fill('night@a.example');
  await sidePanel.getByRole('button', { name: 'Add contact' }).click();
  await sidePanel.getByRole('button', { name: 'Edit' }).click();
  await sidePanel.getByLabel('To', { exact: true }).fill('night@a.example, duty@a.example');
  await sidePanel.getByRole('button', { name: 'Save contact' }).click();
  await sidePanel.getByText('["night@a.example","duty@a.example"]').waitFor();
  await sidePanel.getByRole('button', { name: 'Send test' }).click();
  await sidePanel.getByText(/^The test was not delivered: .*no mail server is configured/).waitFor();
  await add('Other mail', 'other@a.example');
  await page.getByRole('row', { name: /^Other mail email/ }).waitFor();
  const order = page.getByRole('region', { name: 'Notification order' });
  await order.getByText('All contacts are notified at once.').waitFor();
  await order.getByRole('button', { name: 'Page me by Other mail' }).click();
  await order.getByRole('button', { name: 'Page me by Night <b>mail</b>' }).click();
  await order.getByLabel(/^Night/).fill('31');
  await order.getByRole('button', { name: 'Save order' }).click();
  await order
    .getByLabel(/^Night/)
    .and(page.locator('[aria-invalid=true]'))
    .waitFor();
  await order.getByLabel(/^Night/).fill('5');
  await order.getByRole('button', { name: /^Move up/ }).click();
  await order.getByRole('button', { name: 'Save order' }).click();
  await order.getByText('Saved.').waitFor();
  const { items } = await get('/api/contacts?sort=name');
  const [night, other] = items.map((each: { id: string }) => each.id);
  t.deepEqual((await get('/api/preferences')).contacts, [
    { contactId: night, afterMinutes: 5 },
    { contactId: other, afterMinutes: 0 },
  ]);
  await assertView(t, tab, 'main h2 >> nth=0');
  await page.getByRole('button', { name: 'Night <b>mail</b>', exact: true }).click();
  await sidePanel.getByRole('button', { name: 'Delete' }).click();
  await sidePanel.getByRole('button', { name: /^Delete (“|permanently)/ }).click();
  await page.getByRole('row', { name: /^Night/ }).waitFor({ state: 'detached' });
  t.deepEqual((await get('/api/preferences')).contacts, [{ contactId: other, afterMinutes: 0 }]);
  // Saving other preferences does not send the deleted contact.
  await page.getByRole('button', { name: 'Other mail', exact: true }).waitFor();
  await order.getByRole('button', { name: 'Save order' }).click();
  await order.getByText('Saved.').waitFor();
  t.deepEqual(tab.complaints, []);
});

declare('events are listed with configuration changes, and a custom event is added', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/events', 'editor@a.example');
  await harness.request('POST', '/api/dashboards', { as: 'owner', body: { name: 'Board <i>of events</i>' } });
  const { items } = (await harness.request('GET', '/api/events?kinds=config&from=now-1h&limit=100')).body;
  t.true(items.length > 0);
  await page.getByRole('combobox', { name: /^Type/ }).selectOption('config');
  await page.waitForURL('**kinds=config*');
  const rows = page.locator('.list tbody tr');
  await rows.nth(items.length - 1).waitFor();
  const titles = await rows.locator('td:first-child').allTextContents();
  t.is(titles.length, items.length);
  t.is(titles[0], 'Dashboard created: Board <i>of events</i>');
  await rows.first().getByRole('button').click();
  const sidePanel = page.getByRole('complementary', { name: 'Event' });
  await sidePanel.getByText('configuration change').waitFor();
  await assertView(t, tab, '.beside h2');
  await page.getByRole('button', { name: 'Add event' }).click();
  await sidePanel.getByLabel('Title').fill('Sale <b>begins</b>');
  await sidePanel.getByLabel('Link').fill('javascript:alert(1)');
  await fillPair(sidePanel, 'Tags', ['team', 'shop']);
  await sidePanel.getByRole('button', { name: 'Save event' }).click();
  await problemAt(page, 'Link').waitFor();
  t.deepEqual([...(await findAxeViolations(tab, 'light')), ...(await findAxeViolations(tab, 'dark'))], []);
  await sidePanel.getByLabel('Link').fill('https://shop.example/sale');
  await sidePanel.getByRole('button', { name: 'Save event' }).click();
  await sidePanel.waitFor({ state: 'detached' });
  const [auditRecord] = (await harness.request('GET', '/api/audit?action=event.create&limit=1')).body.items;
  t.is(auditRecord.resource.name, 'Sale <b>begins</b>');
  t.deepEqual(tab.complaints, []);
});

declare('a user changes their password, sets up a second factor, and ends another session', async (t) => {
  const [tab, elsewhere] = [await chromium.open(), await chromium.open()];
  const { page } = tab;
  const auditor = 'auditor@a.example';
  await signInAndOpen(elsewhere, harness.url, '/settings', auditor);
  await signInAndOpen(tab, harness.url, '/settings', auditor);
  await page.locator('#account').click();
  await page.locator('.account-panel').getByRole('link', { name: 'Security', exact: true }).click();
  await page.getByRole('heading', { name: 'Active sessions' }).waitFor();
  await page.keyboard.press('Escape');
  const rows = page.locator('main .sessions > li');
  await rows.nth(1).waitFor();
  t.is(await rows.getByText('Current session').count(), 1);
  await page.setViewportSize({ width: 320, height: 800 });
  await assertView(t, tab, 'main h2 >> nth=0');
  t.is(await page.evaluate('document.documentElement.scrollWidth'), 320);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByLabel('Organization name').fill('Second <b>shop</b>');
  await page.getByRole('button', { name: 'Create organization' }).click();
  const others = page.locator('main .organizations > li');
  await others.nth(1).waitFor();
  t.deepEqual(await others.locator('bdi').allTextContents(), ['Organization a', 'Second <b>shop</b>']);
  await page.locator('#account').click();
  await page.locator('#place option', { hasText: 'Second <b>shop</b>' }).waitFor({ state: 'attached' });
  await page.keyboard.press('Escape');
  await rows.getByRole('button', { name: /^End session/ }).click();
  await rows.nth(1).waitFor({ state: 'detached' });
  await elsewhere.page.reload();
  await elsewhere.page.waitForURL('**/login*');
  const changed = 'quite another horse staple';
  const change = async (before: string): Promise<void> => {
    await page.getByLabel('Your password').fill(before);
    await page.getByLabel('New password').fill(changed);
    await page.keyboard.press('Enter');
  };
  await change('not mine');
  await page.getByRole('alert').filter({ hasText: 'is not your password' }).waitFor();
  await change(password);
  await page.getByText('The password was changed. Other sessions ended: 0.').waitFor();
  await page.getByRole('button', { name: 'Set up two-factor authentication' }).click();
  await page.getByRole('img', { name: 'QR code of the secret' }).waitFor();
  const secret = (await page.locator('main p > code').textContent()) ?? '';
  await page.getByLabel('Code from the app').fill('000000');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').filter({ hasText: 'current code' }).waitFor();
  t.deepEqual([...(await findAxeViolations(tab, 'light')), ...(await findAxeViolations(tab, 'dark'))], []);
  await page.getByLabel('Code from the app').fill(await generate({ secret }));
  await page.keyboard.press('Enter');
  await page.getByText('You can use each recovery code once instead of the authenticator app.').waitFor();
  const recovery = await page.locator('main [role=status] li').allTextContents();
  t.true(recovery.length >= 8);
  await page.getByText('Manage two-factor authentication').click();
  await page.getByLabel('Password to turn off').fill(changed);
  await page.getByLabel('Code to turn off').fill(recovery[0] ?? '');
  await page.keyboard.press('Enter');
  await page.getByText('Two-factor authentication is off.').waitFor();
  t.deepEqual(tab.complaints, []);
});

declare('an organization is closed only by an owner who enters its name', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/settings/organization', 'owner@b.example');
  const close = async (name: string): Promise<void> => {
    await page.getByLabel('Organization name, as confirmation').fill(name);
    await page.getByRole('button', { name: 'Delete the organization' }).click();
  };
  await close('Organization');
  await problemAt(page, 'Organization name, as confirmation').waitFor();
  await assertView(t, tab, 'main h1');
  const other = await chromium.open();
  await signInAndOpen(other, harness.url, '/settings/organization', 'admin@b.example');
  await other.page.getByLabel('Organization name, as confirmation').fill('Organization b');
  await other.page.getByRole('button', { name: 'Delete the organization' }).click();
  await other.page.getByText('only an Owner can close the organization').waitFor();
  await close('Organization b');
  await page.getByText(/^The organization was deleted\./).waitFor();
  await other.page.reload();
  await other.page.waitForURL('**/login*');
  t.deepEqual([...tab.complaints, ...other.complaints], []);
});
