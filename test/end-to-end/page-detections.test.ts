/** The area Detections in a real browser: signals and their triage, rules, the ATT&CK matrix, and cases. */
import { createHash } from 'node:crypto';
import test from 'ava';
import { chromiumMissing } from '../services/chromium.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Chromium, startChromium } from './chromium.ts';
import { assertView, findAxeViolations, signInAndOpen } from './page-walk.ts';

let harness: Harness;
let chromium: Chromium;
const declare = chromiumMissing === undefined ? test.serial : test.serial.skip;

const title = 'Who <b>am</b> I';
let ruleId = '';

const land = async (id: string, agoSeconds: number, severity: string): Promise<void> => {
  const event = {
    recordId: `${id}-record`,
    timeMs: Date.now(),
    service: 'agent',
    ruleId,
    fields: [{ field: 'Image', path: 'Image', value: 'whoami.exe', selection: 'selection', because: 'whoami' }],
  };
  await harness.columns.execute(
    `INSERT INTO signals (tenant_id, project_id, received_at, partition, offset, id, kind, time, rule_id, rule_version, rule_title, severity, risk_score, events, event_count, entities, tactics, techniques, group_by, suppressed_by)
    SELECT 'a', 'default', now64(3), 0, ${agoSeconds}, '${id}', 'rule', fromUnixTimestamp64Milli(toInt64(${Date.now() - agoSeconds * 1000})), '${ruleId}', 1, '${title}', '${severity}', 75, '${JSON.stringify([event])}', 1, ['user ann', 'host web-1'], ['discovery'], ['T1033'], map(), ''`,
  );
};

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  [harness, chromium] = await Promise.all([startHarness(), startChromium()]);
  const source = [
    ...[`title: ${title}`, 'logsource:', '  category: process_creation', '  product: windows'],
    ...['detection:', '  selection:', "    Image|endswith: '\\whoami.exe'", '  condition: selection'],
    ...['level: high', 'tags:', '  - attack.t1033'],
  ].join('\n');
  const { status, body } = await harness.request('POST', '/api/siem/rules', { as: 'editor', body: { source } });
  if (status !== 200) throw new Error(JSON.stringify(body));
  ruleId = body.id;
  await land('s1', 20, 'high');
  await land('s2', 40, 'low');
});
test.after.always(async () => {
  await chromium?.close();
  await harness?.close();
});

declare('a signal shows what matched, is closed with a reason, and becomes a case', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/detections?from=now-30m', 'editor@a.example');
  const rows = page.getByRole('row', { name: title });
  await rows.nth(1).waitFor();
  t.is(await rows.count(), (await harness.request('GET', '/api/siem/signals')).body.items.length);
  await page.getByLabel('Severity').selectOption('high');
  await page.getByRole('row').nth(2).waitFor({ state: 'detached' });
  await rows.getByRole('button').click();
  const sidePanel = page.getByRole('complementary', { name: 'Signal' });
  await sidePanel.getByText('user ann').waitFor();
  await assertView(t, tab, '.beside h2');
  await sidePanel.getByLabel('Classification').selectOption('false-positive');
  await sidePanel.getByRole('textbox', { name: 'Reason' }).fill('it was <i>us</i>');
  await sidePanel.getByRole('button', { name: 'Close', exact: true }).last().click();
  await sidePanel.getByRole('button', { name: 'Reopen' }).waitFor();
  const { body } = await harness.request('GET', '/api/siem/signals/s1');
  t.deepEqual([body.state, body.verdict, body.reason], ['closed', 'false-positive', 'it was <i>us</i>']);
  await sidePanel.getByRole('button', { name: 'Create case' }).click();
  const opened = page.getByRole('complementary', { name: 'Case' });
  await opened.getByLabel('Comment').fill('looked at <b>it</b>');
  await page.keyboard.press('Enter');
  await opened.getByText('looked at <b>it</b>').waitFor();
  await opened.getByLabel('State').selectOption('investigating');
  await opened.getByText('investigating').nth(1).waitFor();
  const { items } = (await harness.request('GET', '/api/siem/cases')).body;
  t.deepEqual([items[0].state, items[0].signalIds], ['investigating', ['s1']]);
  const name = '<img src=x onerror=alert(1)>\u202Etxt.exe';
  await opened.getByLabel('File').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from('what was seen') });
  await opened.getByLabel('Description').fill('from <b>web-1</b>');
  await page.keyboard.press('Enter');
  await opened.getByText('from <b>web-1</b>').waitFor();
  const [piece] = (await harness.request('GET', '/api/siem/cases')).body.items[0].evidence;
  t.is(piece.sha256, createHash('sha256').update('what was seen').digest('hex'));
  t.like(piece, { name, mediaType: 'text/plain', bytes: 13, isIntact: true });
  t.is(await opened.getByText(piece.sha256).count(), 1);
  await opened.getByText('<img src=x onerror=alert(1)>').waitFor();
  t.is(await opened.locator('.hidden-character').count(), 1);
  await page.setViewportSize({ width: 320, height: 800 });
  await assertView(t, tab, '.beside h2');
  t.is(await page.evaluate('document.documentElement.scrollWidth'), 320);
});

