/** Exploring logs: completion, values with counts, group counts, columns, trees, context, patterns, saved queries. */
import test from 'ava';
import { text } from '../cases/sink-tables.ts';
import { chromiumMissing } from '../services/chromium.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Chromium, startChromium, type Tab } from './chromium.ts';
import { landLogs } from './landed-logs.ts';
import { assertView, signInAndOpen } from './page-walk.ts';

const count = 300;
const routes = ['/cart', '/checkout', '/pay'];

let harness: Harness;
let chromium: Chromium;
const declare = chromiumMissing === undefined ? test.serial : test.serial.skip;

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  [harness, chromium] = await Promise.all([startHarness(), startChromium()]);
  const nowNs = BigInt(Date.now()) * 1_000_000n;
  await landLogs(
    harness,
    Array.from({ length: count }, (_, index) => ({
      timeNs: nowNs - BigInt(index) * 3_000_000_000n,
      body:
        index === 5 ? JSON.stringify({ order: { id: 5, items: ['<b>cup</b>', null] } }) : `step ${index} of an order`,
      service: 'checkout',
      severity: index === 100 ? 17 : 9,
      attributes: [text('http.route', routes[index % 3] ?? ''), text('order id', String(index))],
    })),
    { offset: 1 },
  );
  for (const [id, template, minutesAgo, records] of [
    ['00000000000000aa', 'step <number> of an order', 20, 299],
    ['00000000000000bb', 'an older step', 90, 40],
  ] as const) {
    await harness.columns.execute(
      `INSERT INTO log_patterns (tenant_id, service, structure, pattern_id, places, shard, template, parameters, first_seen, last_seen) SELECT 'a', 'checkout', 1, '${id}', [1], 0, '${template}', '[]', now64(3) - INTERVAL ${minutesAgo} MINUTE, now64(3)`,
    );
    await harness.columns.execute(
      `INSERT INTO log_pattern_counts (tenant_id, project_id, minute, service, pattern_id, severity, count, topic, received_at, offset) SELECT 'a', 'p1', toStartOfMinute(now() - INTERVAL ${minutesAgo} MINUTE), 'checkout', '${id}', 'info', ${records}, 'log-pattern-counts', now64(3), ${minutesAgo}`,
    );
  }
});
test.after.always(async () => {
  await chromium?.close();
  await harness?.close();
});

const opened = async (address: string, email?: string): Promise<Tab> => {
  const tab = await chromium.open();
  await signInAndOpen(tab, harness.url, address, email);
  await tab.page.locator('.extent .row').first().waitFor();
  return tab;
};

declare(
  'names and values are completed while typing and chosen by keyboard, and a syntax error appears before the search runs',
  async (t) => {
    const tab = await opened('/logs');
    const { page } = tab;
    const search = page.getByRole('combobox', { name: 'Search logs' });
    await search.pressSequentially('step http.r');
    await page.getByRole('option', { name: /^http\.route/ }).waitFor();
    await search.press('ArrowDown');
    t.is(await search.getAttribute('aria-activedescendant'), 'search-option-0');
    await search.press('Enter');
    t.is(await search.inputValue(), 'step http.route:');
    const { body } = await harness.request('GET', '/api/logs/fields/http.route/values?from=now-1h');
    await page.getByRole('option', { name: /^\/pay/ }).waitFor();
    t.is(await page.getByRole('listbox', { name: 'Values' }).getByRole('option').count(), body.distinct);
    await search.press('ArrowUp');
    await search.press('Tab');
    t.regex(await search.inputValue(), /^step http\.route:"\/\w+" $/);
    await search.press('Enter');
    await page.locator('#count', { hasText: /^(?:100|99)$/ }).waitFor();
    await search.fill('step http.route:(/pay');
    const requestsBefore = tab.requests.length;
    await search.press('Enter');
    const wrong = await harness.request('GET', `/api/logs?search=${encodeURIComponent('step http.route:(/pay')}`);
    await page.locator('#search-problem', { hasText: wrong.body.details[0].message }).waitFor();
    t.deepEqual(
      tab.requests.slice(requestsBefore).filter(({ url }) => url.includes('/api/logs?')),
      [],
    );
    t.deepEqual(tab.complaints, []);
  },
);

