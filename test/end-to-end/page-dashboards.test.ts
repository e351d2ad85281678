/** The area Dashboards in a real browser: panels with figures of the API, edits, versions, snapshots, templates. */
import test from 'ava';
import { chromiumMissing } from '../services/chromium.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Chromium, startChromium, type Tab } from './chromium.ts';
import { landedIn } from './landed-spans.ts';
import { assertView, signInAndOpen } from './page-walk.ts';

let harness: Harness;
let chromium: Chromium;
const declare = chromiumMissing === undefined ? test.serial : test.serial.skip;

const endMs = Math.floor(Date.now() / 60_000) * 60_000 - 60_000;
const range = `from=${endMs - 600_000}&to=${endMs}`;

type Fields = Record<string, unknown>;
const promql = (expression: string, more: Fields = {}): Fields => ({
  name: 'A',
  query: { kind: 'promql', expression },
  ...more,
});
const counts = (groupBy: string[]): Fields => ({
  name: 'A',
  answers: 'table',
  query: { kind: 'aggregate', signal: 'logs', measures: [{ function: 'count' }], groupBy },
});
const panel = (id: string, kind: string, queries: Fields[], place: Fields, more: Fields = {}): Fields => ({
  id: id.replaceAll(' ', '-'),
  title: id,
  visual: { kind },
  queries,
  place,
  ...more,
});

const panels = [
  panel('Load', 'time-series', [promql('m0{job=~"$job"}', { legend: '{{job}}' })], { width: 12, height: 8 }),
  panel(
    'Now',
    'stat',
    [promql('sum(m0)')],
    { x: 12, width: 6, height: 4 },
    { fields: { unit: 'By', thresholds: { steps: [{ value: null, colour: 'green' }] } } },
  ),
  panel(
    'Share',
    'gauge',
    [promql('sum(m0) / 100')],
    { x: 18, width: 6, height: 4 },
    { fields: { unit: '%', min: 0, max: 100 } },
  ),
  panel('Each', 'bar-gauge', [promql('m0', { legend: '{{job}}' })], { x: 12, y: 4, width: 6, height: 4 }),
  panel(
    'By service',
    'pie',
    [counts(['service'])],
    { x: 18, y: 4, width: 6, height: 4 },
    { visual: { kind: 'pie', reduce: { everyRow: true } } },
  ),
  panel('Rows', 'table', [counts(['service'])], { y: 8, width: 8, height: 6 }),
  panel('Bars', 'bars', [counts(['service'])], { x: 8, y: 8, width: 8, height: 6 }),
  panel(
    'Records',
    'logs',
    [{ name: 'A', answers: 'table', query: { kind: 'rows', signal: 'logs', search: 'payment', limit: 7 } }],
    { x: 16, y: 8, width: 8, height: 6 },
  ),
  panel(
    'Words',
    'text',
    [],
    { y: 14, width: 12, height: 4 },
    {
      visual: {
        kind: 'text',
        content: '# What to do\n\n<img src=x onerror="throw 1"> and [a page](/logs), not [this](javascript:alert(1))',
      },
    },
  ),
  panel('Broken', 'time-series', [promql('sum(m0')], { x: 12, y: 14, width: 12, height: 4 }),
  panel('Far below', 'stat', [promql('sum(m1)')], { y: 90, width: 12, height: 4 }),
  panel(
    'Heat',
    'heatmap',
    [promql('m0')],
    { y: 94, width: 12, height: 6 },
    { visual: { kind: 'heatmap', fromValues: true } },
  ),
  panel('Spread', 'histogram', [promql('m0', { legend: '{{job}}' })], { x: 12, y: 94, width: 12, height: 6 }),
  panel(
    'States',
    'state-timeline',
    [promql('m0 > bool 1003', { legend: '{{job}}' })],
    { y: 100, width: 12, height: 6 },
    {
      fields: {
        mappings: [
          { kind: 'value', value: '1', text: 'busy' },
          { kind: 'value', value: '0', text: 'idle' },
        ],
      },
    },
  ),
  panel('Steps', 'status-history', [promql('m0', { legend: '{{job}}' })], { x: 12, y: 100, width: 12, height: 6 }),
  panel(
    'Slow ones',
    'traces',
    [{ name: 'A', answers: 'table', query: { kind: 'rows', signal: 'traces', search: 'service:pay', limit: 5 } }],
    { y: 106, width: 12, height: 6 },
  ),
  panel('Who', 'node-graph', [counts(['service', 'severity'])], { x: 12, y: 106, width: 12, height: 10 }),
  panel('In a section', 'stat', [promql('sum(m0)')], { section: 'more', width: 12, height: 4 }),
];
const dashboard = {
  name: 'Shop <b>now</b>',
  tags: ['shop'],
  folder: 'Sales/Web',
  panels,
  sections: [{ id: 'more', title: 'More of it', folded: true }],
  variables: [
    { kind: 'label-values', name: 'job', label: 'job', match: 'm0', several: true, all: {}, selected: ['$__all'] },
  ],
};