declare('a signal and a case are assigned to a member of the organization, and unassigned', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/detections?from=now-30m&open=s2', 'editor@a.example');
  const viewer = (await harness.request('GET', '/api/users?search=viewer')).body.items[0].id;
  const signal = page.getByRole('complementary', { name: 'Signal' });
  const assignee = async () => (await harness.request('GET', '/api/siem/signals/s2')).body.assigneeId;
  const assign = async (label: string): Promise<void> => {
    const changed = page.waitForResponse((response) => response.request().method() === 'PATCH');
    await signal.getByLabel('Assigned to').selectOption({ label });
    await changed;
  };
  await assign('viewer');
  t.is(await assignee(), viewer);
  await page.reload();
  t.is(await signal.getByLabel('Assigned to').inputValue(), viewer);
  await assertView(t, tab, '.beside h2');
  const otherTab = await chromium.open();
  await signInAndOpen(otherTab, harness.url, '/detections?from=now-30m');
  const rows = otherTab.page.getByRole('row');
  await rows.nth(2).waitFor();
  await otherTab.page.getByLabel('Assignee').selectOption('Me');
  await rows.nth(2).waitFor({ state: 'detached' });
  const { items: own } = (await harness.request('GET', `/api/siem/signals?from=now-30m&assigneeId=${viewer}`)).body;
  t.deepEqual([own.length, await rows.count()], [1, 2]);
  await assertView(t, otherTab, 'main tbody');
  await assign('unassigned');
  t.is(await assignee(), null);

  const { id } = (
    await harness.request('POST', '/api/siem/cases', {
      as: 'editor',
      body: { title: 'Who <i>was</i> it', severity: 'low' },
    })
  ).body;
  await tab.go(`${harness.url}/detections/cases?open=${id}`);
  const opened = page.getByRole('complementary', { name: 'Case' });
  await opened.getByLabel('Severity').selectOption('critical');
  await opened.getByRole('definition').filter({ hasText: 'critical' }).waitFor();
  // The next change needs the version that is loaded after the assignment.
  await opened.getByLabel('Assigned to').selectOption({ label: 'viewer' });
  await page.waitForResponse((response) => response.request().method() === 'PATCH');
  await page.waitForResponse((response) => response.url().includes('/api/siem/cases?'));
  await opened.getByLabel('State').selectOption('closed');
  await opened.getByLabel('Classification').selectOption('Duplicate');
  await opened.getByRole('definition').filter({ hasText: 'duplicate' }).waitFor();
  const storedSignal = async () =>
    (await harness.request('GET', '/api/siem/cases?search=was')).body.items.find(
      (one: { id: string }) => one.id === id,
    );
  t.like(await storedSignal(), { severity: 'critical', state: 'closed', resolution: 'duplicate', assigneeId: viewer });
  await assertView(t, tab, '.beside h2');
  const other = await chromium.open();
  await signInAndOpen(other, harness.url, `/detections/cases?open=${id}`);
  await other.page.getByText('Editing cases is for editor').waitFor();
  t.is(await other.page.getByLabel('Assigned to').count(), 0);
});

