/** Schedules and escalation policies in a real browser: edits with their preview, and a calendar feed. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { chromiumMissing } from '../services/chromium.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Chromium, startChromium } from './chromium.ts';
import { assertView, signInAndOpen } from './page-walk.ts';

let harness: Harness;
let chromium: Chromium;
const declare = chromiumMissing === undefined ? test.serial : test.serial.skip;

const shop = 'The <i>shop</i>';
const get = async (path: string) => (await harness.request('GET', path)).body;
const personOf = async (name: string): Promise<string> => (await get(`/api/users?search=${name}`)).items[0].id;

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  [harness, chromium] = await Promise.all([startHarness(), startChromium()]);
});
test.after.always(async () => {
  await chromium?.close();
  await harness?.close();
});

declare('an editor creates a schedule, previews who would be on call, and saves it', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/incidents/on-call', 'editor@a.example');
  await page.getByText('No schedules yet').waitFor();
  await page.getByRole('button', { name: 'New schedule' }).click();
  const sidePanel = page.getByRole('complementary', { name: 'Schedule' });
  const fill = async (label: string, text: string): Promise<void> => {
    await sidePanel.getByLabel(label, { exact: true }).fill(text);
  };
  await fill('Name', shop);
  await fill('Time zone', 'Europe/Nowhere');
  await fill('First shift begins', '2026-03-23T09:00');
  await sidePanel.getByRole('button', { name: 'Add responder' }).click();
  await sidePanel.getByLabel('Responders').selectOption({ label: 'viewer' });
  await sidePanel.getByRole('button', { name: 'Create schedule' }).click();
  await sidePanel.getByText('must be an IANA time zone, for example Europe/Zurich', { exact: true }).waitFor();
  await fill('Time zone', 'UTC');
  await sidePanel.getByLabel('Unit').selectOption('days');
  await sidePanel.getByRole('button', { name: 'Create schedule' }).click();
  await sidePanel.getByRole('heading', { name: shop }).waitFor();
  await page.getByRole('row', { name: `${shop} viewer UTC` }).waitFor();
  const handoverTiles = sidePanel.locator('.handover');
  await handoverTiles.getByText(/^no handover before \d{4}-\d\d-\d\d \d\d:\d\d$/).waitFor();
  const [{ id, layers }] = (await get('/api/on-call/schedules')).items;
  const [viewer, editor] = [await personOf('viewer'), await personOf('editor')];
  t.like(layers[0], { name: 'Primary', startsAt: '2026-03-23T09:00', rotation: { every: 1, unit: 'days' } });
  t.deepEqual(layers[0].participants, [[viewer]]);

  await sidePanel.getByRole('button', { name: 'Edit' }).click();
  await sidePanel.getByRole('button', { name: 'Add shift' }).click();
  const second = sidePanel.getByRole('group', { name: 'Shift 2' });
  await second.getByRole('button', { name: 'Add responder' }).click();
  await second.getByLabel('Responders').selectOption({ label: 'editor' });
  await sidePanel.getByRole('button', { name: 'Add active hours' }).click();
  await fill('Days of the week', 'monday:friday, someday');
  await sidePanel.getByRole('button', { name: 'Preview changes' }).click();
  await sidePanel.getByText(/must be a day or a range such as monday:friday/).waitFor();
  await fill('Days of the week', 'monday:friday');
  await sidePanel.getByRole('button', { name: 'Preview changes' }).click();
  const rows = sidePanel.locator('.differences tbody tr');
  await rows.first().waitFor();
  const changed = {
    name: shop,
    timeZone: 'UTC',
    layers: [{ ...layers[0], participants: [[viewer], [editor]], restrictions: [{ weekdays: ['monday:friday'] }] }],
  };
  const { differences } = (
    await harness.request('PUT', `/api/on-call/schedules/${id}?dryRun=true`, { as: 'editor', body: changed })
  ).body;
  t.true(differences.length > 0);
  await sidePanel.getByText(`${differences.length} on-call changes in the next 30 days.`).waitFor();
  const names: Readonly<Record<string, string>> = { [viewer]: 'viewer', [editor]: 'editor' };
  const shown = (ids: readonly string[]): string => ids.map((each) => names[each]).join(', ') || 'no one';
  t.deepEqual(
    await rows.evaluateAll((all) => all.map((row) => [...row.children].slice(2).map(({ textContent }) => textContent))),
    differences.map(({ before, after }: { before: string[]; after: string[] }) => [shown(before), shown(after)]),
  );
  await assertView(t, tab, '.beside h2');
  // Unsaved edits were lost by the reload.
  await sidePanel.getByRole('button', { name: 'Add shift' }).click();
  await second.getByRole('button', { name: 'Add responder' }).click();
  await second.getByLabel('Responders').selectOption({ label: 'editor' });
  await sidePanel.getByRole('button', { name: 'Save schedule' }).click();
  await sidePanel.getByText('The next 14 days').waitFor();
  await handoverTiles.getByText(/^until \d{4}-\d\d-\d\d \d\d:\d\d$/).waitFor();
  t.deepEqual((await get(`/api/on-call/schedules/${id}`)).layers[0].participants, [[viewer], [editor]]);
  await assertView(t, tab, '.beside h2');
});

declare(
  'a schedule has a calendar by week and month with each layer, overrides of a day and the handover',
  async (t) => {
    const [{ id }] = (await get('/api/on-call/schedules')).items;
    const incident = await harness.request('POST', '/api/incidents', {
      as: 'editor',
      body: { title: 'Cards <b>fail</b>' },
    });
    t.is(incident.status, 200, JSON.stringify(incident.body));
    const tab = await chromium.open();
    const { page } = tab;
    await signInAndOpen(tab, harness.url, `/incidents/on-call?open=${id}`, 'editor@a.example');
    await page.getByRole('complementary', { name: 'Schedule' }).getByRole('link', { name: 'Open page' }).click();
    await page.waitForURL(`**/incidents/on-call/${id}*`);
    const calendar = page.getByRole('table', { name: 'On-call calendar' });
    await calendar.getByRole('row', { name: /^Primary/ }).waitFor();
    const rows = calendar.getByRole('rowheader');
    t.deepEqual(await rows.allTextContents(), ['On call', 'Primary']);
    t.is(await calendar.getByText('Now', { exact: true }).count(), 2);
    const handover = page.getByRole('region', { name: 'Handover' });
    await handover.getByRole('link', { name: 'Cards <b>fail</b>' }).first().waitFor();
    await handover.getByText('No alerts are firing').waitFor();
    await handover.getByRole('button', { name: 'Copy handover' }).waitFor();

    // Arrow keys select another day, and Page Down another week.
    const readDay = (): string => new URL(page.url()).searchParams.get('day') ?? '';
    const today = calendar.getByRole('button', { name: /, today$/ });
    await today.focus();
    const dayMs = 86_400_000;
    const first = Date.parse(new Date().toISOString().slice(0, 10));
    const toDay = (offset: number): string => new Date(first + offset * dayMs).toISOString().slice(0, 10);
    await page.keyboard.press('ArrowRight');
    await page.waitForURL((url) => url.searchParams.has('day'));
    t.true([toDay(1), toDay(2)].includes(readDay()), readDay());
    const from = Date.parse(readDay());
    await page.keyboard.press('PageDown');
    await page.waitForURL(
      (url) => url.searchParams.get('day') === new Date(from + 7 * dayMs).toISOString().slice(0, 10),
    );
    t.is(await page.evaluate('document.activeElement.dataset.day'), readDay());
    t.is(await calendar.getByText('Now', { exact: true }).count(), 0);

    // An override is proposed for the selected day.
    await page.getByLabel('Until').waitFor();
    t.is(await page.getByLabel('From').inputValue(), `${readDay()}T00:00`);
    await page.getByRole('button', { name: 'Add override' }).click();
    await calendar.getByRole('row', { name: /^Overrides/ }).waitFor();
    const shifts = await get(
      `/api/on-call/schedules/${id}/shifts?from=${readDay()}T00:00:00Z&to=${readDay()}T23:59:00Z`,
    );
    t.like(shifts.items, { 0: { userIds: [await personOf('editor')], layer: null }, length: 1 });
    await page.getByRole('button', { name: 'Month', exact: true }).click();
    await calendar.getByText('(override)').waitFor();
    await page.setViewportSize({ width: 390, height: 800 });
    await assertView(t, tab, '.schedule-page .page-head h2');
    await page.getByRole('button', { name: 'Week', exact: true }).click();
    await calendar.getByText('(override)').waitFor();
    t.is(await page.evaluate('document.documentElement.scrollWidth'), 390);
    await page.getByRole('button', { name: 'End override' }).click();
    await calendar.getByText('(override)').waitFor({ state: 'detached' });
    await page.setViewportSize({ width: 1400, height: 800 });
    await assertView(t, tab, '.schedule-page .page-head h2');
  },
);

declare('a calendar subscribes to a schedule at a URL that is shown once, until it is revoked', async (t) => {
  const [schedule] = (await get('/api/on-call/schedules')).items;
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/incidents/calendars');
  await page.getByText('No calendar links yet').waitFor();
  await page.getByLabel('Shifts').selectOption({ label: shop });
  await page.getByRole('button', { name: 'Create calendar link' }).click();
  const address = (await page.locator('main [role=status] code').textContent()) ?? '';
  const read = (): Promise<Response> => fetch(address);
  const calendar = await read();
  t.is(calendar.status, 200);
  t.regex(await calendar.text(), /^BEGIN:VCALENDAR/);
  await page.getByRole('row', { name: `${shop} viewer` }).waitFor();
  const [feed] = (await harness.request('GET', '/api/on-call/calendar-feeds', { as: 'viewer' })).body.items;
  t.is(feed.scheduleId, schedule.id);
  await assertView(t, tab, 'main tbody tr');
  t.is(await page.locator('main code').count(), 0);
  await page.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('button', { name: 'Revoke; calendars stop receiving updates' }).click();
  await page.getByText('No calendar links yet').waitFor();
  t.is((await read()).status, 404);
  t.deepEqual(tab.complaints, []);
});

declare(
  'an editor creates an escalation policy, previews who would be paged when, and deletes it and the schedule',
  async (t) => {
    const [schedule] = (await get('/api/on-call/schedules')).items;
    const tab = await chromium.open();
    const { page } = tab;
    await signInAndOpen(tab, harness.url, '/incidents', 'editor@a.example');
    await page.getByRole('link', { name: 'Escalation' }).click();
    await page.getByText('No escalation policies yet').waitFor();
    await page.getByRole('button', { name: 'New escalation policy' }).click();
    const sidePanel = page.getByRole('complementary', { name: 'Escalation policy' });
    const create = sidePanel.getByRole('button', { name: 'Create policy' });
    await sidePanel.getByLabel('Name', { exact: true }).fill('Nights <b>too</b>');
    await create.click();
    await sidePanel.getByRole('group', { name: 'Step 1' }).getByRole('alert').filter({ hasText: /./ }).waitFor();
    await sidePanel.getByRole('button', { name: 'Add target' }).click();
    await sidePanel.getByLabel('Targets').selectOption({ label: shop });
    await sidePanel.getByRole('button', { name: 'Add step' }).click();
    const second = sidePanel.getByRole('group', { name: 'Step 2' });
    await second.getByLabel('Minutes after the previous step').fill('20');
    await second.getByRole('button', { name: 'Add target' }).click();
    await second.getByLabel('Targets').selectOption({ label: 'editor' });
    await sidePanel.getByLabel('Repetitions').fill('1');
    await create.click();
    await sidePanel.getByRole('heading', { name: 'Nights <b>too</b>' }).waitFor();
    const [{ id, steps, repeat }] = (await get('/api/on-call/escalation-policies')).items;
    const editor = await personOf('editor');
    t.is(repeat, 1);
    t.like(steps, {
      0: { targets: [{ kind: 'schedule', id: schedule.id }], afterMinutes: 0 },
      1: { targets: [{ kind: 'person', id: editor }], afterMinutes: 20 },
      length: 2,
    });
    await sidePanel.getByText(`After 20 minutes: editor`).waitFor();
    const rows = sidePanel.locator('.previewed tbody tr');
    const { preview } = await get(`/api/on-call/escalation-policies/${id}?preview=true`);
    const expected = preview.flatMap(({ pages }: { pages: readonly { name: string; step: number; round: number }[] }) =>
      pages.map(({ name, step, round }) => [name, String(step + 1), String(round + 1)]),
    );
    t.true(expected.length >= 4);
    await rows.nth(expected.length - 1).waitFor();
    t.deepEqual(
      await rows.evaluateAll((all) =>
        all.map((row) => [...row.children].slice(1).map(({ textContent }) => textContent)),
      ),
      expected,
    );
    await sidePanel.getByLabel('Opening time').selectOption('tomorrow');
    await assertView(t, tab, '.beside h2');
    await sidePanel.getByRole('button', { name: 'Edit' }).click();
    await second.getByRole('button', { name: 'Add active hours' }).click();
    await second.getByLabel('Times of the day').fill('22:00-24:00');
    await second.getByLabel('Time zone of the hours').fill('UTC');
    await sidePanel.getByRole('button', { name: 'Save policy' }).click();
    await sidePanel.getByText('only during 22:00-24:00 UTC').waitFor();
    await sidePanel.getByRole('button', { name: 'Delete' }).click();
    await sidePanel.getByRole('button', { name: /^Delete (“|permanently)/ }).click();
    await sidePanel.waitFor({ state: 'detached' });
    t.deepEqual((await get('/api/on-call/escalation-policies')).items, []);
    await page.getByRole('link', { name: 'On call' }).click();
    await page.getByRole('button', { name: shop }).click();
    const schedulePanel = page.getByRole('complementary', { name: 'Schedule' });
    const download = page.waitForEvent('download');
    await schedulePanel.getByRole('link', { name: 'Export the next 90 days as a calendar file' }).click();
    t.regex(readFileSync(await (await download).path(), 'utf8'), /^BEGIN:VCALENDAR/);
    const { people, names } = await get(`/api/on-call/schedules/${schedule.id}/shifts?to=now%2B14d`);
    await schedulePanel
      .getByRole('row', { name: `${names[people[0].userId]} ${Math.round(people[0].hours)}` })
      .waitFor();
    await schedulePanel.getByRole('button', { name: 'Delete' }).click();
    await schedulePanel.getByRole('button', { name: /^Delete (“|permanently)/ }).click();
    await page.getByText('No schedules yet').waitFor();
    t.deepEqual((await get('/api/on-call/schedules')).items, []);
    t.deepEqual(tab.complaints, []);
  },
);