let id = '';
const create = async (body: Fields): Promise<string> => {
  const response = await harness.request('POST', '/api/dashboards', { as: 'editor', body });
  if (response.status !== 200) throw new Error(JSON.stringify(response.body));
  return response.body.id;
};

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  [harness, chromium] = await Promise.all([startHarness(), startChromium()]);
  const at = `fromUnixTimestamp64Milli(toInt64(${endMs}), 'UTC')`;
  await harness.columns.execute(
    `INSERT INTO series (tenant_id, project_id, metric, series_id, kind, temporality, monotonic, unit, source, service, resource_id, attributes, attribute_types, first_seen, last_seen)
    SELECT 'a', 'p1', concat('m', toString(number % 2)), number + 1, 'gauge', 2, 1, '', 'prometheus', '', 7, map('job', concat('job-', toString(intDiv(number, 2)))), 's', ${at}, ${at} FROM numbers(8)`,
  );
  await harness.columns.execute(
    `INSERT INTO samples (tenant_id, project_id, received_at, partition, offset, metric, series_id, timestamp, value)
    SELECT 'a', 'p1', ${at}, 0, 1, concat('m', toString(number % 8 % 2)), number % 8 + 1, ${at} - 15 * intDiv(number, 8), 1000 + number % 8 FROM numbers(800)`,
  );
  await harness.columns.execute(
    `INSERT INTO logs (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, observed_timestamp, service, severity_number, severity_text, body, body_type)
    SELECT 'a', 'p1', ${at}, 0, 1, number, ${at} - number, ${at}, concat('shop-', toString(number % 3)), number % 24, '', if(number % 4 = 0, 'payment <i>failed</i>', 'done'), 's' FROM numbers(200)`,
  );
  await landedIn(harness).spans(
    [1, 2].map((nth) => ({
      trace: `${nth}`.repeat(32),
      span: `${nth}`.repeat(16),
      service: 'pay',
      name: `charge <b>${nth}</b>`,
      start: BigInt(endMs - nth * 60_000) * 1_000_000n,
      duration: nth * 250_000_000,
      kind: 2,
      status: nth,
    })),
  );
  id = await create(dashboard);
});
test.after.always(async () => {
  await chromium?.close();
  await harness?.close();
});

/** The panel with a title. */
const within = ({ page }: Tab, title: string) =>
  page.locator('.panel', { has: page.getByRole('heading', { name: title, exact: true }) });
const queryPanels = async (body: Fields = {}) =>
  (
    await harness.request('POST', `/api/dashboards/${id}/query`, {
      body: { from: String(endMs - 600_000), to: String(endMs), ...body },
    })
  ).body;