declare('rules are imported from several documents, with a preview of each', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/detections/import', 'editor@a.example');
  const rule = (name: string, level: string) =>
    [
      ...[`title: ${name}`, 'logsource:', '  category: process_creation', '  product: windows', 'detection:'],
      ...['  selection:', "    Image|endswith: '\\net.exe'", '  condition: selection', `level: ${level}`, ''],
    ].join('\n');
  const files = [
    { name: 'two.yml', source: `${rule('Net <b>used</b>', 'high')}---\n${rule('Net again', 'low')}` },
    { name: 'wrong.yml', source: rule('Net wrong', 'none') },
  ];
  await page
    .getByLabel('Files')
    .setInputFiles(
      files.map(({ name, source }) => ({ name, mimeType: 'application/yaml', buffer: Buffer.from(source) })),
    );
  await page.getByText('2 files were read.').waitFor();
  await page.getByLabel('Levels').selectOption('medium and above');
  await page.getByRole('button', { name: 'Preview import' }).click();
  await page.getByText('Preview only. This import would make these changes: 2 created, 1 refused.').waitFor();
  const importOutcomes = (
    await harness.request('POST', '/api/siem/rules/import?dryRun=true&minLevel=medium', {
      as: 'editor',
      body: { files },
    })
  ).body.items;
  const rows = page.locator('tbody tr');
  t.deepEqual(
    await rows.evaluateAll((all) => all.map((row) => [...row.children].map(({ textContent }) => textContent))),
    importOutcomes.map((one: { title: string; outcome: string; message: string }) => [
      one.title,
      one.outcome,
      one.message,
    ]),
  );
  const refused = rows.filter({ hasText: 'refused' });
  await refused.getByText(/wrong\.yml: line \d+/i).waitFor();
  const ofThem = async () => (await harness.request('GET', '/api/siem/rules?search=Net')).body.items;
  t.deepEqual(await ofThem(), []);
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await page.getByText('Import completed: 2 created, 1 refused.').waitFor();
  t.deepEqual((await ofThem()).map((one: { title: string; enabled: boolean }) => [one.title, one.enabled]).sort(), [
    ['Net <b>used</b>', true],
    ['Net again', false],
  ]);
  t.deepEqual([...(await findAxeViolations(tab, 'light')), ...(await findAxeViolations(tab, 'dark'))], []);
  await page.getByRole('link', { name: 'Net <b>used</b>' }).click();
  // A rule opened by its address is shown although the list does not contain it.
  await tab.go(`${page.url()}&search=nothing-is-called-so`);
  await page.getByText('No detection rules yet').waitFor();
  await page.getByRole('complementary', { name: 'Rule' }).getByText("Image|endswith: '\\net.exe'").waitFor();
  await assertView(t, tab, '.beside h2');
  const other = await chromium.open();
  await signInAndOpen(other, harness.url, '/detections/import');
  await other.page.getByRole('link', { name: 'Rules', exact: true }).waitFor();
  t.is(await other.page.getByRole('link', { name: 'Import' }).count(), 0);
});

