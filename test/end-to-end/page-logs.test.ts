/** The area Logs in a real browser: shows records as sent, with the counts of the API. */
import test from 'ava';
import { text } from '../cases/sink-tables.ts';
import { chromiumMissing } from '../services/chromium.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Chromium, startChromium, type Tab } from './chromium.ts';
import { landLogs } from './landed-logs.ts';
import { assertView, signInAndOpen } from './page-walk.ts';

const hostile = `</pre><img src=x onerror="document.title='owned'"><script>document.title='owned'</script> \u202Egnp.exe\u202C a\u200Bb \u0007`;
const count = 450;

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
      timeNs: nowNs - BigInt(index) * 2_000_000_000n,
      body:
        index === 7 ? hostile : `order ${index} ${index % 3 === 0 ? 'declined: card issuer answered 05' : 'accepted'}`,
      service: index % 3 === 0 ? 'payments' : 'checkout',
      severity: index % 3 === 0 ? 17 : 9,
      attributes: [text('order.id', String(index))],
    })),
    { offset: 1 },
  );
});
test.after.always(async () => {
  await chromium?.close();
  await harness?.close();
});

const opened = async (address: string): Promise<Tab> => {
  const tab = await chromium.open();
  await signInAndOpen(tab, harness.url, address);
  return tab;
};

const counted = async (search: string): Promise<number> =>
  (await harness.request('GET', `/api/logs/histogram?from=now-1h&search=${encodeURIComponent(search)}`)).body.records;

declare('a search, a filter by click and its count are those of the API', async (t) => {
  const { page, ...tab } = await opened('/logs');
  await page.locator('#count', { hasText: String(count) }).waitFor();
  t.is(await counted(''), count);
  await page.locator('#search').fill('declined');
  await page.keyboard.press('Enter');
  await page.locator('#count', { hasText: '150' }).waitFor();
  t.is(await counted('declined'), 150);
  // Records and their counts are separate requests.
  await page.locator('.rows[aria-rowcount="151"]').waitFor();
  await page.locator('.extent .row').first().click();
  await page
    .getByRole('complementary', { name: 'Record' })
    .getByRole('button', { name: 'payments', exact: true })
    .first()
    .click();
  await page.waitForURL(/search=declined\+service%3A%22payments%22$/);
  await page.locator('#count', { hasText: '150' }).waitFor();
  await page.goBack();
  t.is(await page.locator('#search').inputValue(), 'declined');
  await assertView(t, { page, ...tab }, '.extent .row >> nth=0');
});

declare(
  'sender input is shown as text, and invisible or bidirectional characters are shown by their code point',
  async (t) => {
    const tab = await opened(`/logs?search=${encodeURIComponent('owned')}`);
    const body = tab.page.locator('.extent .row >> nth=0').getByRole('gridcell').nth(3);
    const shown = hostile
      .replace('\u202E', 'U+202E')
      .replace('\u202C', 'U+202C')
      .replace('\u200B', 'U+200B')
      .replace('\u0007', 'U+0007');
    t.is(await body.textContent(), shown);
    await body.click();
    t.is(await tab.page.locator('.body').textContent(), shown);
    t.is(await tab.page.title(), 'Logs · OIQ');
    t.is(await tab.page.locator('main img').count(), 0);
    await assertView(t, tab, '.body');
  },
);

declare('a very long text is truncated and expands on request', async (t) => {
  const text = Array.from({ length: 5_000 }, (_, line) => `line ${line} of what it wrote`).join('\n');
  const timeNs = BigInt(Date.now() - 48 * 3_600_000) * 1_000_000n;
  await landLogs(harness, [{ timeNs, body: text }], { offset: 900 });
  const tab = await opened('/logs?from=now-49h&to=now-47h');
  await tab.page.locator('.extent .row >> nth=0').click();
  const body = tab.page.locator('.body');
  t.true(((await body.textContent()) ?? '').length < 21_000);
  await body.getByRole('button', { name: /^all .* characters$/ }).click();
  t.is(await body.textContent(), text);
});

declare('a search with a syntax error shows the error at its field, with the column that the API names', async (t) => {
  const tab = await opened(`/logs?search=${encodeURIComponent('service:(a')}`);
  const problem = tab.page.locator('#search-problem', { hasText: /column 9/ });
  await problem.waitFor();
  const { body } = await harness.request('GET', `/api/logs?search=${encodeURIComponent('service:(a')}`);
  t.is(await problem.textContent(), body.details[0].message);
  t.is(await tab.page.locator('#search').getAttribute('aria-invalid'), 'true');
  await assertView(t, tab, '#search-problem');
});

declare(
  'the keyboard alone scrolls beyond the first page, opens a record, reads its context, and Escape closes it',
  async (t) => {
    const tab = await opened('/logs');
    const { page } = tab;
    await page.locator('.extent .row').first().waitFor();
    await page.locator('.rows').focus();
    // The first page is small, so that it loads fast.
    for (const rows of [200, count]) {
      await page.locator(`.rows[aria-rowcount="${rows + 1}"]`).waitFor();
      await page.keyboard.press('End');
    }
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    const record = page.getByRole('complementary', { name: 'Record' });
    await record.locator('.body', { hasText: `order ${count - 2} ` }).waitFor();
    await record.getByRole('button', { name: 'Show context' }).press('Enter');
    await page.locator('.around-this', { hasText: `order ${count - 2} ` }).waitFor();
    await page.keyboard.press('Escape');
    await record.waitFor({ state: 'detached' });
    t.deepEqual(tab.complaints, []);
  },
);
