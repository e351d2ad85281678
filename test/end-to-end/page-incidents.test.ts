/** The area Incidents in a real browser: declare, acknowledge and resolve an incident, its timeline, and on-call. */
import test from 'ava';
import { chromiumMissing } from '../services/chromium.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Chromium, startChromium } from './chromium.ts';
import { assertView, findAxeViolations, signInAndOpen } from './page-walk.ts';

let harness: Harness;
let chromium: Chromium;
const declare = chromiumMissing === undefined ? test.serial : test.serial.skip;

const title = 'Checkout <b>answers</b> with errors';

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  [harness, chromium] = await Promise.all([startHarness(), startChromium()]);
  const { status } = await harness.request('POST', '/api/incidents', {
    as: 'editor',
    body: { title, severity: 'critical', services: ['checkout'], summary: 'since noon' },
  });
  if (status !== 200) throw new Error(`not declared: ${status}`);
});
test.after.always(async () => {
  await chromium?.close();
  await harness?.close();
});

const found = async (name = title) =>
  (await harness.request('GET', '/api/incidents')).body.items.find((each: { title: string }) => each.title === name);

declare('an editor acknowledges an incident, adds a note, resolves it, and the timeline shows all three', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/incidents', 'editor@a.example');
  const row = page.locator('.incidents .extent .row').first();
  await row.waitFor();
  t.deepEqual((await row.getByRole('gridcell').allTextContents()).slice(0, 4), ['open', 'critical', title, 'checkout']);
  await row.click();
  const sidePanel = page.getByRole('complementary', { name: 'Incident' });
  await sidePanel.getByRole('button', { name: 'Acknowledge' }).click();
  await sidePanel.getByRole('button', { name: 'Acknowledge' }).waitFor({ state: 'detached' });
  t.is((await found()).status, 'acknowledged');
  await sidePanel.getByLabel('Note').fill('the bank is <i>slow</i>');
  await page.keyboard.press('Enter');
  await sidePanel.getByRole('listitem').filter({ hasText: 'the bank is <i>slow</i>' }).waitFor();
  await sidePanel.getByRole('button', { name: 'Resolve' }).click();
  await sidePanel.getByRole('button', { name: 'Reopen' }).waitFor();
  const { id, status } = await found();
  t.is(status, 'resolved');
  await sidePanel.getByRole('button', { name: 'Create postmortem' }).click();
  await sidePanel.getByLabel('Impact').fill('a tenth of <i>carts</i>');
  await sidePanel.getByLabel('Causes').fill('a certificate');
  await sidePanel.getByLabel(/^Action items/).fill('[x] renew it\nwatch <b>it</b>');
  await sidePanel.getByRole('button', { name: 'Save postmortem' }).click();
  await sidePanel.getByText('To do: watch <b>it</b>').waitFor();
  await sidePanel.getByRole('button', { name: 'Edit postmortem' }).waitFor();
  const { impact, causes, actions } = (await harness.request('GET', `/api/incidents/${id}/postmortem`)).body;
  t.deepEqual([impact, causes], ['a tenth of <i>carts</i>', 'a certificate']);
  t.like(actions, { 0: { text: 'renew it', isDone: true }, 1: { text: 'watch <b>it</b>', isDone: false }, length: 2 });
  const { items } = (await harness.request('GET', `/api/incidents/${id}/timeline`)).body;
  const entries = sidePanel.getByRole('list').last().getByRole('listitem');
  await entries.nth(items.length - 1).waitFor();
  t.is(await entries.count(), items.length);
  await assertView(t, tab, '.beside h2');
});