declare('an exception is created from a signal, shows the signals it would cover, and expires', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/detections?from=now-30m&open=s2', 'editor@a.example');
  await page.getByRole('link', { name: 'Create exception' }).click();
  const rule = page.getByRole('complementary', { name: 'Rule' });
  const exceptions = rule.getByRole('region', { name: 'Exceptions' });
  const conditions = exceptions.getByLabel('Conditions (all must match)');
  t.is(await conditions.inputValue(), 'Image: whoami.exe');
  const covered = exceptions.getByRole('button', { name: 'Preview affected signals' });
  await conditions.fill('Image|sideways: x');
  await covered.click();
  await exceptions.getByRole('alert').filter({ hasText: 'sideways' }).waitFor();
  await conditions.fill("Image|endswith: whoami.exe\nUser: <i>ann</i>\nUser: o'hara: ben");
  await covered.click();
  const when = { 'Image|endswith': 'whoami.exe', User: ['<i>ann</i>', "o'hara: ben"] };
  const path = `/api/siem/rules/${ruleId}/exceptions/preview`;
  const { body } = await harness.request('POST', path, { as: 'editor', body: { when, from: 'now-30m' } });
  const { covered: count, signals, unknown } = body.rules[0];
  await exceptions.getByText(`${title}: ${count} of ${signals} signals of this range, and ${unknown} whose`).waitFor();
  await exceptions.getByLabel('Reason').fill('it is <b>meant</b>');
  await exceptions.getByLabel('Expires').selectOption('7');
  await exceptions.getByRole('button', { name: 'Save exception' }).click();
  await exceptions.getByText('it is <b>meant</b>').waitFor();
  const storedExceptions = async () => (await harness.request('GET', `/api/siem/rules/${ruleId}`)).body.exceptions;
  t.like(await storedExceptions(), { 0: { when, reason: 'it is <b>meant</b>' }, length: 1 });
  await page.setViewportSize({ width: 320, height: 800 });
  await assertView(t, tab, '.beside h2');
  t.is(await page.evaluate('document.documentElement.scrollWidth'), 320);
  await exceptions.getByRole('button', { name: 'End exception 1' }).click();
  await exceptions.getByText('No exceptions').waitFor();
  t.deepEqual(await storedExceptions(), []);
  await page.getByRole('link', { name: 'Entities' }).click();
  await page.getByRole('combobox', { name: /^Type/ }).selectOption('user');
  const risky = (await harness.request('GET', '/api/siem/entities?type=user')).body.items;
  await page.getByRole('row').nth(risky.length).getByRole('button', { name: 'user ann' }).click();
  const entity = page.getByRole('complementary', { name: 'Entity' });
  await entity.getByRole('row').nth(risky[0].signals).getByRole('link', { name: title }).waitFor();
  await assertView(t, tab, '.beside h2');
  await page.getByRole('link', { name: 'Hunts' }).click();
  const { items } = (await harness.request('GET', '/api/siem/retro-hunts')).body;
  await page.getByRole('row').nth(items.length).getByRole('button').click();
  const hunt = page.getByRole('complementary', { name: 'Hunt' });
  await hunt.getByRole('link', { name: ruleId, exact: true }).waitFor();
  await assertView(t, tab, '.beside h2');
});

