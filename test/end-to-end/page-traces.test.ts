/** The area Traces in a real browser: finding a slow trace, its spans below their parents, and its logs. */
import test from 'ava';
import { chromiumMissing } from '../services/chromium.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Chromium, startChromium } from './chromium.ts';
import { landedIn } from './landed-spans.ts';
import { assertView, signInAndOpen } from './page-walk.ts';

let harness: Harness;
let chromium: Chromium;
const declare = chromiumMissing === undefined ? test.serial : test.serial.skip;

const traceOf = (index: number): string => String(index + 1).padStart(32, '0');
const slow = 17;

const logBody = 'the bank took two seconds: <i>order 47</i> waited for a provider of cards, which asked once more';

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  [harness, chromium] = await Promise.all([startHarness(), startChromium()]);
  const landed = landedIn(harness);
  const begin = BigInt(Date.now()) * 1_000_000n - 600_000_000_000n;
  const ms = 1_000_000n;
  for (let index = 0; index < 40; index++) {
    const start = begin + BigInt(index) * 5_000n * ms;
    const duration = index === slow ? 2_000n * ms : 20n * ms;
    const trace = traceOf(index);
    await landed.spans([
      { trace, span: '00000000000000a1', service: 'web', name: 'POST /checkout', start, duration, kind: 2 },
      {
        trace,
        span: '00000000000000a3',
        parent: '00000000000000a2',
        service: 'bank',
        name: '<b>charge</b>',
        start: start + 2n * ms,
        duration: duration - 6n * ms,
        status: index === slow ? 2 : 0,
      },
      {
        trace,
        span: '00000000000000a2',
        parent: '00000000000000a1',
        service: 'payments',
        name: 'POST /charges',
        start: start + ms,
        duration: duration - 2n * ms,
        kind: 3,
      },
    ]);
    if (index === slow) await landed.logs([{ trace, time: start + 3n * ms, body: logBody }]);
  }
});
test.after.always(async () => {
  await chromium?.close();
  await harness?.close();
});

declare(
  'a search finds the slow trace, its waterfall shows each span below its parent, and its logs show the cause',
  async (t) => {
    const tab = await chromium.open();
    const { page } = tab;
    await signInAndOpen(tab, harness.url, '/traces');
    await page.locator('.rows[aria-rowcount="41"]').waitFor();
    await page.locator('#search').fill('duration:>1s');
    await page.keyboard.press('Enter');
    await page.locator('.rows[aria-rowcount="2"]').waitFor();
    const { body } = await harness.request('GET', '/api/traces?scope=account&from=now-1h&search=duration%3A%3E1s');
    t.is(body.items.length, 1);
    await assertView(t, tab, '.extent .row >> nth=0');
    await page.locator('.extent .row').first().click();
    await page.waitForURL(`**/traces/${traceOf(slow)}?*`);
    t.is(await page.locator('#spans').textContent(), '3');
    t.is(await page.locator('#duration').textContent(), '2 s');
    const names = page.locator('.waterfall .extent .row [role=gridcell]:first-child');
    const shown = async (): Promise<string[]> =>
      (await names.allTextContents()).map((name) => name.replace(/^[▸▾]/, ''));
    await page.locator('.waterfall[aria-rowcount="5"]').waitFor();
    const withLog = ['POST /checkout', 'POST /charges', 'failed <b>charge</b>', `log at 3 ms ${logBody}`];
    t.deepEqual(await shown(), withLog);
    // The whole line is visible, and opens next to the list.
    const line = page.locator('.waterfall .in-line');
    t.true(await line.evaluate((cell) => cell.scrollWidth <= cell.clientWidth));
    await line.click();
    const sidePanel = page.getByRole('complementary', { name: 'Log' });
    await sidePanel.getByText(logBody).waitFor();
    await assertView(t, tab, '.beside pre');
    await sidePanel.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Hide 1 below' }).click();
    await page.locator('.waterfall[aria-rowcount="4"]').waitFor();
    t.deepEqual(await shown(), ['POST /checkout', 'POST /charges and 1 below', withLog[3]]);
    await page.getByLabel('Search spans').fill('CHARGE');
    await page.keyboard.press('Enter');
    await page.getByText('1 of 2').waitFor();
    t.deepEqual(await shown(), withLog);
    t.deepEqual(await page.locator('.waterfall .match').allTextContents(), ['POST /charges', '<b>charge</b>']);
    // The trace waited for the three spans and for nothing else.
    t.is(await page.locator('.waterfall .waited').count(), 5);
    await page.getByLabel('Show logs inline').uncheck();
    await page.locator('.waterfall[aria-rowcount="4"]').waitFor();
    await page.getByRole('button', { name: 'Flame graph' }).click();
    const boxes = page.getByRole('region', { name: 'Flame graph' }).getByRole('button');
    t.deepEqual(
      (await boxes.allTextContents()).map((box) => box.split(', ')[0]),
      ['the trace', 'POST /checkout', 'POST /charges', '<b>charge</b>'],
    );
    await assertView(t, tab, '.flame');
    await page.getByRole('button', { name: 'Waterfall' }).click();
    await page.locator('.waterfall .extent .row').nth(2).click();
    await page.getByRole('complementary', { name: 'Span' }).getByText('bank', { exact: true }).first().waitFor();
    await assertView(t, tab, '.waterfall .extent');
    await page.getByRole('link', { name: 'Logs of this trace' }).click();
    await page.locator('.records .row', { hasText: 'the bank took two seconds' }).waitFor();
    t.deepEqual(tab.complaints, []);
  },
);

