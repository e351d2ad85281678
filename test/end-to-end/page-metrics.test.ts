/** The area Metrics in a real browser: a metric from the catalogue as a graph, PromQL, and numbers of the API. */
import test from 'ava';
import { chromiumMissing } from '../services/chromium.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Chromium, startChromium } from './chromium.ts';
import { agentOf } from './infrastructure-senders.ts';
import { assertView, signInAndOpen } from './page-walk.ts';

let harness: Harness;
let chromium: Chromium;
const declare = chromiumMissing === undefined ? test.serial : test.serial.skip;

const minuteMs = 60_000;
const end = Math.floor(Date.now() / minuteMs) * minuteMs;
const times = Array.from({ length: 20 }, (_, index) => end - (20 - index) * minuteMs);
/** Absolute times, so that the page and the test query the same range. */
const range = { from: new Date(times[0] ?? 0).toISOString(), to: new Date(end - 1).toISOString() };
const at = (path: string, values: Readonly<Record<string, string>> = {}): string =>
  `${path}?${new URLSearchParams({ ...range, ...values })}`;

/** The trace and span of the exemplar of each queue. */
const [trace, span] = ['c'.repeat(32), 'd'.repeat(16)];

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  [harness, chromium] = await Promise.all([startHarness(), startChromium()]);
  for (const [service, size] of [
    ['cart', 100],
    ['<b>mail</b>', 300],
  ] as const)
    await agentOf(harness.columns, 'a').metrics({ 'service.name': service }, [
      {
        name: 'queue.size',
        unit: 'By',
        kind: 'gauge',
        points: [
          { values: times.map((time, index) => [time, size * 1024 + index] as const), measuredIn: { trace, span } },
        ],
      },
      {
        name: 'orders',
        unit: '{order}',
        kind: 'counter',
        points: [{ values: times.map((time, index) => [time, index * size] as const) }],
      },
    ]);
});
test.after.always(async () => {
  await chromium?.close();
  await harness?.close();
});

const query = async (question: object) =>
  (await harness.request('POST', '/api/metrics/query', { body: { ...range, queries: { a: question } } })).body.results
    .a;

declare('a metric of the catalogue has a chart with a series for each service and the values of the API', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, at('/explore-metrics'));
  await page.locator('#search').fill('queue');
  await page.keyboard.press('Enter');
  await page.locator('.metrics[aria-rowcount="2"]').waitFor();
  await page.locator('.metrics .extent .row').first().click();
  await page.locator('.legend-entry').waitFor();
  await page.getByLabel('Group by').fill('service');
  await page.keyboard.press('Enter');
  await page.locator('.legend-entry').nth(1).waitFor();
  const { series } = await query({
    kind: 'metric',
    metric: 'queue.size',
    overTime: 'avg',
    across: 'avg',
    groupBy: ['service'],
  });
  t.is(series.length, 2);
  const legend = page.getByRole('region', { name: /^Series of / }).getByRole('button');
  t.deepEqual(
    await legend.locator('bdi').allTextContents(),
    series.map(({ labels }: { labels: { service: string } }) => labels.service),
  );
  t.regex(
    (await page.locator('.plot').getAttribute('aria-label')) ?? '',
    /^queue.size, average: 2 series, from 100 KiB to 300 KiB\.$/,
  );
  await page.getByLabel('Filter').fill('service:ca');
  await page.getByRole('option', { name: /^cart/ }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await page.locator('.plot[aria-label*="average: 1 series"]').waitFor();
  await page.getByLabel('Filter').fill('');
  await page.keyboard.press('Enter');
  await page.locator('.plot[aria-label*="average: 2 series"]').waitFor();
  await page.getByText('Data table', { exact: true }).click();
  const rows = page.getByRole('region', { name: /^Data of / }).getByRole('row');
  await rows.nth(1).waitFor();
  t.is(await rows.count(), series[0].points.length + 1);
  const expression = await page.locator('.builder-promql code').textContent();
  t.regex(expression ?? '', /^avg by \(job\) \(avg_over_time\(queue_size_bytes\[5m\]\)\)$/);
  await page.getByRole('button', { name: 'Edit as PromQL' }).click();
  await page.waitForURL(/[?&]promql=/);
  await page.getByRole('button', { name: 'Builder', exact: true }).click();
  await page.locator('.plot[aria-label*="average: 2 series"]').waitFor();
  t.is(await page.getByLabel('Group by').inputValue(), 'service');
  await assertView(t, tab, '.metrics .extent .row >> nth=0');
  await page.locator('.legend-entry').nth(1).waitFor();
});