declare(
  'panels show the results of the API, panels outside the viewport send no query, and a failed panel fails alone',
  async (t) => {
    const tab = await chromium.open();
    const { page } = tab;
    await page.setViewportSize({ width: 1400, height: 1000 });
    await signInAndOpen(tab, harness.url, `/dashboards/${id}?${range}`);
    const { items } = await queryPanels();
    const item = (title: string) =>
      items.find(({ panelId }: { panelId: string }) => panelId === title.replaceAll(' ', '-'));
    const chart = within(tab, 'Load').getByRole('img');
    await chart.waitFor();
    t.is(await chart.getAttribute('aria-label'), 'Load: 4 series, from 1,000 to 1,006.');
    await within(tab, 'Load').getByText('Data table', { exact: true }).click();
    const { series } = item('Load').results.A;
    await within(tab, 'Load').getByRole('row').nth(1).waitFor();
    t.deepEqual(
      await within(tab, 'Load')
        .getByRole('row')
        .nth(1)
        .getByRole('cell')
        .allTextContents()
        .then((all) => all.slice(1)),
      series.map(({ points }: { points: [number, number][] }) =>
        new Intl.NumberFormat('en').format(points[0]?.[1] ?? 0),
      ),
    );
    // A step that the range covers only partly is not used as the last value.
    const { series: latest, partialSteps } = item('Now').results.A;
    const total = latest[0].points.findLast(([at]: [number, number]) => !partialSteps.includes(at))[1];
    t.is(await within(tab, 'Now').locator('dd').textContent(), `${Number((total / 1024).toPrecision(3))} KiB`);
    t.is(await within(tab, 'Share').locator('b').textContent(), `${Number((total / 100).toFixed(1))} %`);
    const rows = item('Rows').results.A.rows as [string, number][];
    await within(tab, 'Rows').getByRole('row').nth(rows.length).waitFor();
    await within(tab, 'Records').getByRole('listitem').first().waitFor();
    t.deepEqual(
      (await within(tab, 'Rows').getByRole('row').allTextContents()).slice(1),
      rows.map(([service, count]) => `${service}${count} records`),
    );
    t.is(await within(tab, 'By service').getByRole('row').count(), rows.length + 1);
    t.is(await within(tab, 'Bars').locator('dt').count(), rows.length);
    t.is(await within(tab, 'Each').locator('dt').count(), 4);
    t.is(await within(tab, 'Records').getByRole('listitem').count(), 7);
    await within(tab, 'Records').getByText('payment <i>failed</i>').first().waitFor();
    t.is(await within(tab, 'Words').locator('img, a[href^=javascript]').count(), 0);
    await within(tab, 'Words').getByRole('link', { name: 'a page' }).waitFor();
    await within(tab, 'Broken').getByRole('alert').waitFor();
    const requestedPanels = (): string[] =>
      tab.requests
        .filter(({ url }) => url.endsWith('/query'))
        .flatMap(({ body }) => JSON.parse(body).panels as string[]);
    t.false(requestedPanels().includes('Far-below') || requestedPanels().includes('In-a-section'));
    await page.getByText('More of it').scrollIntoViewIfNeeded();
    await within(tab, 'Far below').locator('dd', { hasText: /\d/ }).waitFor();
    const pointsOf = (title: string): number =>
      item(title).results.A.series.reduce((sum: number, { points }: { points: unknown[] }) => sum + points.length, 0);
    for (const title of ['Heat', 'Spread', 'States', 'Steps'])
      await within(tab, title).getByRole('img').first().waitFor();
    t.regex(
      (await within(tab, 'Heat').getByRole('img').getAttribute('aria-label')) ?? '',
      /^Heat: \d+ buckets from 1000 /,
    );
    t.regex(
      (await within(tab, 'Spread').getByRole('img').getAttribute('aria-label')) ?? '',
      new RegExp(`^Spread: ${pointsOf('Spread')} values in`),
    );
    t.deepEqual(
      await within(tab, 'States')
        .getByRole('img')
        .evaluateAll((all) => all.map((each) => each.getAttribute('aria-label'))),
      ['idle', 'idle', 'busy', 'busy'].map((state, job) => `job-${job}: 1 stretches, the last is ${state}.`),
    );
    const spans = (await within(tab, 'Slow ones').getByRole('row').allTextContents()).slice(1);
    t.deepEqual(
      spans.map((text) => text.replace(/\d{4}-.*/, '')),
      ['charge <b>1</b>pay250 ms', 'charge <b>2</b>pay500 msfailed'],
    );
    t.is(
      await within(tab, 'Slow ones').getByRole('link').first().getAttribute('href'),
      `/traces/${'1'.repeat(32)}?${range}`,
    );
    const pairs = item('Who').results.A.rows as [string, string, number][];
    const graph = within(tab, 'Who').getByRole('region', { name: /^Who: / });
    t.is(await graph.locator('path').count(), pairs.length);
    t.is(await graph.getByRole('button').count(), new Set(pairs.flatMap((row) => row.slice(0, 2))).size);
    t.true((await within(tab, 'Steps').getByRole('img').first().locator('span').count()) > 10);
    await page.getByText('More of it').click();
    await within(tab, 'In a section').scrollIntoViewIfNeeded();
    await within(tab, 'In a section').locator('dd', { hasText: /\d/ }).waitFor();
    t.true(requestedPanels().includes('Far-below') && requestedPanels().includes('In-a-section'));
    await page.locator('summary', { hasText: 'job: All' }).waitFor();
    await assertView(t, tab, '.panel-head >> nth=0');
  },
);