declare('a selected duration range is compared with the other traces, with the differences of the API', async (t) => {
  const landed = landedIn(harness);
  const start = BigInt(Date.now()) * 1_000_000n - 1_800_000_000_000n;
  await landed.spans(
    Array.from({ length: 400 }, (_, index) => ({
      trace: String(index + 5_000).padStart(32, '0'),
      span: String(index + 5_000).padStart(16, '0'),
      service: index % 20 === 0 ? 'old<1>' : 'new',
      name: 'GET /',
      kind: 2,
      start: start + BigInt(index) * 500_000_000n,
      duration: BigInt(index % 20 === 0 ? 700 : 30) * 1_000_000n,
    })),
  );
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/traces?search=name%3A%22GET+%2F%22');
  await page
    .getByRole('img', { name: /^400 spans by duration and time: 20ms to 50ms 380, 500ms to 1s 20\.$/ })
    .waitFor();
  await page.getByLabel('Min duration').selectOption('500ms');
  const comparison = page.getByRole('region', { name: 'Comparison of the selection with the baseline' });
  await comparison.getByText('20 spans in the selection, 380 in the baseline').waitFor();
  // The list contains only the traces of the selection.
  await page.locator('.traces[aria-rowcount="21"]').waitFor();
  const { body } = await harness.request(
    'GET',
    `/api/traces/compare?scope=account&from=now-1h&search=${encodeURIComponent('name:"GET /"')}&selection=${encodeURIComponent('duration:>=500ms')}`,
  );
  t.is(body.items[0].field, 'service');
  t.regex((await comparison.getByRole('row').nth(1).textContent()) ?? '', /^service(?:old<1>|new)/);
  t.is(await comparison.getByRole('row').count(), body.items.length + 1);
  await assertView(t, tab, '.compared [role=status] >> nth=0');
  // The view was reloaded: until the cells load, their space is reserved.
  const heatmap = page.getByRole('img', { name: /^400 spans by duration/ });
  await heatmap.waitFor();
  const { width, height } = (await heatmap.boundingBox()) ?? { width: 0, height: 0 };
  await heatmap.dragTo(heatmap, {
    sourcePosition: { x: 2, y: 2 },
    targetPosition: { x: width - 2, y: height / 2 },
    steps: 5,
  });
  await page.waitForURL(/since=/);
  await comparison.getByText('20 spans in the selection').waitFor();
  await comparison.getByRole('button', { name: 'old<1>' }).first().click();
  await page.waitForURL(/service%3A%22old%3C1%3E%22/);
  t.deepEqual(tab.complaints, []);
});

declare('repeated calls of a trace are one row until it is expanded, and columns are chosen', async (t) => {
  const trace = 'c'.repeat(32);
  const start = BigInt(Date.now()) * 1_000_000n - 60_000_000_000n;
  await landedIn(harness).spans([
    { trace, span: 'c'.repeat(16), service: 'web', name: 'GET /orders', start, duration: 90_000_000, kind: 2 },
    ...Array.from({ length: 6 }, (_, index) => ({
      trace,
      span: `d${index}`.padEnd(16, '0'),
      parent: 'c'.repeat(16),
      service: 'web',
      name: 'SELECT <i>orders</i>',
      start: start + BigInt(index + 1) * 10_000_000n,
      duration: 5_000_000,
      status: index === 2 ? 2 : 0,
    })),
  ]);
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, `/traces/${trace}`);
  await page.locator('.waterfall[aria-rowcount="3"]').waitFor();
  const rows = page.locator('.waterfall .extent .row');
  t.regex((await rows.nth(1).textContent()) ?? '', /6 × SELECT <i>orders<\/i> 1 failedweb30 ms total/);
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByLabel('Self time').check();
  await page.waitForURL(/columns=service%2Cduration%2Cself/);
  await page.keyboard.press('Escape');
  await page.getByRole('columnheader', { name: 'Self time' }).waitFor();
  await page.getByRole('button', { name: 'Show 6 below' }).click();
  await page.locator('.waterfall[aria-rowcount="9"]').waitFor();
  await rows.nth(3).click();
  await page.getByRole('complementary', { name: 'Span' }).getByRole('link', { name: 'Logs of this span' }).waitFor();
  await assertView(t, tab, '.beside h2');
});

declare('a trace that does not exist shows a notice', async (t) => {
  const tab = await chromium.open();
  await signInAndOpen(tab, harness.url, `/traces/${'f'.repeat(32)}`);
  await tab.page.locator('.problem', { hasText: /trace/ }).waitFor();
  await assertView(t, tab, '.problem');
});

declare('two traces are shown side by side, with the call that took longer in one', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, `/traces/${traceOf(slow - 1)}`);
  await page.getByLabel('Compare with').fill('none');
  await page.getByRole('button', { name: 'Compare traces' }).click();
  await page.getByText('A trace id has 32 hexadecimal digits.').waitFor();
  // The address of another trace is pasted.
  await page.getByLabel('Compare with').fill(`${harness.url}/traces/${traceOf(slow)}?from=now-1h`);
  await page.getByRole('button', { name: 'Compare traces' }).click();
  const rows = page.locator('.two tbody tr');
  await rows.nth(2).waitFor();
  t.deepEqual(await rows.allTextContents(), [
    'web POST /checkout20 ms2 s1.98 s more',
    'payments POST /charges18 ms2 s1.98 s more',
    'bank <b>charge</b>14 ms1.99 s 1 failed1.98 s more',
  ]);
  await assertView(t, tab, '.two tbody');
});