declare('series, uses and labels of a metric are those of the API', async (t) => {
  const name = 'Queues <i>now</i>';
  const panel = {
    id: 'p',
    title: name,
    visual: { kind: 'time-series' },
    place: { width: 12, height: 8 },
    queries: [{ name: 'A', answers: 'series', query: { kind: 'metric', metric: 'queue.size', overTime: 'avg' } }],
  };
  const created = await harness.request('POST', '/api/dashboards', { as: 'owner', body: { name, panels: [panel] } });
  t.is(created.status, 200, JSON.stringify(created.body));
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, at('/explore-metrics'));
  await page.getByRole('link', { name: 'Cardinality' }).click();
  await page.getByLabel('Sort by').selectOption('-growth');
  const { body } = await harness.request('GET', at('/api/metrics/cardinality', { scope: 'account', sort: '-growth' }));
  const rows = page.locator('.figures tbody tr');
  await rows.nth(body.items.length - 1).waitFor();
  t.deepEqual(
    await rows.evaluateAll((all) => all.map((row) => [...row.children].map(({ textContent }) => textContent))),
    body.items.map(({ metric, series, growth, appeared, disappeared, used }: (typeof body.items)[number]) =>
      [metric, series, growth > 0 ? `+${growth}` : growth, appeared, disappeared, used.uses.length].map(String),
    ),
  );
  await page.getByRole('button', { name: 'queue.size' }).click();
  const metric = page.getByRole('complementary', { name: 'Metric' });
  const [{ labels }] = [(await harness.request('GET', at('/api/metrics/cardinality', { metric: 'queue.size' }))).body];
  await metric.getByRole('region', { name: 'Labels' }).getByRole('row').nth(labels.length).waitFor();
  await page.setViewportSize({ width: 320, height: 800 });
  await assertView(t, tab, '.beside h2');
  t.is(await page.evaluate('document.documentElement.scrollWidth'), 320);
  await metric.getByRole('region', { name: 'Used by' }).getByRole('link', { name }).click();
  await page.waitForURL(`**/dashboards/${created.body.id}?*`);
  t.deepEqual(tab.complaints, []);
});

declare('exemplars of a metric link to their traces', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, at('/explore-metrics', { metric: 'queue.size' }));
  await page.getByText('2 measurements with a trace').click();
  const rows = page.getByRole('region', { name: 'Exemplars' }).getByRole('row');
  const { body } = await harness.request(
    'GET',
    at('/api/metrics/exemplars', { metric: 'queue.size', scope: 'account' }),
  );
  t.is(await rows.count(), body.items.length + 1);
  await assertView(t, tab, 'main details summary >> nth=0');
  await page.getByText('2 measurements with a trace').click();
  await rows.getByRole('link').first().click();
  await page.waitForURL(`**/traces/${trace}?*span=${span}*`);
  t.deepEqual(tab.complaints, []);
});

declare(
  'PromQL has a chart, completion of names and values, and an error at its place with the message of the API',
  async (t) => {
    const tab = await chromium.open();
    const { page } = tab;
    const expression = 'sum by (job) (increase(orders_total[5m]))';
    await signInAndOpen(tab, harness.url, at('/explore-metrics', { promql: expression }));
    await page.locator('.legend-entry').nth(1).waitFor();
    const { series } = await query({ kind: 'promql', expression });
    t.is(await page.locator('.legend-entry').count(), series.length);
    const editor = page.locator('.promql-editor #promql');
    await editor.fill('max(orders_');
    await page.getByRole('option', { name: /^orders_total/ }).click();
    await page.keyboard.type('{job="<');
    await page.getByRole('option', { name: '<b>mail</b>' }).click();
    await page.keyboard.press('End');
    await page.keyboard.type(')');
    t.is(await editor.textContent(), 'max(orders_total{job="<b>mail</b>"})');
    await page.keyboard.press('Control+Enter');
    await page.locator('.legend-entry').nth(1).waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    t.false(await editor.evaluate((node) => node.matches(':focus')));
    await page.locator('#promql').fill('sum by (job (orders_total)');
    await page.keyboard.press('Enter');
    const problem = page.locator('#promql-problem', { hasText: /./ });
    await problem.waitFor();
    const { body } = await harness.request('POST', '/api/metrics/query', {
      body: { ...range, queries: { a: { kind: 'promql', expression: 'sum by (job (orders_total)' } } },
    });
    t.is(await problem.textContent(), body.details[0].message);
    await page.locator('.cm-lintRange-error').first().waitFor();
    await assertView(t, tab, '#promql-problem');
  },
);