declare('a variable value is in the URL, and the list is filtered by words, tag and folder', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/dashboards');
  const facets = page.getByRole('region', { name: 'Folders and tags' });
  await facets.getByRole('button', { name: 'Sales', exact: true }).click();
  await page.waitForURL(/folder=Sales(?:&|$)/);
  t.regex(
    (await facets
      .getByRole('listitem')
      .filter({ hasText: /^Sales\/Web/ })
      .textContent()) ?? '',
    /^Sales\/Web\d+$/,
  );
  await facets.getByRole('button', { name: 'shop', exact: true }).click();
  await page.waitForURL(/tag=shop/);
  await page.getByRole('link', { name: 'Shop <b>now</b>' }).waitFor();
  await facets.getByRole('button', { name: 'shop', exact: true, pressed: true }).click();
  await page.waitForURL(/dashboards\?folder=Sales$/);
  await page.getByRole('cell').getByRole('button', { name: 'Sales/Web' }).click();
  await page.getByRole('link', { name: 'Shop <b>now</b>' }).waitFor();
  await assertView(t, tab, '.scrolled tbody');
  await page.getByRole('link', { name: 'Shop <b>now</b>' }).click();
  await page.locator('summary', { hasText: 'job: All' }).click();
  await page.getByLabel('job-2', { exact: true }).click();
  await page.waitForURL(/var-job=job-2/);
  await page.locator('summary', { hasText: 'job: job-2' }).waitFor();
  await page.goto(`${harness.url}/dashboards/${id}?${range}&var-job=job-2&var-job=job-3`);
  const chart = within(tab, 'Load').getByRole('img');
  await chart.waitFor();
  t.is(await chart.getAttribute('aria-label'), 'Load: 2 series, from 1,004 to 1,006.');
  t.deepEqual(tab.complaints, []);
});