declare(
  'a rule is disabled, another is created, tested and deleted, and the matrix shows covered techniques',
  async (t) => {
    const tab = await chromium.open();
    const { page } = tab;
    await signInAndOpen(tab, harness.url, '/detections/rules', 'editor@a.example');
    await page.getByRole('button', { name: title }).click();
    const sidePanel = page.getByRole('complementary', { name: 'Rule' });
    await sidePanel.getByText('condition: selection').waitFor();
    await assertView(t, tab, '.beside h2');
    await sidePanel.getByRole('button', { name: 'Disable' }).click();
    await sidePanel.getByRole('button', { name: 'Enable' }).waitFor();
    t.false((await harness.request('GET', `/api/siem/rules/${ruleId}`)).body.enabled);
    await sidePanel.getByRole('button', { name: 'Enable' }).click();
    await sidePanel.getByRole('button', { name: 'Disable' }).waitFor();
    await page.getByRole('button', { name: 'New detection rule' }).click();
    const sigma = sidePanel.getByRole('textbox', { name: 'Sigma' });
    await sigma.fill(`${(await sigma.inputValue()).replace('title:', 'title: Mine <i>too</i>')}\nlevel: none`);
    await sidePanel
      .getByText(/^Line \d+/)
      .first()
      .waitFor();
    await sigma.fill((await sigma.inputValue()).replace('\nlevel: none', ''));
    await sidePanel.getByText('The rule is valid: Mine <i>too</i>.').waitFor();
    await sidePanel.getByRole('button', { name: 'Create rule' }).click();
    await sidePanel.getByRole('heading', { name: 'Mine <i>too</i>' }).waitFor();
    await sidePanel.getByRole('button', { name: 'Test on this range' }).click();
    await sidePanel.getByText('0 signals in 0 log records.').waitFor();
    await sidePanel.getByText('Test with sample events').click();
    const events = sidePanel.getByLabel('Events, as a JSON array');
    await events.fill('[{}]');
    await sidePanel.getByRole('button', { name: 'Run test', exact: true }).click();
    await sidePanel.getByText('is an event without any field', { exact: true }).waitFor();
    await events.fill(JSON.stringify([{ Image: 'C:\\\\<b>x</b>' }, { Image: 'C:\\x\\\\' }]));
    await sidePanel.getByRole('button', { name: 'Run test', exact: true }).click();
    await sidePanel.getByText('1 events match:').waitFor();
    await sidePanel.getByRole('list', { name: 'Matching events' }).getByText('Event 2:').waitFor();
    await sidePanel.getByText('Team settings').click();
    await sidePanel.getByLabel('Risk score (up to 100)').fill('400');
    await sidePanel.getByLabel('Suppress duplicate signals').check();
    await sidePanel.getByLabel('Group signals by').fill('User, Image');
    await sidePanel.getByLabel('Suppression period (minutes)').fill('30');
    await sidePanel.getByLabel('Events that must match').fill(JSON.stringify([{ Image: 'C:\\\\x' }]));
    const saveButton = sidePanel.getByRole('button', { name: 'Save settings' });
    await saveButton.click();
    await sidePanel
      .getByText(/must be at most/)
      .first()
      .waitFor();
    await sidePanel.getByLabel('Risk score (up to 100)').fill('40');
    await saveButton.click();
    await sidePanel.locator('.problem-text').filter({ hasText: /match/ }).waitFor();
    await sidePanel.getByLabel('Events that must match').fill(JSON.stringify([{ Image: 'C:\\x\\\\' }]));
    await saveButton.click();
    await sidePanel.getByText('User, Image', { exact: true }).waitFor();
    const [set] = (await harness.request('GET', '/api/siem/rules?search=Mine')).body.items;
    t.like(set, { risk: 40, riskScore: 40, suppression: { by: ['User', 'Image'], forSeconds: 1800 } });
    t.deepEqual(set.tests.mustMatch, [{ Image: 'C:\\x\\\\' }]);
    await sidePanel.getByRole('button', { name: 'Edit' }).click();
    await sigma.fill((await sigma.inputValue()).replace('medium', 'low'));
    await sidePanel.getByRole('button', { name: 'Save rule' }).click();
    // Until the rule is reloaded, the page has the previous version, which cannot be deleted any more.
    await sidePanel.getByText(/level: low/).waitFor();
    const findImported = async () => (await harness.request('GET', '/api/siem/rules?search=Mine')).body.items;
    t.deepEqual(
      (await findImported()).map(({ level }: { level: string }) => level),
      ['low'],
    );
    await sidePanel.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete rule' }).click();
    await sidePanel.waitFor({ state: 'detached' });
    t.deepEqual(await findImported(), []);
    await page.getByRole('link', { name: 'ATT&CK' }).click();
    const { body } = await harness.request('GET', '/api/siem/mitre/coverage');
    await page
      .locator('.tactic')
      .nth(body.tactics.length - 1)
      .waitFor();
    const technique = page.locator('.technique', { hasText: 'T1033' });
    t.regex((await technique.first().textContent()) ?? '', /1 of 1 rules enabled, 2 signals/);
    await assertView(t, tab, '.tactic >> nth=0');
  },
);

