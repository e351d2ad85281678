/** The area of traces in a real browser: the slow trace is found, its spans stand below their callers, and its logs are one step away. */
import test from 'ava';
import { chromiumMissing } from '../services/chromium.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Chromium, startChromium } from './chromium.ts';
import { landedIn } from './landed-spans.ts';
import { holdsAsAView, signedInAt } from './page-walk.ts';

let harness: Harness;
let chromium: Chromium;
const declare = chromiumMissing === undefined ? test.serial : test.serial.skip;

const traceOf = (index: number): string => String(index + 1).padStart(32, '0');
const slow = 17;

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  [harness, chromium] = await Promise.all([startHarness(), startChromium()]);
  const landed = landedIn(harness);
  const begin = BigInt(Date.now()) * 1_000_000n - 600_000_000_000n;
  const ms = 1_000_000n;
  for (let index = 0; index < 40; index++) {
    const start = begin + BigInt(index) * 5_000n * ms;
    const took = index === slow ? 2_000n * ms : 20n * ms;
    const trace = traceOf(index);
    await landed.spans([
      { trace, span: '00000000000000a1', service: 'web', name: 'POST /checkout', start, duration: took, kind: 2 },
      {
        trace,
        span: '00000000000000a3',
        parent: '00000000000000a2',
        service: 'bank',
        name: '<b>charge</b>',
        start: start + 2n * ms,
        duration: took - 6n * ms,
        status: index === slow ? 2 : 0,
      },
      {
        trace,
        span: '00000000000000a2',
        parent: '00000000000000a1',
        service: 'payments',
        name: 'POST /charges',
        start: start + ms,
        duration: took - 2n * ms,
        kind: 3,
      },
    ]);
    if (index === slow) await landed.logs([{ trace, time: start + 3n * ms, body: 'the bank took two seconds' }]);
  }
});
test.after.always(async () => {
  await chromium?.close();
  await harness?.close();
});

declare(
  'a search finds the slow trace, its waterfall has each span below its caller, and its logs say why',
  async (t) => {
    const tab = await chromium.open();
    const { page } = tab;
    await signedInAt(tab, harness.url, '/traces');
    await page.locator('.rows[aria-rowcount="41"]').waitFor();
    await page.locator('#search').fill('duration:>1s');
    await page.keyboard.press('Enter');
    await page.locator('.rows[aria-rowcount="2"]').waitFor();
    const { body } = await harness.ask('GET', '/api/traces?scope=account&from=now-1h&search=duration%3A%3E1s');
    t.is(body.items.length, 1);
    await holdsAsAView(t, tab, '.extent .row >> nth=0');
    await page.locator('.extent .row').first().click();
    await page.waitForURL(`**/traces/${traceOf(slow)}?*`);
    t.is(await page.locator('#spans').textContent(), '3');
    t.is(await page.locator('#duration').textContent(), '2 s');
    const names = page.locator('.waterfall .extent .row [role=gridcell]:first-child');
    t.deepEqual(await names.allTextContents(), ['POST /checkout', 'POST /charges', 'failed <b>charge</b>']);
    await page.locator('.waterfall .extent .row').nth(2).click();
    await page.getByRole('complementary', { name: 'Span' }).getByText('bank', { exact: true }).first().waitFor();
    await holdsAsAView(t, tab, '.waterfall .extent');
    await page.getByRole('link', { name: 'Logs of this trace' }).click();
    await page.locator('.records .row', { hasText: 'the bank took two seconds' }).waitFor();
    t.deepEqual(tab.complaints, []);
  },
);

declare('a trace that is not there is told', async (t) => {
  const tab = await chromium.open();
  await signedInAt(tab, harness.url, `/traces/${'f'.repeat(32)}`);
  await tab.page.locator('.problem', { hasText: /trace/ }).waitFor();
  await holdsAsAView(t, tab, '.problem');
});