declare('panels are added, edited beside a preview, moved by keyboard and mouse, undone and saved', async (t) => {
  const own = await create({
    name: 'To edit',
    panels: [panel('one', 'stat', [promql('sum(m0)')], { width: 12, height: 4 })],
  });
  const tab = await chromium.open();
  const { page } = tab;
  await page.setViewportSize({ width: 1400, height: 1000 });
  await signInAndOpen(tab, harness.url, `/dashboards/${own}?${range}`, 'editor@a.example');
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await page.getByText('Sections', { exact: true }).click();
  await page.getByRole('button', { name: 'Add section' }).click();
  await page.getByLabel('Section', { exact: true }).fill('Shops');
  await page.getByRole('button', { name: 'Add panel' }).click();
  const editor = page.getByRole('region', { name: 'Panel editor' });
  await editor.getByLabel('Title').fill('Requests');
  await editor.getByLabel('Data source').selectOption('promql');
  await editor.getByLabel('Expression').fill('sum(m1)');
  await editor.getByLabel('Unit', { exact: true }).fill('By');
  const preview = within(tab, 'Requests').getByRole('img', { name: /KiB/ });
  await preview.waitFor();
  await editor.getByRole('button', { name: 'Visualization: Time series' }).click();
  await editor.getByRole('button', { name: 'Gauge', exact: true }).click();
  await within(tab, 'Requests').locator('.gauge').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await preview.waitFor();
  await editor.getByText('Thresholds', { exact: true }).click();
  await editor.getByRole('button', { name: 'Add threshold' }).click();
  await editor.getByLabel('Value of threshold 2').fill('3000');
  await editor.getByLabel('Thresholds in the graph').selectOption('Lines');
  await editor.getByLabel('Legend mode').selectOption('Table');
  await within(tab, 'Requests').getByRole('columnheader', { name: 'Mean' }).waitFor();
  await editor.getByText('Value mappings', { exact: true }).click();
  await editor.getByRole('button', { name: 'Add value mapping' }).click();
  await editor.getByLabel('Condition').selectOption('Special');
  await editor.getByLabel('Text', { exact: true }).fill('none');
  await editor.getByRole('button', { name: 'Add formula' }).click();
  await editor.getByLabel('Arithmetic').fill('A * 2');
  await editor.getByLabel('Query A is hidden (for formulas only)').check();
  await within(tab, 'Requests')
    .getByRole('img', { name: /1 series, from 7\.\d+ KiB/ })
    .waitFor();
  await editor.getByText('Transformations', { exact: true }).click();
  for (const kind of [/^Filter by query/, /^Organize fields/]) {
    await editor.getByRole('button', { name: 'Add transformation' }).click();
    await editor.getByRole('button', { name: kind }).click();
  }
  await editor.getByRole('checkbox', { name: 'Show Time' }).waitFor();
  await editor
    .getByLabel(/^New name of /)
    .last()
    .fill('Size');
  await within(tab, 'Requests').scrollIntoViewIfNeeded();
  await within(tab, 'Requests').getByRole('button', { name: /Size/ }).waitFor();
  await editor.getByLabel('Panel section').selectOption('Shops');
  await editor.getByRole('button', { name: 'Back to dashboard' }).click();
  await page.getByRole('button', { name: 'Resize one, with the arrow keys' }).press('ArrowRight');
  await page.getByRole('button', { name: 'Resize one, with the arrow keys' }).press('ArrowDown');
  const move = page.getByRole('button', { name: 'Move one, with the arrow keys' });
  const box = await move.boundingBox();
  const column = ((await page.locator('.panels').first().boundingBox())?.width ?? 0) / 24;
  if (box === null) throw new Error('there is no handle');
  await page.mouse.move(box.x + 5, box.y + 5);
  await page.mouse.down();
  await page.mouse.move(box.x + 5 + 4 * column, box.y + 5, { steps: 4 });
  await page.mouse.up();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('button', { name: 'Edit', exact: true }).waitFor();
  const { body } = await harness.request('GET', `/api/dashboards/${own}`);
  const { x, width, height } = body.panels[0].place;
  t.deepEqual({ x, width, height }, { x: 4, width: 13, height: 5 });
  t.like(body.panels[1], {
    visual: { kind: 'time-series', legend: { form: 'table' } },
    formulas: [{ expression: 'A * 2' }],
    transformations: [{ kind: 'filter-queries', keep: ['A'] }, { kind: 'organize' }],
    queries: [{ hidden: true }],
    fields: {
      unit: 'By',
      thresholds: { mode: 'absolute', steps: [{ value: null, colour: 'green' }, { value: 3000 }] },
      drawing: { thresholds: 'lines' },
      mappings: [{ kind: 'special', match: 'null', text: 'none' }],
    },
  });
  t.is(body.panels[1].place.section, body.sections[0].id);
  t.is(body.sections[0].title, 'Shops');
  await page.goto(`${harness.url}/dashboards/${own}?${range}&edit=true&panel=panel-2`);
  await within(tab, 'Requests').getByRole('img', { name: /KiB/ }).waitFor();
  await assertView(t, tab, '.panel-editor h2 >> nth=0');
});