declare('an incident is declared, and a viewer sees which role may change it', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/incidents', 'editor@a.example');
  await page.getByRole('button', { name: 'Declare incident' }).click();
  const sidePanel = page.getByRole('complementary', { name: 'Incident' });
  await assertView(t, tab, '.beside h2');
  await sidePanel.getByRole('button', { name: 'Declare incident' }).click();
  await sidePanel.getByLabel('Title').and(page.locator('[aria-invalid=true]')).waitFor();
  await sidePanel.getByLabel('Title').fill('Mails are late');
  await sidePanel.getByLabel('Severity').selectOption('warning');
  await sidePanel.getByLabel('Services').fill('post');
  await sidePanel.getByLabel('Summary').fill('The queue is <b>long</b>');
  await sidePanel.getByRole('button', { name: 'Assign role' }).click();
  await sidePanel.getByRole('combobox', { name: /^User/ }).selectOption({ label: 'viewer' });
  await sidePanel.getByRole('button', { name: 'Declare incident' }).click();
  await sidePanel.getByRole('heading', { name: 'Mails are late' }).waitFor();
  const { id, ...declared } = await found('Mails are late');
  t.like(declared, { severity: 'warning', services: ['post'], summary: 'The queue is <b>long</b>' });
  t.deepEqual(
    declared.roles.map(({ role }: { role: string }) => role),
    ['commander'],
  );
  t.is(new URL(page.url()).searchParams.get('incident'), id);
  const other = await chromium.open();
  await signInAndOpen(other, harness.url, `/incidents?status=open&incident=${id}`);
  await other.page.getByText('Acknowledging incidents is for editor, admin, and owner; your role is viewer.').waitFor();
  t.is(await other.page.locator('.incidents .extent .row').count(), 1);
  t.is(await other.page.getByRole('button', { name: /Acknowledge|Resolve|Declare|Add/ }).count(), 0);
  await assertView(t, other, '.beside h2');
  t.deepEqual(tab.complaints, []);
});

declare('the title, severity and roles of an incident are changed', async (t) => {
  const { id } = await found('Mails are late');
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, `/incidents?incident=${id}`, 'editor@a.example');
  const sidePanel = page.getByRole('complementary', { name: 'Incident' });
  await sidePanel.getByRole('button', { name: 'Edit' }).click();
  const save = sidePanel.getByRole('button', { name: 'Save incident' });
  await sidePanel.getByLabel('Title').fill('');
  await save.click();
  await sidePanel.getByLabel('Title').and(page.locator('[aria-invalid=true]')).waitFor();
  await sidePanel.getByLabel('Title').fill('Mails are <b>very</b> late');
  await sidePanel.getByLabel('Severity').selectOption('critical');
  await sidePanel.getByLabel('Services').fill('post, queue');
  await sidePanel.getByRole('combobox', { name: /^User/ }).selectOption({ label: 'editor' });
  t.deepEqual([...(await findAxeViolations(tab, 'light')), ...(await findAxeViolations(tab, 'dark'))], []);
  await save.click();
  await sidePanel.getByRole('heading', { name: 'Mails are <b>very</b> late' }).waitFor();
  const changed = await found('Mails are <b>very</b> late');
  const { items: users } = (await harness.request('GET', '/api/users?search=editor')).body;
  t.like(changed, { severity: 'critical', services: ['post', 'queue'] });
  t.deepEqual(changed.roles, [{ role: 'commander', userId: users[0].id }]);
  const rows = page.locator('.incidents .extent .row');
  await rows.nth(1).waitFor();
  await page.getByLabel('Assignee').selectOption('Me');
  await rows.nth(1).waitFor({ state: 'detached' });
  const { items: own } = (await harness.request('GET', `/api/incidents?assigneeId=${users[0].id}`)).body;
  t.deepEqual(
    [own.map(({ title }: { title: string }) => title), await rows.count()],
    [['Mails are <b>very</b> late'], 1],
  );
  // An incident that the list does not contain is read by its ID.
  await page.goto(`${harness.url}/incidents?status=resolved&incident=${id}`);
  await sidePanel.getByRole('button', { name: 'Resolve' }).click();
  await sidePanel.getByRole('button', { name: 'Reopen' }).click();
  await sidePanel.getByRole('button', { name: 'Acknowledge' }).waitFor();
  t.is((await found('Mails are <b>very</b> late')).status, 'open');
  await assertView(t, tab, '.beside h2');
});