declare('placeholders and field mappings are created, changed and deleted', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/detections/placeholders', 'editor@a.example');
  await page.getByRole('button', { name: 'New placeholder' }).click();
  const placeholder = page.getByRole('complementary', { name: 'Placeholder' });
  const create = placeholder.getByRole('button', { name: 'Create placeholder' });
  await placeholder.getByLabel('Name').fill('ad mins');
  await placeholder.getByLabel('Values, one per line').fill('ann\n\n svc_* \n<b>eve</b>');
  await create.click();
  await placeholder
    .getByText('must be 1 to 64 letters, digits, dots, hyphens or underscores', { exact: true })
    .waitFor();
  await placeholder.getByLabel('Name').fill('admins');
  await create.click();
  await placeholder.getByText('3 values').waitFor();
  const placeholders = async () => (await harness.request('GET', '/api/siem/placeholders')).body.items;
  t.like(await placeholders(), { 0: { name: 'admins', values: ['ann', 'svc_*', '<b>eve</b>'] }, length: 1 });
  await assertView(t, tab, '.beside h2');
  await placeholder.getByRole('button', { name: 'Edit' }).click();
  await placeholder.getByLabel('Values, one per line').fill('ann');
  await placeholder.getByRole('button', { name: 'Save placeholder' }).click();
  await placeholder.getByText('One value').waitFor();
  t.deepEqual((await placeholders())[0].values, ['ann']);
  await placeholder.getByRole('button', { name: 'Delete' }).click();
  await placeholder.getByRole('button', { name: /^Delete (“|permanently)/ }).click();
  await placeholder.waitFor({ state: 'detached' });
  t.deepEqual(await placeholders(), []);

  await page.getByRole('link', { name: 'Fields' }).click();
  await page.getByRole('button', { name: 'New field mapping' }).click();
  const table = page.getByRole('complementary', { name: 'Field mapping' });
  await table.getByLabel('Name').fill('badge readers');
  await table.getByRole('button', { name: 'Create field mapping' }).click();
  await table.locator('.problem-text').filter({ hasText: /./ }).first().waitFor();
  await table.getByLabel('Log sources of the matching rules').fill('[{"product": "badges"}]');
  await table.getByLabel('Mapping of rule fields').fill('{"User": ["card.holder"]}');
  await table.getByLabel('Path prefixes of event fields').fill('payload, more');
  await table.getByRole('button', { name: 'Create field mapping' }).click();
  await table.getByRole('heading', { name: 'badge readers' }).waitFor();
  const [stored] = (await harness.request('GET', '/api/siem/field-tables')).body.items;
  t.like(stored, { rules: [{ product: 'badges' }], fields: { User: ['card.holder'] }, roots: ['payload', 'more'] });
  await table.getByRole('button', { name: 'Edit' }).click();
  await table.getByLabel('Description').fill('Doors of the <b>office</b>');
  await table.getByRole('button', { name: 'Save field mapping' }).click();
  await table.getByText('Doors of the <b>office</b>').waitFor();
  const { summary, fields, roots } = (await harness.request('GET', `/api/siem/field-tables/${stored.id}`)).body;
  t.deepEqual([summary, fields, roots], ['Doors of the <b>office</b>', stored.fields, stored.roots]);
  await assertView(t, tab, '.beside h2');
});

for (const part of ['matches', 'indicators', 'feeds', 'files', 'baselines'])
  declare(`the list of ${part} shows why it is empty`, async (t) => {
    const tab = await chromium.open();
    await signInAndOpen(tab, harness.url, `/detections/${part}`);
    await tab.page.locator('.list [role=status]').waitFor();
    await assertView(t, tab, '.list [role=status]');
  });