declare(
  'variables are added, previewed, moved and deleted, errors appear at their fields, and conditions are added',
  async (t) => {
    const own = await create({
      name: 'Of variables',
      variables: [{ kind: 'text', name: 'word', title: 'Word' }],
      panels: [panel('all', 'bar-gauge', [promql('m0', { legend: '{{job}}' })], { width: 12, height: 8 })],
    });
    const tab = await chromium.open();
    const { page } = tab;
    await page.setViewportSize({ width: 1400, height: 1000 });
    const address = `/dashboards/${own}?${range}`;
    await signInAndOpen(tab, harness.url, `${address}&edit=true`, 'editor@a.example');
    await page.getByRole('button', { name: 'Variables' }).click();
    const sidePanel = page.getByRole('complementary', { name: 'Variables' });
    await sidePanel.getByRole('button', { name: 'Add variable' }).click();
    const write = async (label: string, text: string): Promise<void> => {
      const field = sidePanel.locator('details[open]').getByLabel(label, { exact: true });
      await field.fill(text);
      await field.press('Tab');
    };
    await sidePanel.getByText('4 values: job-0, job-1, job-2, job-3').waitFor();
    await write('Filter (regex)', '(');
    await sidePanel.getByRole('alert').filter({ hasText: 'missing' }).waitFor();
    await write('Filter (regex)', 'job-([0-2])');
    await sidePanel.getByLabel('Order').selectOption('number');
    await sidePanel.getByLabel('Reverse order').check();
    await sidePanel.getByText('3 values: 2, 1, 0').waitFor();
    await write('Fixed values, one per line', 'none | No job');
    await sidePanel.getByText('4 values: No job (none), 2, 1, 0').waitFor();
    await sidePanel.getByLabel('Allow multiple values').check();
    await sidePanel.getByLabel('Include All').check();
    await write('Name', 'not a name');
    await sidePanel.getByRole('alert').filter({ hasText: /./ }).waitFor();
    await write('Name', 'job');
    await page.locator('summary', { hasText: 'job: All' }).waitFor();
    await sidePanel.getByRole('button', { name: 'Move job up' }).press('Enter');
    await sidePanel.getByRole('button', { name: 'Remove job' }).waitFor();
    t.deepEqual(await sidePanel.locator('summary b').allTextContents(), ['job', 'word']);
    await sidePanel.getByText('word', { exact: true }).click();
    await sidePanel.getByRole('button', { name: 'Remove word' }).click();
    await sidePanel.getByRole('button', { name: 'Add variable' }).click();
    await sidePanel.locator('details[open]').last().getByLabel('Variable type').selectOption('filters');
    await page.locator('summary', { hasText: 'variable2: none' }).click();
    await page.locator('.popup').getByLabel('Label').fill('job');
    await page.locator('.popup').getByLabel('Value').fill('job-2');
    await page.getByRole('button', { name: 'Add filter' }).click();
    await page.waitForURL(/var-variable2=job%3Djob-2/);
    await within(tab, 'all').getByText('job-0').waitFor({ state: 'detached' });
    t.deepEqual(await within(tab, 'all').locator('dt').allTextContents(), ['job-2']);
    await page.locator('summary', { hasText: /^variable2: (?!none)/ }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Edit', exact: true }).waitFor();
    const { body } = await harness.request('GET', `/api/dashboards/${own}`);
    t.like(body.variables[0], {
      kind: 'label-values',
      name: 'job',
      label: 'job',
      several: true,
      all: {},
      pattern: 'job-([0-2])',
      order: { by: 'number', direction: 'descending' },
      fixed: { options: [{ value: 'none', title: 'No job' }] },
    });
    t.deepEqual(
      body.variables.map(({ name }: { name: string }) => name),
      ['job', 'variable2'],
    );
    await page.goto(`${harness.url}${address}&edit=true&sidePanel=variables`);
    await sidePanel.getByText('job', { exact: true }).click();
    await sidePanel.getByText('4 values').waitFor();
    await assertView(t, tab, '.beside h2');
  },
);

declare('concurrent edits of two users are merged, and the second to save resolves conflicts', async (t) => {
  const one = panel('one', 'stat', [promql('sum(m0)')], { width: 12, height: 4 });
  const own = await create({ name: 'Of two', panels: [one] });
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, `/dashboards/${own}?${range}&edit=true&panel=one`, 'editor@a.example');
  const title = page.getByRole('region', { name: 'Panel editor' }).getByLabel('Title');
  await title.fill('Mine');
  const others = async (fields: Fields): Promise<void> => {
    const { body, headers } = await harness.request('GET', `/api/dashboards/${own}`, { as: 'admin' });
    const response = await harness.request('PUT', `/api/dashboards/${own}`, {
      as: 'admin',
      body: { ...body, ...fields },
      headers: { 'if-match': headers.get('etag') ?? '' },
    });
    if (response.status !== 200) throw new Error(JSON.stringify(response.body));
  };
  await others({ tags: ['theirs'], panels: [one, { ...one, id: 'two', place: { y: 4, width: 12, height: 4 } }] });
  await title.press('Tab');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('button', { name: 'Edit', exact: true }).waitFor();
  const now = async () => (await harness.request('GET', `/api/dashboards/${own}`)).body;
  const { tags, panels: both } = await now();
  t.deepEqual([tags, both.map(({ title }: { title: string }) => title)], [['theirs'], ['Mine', 'one']]);
  await page.goto(`${harness.url}/dashboards/${own}?${range}&edit=true&panel=one`);
  await title.fill('Mine again');
  await title.press('Tab');
  await others({ panels: [{ ...both[0], title: 'Theirs' }, both[1]] });
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByLabel('panel “Mine again”').selectOption('theirs');
  await page.getByRole('button', { name: 'Save merged version' }).click();
  await page.getByRole('button', { name: 'Edit', exact: true }).waitFor();
  t.is((await now()).panels[0].title, 'Theirs');
  t.deepEqual(tab.complaints, []);
});

