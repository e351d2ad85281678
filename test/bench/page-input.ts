/** Cases of `page-speed`: response to input, and the time to open another area in addition to its API requests. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import {
  type Case,
  first,
  landRecords,
  landSpans,
  logRows,
  openUncached,
  percentile,
  rowOf,
  traceRows,
} from './page-bench.ts';
import { costOf, seenIn } from './page-cost.ts';
import type { Row } from './report.ts';

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);

const type = async (page: Page): Promise<void> => {
  await page.locator('#search').click();
  await page.keyboard.type('service:shop-1', { delay: 60 });
  await delay(500);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Escape');
  await page.locator('#search').fill('');
};

const openRows = async (page: Page): Promise<void> => {
  for (let at = 0; at < 10; at++) {
    await page.locator('.records .extent .row').nth(at).click();
    await delay(80);
  }
  for (let at = 0; at < 10; at++) {
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
  }
  await page.keyboard.press('Escape');
};

const change = async (page: Page): Promise<void> => {
  for (const name of ['Traces', 'Services', 'Metrics', 'Dashboards', 'Alerts', 'Settings', 'Logs']) {
    await page.getByRole('link', { name, exact: true }).click();
    await delay(300);
  }
  await first(page, logRows);
};

const zoom = async (page: Page): Promise<void> => {
  const chart = page.locator('svg.histogram').first();
  const box = await chart.boundingBox();
  if (box === null) throw new Error('there is no histogram');
  await page.mouse.move(box.x + box.width * 0.3, box.y + box.height / 2);
  await page.mouse.down();
  for (let at = 0; at < 20; at++) await page.mouse.move(box.x + box.width * (0.3 + at * 0.02), box.y + 20);
  await page.mouse.up();
  await delay(500);
  await page.goBack();
};

/** Types in the search with suggestions, opens rows, switches areas, and drags a zoom. */
export const input: Case = async (bench) => {
  const { harness, page } = bench;
  await landRecords(harness);
  await landSpans(harness, 1_000);
  await openUncached(bench, '/logs', logRows, '');
  const cost = await costOf(page, async () => {
    for (let round = 0; round < rounds; round++) for (const act of [type, openRows, change, zoom]) await act(page);
  });
  const { inputs, interactions } = await seenIn(page);
  const all = [...inputs, ...new Array<number>(Math.max(0, interactions - inputs.length)).fill(0)];
  const summary = `${interactions} inputs: p50 ${percentile(all, 50)}, p98 ${percentile(all, 98)}, at most ${Math.max(...all)} ms to the paint`;
  return [await rowOf(page, 'typing, opening, going, dragging', cost, summary)];
};

/** Runs in the page: clicks a link and waits until nothing changes. Returns that time and the time of API requests. */
const goTo = `async (name) => {
  const link = [...document.querySelectorAll('nav.areas a')].find((each) => each.textContent === name);
  performance.clearResourceTimings();
  const began = performance.now();
  let changed = began;
  const watch = new MutationObserver(() => requestAnimationFrame((time) => (changed = Math.max(changed, time))));
  watch.observe(document.querySelector('main'), { subtree: true, childList: true, characterData: true, attributes: true });
  link.click();
  while (performance.now() - changed < 700) await new Promise((done) => setTimeout(done, 50));
  watch.disconnect();
  const calls = performance.getEntriesByType('resource').filter(({ name: of }) => of.includes('/api/') || of.includes('/auth/'));
  let [asked, until] = [0, 0];
  for (const { startTime, responseEnd } of calls.toSorted((one, two) => one.startTime - two.startTime)) {
    const end = Math.min(responseEnd, changed);
    asked += Math.max(0, end - Math.max(startTime, until));
    until = Math.max(until, end);
  }
  return { all: changed - began, asked, calls: calls.length };
}`;

/** Each area of the menu: the first time, which also loads its code, and again. */
export const areas: Case = async (bench) => {
  const { harness, page } = bench;
  await landRecords(harness);
  await landSpans(harness, 1_000);
  await openUncached(bench, '/traces', traceRows, '');
  const names = await page.locator('nav.areas a').allTextContents();
  const rows: Row[] = [];
  for (const time of ['first', 'again'])
    for (const name of names) {
      let timings = { all: 0, requestMs: 0, calls: 0 };
      const cost = await costOf(page, async () => {
        timings = (await page.evaluate(`(${goTo})(${JSON.stringify(name)})`)) as typeof timings;
      });
      const { all, requestMs, calls } = timings;
      const row = await rowOf(page, `to ${name}, ${time}`, { ...cost, wallMs: all });
      rows.push({
        ...row,
        more: `${(all - requestMs).toFixed(0)} ms beside ${calls} calls of ${requestMs.toFixed(0)} ms`,
      });
    }
  return rows;
};
