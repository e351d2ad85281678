/** Shared by benchmarks of the page: Chromium with the API, stored records, and the cost of a step as a row. */
import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { type Harness, startHarness } from '../end-to-end/api-harness.ts';
import type { Chromium } from '../end-to-end/chromium.ts';
import { landLogs } from '../end-to-end/landed-logs.ts';
import { landedIn, type SentSpan } from '../end-to-end/landed-spans.ts';
import { signInAndOpen } from '../end-to-end/page-walk.ts';
import { costOf, type PageCost, seenIn, watchPage } from './page-cost.ts';
import type { Row } from './report.ts';

const ms = 1_000_000n;
const records = Number(process.env['BENCH_RECORDS'] ?? 20_000);
export const trace = 'c'.repeat(32);
export const endMs = Math.floor(Date.now() / 60_000) * 60_000 - 60_000;

export interface Bench {
  readonly harness: Harness;
  readonly page: Page;
}
export type Case = (bench: Bench) => Promise<Row[]>;

/** The cost of a step, and what the page observed since its last load. */
export const rowOf = async (page: Page, what: string, cost: PageCost, more = ''): Promise<Row> => {
  const { shifted, longest } = await seenIn(page);
  return {
    what,
    'CPU ms': cost.cpuMs.toFixed(0),
    'longest task, CPU ms': cost.longestMs.toFixed(0),
    'by the clock': longest.toFixed(0),
    'layout shift': shifted.toFixed(3),
    'ms by the clock': cost.wallMs.toFixed(0),
    load: (loadavg()[0] ?? 0).toFixed(0),
    more,
  };
};

export const first = (page: Page, rows: string): Promise<void> => page.locator(rows).first().waitFor();

/** Opens an address with an empty browser cache. */
export const openUncached = async (
  { harness, page }: Bench,
  address: string,
  rows: string,
  what: string,
): Promise<Row> => {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Network.clearBrowserCache');
  const cost = await costOf(page, async () => {
    await page.goto(harness.url + address);
    await first(page, rows);
  });
  await delay(1_000);
  return rowOf(page, what, cost);
};

export const logRows = '.records .extent .row';
export const traceRows = '.traces .extent .row';

export const landRecords = async (harness: Harness): Promise<void> => {
  for (let at = 0; at < records; at += 5_000)
    await landLogs(
      harness,
      Array.from({ length: Math.min(5_000, records - at) }, (_, index) => ({
        timeNs: BigInt(endMs) * ms - BigInt(at + index) * 100n * ms,
        body: `order ${at + index} was sold after ${index % 977} ms`,
        service: `shop-${index % 12}`,
        severity: [9, 9, 13, 17][index % 4] ?? 9,
      })),
      { offset: at + 1 },
    );
};

const spanAt = (index: number): SentSpan => ({
  trace,
  span: (index + 1).toString(16).padStart(16, '0'),
  service: `shop-${index % 12}`,
  name: `step ${index % 97}`,
  ...(index === 0 ? {} : { parent: (Math.floor((index - 1) / 4) + 1).toString(16).padStart(16, '0') }),
  start: BigInt(endMs - 600_000) * ms + BigInt(index) * 1_000n,
  duration: index === 0 ? 900n * ms : 40n * ms,
  kind: 2,
});

export const landSpans = async (harness: Harness, count: number): Promise<void> => {
  const landed = landedIn(harness);
  for (let at = 0; at < count; at += 10_000)
    await landed.spans(Array.from({ length: Math.min(10_000, count - at) }, (_, index) => spanAt(at + index)));
};

/** The given percentile in milliseconds. */
export const percentile = (values: readonly number[], of: number): number =>
  values.toSorted((one, two) => one - two)[Math.min(values.length - 1, Math.floor((values.length * of) / 100))] ?? 0;

/** Runs a case with its own stores and tab. */
export const measureCase = async (chromium: Chromium, of: Case): Promise<Row[]> => {
  const harness = await startHarness({ checkResponses: false });
  try {
    const tab = await chromium.open();
    const { page } = tab;
    page.setDefaultTimeout(20_000);
    await page.setViewportSize({ width: 1440, height: 900 });
    await watchPage(page);
    await signInAndOpen(tab, harness.url, '/settings', 'owner@a.example');
    return await of({ harness, page });
  } finally {
    await harness.close();
  }
};