declare('a version is described in words and restored, and a snapshot is public until it is revoked', async (t) => {
  const one = panel('one', 'stat', [promql('sum(m0)')], { width: 12, height: 4 });
  const own = await create({ name: 'Kept', panels: [one] });
  const before = await harness.request('GET', `/api/dashboards/${own}`);
  await harness.request('PUT', `/api/dashboards/${own}`, {
    as: 'editor',
    body: { ...before.body, name: 'Renamed' },
    headers: { 'if-match': before.headers.get('etag') ?? '' },
  });
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, `/dashboards/${own}?${range}&show=versions&version=1`, 'editor@a.example');
  const { body: version } = await harness.request('GET', `/api/dashboards/${own}/versions/1`);
  const versionsPanel = page.getByRole('complementary', { name: 'Versions' });
  await versionsPanel.getByText(version.differences[0].what).waitFor();
  await assertView(t, tab, '.beside ul >> nth=1');
  await versionsPanel.getByRole('button', { name: 'Restore version 1' }).click();
  await page.locator('.toolbar b', { hasText: 'Kept' }).waitFor();
  await page.getByText('Share', { exact: true }).click();
  await page.getByRole('button', { name: 'Public snapshot' }).click();
  await page.getByRole('button', { name: 'Create snapshot' }).click();
  const link =
    (await page.getByText('Copy this link now. It is shown only once').getByRole('link').getAttribute('href')) ?? '';
  const other = await chromium.open();
  await other.go(link);
  await within(other, 'one').locator('dd', { hasText: '4,012' }).waitFor();
  t.false(other.requests.some(({ url }) => url.includes('/auth/')));
  await assertView(t, other, '.panels');
  await page.getByRole('button', { name: 'Revoke Kept' }).click();
  await page.getByText('No snapshots yet.').waitFor();
  await other.page.reload();
  await other.page.getByText('the snapshot does not exist').waitFor();
  t.deepEqual(tab.complaints, []);
});