declare('a metric query becomes a rule that compares the same values', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(
    tab,
    harness.url,
    at('/explore-metrics', { metric: 'queue.size', by: 'service' }),
    'editor@a.example',
  );
  await page.getByRole('link', { name: 'Create alert' }).click();
  t.is(await page.getByLabel('Metric', { exact: true }).inputValue(), 'queue.size');
  await page.getByLabel('Window').fill('1m');
  await page.getByLabel('Value', { exact: true }).fill('200');
  await page.getByLabel('Unit').fill('KiBy');
  await page.locator('.plot[aria-label*="warning above 200 KiB"]').waitFor();
  t.regex((await page.locator('.plot').getAttribute('aria-label')) ?? '', /: 2 series, from 100 KiB to 300 KiB\.$/);
  t.deepEqual(tab.complaints, []);
});

declare(
  'a question in plain words shows its query, the interpretation of each word and the values of the API',
  async (t) => {
    const tab = await chromium.open();
    const { page } = tab;
    const question = 'average queue.size by service per minute';
    await signInAndOpen(tab, harness.url, at('/ask'));
    await page.locator('#question').fill(question);
    await page.keyboard.press('Enter');
    await page.locator('#sentence').waitFor();
    const { body } = await harness.request('POST', '/api/ai/query', { body: { question, ...range } });
    t.is((await page.locator('#sentence').textContent()) ?? '', body.answer.sentence);
    await page
      .locator('.legend-entry')
      .nth(body.answer.result.series.length - 1)
      .waitFor();
    const words = page.locator('details', { has: page.getByText('How we interpreted it') }).locator('tbody tr');
    t.deepEqual(
      (await words.allTextContents()).map((text) => text.trim()),
      body.answer.words.map(
        ({ text, mappedTo }: { text: string; mappedTo: string | null }) => `${text}${mappedTo ?? 'ignored'}`,
      ),
    );
    await assertView(t, tab, '#sentence');
    await page.getByRole('link', { name: 'In metrics' }).click();
    await page.locator('.legend-entry').first().waitFor();
    await tab.go(`${harness.url}${at('/ask', { q: 'logs of service nobody' })}`);
    await page
      .getByText(/"nobody"/)
      .first()
      .waitFor();
    t.deepEqual(tab.complaints, []);
  },
);

declare(
  'a metric has a forecast with intervals, and the time when it crosses a threshold is that of the API',
  async (t) => {
    const tab = await chromium.open();
    const { page } = tab;
    await signInAndOpen(tab, harness.url, at('/explore-metrics', { metric: 'queue.size', by: 'service' }));
    await page.getByText('Forecast', { exact: true }).click();
    await page.getByLabel('Horizon').fill('900d');
    await page.getByRole('button', { name: 'Run forecast' }).click();
    await page.locator('#ahead-problem', { hasText: /can be forecast/ }).waitFor();
    await page.getByLabel('Horizon').fill('1h');
    await page.getByLabel('Input interval').fill('1m');
    await page.getByLabel('Threshold').fill('204800');
    await page.getByRole('button', { name: 'Run forecast' }).click();
    const { body } = await harness.request('POST', '/api/ai/forecast', {
      body: {
        ...range,
        step: '1m',
        horizon: '1h',
        levels: [0.95],
        until: { above: 204_800 },
        query: { kind: 'metric', metric: 'queue.size', overTime: 'avg', across: 'avg', groupBy: ['service'] },
      },
    });
    t.is(body.series.length, 2);
    for (const { labels, points, until } of body.series) {
      const one = page.getByRole('region', { name: `service=${JSON.stringify(labels.service)}` }).first();
      await one.locator('.plot').waitFor();
      await one.getByText('Data table', { exact: true }).click();
      const rows = one.getByRole('row');
      await rows.nth(points.length).waitFor();
      t.is(await rows.count(), points.length + 1);
      const forecastText = (await one.textContent()) ?? '';
      t.true(
        forecastText.includes(until.at === null ? until.reason : 'Estimated to be above 200 KiB at'),
        forecastText,
      );
    }
    await assertView(t, tab, 'main details h2 >> nth=0');
  },
);

const runbook = `# Full <i>queues</i>

A queue is full when its worker stops. <script>document.title='owned'</script>
Start the worker again with \`ctl start worker\`.

\`\`\`json
{"kind":"metric","metric":"queue.size","overTime":"max","groupBy":["service"]}
\`\`\``;

