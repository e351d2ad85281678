/** The area of detections in a real browser: signals with their triage, rules, the matrix, and cases that signals become. */
import test from 'ava';
import { chromiumMissing } from '../services/chromium.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Chromium, startChromium } from './chromium.ts';
import { holdsAsAView, signedInAt } from './page-walk.ts';

let harness: Harness;
let chromium: Chromium;
const declare = chromiumMissing === undefined ? test.serial : test.serial.skip;

const title = 'Who <b>am</b> I';
let ruleId = '';

const land = async (id: string, agoSeconds: number, severity: string): Promise<void> => {
  const event = {
    ...{ recordId: `${id}-record`, timeMs: Date.now(), service: 'agent', ruleId },
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
  const { status, body } = await harness.ask('POST', '/api/siem/rules', { as: 'editor', body: { source } });
  if (status !== 200) throw new Error(JSON.stringify(body));
  ruleId = body.id;
  await land('s1', 20, 'high');
  await land('s2', 40, 'low');
});
test.after.always(async () => {
  await chromium?.close();
  await harness?.close();
});

declare('a signal tells what matched, is closed with a reason, and becomes a case', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signedInAt(tab, harness.url, '/detections?from=now-30m', 'editor@a.example');
  const rows = page.getByRole('row', { name: title });
  await rows.nth(1).waitFor();
  t.is(await rows.count(), (await harness.ask('GET', '/api/siem/signals')).body.items.length);
  await page.getByLabel('Severity').selectOption('high');
  await page.getByRole('row').nth(2).waitFor({ state: 'detached' });
  await rows.getByRole('button').click();
  const beside = page.getByRole('complementary', { name: 'Signal' });
  await beside.getByText('user ann').waitFor();
  await holdsAsAView(t, tab, '.beside h2');
  await beside.getByLabel('Because').selectOption('false-positive');
  await beside.getByRole('textbox', { name: 'Reason' }).fill('it was <i>us</i>');
  await beside.getByRole('button', { name: 'Close', exact: true }).last().click();
  await beside.getByRole('button', { name: 'Reopen' }).waitFor();
  const { body } = await harness.ask('GET', '/api/siem/signals/s1');
  t.deepEqual([body.state, body.verdict, body.reason], ['closed', 'false-positive', 'it was <i>us</i>']);
  await beside.getByRole('button', { name: 'Open a case of it' }).click();
  const opened = page.getByRole('complementary', { name: 'Case' });
  await opened.getByLabel('Comment').fill('looked at <b>it</b>');
  await page.keyboard.press('Enter');
  await opened.getByText('looked at <b>it</b>').waitFor();
  await opened.getByLabel('State').selectOption('investigating');
  await opened.getByText('investigating').nth(1).waitFor();
  const { items } = (await harness.ask('GET', '/api/siem/cases')).body;
  t.deepEqual([items[0].state, items[0].signalIds], ['investigating', ['s1']]);
  await holdsAsAView(t, tab, '.beside h2');
});

declare(
  'a rule is switched off, one is written, tried and removed, and the matrix tells which techniques are looked for',
  async (t) => {
    const tab = await chromium.open();
    const { page } = tab;
    await signedInAt(tab, harness.url, '/detections/rules', 'editor@a.example');
    await page.getByRole('button', { name: title }).click();
    const beside = page.getByRole('complementary', { name: 'Rule' });
    await beside.getByText('condition: selection').waitFor();
    await holdsAsAView(t, tab, '.beside h2');
    await beside.getByRole('button', { name: 'Switch off' }).click();
    await beside.getByRole('button', { name: 'Enable' }).waitFor();
    t.false((await harness.ask('GET', `/api/siem/rules/${ruleId}`)).body.enabled);
    await beside.getByRole('button', { name: 'Enable' }).click();
    await beside.getByRole('button', { name: 'Switch off' }).waitFor();
    page.on('dialog', (dialog) => void dialog.accept());
    await page.getByRole('button', { name: 'Write a rule' }).click();
    const sigma = beside.getByRole('textbox', { name: 'Sigma' });
    await sigma.fill(`${(await sigma.inputValue()).replace('title:', 'title: Mine <i>too</i>')}\nlevel: none`);
    await beside
      .getByText(/^Line \d+/)
      .first()
      .waitFor();
    await sigma.fill((await sigma.inputValue()).replace('\nlevel: none', ''));
    await beside.getByText('It can be read: Mine <i>too</i>.').waitFor();
    await beside.getByRole('button', { name: 'Create the rule' }).click();
    await beside.getByRole('heading', { name: 'Mine <i>too</i>' }).waitFor();
    await beside.getByRole('button', { name: 'Try it over this range' }).click();
    await beside.getByText('0 signals in 0 records of logs.').waitFor();
    await beside.getByRole('button', { name: 'Edit' }).click();
    await sigma.fill((await sigma.inputValue()).replace('medium', 'low'));
    await beside.getByRole('button', { name: 'Save the rule' }).click();
    await beside.getByRole('button', { name: 'Remove' }).waitFor();
    const mine = async () => (await harness.ask('GET', '/api/siem/rules?search=Mine')).body.items;
    t.deepEqual(
      (await mine()).map(({ level }: { level: string }) => level),
      ['low'],
    );
    await beside.getByRole('button', { name: 'Remove' }).click();
    await beside.waitFor({ state: 'detached' });
    t.deepEqual(await mine(), []);
    await page.getByRole('link', { name: 'ATT&CK' }).click();
    const { body } = await harness.ask('GET', '/api/siem/mitre/coverage');
    await page
      .locator('.tactic')
      .nth(body.tactics.length - 1)
      .waitFor();
    const technique = page.locator('.technique', { hasText: 'T1033' });
    t.regex((await technique.first().textContent()) ?? '', /1 of 1 rules enabled, 2 signals/);
    await holdsAsAView(t, tab, '.tactic >> nth=0');
  },
);

for (const part of ['matches', 'indicators', 'feeds', 'files', 'baselines'])
  declare(`the list of ${part} says why it is empty`, async (t) => {
    const tab = await chromium.open();
    await signedInAt(tab, harness.url, `/detections/${part}`);
    await tab.page.locator('.list [role=status]').waitFor();
    await holdsAsAView(t, tab, '.list [role=status]');
  });