declare(
  'field values have the counts of the API, include and exclude, and any field is counted over time',
  async (t) => {
    const tab = await opened('/logs?by=http.route&facets=http.route');
    const { page } = tab;
    const values = page.getByRole('region', { name: 'Facets' });
    await values.getByRole('button', { name: '/pay', exact: true }).waitFor();
    const { body } = await harness.request('GET', '/api/logs/fields/http.route/values?from=now-1h');
    const shown = await values.locator('.facet li').allTextContents();
    t.deepEqual(
      shown,
      body.items.map(({ value, records }: { value: string; records: number }) => `${value}${records}−`),
    );
    const { body: counted } = await harness.request('GET', '/api/logs/histogram?from=now-1h&groupBy=http.route');
    for (const { value, records } of counted.series)
      await page.locator('.legend', { hasText: `${value} ${records}` }).waitFor();
    await values.getByRole('searchbox', { name: 'Search fields' }).fill('order id');
    const fields = values.getByRole('region', { name: 'Fields' }).locator('li');
    await fields.nth(1).waitFor({ state: 'detached' });
    t.deepEqual(await fields.allTextContents(), [`order id${count}`]);
    await fields.getByRole('button').click();
    await page.locator('.facet', { hasText: 'order id' }).waitFor();
    await assertView(t, tab, '.facet li >> nth=0');
    await values.getByRole('button', { name: 'Exclude /pay' }).click();
    await page.locator('#count', { hasText: '200' }).waitFor();
    await page.waitForURL(/search=NOT\+http\.route%3A%22%2Fpay%22/);
    const box = (await page.locator('.histogram').boundingBox()) ?? t.fail('no histogram');
    if (typeof box === 'boolean') return;
    await page.mouse.move(box.x + box.width * 0.8, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.95, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/from=20/);
    const { searchParams } = new URL(page.url());
    const part = await harness.request(
      'GET',
      `/api/logs/histogram?${searchParams}`.replace(/&(?:by|facets)=[^&]*|(?:by|facets)=[^&]*&/g, ''),
    );
    t.true(part.body.records > 0 && part.body.records < 200);
    await page.locator('#count', { hasText: String(part.body.records) }).waitFor();
    t.deepEqual(tab.complaints, []);
  },
);

declare('columns, wrapping and a JSON tree are in the URL, for every field name', async (t) => {
  const tab = await opened('/logs');
  const { page } = tab;
  await page.locator('.extent .row', { hasText: 'step 4 ' }).click();
  const record = page.getByRole('complementary', { name: 'Record' });
  await record.getByRole('button', { name: 'Add column order id' }).click();
  await page.getByRole('columnheader', { name: 'order id' }).waitFor();
  t.is(await page.locator('.extent .row', { hasText: 'step 4 ' }).getByRole('gridcell').nth(3).textContent(), '4');
  await page.getByLabel('Wrap').check();
  await page.locator('.rows.wraps').waitFor();
  await page.locator('.extent .row', { hasText: 'cup' }).click();
  await record.locator('.body summary', { hasText: 'order' }).waitFor();
  t.deepEqual(await record.locator('.body .json .json li').allTextContents(), ['id: 5', 'items [2]']);
  await record.locator('.body .json .json summary').click();
  await record.locator('.body', { hasText: '"<b>cup</b>"' }).waitFor();
  await assertView(t, tab, '.extent .row >> nth=0');
  await record.getByRole('button', { name: 'Add body.order.id to the query' }).click();
  await page.locator('#count', { hasText: /^1\b/ }).waitFor();
  t.is(await page.locator('#search').inputValue(), 'body.order.id:"5"');
  t.deepEqual(tab.complaints, []);
});