declare('a runbook is added from a file, found and cited with the value that it names, and deleted', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, at('/ask/documents'), 'editor@a.example');
  await page.getByRole('button', { name: 'Add document' }).click();
  const sidePanel = page.getByRole('complementary', { name: 'Document' });
  await sidePanel
    .getByLabel(/^File/)
    .setInputFiles({ name: 'queues.md', mimeType: 'text/markdown', buffer: Buffer.from([0xff, 0xfe]) });
  await sidePanel.getByText('queues.md is not a text file in UTF-8').waitFor();
  await sidePanel
    .getByLabel(/^File/)
    .setInputFiles({ name: 'queues.md', mimeType: 'text/markdown', buffer: Buffer.from(runbook) });
  await sidePanel.getByLabel('URL').fill('ftp://wiki.example');
  await sidePanel.getByRole('button', { name: 'Save document' }).click();
  await sidePanel.getByRole('alert').filter({ hasText: 'must be an address that begins with' }).first().waitFor();
  await sidePanel.getByLabel('URL').fill('https://wiki.example/queues');
  await sidePanel.getByRole('button', { name: 'Save document' }).click();
  await sidePanel.getByRole('button', { name: 'Delete' }).waitFor();
  const [storedDocument] = (await harness.request('GET', '/api/ai/rag/documents')).body.items;
  t.like(storedDocument, { url: 'https://wiki.example/queues', format: 'markdown', bytes: Buffer.byteLength(runbook) });
  await page.getByRole('row', { name: new RegExp(`Markdown ${storedDocument.passages} `) }).waitFor();
  await assertView(t, tab, '.beside h2');
  await page.getByRole('button', { name: 'Add document' }).click();
  await sidePanel.getByRole('textbox', { name: 'Text' }).fill(runbook);
  await sidePanel.getByRole('button', { name: 'Save document' }).click();
  await sidePanel.getByRole('status').getByRole('link', { name: storedDocument.title }).click();
  await sidePanel.getByRole('button', { name: 'Delete' }).waitFor();
  await page.getByRole('link', { name: 'Runbooks' }).click();
  const question = 'what do I do when a queue is full?';
  await page.getByLabel('Search runbooks').fill(question);
  await page.keyboard.press('Enter');
  const sentences = page.locator('#sentences li');
  await sentences.first().waitFor();
  const { body } = await harness.request('POST', '/api/ai/rag/answer', { body: { question, ...range } });
  t.deepEqual(
    (await sentences.allTextContents()).map((text) => text.trim()),
    body.sentences.map(
      ({ text, passages }: { text: string; passages: number[] }) =>
        `${text} ${passages.map((nth) => `[${nth + 1}]`).join('')}`,
    ),
  );
  t.is(await page.locator('main ol > li').count(), body.passages.length);
  const [{ sentence, result }] = body.figures;
  const figure = page.getByRole('region', { name: sentence, exact: true });
  await figure.getByRole('row').nth(result.rows.length).waitFor();
  t.true(((await figure.getByRole('table').textContent()) ?? '').includes('<b>mail</b>'));
  await page.getByRole('link', { name: 'Passage 1' }).first().click();
  t.true(await page.locator('#passage-0').evaluate((node) => node === node.ownerDocument.activeElement));
  t.not(await page.title(), 'owned');
  await page.setViewportSize({ width: 320, height: 800 });
  await assertView(t, tab, '#sentences');
  t.is(await page.evaluate('document.documentElement.scrollWidth'), 320);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByLabel('documents', { exact: true }).check();
  await page.getByRole('button', { name: 'Passages only' }).click();
  const found = await harness.request('POST', '/api/ai/rag/search', {
    body: { query: question, limit: 30, sources: ['document'] },
  });
  await page.locator('#sentences').waitFor({ state: 'detached' });
  await page.locator('main ol > li').first().waitFor();
  t.is(await page.locator('main ol > li').count(), found.body.items.length);
  await assertView(t, tab, '#passage-0 h3 >> nth=0');
  await page.locator('#passage-0').getByRole('link', { name: storedDocument.title }).click();
  await sidePanel.getByRole('button', { name: 'Delete' }).click();
  await sidePanel.getByRole('button', { name: /^Delete (“|permanently)/ }).click();
  await page.getByText(/^No documents yet/).waitFor();
  t.deepEqual((await harness.request('GET', '/api/ai/rag/documents')).body.items, []);
  t.deepEqual(tab.complaints, []);
});