declare('a template becomes a dashboard, and an import shows a preview of each part first', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/dashboards?show=templates', 'editor@a.example');
  const { body } = await harness.request('GET', '/api/templates');
  await page.getByRole('row').nth(body.items.length).waitFor();
  t.is(await page.getByRole('row').count(), body.items.length + 1);
  await page.getByRole('button', { name: body.items[0].name, exact: true }).click();
  const sidePanel = page.getByRole('complementary', { name: 'Template' });
  const { fits, needs } = (await harness.request('GET', `/api/templates/${body.items[0].id}`)).body;
  await sidePanel.getByRole('row').nth(fits.length).waitFor();
  t.deepEqual(
    await sidePanel.locator('tbody tr td:last-child').allTextContents(),
    fits.map(({ missing }: { missing: string[] }) => missing.join('; ') || 'none'),
  );
  await sidePanel.getByText(needs.signals.join(', '), { exact: true }).waitFor();
  await sidePanel.getByText('existing dashboards').waitFor();
  await assertView(t, tab, '.beside h2');
  await page
    .getByRole('button', { name: /^Create dashboard/ })
    .first()
    .click();
  await page.waitForURL(/\/dashboards\/[^?]/);
  await page.locator('.toolbar b', { hasText: body.items[0].name }).waitFor();
  await page.goto(`${harness.url}/dashboards?show=import`);
  const grafana = {
    title: 'From elsewhere',
    schemaVersion: 39,
    panels: [{ id: 1, type: 'news', title: 'News', gridPos: { x: 0, y: 0, w: 12, h: 4 } }],
  };
  await page.getByLabel('Or paste JSON').fill(JSON.stringify(grafana));
  await page.getByRole('button', { name: 'Preview import' }).click();
  await page.getByRole('row', { name: /^Panel “News” \(news\) placeholder/ }).waitFor();
  await page.getByText(/^Preview only\. .*: 1 placeholder/).waitFor();
  await page.getByText(/The dashboard “From elsewhere” \(import-\w+\) is new\./).waitFor();
  const { body: report } = await harness.request('POST', '/api/dashboards/import?dryRun=true', {
    as: 'editor',
    body: grafana,
  });
  await page.getByText(`Of ${report.report.leaves.total} values`).waitFor();
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await page.getByText('Unsupported panel type “news”.').waitFor();
  t.deepEqual(tab.complaints, []);
});

declare('a table shows embedded images and links to others, and nodes of a graph show their arcs', async (t) => {
  const png =
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const row = (name: string, value: number, picture: string): string =>
    `label_replace(label_replace(vector(${value}),"id","${name}","",""),"picture","${picture}","","")`;
  const rows = [
    row('cart', 0.25, png),
    row('mail', 0.5, 'https://pictures.example/a.png'),
    row('pay', 1, 'javascript:alert(1)'),
  ];
  const queries = [{ name: 'A', answers: 'table', query: { kind: 'promql', expression: rows.join(' or ') } }];
  const place = { width: 12, height: 10 };
  const body = {
    name: 'Pictures',
    panels: [
      { id: 'table', title: 'Pictures', visual: { kind: 'table' }, queries, fields: { cell: { as: 'image' } }, place },
      {
        id: 'nodes',
        title: 'Nodes',
        visual: { kind: 'node-graph', arcs: [{ field: 'value', colour: 'green' }] },
        queries,
        place: { ...place, x: 12 },
      },
    ],
  };
  const created = await harness.request('POST', '/api/dashboards', { as: 'owner', body });
  t.is(created.status, 200, JSON.stringify(created.body));
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, `/dashboards/${created.body.id}`);
  const table = page.getByRole('region', { name: 'Pictures' }).getByRole('table');
  const image = table.locator('img');
  await image.waitFor();
  t.is(await image.getAttribute('src'), png);
  t.is(await image.evaluate((node) => Reflect.get(node, 'naturalWidth')), 1);
  const link = table.getByRole('link');
  t.deepEqual(await link.evaluateAll((all) => all.map((one) => one.getAttribute('href'))), [
    'https://pictures.example/a.png',
  ]);
  await table.getByText('javascript:alert(1)').waitFor();
  const node = page.getByRole('button', { name: 'cart value 25%' });
  await node.waitFor();
  t.is(await node.locator('.node-shares .tone-green').evaluate((bar) => Reflect.get(bar, 'style').width), '25%');
  await assertView(t, tab, '.graph .node >> nth=0');
});