declare('the context of a record shows records of the same sender, within the list', async (t) => {
  const tab = await opened('/logs?search=severity%3Aerror');
  const { page } = tab;
  t.is(await page.locator('.extent .row').count(), 1);
  await page.locator('.extent .row').click();
  await page.getByRole('button', { name: 'Show context' }).click();
  await page.locator('.rows[aria-rowcount="22"]').waitFor();
  const bodies = page.locator('.extent .row [role=gridcell]:nth-child(4)');
  t.deepEqual(
    await bodies.allTextContents(),
    Array.from({ length: 21 }, (_, index) => `step ${index + 90} of an order`),
  );
  await page.getByRole('button', { name: 'More after' }).click();
  await page.locator('.rows[aria-rowcount="62"]').waitFor();
  await assertView(t, tab, '.around-this');
  await page.getByRole('button', { name: 'Hide context' }).click();
  await page.locator('.rows[aria-rowcount="2"]').waitFor();
  t.deepEqual(tab.complaints, []);
});

declare('patterns show which are new and which disappeared, as in the API', async (t) => {
  const tab = await opened('/logs?view=patterns');
  const { page } = tab;
  const { body } = await harness.request('GET', '/api/logs/patterns?scope=account&from=now-1h');
  const rows = page.locator('.patterns .extent .row');
  t.deepEqual(
    await rows.locator('[role=gridcell]:last-child').allTextContents(),
    body.items.map(({ template }: { template: string }) => template),
  );
  await page.getByText('1 patterns of the previous period no longer occur').click();
  await page.getByRole('link', { name: 'an older step' }).waitFor();
  await rows.first().click();
  await page.getByRole('complementary', { name: 'Pattern' }).getByText('299', { exact: true }).first().waitFor();
  await assertView(t, tab, '.beside h2');
});

declare('a search is exported, saved and turned into a rule by users with permission', async (t) => {
  const tab = await opened('/logs?search=severity%3Aerror', 'owner@a.example');
  const { page } = tab;
  const menu = (title: string) => page.locator('.toolbar details', { has: page.getByText(title, { exact: true }) });
  await menu('Export').locator('summary').click();
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'CSV' }).click()]);
  const { readFileSync } = await import('node:fs');
  const lines = readFileSync(await file.path(), 'utf8')
    .trim()
    .split(/\r?\n/);
  t.is(lines.length, 2);
  t.regex(lines[1] ?? '', /step 100 of an order/);
  await menu('Save').locator('summary').click();
  await menu('Save').getByLabel('Name').fill('Errors of the shop');
  await menu('Save').getByRole('button', { name: 'Save query' }).click();
  await menu('Save').getByText('Saved as “Errors of the shop”').waitFor();
  const { body: saved } = await harness.request('GET', '/api/saved-queries');
  t.like(saved.items[0], { name: 'Errors of the shop', query: { kind: 'rows', search: 'severity:error' } });
  await page.getByRole('link', { name: 'Create alert' }).click();
  await page.getByRole('heading', { name: 'New alert rule' }).waitFor();
  t.is(await page.getByLabel('Search', { exact: true }).inputValue(), 'severity:error');
  t.deepEqual(tab.complaints, []);
  const viewer = await opened('/logs');
  t.is(await viewer.page.getByText('Create alert').count(), 0);
});