declare('metrics show the number of incidents and their durations as in the API', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/incidents');
  await page.getByRole('link', { name: 'Insights' }).click();
  const { body } = await harness.request('GET', '/api/incidents/metrics?from=now-30d');
  const rows = page.getByRole('table').nth(1).locator('tbody tr');
  await rows.nth(body.bySeverity.length - 1).waitFor();
  t.deepEqual(
    await rows.evaluateAll((all) => all.map((row) => [...row.children].slice(0, 3).map((cell) => cell.textContent))),
    body.bySeverity.map(({ key, incidents, neverAcknowledged }: Record<string, unknown>) => [
      ...[key, String(incidents), String(neverAcknowledged)],
    ]),
  );
  t.true(body.bySeverity.length > 0);
  await page.getByText(`${body.pages.pages} pages, ${body.pages.atNight} at night.`).waitFor();
  await page.getByLabel('Period').selectOption('365 days');
  await page.waitForURL(/over=now-365d/);
  await assertView(t, tab, 'main h2 >> nth=0');
});

declare('an incident is merged into another incident of the same service', async (t) => {
  const declared = async (of: string): Promise<string> =>
    (await harness.request('POST', '/api/incidents', { as: 'editor', body: { title: of, services: ['mails'] } })).body
      .id;
  const [one, other] = [await declared('Mails <i>bounce</i>'), await declared('No mails')];
  const tab = await chromium.open();
  await signInAndOpen(tab, harness.url, `/incidents?incident=${one}`, 'editor@a.example');
  const sidePanel = tab.page.getByRole('complementary', { name: 'Incident' });
  await sidePanel.getByText('both affect mails').waitFor();
  await sidePanel.getByRole('button', { name: 'Merge into No mails' }).click();
  await sidePanel.getByText('Possible duplicates').waitFor({ state: 'detached' });
  t.like(await found('Mails <i>bounce</i>'), { status: 'merged', mergedInto: other });
  t.deepEqual(tab.complaints, []);
});

declare('the person on call is shown by name, and an editor takes over the shift and returns it', async (t) => {
  const userId = (await harness.request('GET', '/api/users?search=viewer')).body.items[0].id;
  const layer = { name: 'Primary', startsAt: '2026-03-23T09:00', rotation: { every: 1, unit: 'days' } };
  const body = { name: 'The <i>shop</i>', timeZone: 'UTC', layers: [{ ...layer, participants: [[userId]] }] };
  const created = await harness.request('POST', '/api/on-call/schedules', { body });
  t.is(created.status, 200, JSON.stringify(created.body));
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/incidents', 'editor@a.example');
  await page.getByRole('link', { name: 'Pages' }).click();
  await page.getByText('No pages in this range').waitFor();
  await page.getByRole('link', { name: 'On call' }).click();
  await page.getByRole('row', { name: /The <i>shop<\/i> viewer UTC/ }).waitFor();
  await page.getByRole('button', { name: 'The <i>shop</i>' }).click();
  const sidePanel = page.getByRole('complementary', { name: 'Schedule' });
  await sidePanel.getByText('Shifts as a table').click();
  await sidePanel
    .getByRole('row', { name: /viewer Primary/ })
    .first()
    .waitFor();
  await sidePanel.getByRole('button', { name: 'Add override' }).click();
  await page.getByRole('row', { name: /The <i>shop<\/i> editor UTC/ }).waitFor();
  const now = async () => {
    const { items, names } = (await harness.request('GET', '/api/on-call/now')).body;
    return names[items[0].userIds[0]];
  };
  t.is(await now(), 'editor');
  await assertView(t, tab, '.beside h2');
  await sidePanel.getByRole('button', { name: 'End override' }).click();
  await page.getByRole('row', { name: /The <i>shop<\/i> viewer UTC/ }).waitFor();
  t.is(await now(), 'viewer');
  t.deepEqual(tab.complaints, []);
});