declare('indicators are added and deleted, a feed is added and replaced, and a baseline is approved', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/detections/indicators', 'editor@a.example');
  await page.getByRole('button', { name: 'New indicator' }).click();
  const indicator = page.getByRole('complementary', { name: 'Indicator' });
  await indicator.getByLabel('Source').fill('<b>us</b>');
  await indicator
    .getByRole('textbox', { name: 'Indicators' })
    .fill('type,value\ndomain,evil.example\nip,not an address');
  await indicator.getByRole('button', { name: 'Add indicators' }).click();
  await indicator.getByText('1 created, 0 updated, 0 unchanged, 1 rejected.').waitFor();
  await assertView(t, tab, '.beside h2');
  await page.getByRole('button', { name: 'evil.example' }).click();
  await indicator.getByText('<b>us</b>').waitFor();
  await assertView(t, tab, '.beside h2');
  await indicator.getByRole('button', { name: 'Delete' }).click();
  await indicator.getByRole('button', { name: /^Delete (“|permanently)/ }).click();
  await indicator.waitFor({ state: 'detached' });
  t.deepEqual((await harness.request('GET', '/api/siem/threat-intel/indicators')).body.items, []);

  await page.getByRole('link', { name: 'Feeds', exact: true }).click();
  await page.getByRole('button', { name: 'New feed' }).click();
  const feed = page.getByRole('complementary', { name: 'Feed' });
  await feed.getByLabel('Name', { exact: true }).fill('Partner <i>one</i>');
  await feed.getByRole('textbox', { name: 'URL' }).fill('javascript:alert(1)');
  await feed.getByLabel('Format').selectOption('list');
  await feed.getByLabel('Authentication').selectOption('header');
  await feed.getByLabel('Header value').fill('Bearer of a secret');
  await feed.getByLabel('Enabled').uncheck();
  await feed.getByRole('button', { name: 'Subscribe' }).click();
  await feed.locator('.problem-text').filter({ hasText: /./ }).first().waitFor();
  await feed.getByRole('textbox', { name: 'URL' }).fill('https://feeds.example.com/list');
  await page.setViewportSize({ width: 320, height: 800 });
  t.deepEqual([...(await findAxeViolations(tab, 'light')), ...(await findAxeViolations(tab, 'dark'))], []);
  t.is(await page.evaluate('document.documentElement.scrollWidth'), 320);
  await page.setViewportSize({ width: 1280, height: 800 });
  await feed.getByRole('button', { name: 'Subscribe' }).click();
  await feed.getByRole('heading', { name: 'Partner <i>one</i>' }).waitFor();
  await assertView(t, tab, '.beside h2');
  await feed.getByRole('button', { name: 'Edit' }).click();
  await feed.getByLabel('Polling interval (seconds)').fill('900');
  await feed.getByRole('button', { name: 'Save feed' }).click();
  await feed.getByText('900', { exact: true }).waitFor();
  const [storedFeed] = (await harness.request('GET', '/api/siem/threat-intel/feeds')).body.items;
  t.like(storedFeed, {
    enabled: false,
    everySeconds: 900,
    location: { url: 'https://feeds.example.com/list', format: 'list' },
  });
  await feed.getByRole('button', { name: 'Delete' }).click();
  await feed.getByRole('button', { name: /^Delete (“|permanently)/ }).click();
  await feed.waitFor({ state: 'detached' });

  await page.getByRole('link', { name: 'Baselines', exact: true }).click();
  await page.getByRole('button', { name: 'New baseline' }).click();
  const baseline = page.getByRole('complementary', { name: 'Baseline' });
  await baseline.getByLabel('Name').fill('As <u>installed</u>');
  await baseline.getByLabel('Paths').fill('/etc\n/usr/bin');
  await baseline.getByRole('button', { name: 'Update from current files' }).click();
  await baseline.getByRole('heading', { name: 'As <u>installed</u>' }).waitFor();
  await assertView(t, tab, '.beside h2');
  await baseline.getByRole('button', { name: 'Approve' }).click();
  await baseline.getByRole('alert').filter({ hasText: 'no file was observed there' }).waitFor();
  await baseline.getByRole('button', { name: 'Delete' }).click();
  await baseline.getByRole('button', { name: /^Delete (“|permanently)/ }).click();
  await baseline.waitFor({ state: 'detached' });
  t.deepEqual(tab.complaints, []);
});