declare('a saved query is starred, run, renamed, made private and shared again, and deleted', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/saved-queries/templates', 'editor@a.example');
  const templates = (await harness.request('GET', '/api/query-templates')).body.items;
  await page.getByRole('row').nth(templates.length).waitFor();
  await page.getByRole('link', { name: 'Saved', exact: true }).click();
  await page.getByRole('button', { name: 'New saved query' }).click();
  const sidePanel = page.getByRole('complementary', { name: 'Saved query' });
  const fill = async (label: string, written: string): Promise<void> =>
    sidePanel.getByLabel(label, { exact: true }).fill(written);
  await fill('Name', 'Steps by <b>service</b>');
  await fill('Tags', 'orders, shop');
  await fill('Search', 'severity:info');
  await fill('From', 'yesterday?');
  await sidePanel.getByRole('button', { name: 'Save query' }).click();
  await sidePanel.locator('.problem-text').filter({ hasText: /./ }).first().waitFor();
  t.is(await sidePanel.getByLabel('From', { exact: true }).getAttribute('aria-invalid'), 'true');
  await fill('From', 'now-1h');
  await sidePanel.getByRole('button', { name: 'Save query' }).click();
  await sidePanel.getByRole('heading', { name: 'Steps by <b>service</b>' }).waitFor();
  const findSavedQuery = async (as: 'editor' | 'viewer' = 'editor') =>
    (await harness.request('GET', '/api/saved-queries?search=service', { as })).body.items[0];
  const { id, ...savedQuery } = await findSavedQuery();
  t.like(savedQuery, { tags: ['orders', 'shop'], visibility: 'organization', isFavourite: false });
  t.like(savedQuery.query, { kind: 'aggregate', signal: 'logs', search: 'severity:info', groupBy: ['service'] });
  await sidePanel.getByRole('button', { name: 'Favorite' }).click();
  await page.getByRole('button', { name: '★ Steps by <b>service</b>' }).waitFor();
  t.true((await findSavedQuery()).isFavourite);
  await sidePanel.getByRole('button', { name: 'Run query' }).click();
  const row = sidePanel.getByRole('region', { name: 'Result' }).getByRole('row').nth(1);
  await row.waitFor();
  t.deepEqual(await row.getByRole('cell').allTextContents(), ['checkout', `${count - 1} records`]);
  await assertView(t, tab, '.beside h2');

  await sidePanel.getByRole('button', { name: 'Edit' }).click();
  await fill('Name', 'My steps by service');
  await sidePanel.getByLabel('Private').check();
  await sidePanel.getByRole('button', { name: 'Save changes' }).click();
  await sidePanel.getByText('private (me)').waitFor();
  t.like(await findSavedQuery(), { name: 'My steps by service', visibility: 'private', query: savedQuery.query });
  t.is(await findSavedQuery('viewer'), undefined);
  await sidePanel.getByRole('button', { name: 'Edit' }).click();
  await sidePanel.getByLabel('Private').uncheck();
  await sidePanel.getByRole('button', { name: 'Save changes' }).click();
  await sidePanel.getByText('organization', { exact: true }).waitFor();
  t.is((await findSavedQuery('viewer')).id, id);
  const viewer = await chromium.open();
  await signInAndOpen(viewer, harness.url, `/saved-queries?open=${id}`);
  await viewer.page.getByText('Editing is for editor, admin, and owner; your role is viewer.').waitFor();
  t.is(await viewer.page.getByRole('button', { name: /Edit|Delete|New/ }).count(), 0);
  await assertView(t, viewer, '.beside h2');
  await sidePanel.getByRole('button', { name: 'Delete' }).click();
  await sidePanel.getByRole('button', { name: /^Delete (“|permanently)/ }).click();
  await sidePanel.waitFor({ state: 'detached' });
  t.is(await findSavedQuery(), undefined);
});

declare('metrics of the records of a search are grouped by a field, as a table and over time', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/logs?search=service%3Acheckout');
  await page.getByRole('link', { name: 'Aggregate' }).click();
  await page.getByLabel('Aggregations').fill('count, sideways(x)');
  await page.getByLabel('Group by').fill('http.route');
  await page.getByRole('button', { name: 'Run query', exact: true }).click();
  await page
    .locator('.problem-text')
    .filter({ hasText: /expected one of count/ })
    .waitFor();
  await page.getByLabel('Aggregations').fill('count, distinct(severity)');
  await page.getByRole('button', { name: 'Run query', exact: true }).click();
  const rows = page.getByRole('region', { name: 'Result' }).getByRole('row');
  await rows.nth(routes.length).waitFor();
  const { body } = await harness.request(
    'GET',
    `/api/logs/aggregate?search=service:checkout&measure=${encodeURIComponent('count, distinct(severity)')}&groupBy=http.route`,
  );
  const shown = (await rows.evaluateAll((all) =>
    all.slice(1).map((row) => [...row.children].map(({ textContent }) => textContent)),
  )) as string[][];
  t.deepEqual(
    shown.map(([route, records, severities]) => [
      route,
      Number.parseInt(records ?? '', 10),
      Number.parseInt(severities ?? '', 10),
    ]),
    body.rows,
  );
  await assertView(t, tab, 'main table');
  await page.getByLabel('over time').check();
  await page.getByRole('button', { name: 'Run query', exact: true }).click();
  await page.getByRole('img', { name: /^count, distinct\(severity\)/ }).waitFor();
  await assertView(t, tab, '.toolbar');
});
